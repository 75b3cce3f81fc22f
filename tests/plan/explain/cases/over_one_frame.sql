-- One frame: it is the window.
SELECT symbol, SUM(qty) OVER (PARTITION BY symbol ORDER BY ts RANGE INTERVAL '10' SECOND PRECEDING) AS recent
FROM trades;
