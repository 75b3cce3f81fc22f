SELECT symbol, SUM(qty) AS total, window_end FROM trades
GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE)
ORDER BY total DESC, symbol LIMIT 3
EMIT CHANGES;
