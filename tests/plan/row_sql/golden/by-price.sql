-- SELECT SUM(qty) AS s, COUNT(price) AS c, MAX(price) AS m, FIRST_VALUE(qty) AS f FROM trades GROUP BY price, TUMBLE(ts, INTERVAL '10' SECOND)

-- datafusion, branch 0, main
SELECT
  "$pane",
  (nanvl("$k0", CAST('NaN' AS DOUBLE)) + 0.0e0) AS "$k0",
  count(*) AS "$rows",
  max("$ts") AS "$max_ts",
  sum(("$x0" >> (32 & 63))) AS "$p0",
  sum(("$x0" & 4294967295)) AS "$p1",
  count("$x1") AS "$p2",
  CASE max(CASE WHEN isnan("$x1") THEN 2 WHEN "$x1" > -CAST('Infinity' AS DOUBLE) THEN 1 WHEN "$x1" IS NOT NULL THEN 0 END)
    WHEN 2 THEN CAST('NaN' AS DOUBLE)
    WHEN 1 THEN max("$x1") + CAST(0 AS DOUBLE)
    WHEN 0 THEN -CAST('Infinity' AS DOUBLE)
  END AS "$p3",
  min("$ts") FILTER (WHERE ((NOT ("$x0" IS NULL)) AND (NOT ("$ts" IS NULL)))) AS "$p4",
  first_value("$x0" ORDER BY "$ts" ASC, "$x0" ASC) FILTER (WHERE ((NOT ("$x0" IS NULL)) AND (NOT ("$ts" IS NULL)))) AS "$p5"
FROM (
  SELECT
    CASE
      WHEN (("$ts" >= :open_from_us) AND ("$ts" <= :latest_us)) THEN (("$ts" + 62135596810000000) / 10000000)
      WHEN ("$ts" IS NULL) THEN (-6)
      WHEN (("$ts" < (-62135596800000000)) OR ("$ts" > 253402300799999999)) THEN (-12)
      WHEN ("$ts" > :latest_us) THEN (-7)
      ELSE (-2)
    END AS "$pane",
    "$ts",
    "$k0",
    "$x0",
    "$x1"
  FROM (
    SELECT
      CAST("ts" AS BIGINT) AS "$ts",
      "price" AS "$k0",
      "qty" AS "$x0",
      "price" AS "$x1"
    FROM "$batch" AS q
  ) AS q
) AS q
GROUP BY "$pane", (nanvl("$k0", CAST('NaN' AS DOUBLE)) + 0.0e0)

-- datafusion, branch 0, diverted
SELECT
  *
FROM (
  SELECT
    CASE
      WHEN (("$ts" >= :open_from_us) AND ("$ts" <= :latest_us)) THEN 0
      WHEN ("$ts" IS NULL) THEN 6
      WHEN (("$ts" < (-62135596800000000)) OR ("$ts" > 253402300799999999)) THEN 12
      WHEN ("$ts" > :latest_us) THEN 7
      ELSE 2
    END AS "$code",
    "$ts",
    "$k0",
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
      "price" AS "$k0"
    FROM "$batch" AS q
  ) AS q
) AS q
WHERE ("$code" > 1)

-- spark, branch 0, main
SELECT
  `$pane`,
  `$k0`,
  count(*) AS `$rows`,
  max(`$ts`) AS `$max_ts`,
  sum(shiftright(`$x0`, CAST(32L & 63L AS INT))) AS `$p0`,
  sum((`$x0` & 4294967295L)) AS `$p1`,
  count(`$x1`) AS `$p2`,
  max((`$x1` + CAST(0 AS DOUBLE))) AS `$p3`,
  min(`$ts`) FILTER (WHERE ((NOT (`$x0` IS NULL)) AND (NOT (`$ts` IS NULL)))) AS `$p4`,
  (min(named_struct('k', `$ts`, 'v', `$x0`)) FILTER (WHERE ((NOT (`$x0` IS NULL)) AND (NOT (`$ts` IS NULL))))).v AS `$p5`
FROM (
  SELECT
    CASE
      WHEN ((`$ts` >= :open_from_us) AND (`$ts` <= :latest_us)) THEN (try_add(`$ts`, 62135596810000000L) DIV 10000000L)
      WHEN (`$ts` IS NULL) THEN (-6L)
      WHEN ((`$ts` < (-62135596800000000L)) OR (`$ts` > 253402300799999999L)) THEN (-12L)
      WHEN (`$ts` > :latest_us) THEN (-7L)
      ELSE (-2L)
    END AS `$pane`,
    `$ts`,
    `$k0`,
    `$x0`,
    `$x1`
  FROM (
    SELECT
      unix_micros(`ts`) AS `$ts`,
      `price` AS `$k0`,
      `qty` AS `$x0`,
      `price` AS `$x1`
    FROM `$batch` AS q
  ) AS q
) AS q
GROUP BY `$k0`, `$pane`

-- spark, branch 0, diverted
SELECT
  *
FROM (
  SELECT
    CASE
      WHEN ((`$ts` >= :open_from_us) AND (`$ts` <= :latest_us)) THEN 0L
      WHEN (`$ts` IS NULL) THEN 6L
      WHEN ((`$ts` < (-62135596800000000L)) OR (`$ts` > 253402300799999999L)) THEN 12L
      WHEN (`$ts` > :latest_us) THEN 7L
      ELSE 2L
    END AS `$code`,
    `$ts`,
    `$k0`,
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
      `price` AS `$k0`
    FROM `$batch` AS q
  ) AS q
) AS q
WHERE (`$code` > 1L)
