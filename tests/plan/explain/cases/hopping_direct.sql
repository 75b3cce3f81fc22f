-- An odd size: panes would be smaller than windows are many.
SELECT symbol, MAX(price) AS high, window_end FROM trades
GROUP BY symbol, HOP(ts, INTERVAL '10' SECOND, INTERVAL '17' SECOND);
