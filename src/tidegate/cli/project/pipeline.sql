-- Takings of each shop, minute by minute, from files of orders.
--
-- tidegate check   pipeline.sql
-- tidegate run     pipeline.sql --engine local --batch-rows 8
-- tidegate explain pipeline.sql --stream takings --logical

-- Where rows come from. WATERMARK says how far out of order they may be: a minute is over once an order that is ten
-- seconds younger has been seen. An order that comes after that is late.
CREATE SOURCE orders (
    shop VARCHAR,
    amount DECIMAL(10, 2),
    ordered_at TIMESTAMP,
    WATERMARK FOR ordered_at AS ordered_at - INTERVAL '10' SECOND
) WITH (
    connector = 'file',
    path = 'data/orders',
    format = 'csv',
    bounded = true          -- read what is there, and end; with false: wait for more files, until Ctrl-C
);

-- Where they are joined with what hardly ever changes.
CREATE TABLE shops (shop VARCHAR, city VARCHAR) WITH (connector = 'file', path = 'data/shops.csv');

-- What is asked. Each minute is emitted once, when it is complete; late orders are counted and kept, never lost.
CREATE STREAM takings AS
SELECT o.shop, s.city, COUNT(*) AS orders, SUM(o.amount) AS taken, window_start, window_end
FROM orders o JOIN shops s ON o.shop = s.shop
WHERE o.amount > 0
GROUP BY o.shop, s.city, TUMBLE(o.ordered_at, INTERVAL '1' MINUTE)
LATE DATA TO late_orders
EMIT ON WINDOW CLOSE;

-- Where answers go, and what cannot be part of one. Files are written exactly once, also after a crash.
CREATE SINK minutes FROM takings WITH (connector = 'file', path = 'out/takings', format = 'parquet');
CREATE SINK late_orders WITH (connector = 'file', path = 'out/late', format = 'json');
CREATE SINK broken_records WITH (connector = 'file', path = 'out/broken', format = 'json');

-- A query without a name is printed.
SELECT shop, city, orders, taken, window_end FROM takings;
