-- SELECT symbol, qty DIV small, SUM(price) OVER (PARTITION BY symbol ORDER BY ts RANGE BETWEEN INTERVAL '5' SECOND PRECEDING AND CURRENT ROW) AS s FROM trades WHERE ok IS NOT NULL

-- datafusion, branch 0, main
SELECT
  CASE
    WHEN (((("$ts" >= :open_from_us) AND "$t0") AND "$keep") AND ("$failed_values" = 0)) THEN 0
    WHEN ("$keep" IS DISTINCT FROM TRUE) THEN 1
    WHEN ("$ts" IS NULL) THEN 6
    WHEN (("$ts" < (-62135596800000000)) OR ("$ts" > 253402300799999999)) THEN 12
    WHEN ("$ts" > :latest_us) THEN 7
    WHEN ("$ts" < :open_from_us) THEN 2
    ELSE "$failed_values"
  END AS "$code",
  "$ts",
  "$t0" AS "$moves",
  "$x1",
  "$x2",
  "$x0" AS "$p0"
FROM (
  SELECT
    "$failed_values",
    "$keep",
    "$ts",
    "$x0",
    "$x1",
    "$x2",
    ("$ts" <= :latest_us) AS "$t0"
  FROM (
    SELECT
      CAST("ts" AS BIGINT) AS "$ts",
      (NOT ("ok" IS NULL)) AS "$keep",
      CASE WHEN ((("$t0" IS NULL) AND (NOT ("qty" IS NULL))) AND (NOT ("$t1" IS NULL))) THEN 11 ELSE 0 END AS "$failed_values",
      "price" AS "$x0",
      "symbol" AS "$x1",
      "$t0" AS "$x2"
    FROM (
      SELECT
        "$t1",
        "ok",
        "price",
        "qty",
        "symbol",
        "ts",
        CASE WHEN "$t1" = -1 THEN 0 - NULLIF("qty", (-9223372036854775807 - 1)) ELSE "qty" / NULLIF(NULLIF("$t1", 0), -1) END AS "$t0"
      FROM (
        SELECT
          "ok",
          "price",
          "qty",
          "symbol",
          "ts",
          CAST("small" AS BIGINT) AS "$t1"
        FROM "$batch" AS q
      ) AS q
    ) AS q
  ) AS q
) AS q

-- datafusion, branch 0, diverted
SELECT
  *
FROM (
  SELECT
    CASE
      WHEN (((("$ts" >= :open_from_us) AND ("$ts" <= :latest_us)) AND "$keep") AND ("$failed_values" = 0)) THEN 0
      WHEN ("$keep" IS DISTINCT FROM TRUE) THEN 1
      WHEN ("$ts" IS NULL) THEN 6
      WHEN (("$ts" < (-62135596800000000)) OR ("$ts" > 253402300799999999)) THEN 12
      WHEN ("$ts" > :latest_us) THEN 7
      WHEN ("$ts" < :open_from_us) THEN 2
      ELSE "$failed_values"
    END AS "$code",
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
      (NOT ("ok" IS NULL)) AS "$keep",
      CASE WHEN (((CASE WHEN "$t0" = -1 THEN 0 - NULLIF("qty", (-9223372036854775807 - 1)) ELSE "qty" / NULLIF(NULLIF("$t0", 0), -1) END IS NULL) AND (NOT ("qty" IS NULL))) AND (NOT ("$t0" IS NULL))) THEN 11 ELSE 0 END AS "$failed_values"
    FROM (
      SELECT
        "amount",
        "at",
        "coin",
        "day",
        "note",
        "ok",
        "price",
        "qty",
        "ratio",
        "raw",
        "small",
        "symbol",
        "tags",
        "tiny",
        "ts",
        "vast",
        CAST("small" AS BIGINT) AS "$t0"
      FROM "$batch" AS q
    ) AS q
  ) AS q
) AS q
WHERE ("$code" > 1)

-- spark, branch 0, main
SELECT
  CASE
    WHEN ((((`$ts` >= :open_from_us) AND `$t0`) AND `$keep`) AND (`$failed_values` = 0L)) THEN 0L
    WHEN (NOT (`$keep` <=> TRUE)) THEN 1L
    WHEN (`$ts` IS NULL) THEN 6L
    WHEN ((`$ts` < (-62135596800000000L)) OR (`$ts` > 253402300799999999L)) THEN 12L
    WHEN (`$ts` > :latest_us) THEN 7L
    WHEN (`$ts` < :open_from_us) THEN 2L
    ELSE `$failed_values`
  END AS `$code`,
  `$ts`,
  `$t0` AS `$moves`,
  `$x1`,
  `$x2`,
  `$x0` AS `$p0`
FROM (
  SELECT
    `$failed_values`,
    `$keep`,
    `$ts`,
    `$x0`,
    `$x1`,
    `$x2`,
    (`$ts` <= :latest_us) AS `$t0`
  FROM (
    SELECT
      unix_micros(`ts`) AS `$ts`,
      (NOT (`ok` IS NULL)) AS `$keep`,
      CASE WHEN (((`$t0` IS NULL) AND (NOT (`qty` IS NULL))) AND (NOT (`$t1` IS NULL))) THEN 11L ELSE 0L END AS `$failed_values`,
      `price` AS `$x0`,
      `symbol` AS `$x1`,
      `$t0` AS `$x2`
    FROM (
      SELECT
        `$t1`,
        `ok`,
        `price`,
        `qty`,
        `symbol`,
        `ts`,
        CASE WHEN `$t1` = -1 THEN try_subtract(0L, `qty`) ELSE `qty` DIV NULLIF(NULLIF(`$t1`, 0L), -1L) END AS `$t0`
      FROM (
        SELECT
          `ok`,
          `price`,
          `qty`,
          `symbol`,
          `ts`,
          CAST(`small` AS BIGINT) AS `$t1`
        FROM `$batch` AS q
      ) AS q
    ) AS q
  ) AS q
) AS q

-- spark, branch 0, diverted
SELECT
  *
FROM (
  SELECT
    CASE
      WHEN ((((`$ts` >= :open_from_us) AND (`$ts` <= :latest_us)) AND `$keep`) AND (`$failed_values` = 0L)) THEN 0L
      WHEN (NOT (`$keep` <=> TRUE)) THEN 1L
      WHEN (`$ts` IS NULL) THEN 6L
      WHEN ((`$ts` < (-62135596800000000L)) OR (`$ts` > 253402300799999999L)) THEN 12L
      WHEN (`$ts` > :latest_us) THEN 7L
      WHEN (`$ts` < :open_from_us) THEN 2L
      ELSE `$failed_values`
    END AS `$code`,
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
      (NOT (`ok` IS NULL)) AS `$keep`,
      CASE WHEN (((CASE WHEN `$t0` = -1 THEN try_subtract(0L, `qty`) ELSE `qty` DIV NULLIF(NULLIF(`$t0`, 0L), -1L) END IS NULL) AND (NOT (`qty` IS NULL))) AND (NOT (`$t0` IS NULL))) THEN 11L ELSE 0L END AS `$failed_values`
    FROM (
      SELECT
        `amount`,
        `at`,
        `coin`,
        `day`,
        `note`,
        `ok`,
        `price`,
        `qty`,
        `ratio`,
        `raw`,
        `small`,
        `symbol`,
        `tags`,
        `tiny`,
        `ts`,
        `vast`,
        CAST(`small` AS BIGINT) AS `$t0`
      FROM `$batch` AS q
    ) AS q
  ) AS q
) AS q
WHERE (`$code` > 1L)
