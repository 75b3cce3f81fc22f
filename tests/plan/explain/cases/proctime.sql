-- The clock is the time and the watermark.
SELECT url, COUNT(*) AS n FROM clicks GROUP BY url, TUMBLE(at, INTERVAL '1' MINUTE);
