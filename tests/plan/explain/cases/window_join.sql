-- Nexmark query 5's shape, and an outer join by name: keys, edges and what is tested on joined rows.
CREATE STREAM sold AS SELECT symbol, SUM(qty) AS total, window_start, window_end
FROM trades GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE);
CREATE STREAM most AS SELECT MAX(total) AS top, window_start, window_end
FROM sold GROUP BY window_start, window_end;
SELECT s.symbol, s.total, s.window_end
FROM sold s JOIN most m ON s.window_start = m.window_start AND s.window_end = m.window_end AND s.total >= m.top;
SELECT COALESCE(a.symbol, b.symbol) AS symbol, a.total - b.total AS change
FROM sold a FULL JOIN sold b ON a.symbol = b.symbol AND a.window_end = b.window_end;
