-- Buffered: by option.
SELECT SUM(qty) AS total FROM trades GROUP BY slidingwindow('ss', 10) WITH (fuse_sliding = false);
