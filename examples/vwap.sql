-- Volume-weighted price per symbol and minute, from a stream of trades.
-- tidegate run     examples/vwap.sql
-- tidegate check   examples/vwap.sql
-- tidegate explain examples/vwap.sql

CREATE SOURCE trades (
    symbol VARCHAR NOT NULL,
    price  DOUBLE,
    qty    BIGINT,
    ts     TIMESTAMP,
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (connector = 'file', path = 'examples/data/trades/', format = 'json', bounded = true);  -- false: wait for more files

CREATE TABLE symbols (symbol VARCHAR, sector VARCHAR)
WITH (connector = 'file', path = 'examples/data/symbols.csv');

CREATE STREAM vwap AS
SELECT
    t.symbol,
    s.sector,
    SUM(t.price * t.qty) / SUM(t.qty) AS vwap,
    COUNT(*)                          AS trades,
    MAX(t.price) - MIN(t.price)       AS spread,
    window_start,
    window_end
FROM trades t
JOIN symbols s ON t.symbol = s.symbol
WHERE t.price > 0
GROUP BY t.symbol, s.sector, TUMBLE(t.ts, INTERVAL '1' MINUTE)
HAVING COUNT(*) > 10
ALLOWED LATENESS INTERVAL '10' SECOND
LATE DATA TO late_trades
EMIT ON WINDOW CLOSE;

CREATE SINK minute_prices FROM vwap WITH (connector = 'file', path = 'examples/out/vwap/', format = 'parquet');
CREATE SINK late_trades WITH (connector = 'file', path = 'examples/out/late_trades/', format = 'json');

SELECT symbol, sector, vwap, trades, window_end FROM vwap;
