-- Buffered: each trigger emits a row per group in its window.
SELECT symbol, SUM(qty) AS total FROM trades GROUP BY symbol, slidingwindow('ss', 10);
