-- Two watermarks, one window.
SELECT symbol, MAX(value) AS high FROM (
    SELECT symbol, price AS value, ts FROM trades WHERE qty > 0
    UNION ALL
    SELECT symbol, bid, ts FROM quotes
) AS both_of_them
GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE);
