-- A stream over a stream.
CREATE STREAM minutes AS
SELECT symbol, SUM(qty) AS total, window_time FROM trades GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE);

CREATE STREAM hours AS
SELECT symbol, MAX(total) AS best FROM minutes GROUP BY symbol, TUMBLE(window_time, INTERVAL '1' HOUR);
