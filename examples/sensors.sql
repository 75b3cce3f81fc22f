-- Temperatures: smooth each reading, summarise minutes, and watch the hour in steps of a minute.
-- tidegate run     examples/sensors.sql
-- tidegate check   examples/sensors.sql
-- tidegate explain examples/sensors.sql --logical

CREATE SOURCE readings (
    sensor  VARCHAR NOT NULL,
    celsius DOUBLE,
    ts      TIMESTAMP,
    WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (connector = 'generator', rows = 100000, keys = 6, seed = 1, disorder = '1s');  -- without rows it never ends

CREATE TABLE rooms (sensor VARCHAR, room VARCHAR, highest DOUBLE)
WITH (connector = 'file', path = 'examples/data/rooms.csv');

-- Sliding: a row for each reading, with its own last thirty seconds, and those around it.
CREATE STREAM smooth AS
SELECT
    sensor,
    ts,
    celsius,
    AVG(celsius) OVER (
        PARTITION BY sensor ORDER BY ts RANGE BETWEEN INTERVAL '30' SECOND PRECEDING AND CURRENT ROW
    ) AS mean,
    MAX(celsius) OVER (
        PARTITION BY sensor ORDER BY ts
        RANGE BETWEEN INTERVAL '5' SECOND PRECEDING AND INTERVAL '5' SECOND FOLLOWING
    ) AS peak
FROM readings
WHERE celsius BETWEEN -80 AND 120;

-- Tumbling: what is kept of a minute can be combined to what is kept of more.
CREATE STREAM minutes AS
SELECT r.sensor, s.room, s.highest, SUM(r.celsius) AS total, COUNT(r.celsius) AS n, MAX(r.celsius) AS hottest, window_time
FROM readings r
JOIN rooms s ON r.sensor = s.sensor
GROUP BY r.sensor, s.room, s.highest, TUMBLE(r.ts, INTERVAL '1' MINUTE);

-- Hopping over the minutes: the last hour of each room, every ten minutes; only rooms that were too hot.
CREATE STREAM hours AS
SELECT room, SUM(total) / SUM(n) AS mean, MAX(hottest) AS hottest, window_start, window_end
FROM minutes
GROUP BY room, HOP(window_time, INTERVAL '10' MINUTE, INTERVAL '1' HOUR)
HAVING MAX(hottest) > MAX(highest);

CREATE SINK alarms FROM hours WITH (connector = 'console');
