-- One condition goes to the table's scan, one stays with the rows; an outer join keeps its own.
SELECT t.symbol, s.sector, o.lot, SUM(t.qty) AS total
FROM trades t
JOIN symbols s ON t.symbol = s.symbol
LEFT JOIN symbols o ON t.symbol = o.symbol AND o.lot > 1
WHERE s.sector <> 'tech' AND t.price > 1
GROUP BY t.symbol, s.sector, o.lot, TUMBLE(t.ts, INTERVAL '1' MINUTE);
