-- Keys, an expression over aggregates, HAVING, lateness with a route.
SELECT symbol, SUM(price * qty) / SUM(qty) AS vwap, COUNT(*) AS n, window_start, window_end
FROM trades
WHERE price > 0
GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE, INTERVAL '10' SECOND)
HAVING COUNT(*) > 10
ALLOWED LATENESS INTERVAL '10' SECOND
LATE DATA TO late_trades
EMIT ON WINDOW CLOSE;
