-- SELECT symbol, price * qty AS v, CAST(note AS INT) AS n FROM trades WHERE qty DIV small > 0

-- datafusion, branch 0, main
SELECT
  CASE
    WHEN (("$keep" AND ("$failed_predicate" = 0)) AND ("$failed_values" = 0)) THEN 0
    WHEN ("$failed_predicate" <> 0) THEN "$failed_predicate"
    WHEN ("$keep" IS DISTINCT FROM TRUE) THEN 1
    ELSE "$failed_values"
  END AS "$code",
  "symbol",
  "v",
  "n"
FROM (
  SELECT
    ("$t0" > 0) AS "$keep",
    CASE WHEN ((("$t0" IS NULL) AND (NOT ("qty" IS NULL))) AND (NOT ("$t1" IS NULL))) THEN 11 ELSE 0 END AS "$failed_predicate",
    CASE WHEN (("$t2" IS NULL) AND (NOT ("note" IS NULL))) THEN 10 ELSE 0 END AS "$failed_values",
    "symbol",
    ("price" * CAST("qty" AS DOUBLE)) AS "v",
    "$t2" AS "n"
  FROM (
    SELECT
      "$t1",
      "$t2",
      "note",
      "price",
      "qty",
      "symbol",
      CASE WHEN "$t1" = -1 THEN 0 - NULLIF("qty", (-9223372036854775807 - 1)) ELSE "qty" / NULLIF(NULLIF("$t1", 0), -1) END AS "$t0"
    FROM (
      SELECT
        "note",
        "price",
        "qty",
        "symbol",
        CAST("small" AS BIGINT) AS "$t1",
        TRY_CAST((regexp_match("note", '^[ \t\n\x0b\f\r]*([+-]?[0-9]+)[ \t\n\x0b\f\r]*\z'))[1] AS INTEGER) AS "$t2"
      FROM "$batch" AS q
    ) AS q
  ) AS q
) AS q

-- datafusion, branch 0, diverted
SELECT
  *
FROM (
  SELECT
    CASE
      WHEN (("$keep" AND ("$failed_predicate" = 0)) AND ("$failed_values" = 0)) THEN 0
      WHEN ("$failed_predicate" <> 0) THEN "$failed_predicate"
      WHEN ("$keep" IS DISTINCT FROM TRUE) THEN 1
      ELSE "$failed_values"
    END AS "$code",
    CAST(NULL AS BIGINT) AS "$ts",
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
      ("$t0" > 0) AS "$keep",
      CASE WHEN ((("$t0" IS NULL) AND (NOT ("qty" IS NULL))) AND (NOT ("$t1" IS NULL))) THEN 11 ELSE 0 END AS "$failed_predicate",
      CASE WHEN ((TRY_CAST((regexp_match("note", '^[ \t\n\x0b\f\r]*([+-]?[0-9]+)[ \t\n\x0b\f\r]*\z'))[1] AS INTEGER) IS NULL) AND (NOT ("note" IS NULL))) THEN 10 ELSE 0 END AS "$failed_values"
    FROM (
      SELECT
        "$t1",
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
        CASE WHEN "$t1" = -1 THEN 0 - NULLIF("qty", (-9223372036854775807 - 1)) ELSE "qty" / NULLIF(NULLIF("$t1", 0), -1) END AS "$t0"
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
          CAST("small" AS BIGINT) AS "$t1"
        FROM "$batch" AS q
      ) AS q
    ) AS q
  ) AS q
) AS q
WHERE ("$code" > 1)

-- spark, branch 0, main
SELECT
  CASE
    WHEN ((`$keep` AND (`$failed_predicate` = 0L)) AND (`$failed_values` = 0L)) THEN 0L
    WHEN (`$failed_predicate` <> 0L) THEN `$failed_predicate`
    WHEN (NOT (`$keep` <=> TRUE)) THEN 1L
    ELSE `$failed_values`
  END AS `$code`,
  `symbol`,
  `v`,
  `n`
FROM (
  SELECT
    (`$t0` > 0L) AS `$keep`,
    CASE WHEN (((`$t0` IS NULL) AND (NOT (`qty` IS NULL))) AND (NOT (`$t1` IS NULL))) THEN 11L ELSE 0L END AS `$failed_predicate`,
    CASE WHEN ((`$t2` IS NULL) AND (NOT (`note` IS NULL))) THEN 10L ELSE 0L END AS `$failed_values`,
    `symbol`,
    (`price` * CAST(`qty` AS DOUBLE)) AS `v`,
    `$t2` AS `n`
  FROM (
    SELECT
      `$t1`,
      `$t2`,
      `note`,
      `price`,
      `qty`,
      `symbol`,
      CASE WHEN `$t1` = -1 THEN try_subtract(0L, `qty`) ELSE `qty` DIV NULLIF(NULLIF(`$t1`, 0L), -1L) END AS `$t0`
    FROM (
      SELECT
        `note`,
        `price`,
        `qty`,
        `symbol`,
        CAST(`small` AS BIGINT) AS `$t1`,
        TRY_CAST(regexp_extract(`note`, '^[ \u005ct\u005cn\u005cx0b\u005cf\u005cr]*([+-]?[0-9]+)[ \u005ct\u005cn\u005cx0b\u005cf\u005cr]*\u005cz', 1) AS INT) AS `$t2`
      FROM `$batch` AS q
    ) AS q
  ) AS q
) AS q

-- spark, branch 0, diverted
SELECT
  *
FROM (
  SELECT
    CASE
      WHEN ((`$keep` AND (`$failed_predicate` = 0L)) AND (`$failed_values` = 0L)) THEN 0L
      WHEN (`$failed_predicate` <> 0L) THEN `$failed_predicate`
      WHEN (NOT (`$keep` <=> TRUE)) THEN 1L
      ELSE `$failed_values`
    END AS `$code`,
    CAST(NULL AS BIGINT) AS `$ts`,
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
      (`$t0` > 0L) AS `$keep`,
      CASE WHEN (((`$t0` IS NULL) AND (NOT (`qty` IS NULL))) AND (NOT (`$t1` IS NULL))) THEN 11L ELSE 0L END AS `$failed_predicate`,
      CASE WHEN ((TRY_CAST(regexp_extract(`note`, '^[ \u005ct\u005cn\u005cx0b\u005cf\u005cr]*([+-]?[0-9]+)[ \u005ct\u005cn\u005cx0b\u005cf\u005cr]*\u005cz', 1) AS INT) IS NULL) AND (NOT (`note` IS NULL))) THEN 10L ELSE 0L END AS `$failed_values`
    FROM (
      SELECT
        `$t1`,
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
        CASE WHEN `$t1` = -1 THEN try_subtract(0L, `qty`) ELSE `qty` DIV NULLIF(NULLIF(`$t1`, 0L), -1L) END AS `$t0`
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
          CAST(`small` AS BIGINT) AS `$t1`
        FROM `$batch` AS q
      ) AS q
    ) AS q
  ) AS q
) AS q
WHERE (`$code` > 1L)
