-- Visits of a web site: clicks of one user less than half an hour apart belong together.
-- tidegate run     examples/sessions.sql
-- tidegate check   examples/sessions.sql
-- tidegate explain examples/sessions.sql --stream visits

CREATE SOURCE clicks (
    user_id VARCHAR NOT NULL,
    page    VARCHAR,
    millis  BIGINT,                               -- of the user's own clock
    ts      AS TO_TIMESTAMP_MS(millis),
    WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE  -- phones are slow to report
) WITH (
    connector = 'file', path = 'examples/data/clicks/', format = 'json', bounded = true,
    max_future_skew = '5m',                       -- one clock that runs ahead must not end all visits
    pre_epoch = 'divert'                          -- and one without a battery says 1970
);

-- One row per visit, as soon as nobody can add to it. Clicks that come within ten minutes still extend, or even join,
-- visits; what comes later goes to late_clicks, once, with the visit that it missed.
CREATE STREAM visits AS
SELECT
    user_id,
    COUNT(*)                                         AS clicks,
    COUNT(DISTINCT page)                             AS pages,
    FIRST_VALUE(page)                                AS entered_at,
    LAST_VALUE(page)                                 AS left_from,
    COUNT(*) FILTER (WHERE page LIKE '/checkout%')   AS checkouts,
    TIMESTAMPDIFF(SECOND, MIN(ts), MAX(ts))          AS seconds,
    window_start,
    window_end
FROM clicks
WHERE page NOT LIKE '%.css' AND page NOT LIKE '%.js'
GROUP BY user_id, SESSION(ts, INTERVAL '30' MINUTE)
ALLOWED LATENESS INTERVAL '10' MINUTE
LATE DATA TO late_clicks
EMIT ON WINDOW CLOSE
WITH (max_groups = 1000000);

-- The same visits while they last: rows are replaced as they grow, and taken back when two of them turn out to be one.
CREATE STREAM visits_now AS
SELECT user_id, COUNT(*) AS clicks, window_start, window_end
FROM clicks
GROUP BY user_id, SESSION(ts, INTERVAL '30' MINUTE)
EMIT ON UPDATE;

CREATE SINK finished    FROM visits     WITH (connector = 'file', path = 'examples/out/visits/', format = 'parquet');
CREATE SINK now         FROM visits_now WITH (connector = 'console');
CREATE SINK late_clicks WITH (connector = 'file', path = 'examples/out/late_clicks/', format = 'json');
