-- What the queries of cases/ read.
CREATE SOURCE trades (
    symbol VARCHAR NOT NULL, price DOUBLE, qty BIGINT, amount DECIMAL(10, 2), ts TIMESTAMP,
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
);
CREATE SOURCE quotes (symbol VARCHAR, bid DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND);
CREATE SOURCE clicks (user_id BIGINT, url VARCHAR, at AS PROCTIME());
CREATE SOURCE logs (level VARCHAR, message VARCHAR) WITH (connector = 'kafka', topic = 'logs', 'bootstrap.servers' = 'h:9092');
CREATE TABLE symbols (symbol VARCHAR, sector VARCHAR, lot BIGINT) WITH (connector = 'file', path = 'symbols.csv');
