-- Size is a multiple of slide: panes are shared.
SELECT symbol, MAX(price) AS high, window_end FROM trades
GROUP BY symbol, HOP(ts, INTERVAL '10' SECOND, INTERVAL '1' MINUTE);
