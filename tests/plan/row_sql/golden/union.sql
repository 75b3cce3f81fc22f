-- SELECT k, SUM(v) FROM (SELECT symbol AS k, qty AS v, ts FROM trades WHERE ok UNION ALL SELECT who, cents, happened FROM bids) GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)

-- datafusion, branch 0, main
SELECT
  "$pane",
  "$k0",
  count(*) AS "$rows",
  max("$ts") FILTER (WHERE ("$ts" <= :latest_us)) AS "$max_ts",
  sum(("$x0" >> (32 & 63))) AS "$p0",
  sum(("$x0" & 4294967295)) AS "$p1"
FROM (
  SELECT
    CASE
      WHEN ((("$ts" >= :open_from_us) AND ("$ts" <= :latest_us)) AND "$keep") THEN (("$ts" + 62135596810000000) / 10000000)
      WHEN ("$keep" IS DISTINCT FROM TRUE) THEN (-1)
      WHEN ("$ts" IS NULL) THEN (-6)
      WHEN (("$ts" < (-62135596800000000)) OR ("$ts" > 253402300799999999)) THEN (-12)
      WHEN ("$ts" > :latest_us) THEN (-7)
      ELSE (-2)
    END AS "$pane",
    "$ts",
    "$k0",
    "$x0"
  FROM (
    SELECT
      CAST("ts" AS BIGINT) AS "$ts",
      "ok" AS "$keep",
      "symbol" AS "$k0",
      "qty" AS "$x0"
    FROM "$batch" AS q
  ) AS q
) AS q
GROUP BY "$pane", "$k0"

-- datafusion, branch 0, diverted
SELECT
  *
FROM (
  SELECT
    CASE
      WHEN ((("$ts" >= :open_from_us) AND ("$ts" <= :latest_us)) AND "$keep") THEN 0
      WHEN ("$keep" IS DISTINCT FROM TRUE) THEN 1
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
      "ok" AS "$keep",
      "symbol" AS "$k0"
    FROM "$batch" AS q
  ) AS q
) AS q
WHERE ("$code" > 1)

-- spark, branch 0, main
SELECT
  `$pane`,
  `$k0`,
  count(*) AS `$rows`,
  max(`$ts`) FILTER (WHERE (`$ts` <= :latest_us)) AS `$max_ts`,
  sum(shiftright(`$x0`, CAST(32L & 63L AS INT))) AS `$p0`,
  sum((`$x0` & 4294967295L)) AS `$p1`
FROM (
  SELECT
    CASE
      WHEN (((`$ts` >= :open_from_us) AND (`$ts` <= :latest_us)) AND `$keep`) THEN (try_add(`$ts`, 62135596810000000L) DIV 10000000L)
      WHEN (NOT (`$keep` <=> TRUE)) THEN (-1L)
      WHEN (`$ts` IS NULL) THEN (-6L)
      WHEN ((`$ts` < (-62135596800000000L)) OR (`$ts` > 253402300799999999L)) THEN (-12L)
      WHEN (`$ts` > :latest_us) THEN (-7L)
      ELSE (-2L)
    END AS `$pane`,
    `$ts`,
    `$k0`,
    `$x0`
  FROM (
    SELECT
      unix_micros(`ts`) AS `$ts`,
      `ok` AS `$keep`,
      `symbol` AS `$k0`,
      `qty` AS `$x0`
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
      WHEN (((`$ts` >= :open_from_us) AND (`$ts` <= :latest_us)) AND `$keep`) THEN 0L
      WHEN (NOT (`$keep` <=> TRUE)) THEN 1L
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
      `ok` AS `$keep`,
      `symbol` AS `$k0`
    FROM `$batch` AS q
  ) AS q
) AS q
WHERE (`$code` > 1L)

-- datafusion, branch 1, main
SELECT
  "$pane",
  "$k0",
  count(*) AS "$rows",
  max("$ts") AS "$max_ts",
  sum(("$x0" >> (32 & 63))) AS "$p0",
  sum(("$x0" & 4294967295)) AS "$p1"
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
    "$x0"
  FROM (
    SELECT
      CAST("happened" AS BIGINT) AS "$ts",
      "who" AS "$k0",
      "cents" AS "$x0"
    FROM "$batch" AS q
  ) AS q
) AS q
GROUP BY "$pane", "$k0"

-- datafusion, branch 1, diverted
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
    "who",
    "cents",
    "happened"
  FROM (
    SELECT
      "who",
      "cents",
      "happened",
      CAST("happened" AS BIGINT) AS "$ts",
      "who" AS "$k0"
    FROM "$batch" AS q
  ) AS q
) AS q
WHERE ("$code" > 1)

-- spark, branch 1, main
SELECT
  `$pane`,
  `$k0`,
  count(*) AS `$rows`,
  max(`$ts`) AS `$max_ts`,
  sum(shiftright(`$x0`, CAST(32L & 63L AS INT))) AS `$p0`,
  sum((`$x0` & 4294967295L)) AS `$p1`
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
    `$x0`
  FROM (
    SELECT
      unix_micros(`happened`) AS `$ts`,
      `who` AS `$k0`,
      `cents` AS `$x0`
    FROM `$batch` AS q
  ) AS q
) AS q
GROUP BY `$k0`, `$pane`

-- spark, branch 1, diverted
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
    `who`,
    `cents`,
    `happened`
  FROM (
    SELECT
      `who`,
      `cents`,
      `happened`,
      unix_micros(`happened`) AS `$ts`,
      `who` AS `$k0`
    FROM `$batch` AS q
  ) AS q
) AS q
WHERE (`$code` > 1L)
