-- SELECT SUM(qty * small), SUM(price / small), MAX(CAST(note AS DOUBLE)) FROM trades GROUP BY symbol, TUMBLE(ts, INTERVAL '10' SECOND)

-- datafusion, branch 0, main
SELECT
  "$pane",
  "$k0",
  count(*) AS "$rows",
  max("$ts") FILTER (WHERE ("$ts" <= :latest_us)) AS "$max_ts",
  sum(("$x0" >> (32 & 63))) AS "$p0",
  sum(("$x0" & 4294967295)) AS "$p1",
  sum("$x1") AS "$p2",
  CASE max(CASE WHEN isnan("$x2") THEN 2 WHEN "$x2" > -CAST('Infinity' AS DOUBLE) THEN 1 WHEN "$x2" IS NOT NULL THEN 0 END)
    WHEN 2 THEN CAST('NaN' AS DOUBLE)
    WHEN 1 THEN max("$x2") + CAST(0 AS DOUBLE)
    WHEN 0 THEN -CAST('Infinity' AS DOUBLE)
  END AS "$p3"
FROM (
  SELECT
    CASE
      WHEN ((("$ts" >= :open_from_us) AND ("$ts" <= :latest_us)) AND ("$failed_values" = 0)) THEN (("$ts" + 62135596810000000) / 10000000)
      WHEN ("$ts" IS NULL) THEN (-6)
      WHEN (("$ts" < (-62135596800000000)) OR ("$ts" > 253402300799999999)) THEN (-12)
      WHEN ("$ts" > :latest_us) THEN (-7)
      WHEN ("$ts" < :open_from_us) THEN (-2)
      ELSE (-"$failed_values")
    END AS "$pane",
    "$ts",
    "$k0",
    "$x0",
    "$x1",
    "$x2"
  FROM (
    SELECT
      CAST("ts" AS BIGINT) AS "$ts",
      coalesce(NULLIF("$t0", 0), NULLIF("$t3", 0), CASE WHEN (("$t6" IS NULL) AND (NOT ("note" IS NULL))) THEN 10 ELSE 0 END) AS "$failed_values",
      "symbol" AS "$k0",
      "$t1" AS "$x0",
      "$t4" AS "$x1",
      "$t6" AS "$x2"
    FROM (
      SELECT
        "$t1",
        "$t4",
        "$t6",
        "note",
        "symbol",
        "ts",
        CASE WHEN ((("$t1" IS NULL) AND (NOT ("qty" IS NULL))) AND (NOT ("$t2" IS NULL))) THEN 12 ELSE 0 END AS "$t0",
        CASE WHEN ((("$t4" IS NULL) AND (NOT ("price" IS NULL))) AND (NOT ("$t5" IS NULL))) THEN 11 ELSE 0 END AS "$t3"
      FROM (
        SELECT
          "$t2",
          "$t5",
          "$t6",
          "note",
          "price",
          "qty",
          "symbol",
          "ts",
          CASE WHEN abs(CAST("qty" AS DOUBLE) * CAST("$t2" AS DOUBLE)) < 9.2e18 THEN "qty" * "$t2" ELSE TRY_CAST(CAST("qty" AS DECIMAL(19, 0)) * CAST("$t2" AS DECIMAL(19, 0)) AS BIGINT) END AS "$t1",
          ("price" / NULLIF("$t5" + 0.0e0, 0.0e0)) AS "$t4"
        FROM (
          SELECT
            "note",
            "price",
            "qty",
            "symbol",
            "ts",
            CAST("small" AS BIGINT) AS "$t2",
            CAST("small" AS DOUBLE) AS "$t5",
            TRY_CAST((regexp_match("note", '^[ \t\n\x0b\f\r]*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])[ \t\n\x0b\f\r]*\z'))[1] AS DOUBLE) AS "$t6"
          FROM "$batch" AS q
        ) AS q
      ) AS q
    ) AS q
  ) AS q
) AS q
GROUP BY "$pane", "$k0"

-- datafusion, branch 0, diverted
SELECT
  *
FROM (
  SELECT
    CASE
      WHEN ((("$ts" >= :open_from_us) AND ("$ts" <= :latest_us)) AND ("$failed_values" = 0)) THEN 0
      WHEN ("$ts" IS NULL) THEN 6
      WHEN (("$ts" < (-62135596800000000)) OR ("$ts" > 253402300799999999)) THEN 12
      WHEN ("$ts" > :latest_us) THEN 7
      WHEN ("$ts" < :open_from_us) THEN 2
      ELSE "$failed_values"
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
      coalesce(NULLIF("$t0", 0), NULLIF("$t2", 0), CASE WHEN ((TRY_CAST((regexp_match("note", '^[ \t\n\x0b\f\r]*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])[ \t\n\x0b\f\r]*\z'))[1] AS DOUBLE) IS NULL) AND (NOT ("note" IS NULL))) THEN 10 ELSE 0 END) AS "$failed_values",
      "symbol" AS "$k0"
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
        CASE WHEN (((CASE WHEN abs(CAST("qty" AS DOUBLE) * CAST("$t1" AS DOUBLE)) < 9.2e18 THEN "qty" * "$t1" ELSE TRY_CAST(CAST("qty" AS DECIMAL(19, 0)) * CAST("$t1" AS DECIMAL(19, 0)) AS BIGINT) END IS NULL) AND (NOT ("qty" IS NULL))) AND (NOT ("$t1" IS NULL))) THEN 12 ELSE 0 END AS "$t0",
        CASE WHEN (((("price" / NULLIF("$t3" + 0.0e0, 0.0e0)) IS NULL) AND (NOT ("price" IS NULL))) AND (NOT ("$t3" IS NULL))) THEN 11 ELSE 0 END AS "$t2"
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
          CAST("small" AS BIGINT) AS "$t1",
          CAST("small" AS DOUBLE) AS "$t3"
        FROM "$batch" AS q
      ) AS q
    ) AS q
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
  sum((`$x0` & 4294967295L)) AS `$p1`,
  sum(`$x1`) AS `$p2`,
  max((`$x2` + CAST(0 AS DOUBLE))) AS `$p3`
FROM (
  SELECT
    CASE
      WHEN (((`$ts` >= :open_from_us) AND (`$ts` <= :latest_us)) AND (`$failed_values` = 0L)) THEN (try_add(`$ts`, 62135596810000000L) DIV 10000000L)
      WHEN (`$ts` IS NULL) THEN (-6L)
      WHEN ((`$ts` < (-62135596800000000L)) OR (`$ts` > 253402300799999999L)) THEN (-12L)
      WHEN (`$ts` > :latest_us) THEN (-7L)
      WHEN (`$ts` < :open_from_us) THEN (-2L)
      ELSE (-`$failed_values`)
    END AS `$pane`,
    `$ts`,
    `$k0`,
    `$x0`,
    `$x1`,
    `$x2`
  FROM (
    SELECT
      unix_micros(`ts`) AS `$ts`,
      coalesce(NULLIF(`$t0`, 0L), NULLIF(`$t3`, 0L), CASE WHEN ((`$t6` IS NULL) AND (NOT (`note` IS NULL))) THEN 10L ELSE 0L END) AS `$failed_values`,
      `symbol` AS `$k0`,
      `$t1` AS `$x0`,
      `$t4` AS `$x1`,
      `$t6` AS `$x2`
    FROM (
      SELECT
        `$t1`,
        `$t4`,
        `$t6`,
        `note`,
        `symbol`,
        `ts`,
        CASE WHEN (((`$t1` IS NULL) AND (NOT (`qty` IS NULL))) AND (NOT (`$t2` IS NULL))) THEN 12L ELSE 0L END AS `$t0`,
        CASE WHEN (((`$t4` IS NULL) AND (NOT (`price` IS NULL))) AND (NOT (`$t5` IS NULL))) THEN 11L ELSE 0L END AS `$t3`
      FROM (
        SELECT
          `$t2`,
          `$t5`,
          `$t6`,
          `note`,
          `price`,
          `qty`,
          `symbol`,
          `ts`,
          try_multiply(`qty`, `$t2`) AS `$t1`,
          try_divide(`price`, `$t5`) AS `$t4`
        FROM (
          SELECT
            `note`,
            `price`,
            `qty`,
            `symbol`,
            `ts`,
            CAST(`small` AS BIGINT) AS `$t2`,
            CAST(`small` AS DOUBLE) AS `$t5`,
            TRY_CAST(regexp_extract(`note`, '^[ \u005ct\u005cn\u005cx0b\u005cf\u005cr]*([+-]?(?:[0-9]+(?:\u005c.[0-9]*)?|\u005c.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])[ \u005ct\u005cn\u005cx0b\u005cf\u005cr]*\u005cz', 1) AS DOUBLE) AS `$t6`
          FROM `$batch` AS q
        ) AS q
      ) AS q
    ) AS q
  ) AS q
) AS q
GROUP BY `$k0`, `$pane`

-- spark, branch 0, diverted
SELECT
  *
FROM (
  SELECT
    CASE
      WHEN (((`$ts` >= :open_from_us) AND (`$ts` <= :latest_us)) AND (`$failed_values` = 0L)) THEN 0L
      WHEN (`$ts` IS NULL) THEN 6L
      WHEN ((`$ts` < (-62135596800000000L)) OR (`$ts` > 253402300799999999L)) THEN 12L
      WHEN (`$ts` > :latest_us) THEN 7L
      WHEN (`$ts` < :open_from_us) THEN 2L
      ELSE `$failed_values`
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
      coalesce(NULLIF(`$t0`, 0L), NULLIF(`$t2`, 0L), CASE WHEN ((TRY_CAST(regexp_extract(`note`, '^[ \u005ct\u005cn\u005cx0b\u005cf\u005cr]*([+-]?(?:[0-9]+(?:\u005c.[0-9]*)?|\u005c.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])[ \u005ct\u005cn\u005cx0b\u005cf\u005cr]*\u005cz', 1) AS DOUBLE) IS NULL) AND (NOT (`note` IS NULL))) THEN 10L ELSE 0L END) AS `$failed_values`,
      `symbol` AS `$k0`
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
        CASE WHEN (((try_multiply(`qty`, `$t1`) IS NULL) AND (NOT (`qty` IS NULL))) AND (NOT (`$t1` IS NULL))) THEN 12L ELSE 0L END AS `$t0`,
        CASE WHEN (((try_divide(`price`, `$t3`) IS NULL) AND (NOT (`price` IS NULL))) AND (NOT (`$t3` IS NULL))) THEN 11L ELSE 0L END AS `$t2`
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
          CAST(`small` AS BIGINT) AS `$t1`,
          CAST(`small` AS DOUBLE) AS `$t3`
        FROM `$batch` AS q
      ) AS q
    ) AS q
  ) AS q
) AS q
WHERE (`$code` > 1L)
