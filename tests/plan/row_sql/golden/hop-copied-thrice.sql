-- SELECT SUM(qty) AS s, COUNT(price) AS c, MAX(price) AS m, FIRST_VALUE(qty) AS f FROM trades GROUP BY symbol, HOP(ts, INTERVAL '1' SECOND, INTERVAL '2.003' SECOND, INTERVAL '-0.4' SECOND)

-- datafusion, branch 0, main
SELECT
  "$pane",
  "$k0",
  count(*) FILTER (WHERE ("$copy" = 0)) AS "$rows_once",
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
      WHEN (("$ts" >= :open_from_us) AND ("$ts" <= :latest_us)) THEN ((("$ts" + 62135596802400000) / 1000000) + (-"$copy"))
      WHEN ("$ts" IS NULL) THEN (-6)
      WHEN (("$ts" < (-62135596800000000)) OR ("$ts" > 253402300799999999)) THEN (-12)
      WHEN ("$ts" > :latest_us) THEN (-7)
      ELSE (-2)
    END AS "$pane",
    "$copy",
    "$ts",
    "$k0",
    "$x0",
    "$x1"
  FROM (
    SELECT
      *
    FROM (
      SELECT
        CAST("ts" AS BIGINT) AS "$ts",
        "symbol" AS "$k0",
        "qty" AS "$x0",
        "price" AS "$x1"
      FROM "$batch" AS q
    ) AS q
    CROSS JOIN (VALUES (0), (1), (2)) AS n("$copy")
  ) AS q
  WHERE (("$copy" = 0) OR ((("$ts" >= :open_from_us) AND ("$ts" <= :latest_us)) AND (((("$ts" + 62135596802400000) % 1000000) + ("$copy" * 1000000)) < 2003000)))
) AS q
GROUP BY "$pane", "$k0"

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
      "symbol" AS "$k0"
    FROM "$batch" AS q
  ) AS q
) AS q
WHERE ("$code" > 1)

-- spark, branch 0, main
SELECT
  `$pane`,
  `$k0`,
  count(*) FILTER (WHERE (`$copy` = 0L)) AS `$rows_once`,
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
      WHEN ((`$ts` >= :open_from_us) AND (`$ts` <= :latest_us)) THEN try_add((try_add(`$ts`, 62135596802400000L) DIV 1000000L), (-`$copy`))
      WHEN (`$ts` IS NULL) THEN (-6L)
      WHEN ((`$ts` < (-62135596800000000L)) OR (`$ts` > 253402300799999999L)) THEN (-12L)
      WHEN (`$ts` > :latest_us) THEN (-7L)
      ELSE (-2L)
    END AS `$pane`,
    `$copy`,
    `$ts`,
    `$k0`,
    `$x0`,
    `$x1`
  FROM (
    SELECT
      *
    FROM (
      SELECT
        unix_micros(`ts`) AS `$ts`,
        `symbol` AS `$k0`,
        `qty` AS `$x0`,
        `price` AS `$x1`
      FROM `$batch` AS q
    ) AS q
    CROSS JOIN (VALUES (0), (1), (2)) AS n(`$copy`)
  ) AS q
  WHERE ((`$copy` = 0L) OR (((`$ts` >= :open_from_us) AND (`$ts` <= :latest_us)) AND (try_add((try_add(`$ts`, 62135596802400000L) % 1000000L), (`$copy` * 1000000L)) < 2003000L)))
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
      `symbol` AS `$k0`
    FROM `$batch` AS q
  ) AS q
) AS q
WHERE (`$code` > 1L)
