-- Buffered: the median needs all values of its frame.
SELECT MEDIAN(price) AS middle FROM trades GROUP BY slidingwindow('ss', 10);
