-- SELECT COUNT(*), LAST_VALUE(qty), MIN(price) FROM trades WHERE ok

-- datafusion, branch 0, main
SELECT
  "$pane",
  count(*) AS "$rows",
  max("$ts") AS "$max_ts",
  count(*) AS "$p0",
  max("$ts") FILTER (WHERE ((NOT ("$x0" IS NULL)) AND (NOT ("$ts" IS NULL)))) AS "$p1",
  last_value("$x0" ORDER BY "$ts" ASC, "$x0" ASC) FILTER (WHERE ((NOT ("$x0" IS NULL)) AND (NOT ("$ts" IS NULL)))) AS "$p2",
  CASE min(CASE WHEN isnan("$x1") THEN 2 WHEN "$x1" < CAST('Infinity' AS DOUBLE) THEN 0 WHEN "$x1" IS NOT NULL THEN 1 END)
    WHEN 0 THEN min(nanvl("$x1", CAST('Infinity' AS DOUBLE))) + CAST(0 AS DOUBLE)
    WHEN 1 THEN CAST('Infinity' AS DOUBLE)
    WHEN 2 THEN CAST('NaN' AS DOUBLE)
  END AS "$p3"
FROM (
  SELECT
    CASE WHEN "$keep" THEN 0 ELSE (-1) END AS "$pane",
    "$ts",
    "$x0",
    "$x1"
  FROM (
    SELECT
      CAST("ts" AS BIGINT) AS "$ts",
      "ok" AS "$keep",
      "qty" AS "$x0",
      "price" AS "$x1"
    FROM "$batch" AS q
  ) AS q
) AS q
GROUP BY "$pane"

-- datafusion, branch 0, diverted
SELECT
  *
FROM (
  SELECT
    CASE WHEN "$keep" THEN 0 ELSE 1 END AS "$code",
    "$ts",
    "symbol",
    "price",
    "ratio",
    "qty",
    "small",
    "tiny",
    "amount",
    "coin",
    "vast",
    "ok",
    "day",
    "raw",
    "note",
    "tags",
    "at",
    "ts"
  FROM (
    SELECT
      "symbol",
      "price",
      "ratio",
      "qty",
      "small",
      "tiny",
      "amount",
      "coin",
      "vast",
      "ok",
      "day",
      "raw",
      "note",
      "tags",
      "at",
      "ts",
      CAST("ts" AS BIGINT) AS "$ts",
      "ok" AS "$keep"
    FROM "$batch" AS q
  ) AS q
) AS q
WHERE ("$code" > 1)

-- spark, branch 0, main
SELECT
  `$pane`,
  count(*) AS `$rows`,
  max(`$ts`) AS `$max_ts`,
  count(*) AS `$p0`,
  max(`$ts`) FILTER (WHERE ((NOT (`$x0` IS NULL)) AND (NOT (`$ts` IS NULL)))) AS `$p1`,
  (max(named_struct('k', `$ts`, 'v', `$x0`)) FILTER (WHERE ((NOT (`$x0` IS NULL)) AND (NOT (`$ts` IS NULL))))).v AS `$p2`,
  min((`$x1` + CAST(0 AS DOUBLE))) AS `$p3`
FROM (
  SELECT
    CASE WHEN `$keep` THEN 0L ELSE (-1L) END AS `$pane`,
    `$ts`,
    `$x0`,
    `$x1`
  FROM (
    SELECT
      unix_micros(`ts`) AS `$ts`,
      `ok` AS `$keep`,
      `qty` AS `$x0`,
      `price` AS `$x1`
    FROM `$batch` AS q
  ) AS q
) AS q
GROUP BY `$pane`

-- spark, branch 0, diverted
SELECT
  *
FROM (
  SELECT
    CASE WHEN `$keep` THEN 0L ELSE 1L END AS `$code`,
    `$ts`,
    `symbol`,
    `price`,
    `ratio`,
    `qty`,
    `small`,
    `tiny`,
    `amount`,
    `coin`,
    `vast`,
    `ok`,
    `day`,
    `raw`,
    `note`,
    `tags`,
    `at`,
    `ts`
  FROM (
    SELECT
      `symbol`,
      `price`,
      `ratio`,
      `qty`,
      `small`,
      `tiny`,
      `amount`,
      `coin`,
      `vast`,
      `ok`,
      `day`,
      `raw`,
      `note`,
      `tags`,
      `at`,
      `ts`,
      unix_micros(`ts`) AS `$ts`,
      `ok` AS `$keep`
    FROM `$batch` AS q
  ) AS q
) AS q
WHERE (`$code` > 1L)
