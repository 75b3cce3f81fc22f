-- Options from a file, from WITH and from SET; state on the executors.
SET session_gap = 'inclusive';
CREATE STREAM visits AS
SELECT level, COUNT(*) AS n FROM logs GROUP BY level, sessionwindow('mi', 5)
WITH (max_groups = 1000, late.sink = 'sink:archive');
