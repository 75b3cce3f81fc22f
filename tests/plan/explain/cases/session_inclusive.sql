-- Spark's spelling has Spark's gap.
SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, session_window(ts, '30 seconds');
