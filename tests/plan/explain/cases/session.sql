SELECT symbol, COUNT(*) AS n, window_start, window_end FROM trades
GROUP BY symbol, SESSION(ts, INTERVAL '30' SECOND)
EMIT ON UPDATE;
