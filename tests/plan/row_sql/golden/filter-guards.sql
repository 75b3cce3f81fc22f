-- SELECT SUM(qty DIV small) FILTER (WHERE small <> 0), MAX(qty % small) FILTER (WHERE small > 0 AND ok), COUNT(*) FILTER (WHERE ok) FROM trades GROUP BY symbol, TUMBLE(ts, INTERVAL '10' SECOND)

-- datafusion, branch 0, main
SELECT
  "$pane",
  "$k0",
  count(*) AS "$rows",
  max("$ts") FILTER (WHERE ("$ts" <= :latest_us)) AS "$max_ts",
  sum(("$x0" >> (32 & 63))) FILTER (WHERE "$x1") AS "$p0",
  sum(("$x0" & 4294967295)) FILTER (WHERE "$x1") AS "$p1",
  max("$x2") FILTER (WHERE "$x3") AS "$p2",
  count(*) FILTER (WHERE "$x4") AS "$p3"
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
    "$x2",
    "$x3",
    "$x4"
  FROM (
    SELECT
      CAST("ts" AS BIGINT) AS "$ts",
      coalesce(NULLIF("$t0", 0), CASE WHEN "$t6" THEN CASE WHEN ((("$t7" IS NULL) AND "$t4") AND "$t5") THEN 11 ELSE 0 END ELSE 0 END) AS "$failed_values",
      "symbol" AS "$k0",
      "$t3" AS "$x0",
      "$t1" AS "$x1",
      "$t7" AS "$x2",
      "$t6" AS "$x3",
      "ok" AS "$x4"
    FROM (
      SELECT
        "$t1",
        "$t3",
        "$t4",
        "$t5",
        "$t6",
        "$t7",
        "ok",
        "symbol",
        "ts",
        CASE WHEN "$t1" THEN CASE WHEN ((("$t3" IS NULL) AND "$t4") AND "$t5") THEN 11 ELSE 0 END ELSE 0 END AS "$t0"
      FROM (
        SELECT
          "$t4",
          "ok",
          "symbol",
          "ts",
          ("$t2" <> 0) AS "$t1",
          CASE WHEN "$t2" = -1 THEN 0 - NULLIF("qty", (-9223372036854775807 - 1)) ELSE "qty" / NULLIF(NULLIF("$t2", 0), -1) END AS "$t3",
          (NOT ("$t2" IS NULL)) AS "$t5",
          (("$t2" > 0) AND "ok") AS "$t6",
          ("qty" % NULLIF("$t2", 0)) AS "$t7"
        FROM (
          SELECT
            "ok",
            "qty",
            "symbol",
            "ts",
            CAST("small" AS BIGINT) AS "$t2",
            (NOT ("qty" IS NULL)) AS "$t4"
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
      coalesce(NULLIF("$t0", 0), CASE WHEN (("$t1" > 0) AND "ok") THEN CASE WHEN (((("qty" % NULLIF("$t1", 0)) IS NULL) AND "$t2") AND "$t3") THEN 11 ELSE 0 END ELSE 0 END) AS "$failed_values",
      "symbol" AS "$k0"
    FROM (
      SELECT
        "$t1",
        "$t2",
        "$t3",
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
        CASE WHEN ("$t1" <> 0) THEN CASE WHEN (((CASE WHEN "$t1" = -1 THEN 0 - NULLIF("qty", (-9223372036854775807 - 1)) ELSE "qty" / NULLIF(NULLIF("$t1", 0), -1) END IS NULL) AND "$t2") AND "$t3") THEN 11 ELSE 0 END ELSE 0 END AS "$t0"
      FROM (
        SELECT
          "$t1",
          "$t2",
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
          (NOT ("$t1" IS NULL)) AS "$t3"
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
            (NOT ("qty" IS NULL)) AS "$t2"
          FROM "$batch" AS q
        ) AS q
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
  sum(shiftright(`$x0`, CAST(32L & 63L AS INT))) FILTER (WHERE `$x1`) AS `$p0`,
  sum((`$x0` & 4294967295L)) FILTER (WHERE `$x1`) AS `$p1`,
  max(`$x2`) FILTER (WHERE `$x3`) AS `$p2`,
  count(*) FILTER (WHERE `$x4`) AS `$p3`
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
    `$x2`,
    `$x3`,
    `$x4`
  FROM (
    SELECT
      unix_micros(`ts`) AS `$ts`,
      coalesce(NULLIF(`$t0`, 0L), CASE WHEN `$t6` THEN CASE WHEN (((`$t7` IS NULL) AND `$t4`) AND `$t5`) THEN 11L ELSE 0L END ELSE 0L END) AS `$failed_values`,
      `symbol` AS `$k0`,
      `$t3` AS `$x0`,
      `$t1` AS `$x1`,
      `$t7` AS `$x2`,
      `$t6` AS `$x3`,
      `ok` AS `$x4`
    FROM (
      SELECT
        `$t1`,
        `$t3`,
        `$t4`,
        `$t5`,
        `$t6`,
        `$t7`,
        `ok`,
        `symbol`,
        `ts`,
        CASE WHEN `$t1` THEN CASE WHEN (((`$t3` IS NULL) AND `$t4`) AND `$t5`) THEN 11L ELSE 0L END ELSE 0L END AS `$t0`
      FROM (
        SELECT
          `$t4`,
          `ok`,
          `symbol`,
          `ts`,
          (`$t2` <> 0L) AS `$t1`,
          CASE WHEN `$t2` = -1 THEN try_subtract(0L, `qty`) ELSE `qty` DIV NULLIF(NULLIF(`$t2`, 0L), -1L) END AS `$t3`,
          (NOT (`$t2` IS NULL)) AS `$t5`,
          ((`$t2` > 0L) AND `ok`) AS `$t6`,
          try_mod(`qty`, `$t2`) AS `$t7`
        FROM (
          SELECT
            `ok`,
            `qty`,
            `symbol`,
            `ts`,
            CAST(`small` AS BIGINT) AS `$t2`,
            (NOT (`qty` IS NULL)) AS `$t4`
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
      coalesce(NULLIF(`$t0`, 0L), CASE WHEN ((`$t1` > 0L) AND `ok`) THEN CASE WHEN (((try_mod(`qty`, `$t1`) IS NULL) AND `$t2`) AND `$t3`) THEN 11L ELSE 0L END ELSE 0L END) AS `$failed_values`,
      `symbol` AS `$k0`
    FROM (
      SELECT
        `$t1`,
        `$t2`,
        `$t3`,
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
        CASE WHEN (`$t1` <> 0L) THEN CASE WHEN (((CASE WHEN `$t1` = -1 THEN try_subtract(0L, `qty`) ELSE `qty` DIV NULLIF(NULLIF(`$t1`, 0L), -1L) END IS NULL) AND `$t2`) AND `$t3`) THEN 11L ELSE 0L END ELSE 0L END AS `$t0`
      FROM (
        SELECT
          `$t1`,
          `$t2`,
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
          (NOT (`$t1` IS NULL)) AS `$t3`
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
            (NOT (`qty` IS NULL)) AS `$t2`
          FROM `$batch` AS q
        ) AS q
      ) AS q
    ) AS q
  ) AS q
) AS q
WHERE (`$code` > 1L)
