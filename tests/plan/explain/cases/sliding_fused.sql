-- No keys, and aggregates of bounded size.
SELECT SUM(qty) AS total, MIN(price) AS low, window_start, window_end FROM trades GROUP BY slidingwindow('ss', 10, 2);
