-- No column of time anywhere: what Kafka says.
SELECT level, COUNT(*) AS n FROM logs GROUP BY level, tumblingwindow('ss', 10);
