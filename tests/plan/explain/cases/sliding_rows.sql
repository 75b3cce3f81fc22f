-- Buffered: no aggregates.
SELECT symbol, price, window_start FROM trades GROUP BY slidingwindow('ss', 10);
