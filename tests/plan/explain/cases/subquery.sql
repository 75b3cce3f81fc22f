-- A window inside a window: two stages, the inner one first.
SELECT MAX(total) AS best, window_end FROM (
    SELECT symbol, SUM(qty) AS total, window_time FROM trades GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE)
) AS minutes
GROUP BY TUMBLE(window_time, INTERVAL '1' HOUR);
