-- DISTINCT, FILTER, ORDER BY, exact, holistic and approximate aggregates: what each keeps per group.
SELECT
    COUNT(DISTINCT symbol) AS symbols,
    SUM(DISTINCT qty) AS sizes,
    COUNT(*) FILTER (WHERE price > 10) AS dear,
    AVG(price) AS mean,
    SUM(amount) AS amount,
    STDDEV_SAMP(price) AS spread,
    FIRST_VALUE(price) AS opened,
    MAX_BY(symbol, price) AS top,
    PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY price) AS p90,
    APPROX_COUNT_DISTINCT(symbol) AS about,
    ARRAY_AGG(price ORDER BY qty DESC) AS prices
FROM trades
GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE);
