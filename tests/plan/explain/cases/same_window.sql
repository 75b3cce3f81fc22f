-- The outer query groups by the windows of the inner one.
SELECT window_start, window_end, MAX(total) AS best FROM (
    SELECT symbol, SUM(qty) AS total, window_start, window_end FROM trades
    GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE)
) AS minutes
GROUP BY window_start, window_end;
