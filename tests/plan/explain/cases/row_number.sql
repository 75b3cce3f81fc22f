SELECT symbol, total, place FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, sector ORDER BY total DESC, symbol) AS place
  FROM (
    SELECT t.symbol, sector, SUM(qty) AS total, window_start, window_end
    FROM trades t JOIN symbols s ON t.symbol = s.symbol
    GROUP BY t.symbol, sector, TUMBLE(ts, INTERVAL '1' MINUTE)
  )
) WHERE place <= 3 EMIT CHANGES;
SELECT symbol, price FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, symbol ORDER BY ts DESC) AS place
  FROM TUMBLE(trades, ts, INTERVAL '1' MINUTE)
) WHERE place = 1;
SELECT symbol, ROW_NUMBER() OVER (PARTITION BY window_end ORDER BY COUNT(*) DESC) AS place
FROM trades GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE);
