-- SELECT s.sector, SUM(t.qty * s.lot), COUNT(s.lot) FROM trades t JOIN symbols s ON t.symbol = s.symbol WHERE s.lot > 2 AND t.price > 0 GROUP BY s.sector, TUMBLE(t.ts, INTERVAL '10' SECOND)

-- datafusion, branch 0, main
SELECT
  "$pane",
  "$k0",
  count(*) AS "$rows",
  max("$ts") FILTER (WHERE ("$ts" <= :latest_us)) AS "$max_ts",
  sum(("$x0" >> (32 & 63))) AS "$p0",
  sum(("$x0" & 4294967295)) AS "$p1",
  count("$x1") AS "$p2"
FROM (
  SELECT
    CASE
      WHEN (((("$ts" >= :open_from_us) AND ("$ts" <= :latest_us)) AND "$keep") AND ("$failed_values" = 0)) THEN (("$ts" + 62135596810000000) / 10000000)
      WHEN ("$keep" IS DISTINCT FROM TRUE) THEN (-1)
      WHEN ("$ts" IS NULL) THEN (-6)
      WHEN (("$ts" < (-62135596800000000)) OR ("$ts" > 253402300799999999)) THEN (-12)
      WHEN ("$ts" > :latest_us) THEN (-7)
      WHEN ("$ts" < :open_from_us) THEN (-2)
      ELSE (-"$failed_values")
    END AS "$pane",
    "$ts",
    "$k0",
    "$x0",
    "$x1"
  FROM (
    SELECT
      CAST("t.ts" AS BIGINT) AS "$ts",
      ((NOT ("$matched0" IS NULL)) AND ((nanvl("t.price", CAST('NaN' AS DOUBLE)) + 0.0e0) > 0.0e0)) AS "$keep",
      CASE WHEN ((("$t0" IS NULL) AND (NOT ("t.qty" IS NULL))) AND (NOT ("s.lot" IS NULL))) THEN 12 ELSE 0 END AS "$failed_values",
      "s.sector" AS "$k0",
      "$t0" AS "$x0",
      "s.lot" AS "$x1"
    FROM (
      SELECT
        "$matched0",
        "s.lot",
        "s.sector",
        "t.price",
        "t.qty",
        "t.ts",
        CASE WHEN abs(CAST("t.qty" AS DOUBLE) * CAST("s.lot" AS DOUBLE)) < 9.2e18 THEN "t.qty" * "s.lot" ELSE TRY_CAST(CAST("t.qty" AS DECIMAL(19, 0)) * CAST("s.lot" AS DECIMAL(19, 0)) AS BIGINT) END AS "$t0"
      FROM (
        SELECT
          "symbol" AS "t.symbol",
          "price" AS "t.price",
          "qty" AS "t.qty",
          "ts" AS "t.ts"
        FROM "$batch"
      ) AS q
      LEFT JOIN (
        SELECT
          "s.symbol",
          "s.sector",
          "s.lot",
          TRUE AS "$matched0"
        FROM (
          SELECT
            "symbol" AS "s.symbol",
            "sector" AS "s.sector",
            "lot" AS "s.lot"
          FROM "symbols"
        ) AS q
        WHERE ("s.lot" > 2)
      ) AS r
        ON ("t.symbol" = "s.symbol")
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
      WHEN (((("$ts" >= :open_from_us) AND ("$ts" <= :latest_us)) AND "$keep") AND ("$failed_values" = 0)) THEN 0
      WHEN ("$keep" IS DISTINCT FROM TRUE) THEN 1
      WHEN ("$ts" IS NULL) THEN 6
      WHEN (("$ts" < (-62135596800000000)) OR ("$ts" > 253402300799999999)) THEN 12
      WHEN ("$ts" > :latest_us) THEN 7
      WHEN ("$ts" < :open_from_us) THEN 2
      ELSE "$failed_values"
    END AS "$code",
    "$ts",
    "$k0",
    "t.symbol" AS "symbol",
    "t.price" AS "price",
    "t.ratio" AS "ratio",
    "t.qty" AS "qty",
    "t.small" AS "small",
    "t.tiny" AS "tiny",
    "t.amount" AS "amount",
    "t.coin" AS "coin",
    "t.vast" AS "vast",
    "t.ok" AS "ok",
    "t.day" AS "day",
    "t.raw" AS "raw",
    "t.note" AS "note",
    "t.tags" AS "tags",
    "t.at" AS "at",
    "t.ts" AS "ts"
  FROM (
    SELECT
      "t.symbol",
      "t.price",
      "t.ratio",
      "t.qty",
      "t.small",
      "t.tiny",
      "t.amount",
      "t.coin",
      "t.vast",
      "t.ok",
      "t.day",
      "t.raw",
      "t.note",
      "t.tags",
      "t.at",
      "t.ts",
      CAST("t.ts" AS BIGINT) AS "$ts",
      ((NOT ("$matched0" IS NULL)) AND ((nanvl("t.price", CAST('NaN' AS DOUBLE)) + 0.0e0) > 0.0e0)) AS "$keep",
      CASE WHEN (((CASE WHEN abs(CAST("t.qty" AS DOUBLE) * CAST("s.lot" AS DOUBLE)) < 9.2e18 THEN "t.qty" * "s.lot" ELSE TRY_CAST(CAST("t.qty" AS DECIMAL(19, 0)) * CAST("s.lot" AS DECIMAL(19, 0)) AS BIGINT) END IS NULL) AND (NOT ("t.qty" IS NULL))) AND (NOT ("s.lot" IS NULL))) THEN 12 ELSE 0 END AS "$failed_values",
      "s.sector" AS "$k0"
    FROM (
      SELECT
        "symbol" AS "t.symbol",
        "price" AS "t.price",
        "ratio" AS "t.ratio",
        "qty" AS "t.qty",
        "small" AS "t.small",
        "tiny" AS "t.tiny",
        "amount" AS "t.amount",
        "coin" AS "t.coin",
        "vast" AS "t.vast",
        "ok" AS "t.ok",
        "day" AS "t.day",
        "raw" AS "t.raw",
        "note" AS "t.note",
        "tags" AS "t.tags",
        "at" AS "t.at",
        "ts" AS "t.ts"
      FROM "$batch"
    ) AS q
    LEFT JOIN (
      SELECT
        "s.symbol",
        "s.sector",
        "s.lot",
        TRUE AS "$matched0"
      FROM (
        SELECT
          "symbol" AS "s.symbol",
          "sector" AS "s.sector",
          "lot" AS "s.lot"
        FROM "symbols"
      ) AS q
      WHERE ("s.lot" > 2)
    ) AS r
      ON ("t.symbol" = "s.symbol")
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
  count(`$x1`) AS `$p2`
FROM (
  SELECT
    CASE
      WHEN ((((`$ts` >= :open_from_us) AND (`$ts` <= :latest_us)) AND `$keep`) AND (`$failed_values` = 0L)) THEN (try_add(`$ts`, 62135596810000000L) DIV 10000000L)
      WHEN (NOT (`$keep` <=> TRUE)) THEN (-1L)
      WHEN (`$ts` IS NULL) THEN (-6L)
      WHEN ((`$ts` < (-62135596800000000L)) OR (`$ts` > 253402300799999999L)) THEN (-12L)
      WHEN (`$ts` > :latest_us) THEN (-7L)
      WHEN (`$ts` < :open_from_us) THEN (-2L)
      ELSE (-`$failed_values`)
    END AS `$pane`,
    `$ts`,
    `$k0`,
    `$x0`,
    `$x1`
  FROM (
    SELECT
      unix_micros(`t.ts`) AS `$ts`,
      ((NOT (`$matched0` IS NULL)) AND (`t.price` > 0.0e0)) AS `$keep`,
      CASE WHEN (((`$t0` IS NULL) AND (NOT (`t.qty` IS NULL))) AND (NOT (`s.lot` IS NULL))) THEN 12L ELSE 0L END AS `$failed_values`,
      `s.sector` AS `$k0`,
      `$t0` AS `$x0`,
      `s.lot` AS `$x1`
    FROM (
      SELECT
        `$matched0`,
        `s.lot`,
        `s.sector`,
        `t.price`,
        `t.qty`,
        `t.ts`,
        try_multiply(`t.qty`, `s.lot`) AS `$t0`
      FROM (
        SELECT
          `symbol` AS `t.symbol`,
          `price` AS `t.price`,
          `qty` AS `t.qty`,
          `ts` AS `t.ts`
        FROM `$batch`
      ) AS q
      LEFT JOIN (
        SELECT
          `s.symbol`,
          `s.sector`,
          `s.lot`,
          TRUE AS `$matched0`
        FROM (
          SELECT
            `symbol` AS `s.symbol`,
            `sector` AS `s.sector`,
            `lot` AS `s.lot`
          FROM `symbols`
        ) AS q
        WHERE (`s.lot` > 2L)
      ) AS r
        ON (`t.symbol` = `s.symbol`)
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
      WHEN ((((`$ts` >= :open_from_us) AND (`$ts` <= :latest_us)) AND `$keep`) AND (`$failed_values` = 0L)) THEN 0L
      WHEN (NOT (`$keep` <=> TRUE)) THEN 1L
      WHEN (`$ts` IS NULL) THEN 6L
      WHEN ((`$ts` < (-62135596800000000L)) OR (`$ts` > 253402300799999999L)) THEN 12L
      WHEN (`$ts` > :latest_us) THEN 7L
      WHEN (`$ts` < :open_from_us) THEN 2L
      ELSE `$failed_values`
    END AS `$code`,
    `$ts`,
    `$k0`,
    `t.symbol` AS `symbol`,
    `t.price` AS `price`,
    `t.ratio` AS `ratio`,
    `t.qty` AS `qty`,
    `t.small` AS `small`,
    `t.tiny` AS `tiny`,
    `t.amount` AS `amount`,
    `t.coin` AS `coin`,
    `t.vast` AS `vast`,
    `t.ok` AS `ok`,
    `t.day` AS `day`,
    `t.raw` AS `raw`,
    `t.note` AS `note`,
    `t.tags` AS `tags`,
    `t.at` AS `at`,
    `t.ts` AS `ts`
  FROM (
    SELECT
      `t.symbol`,
      `t.price`,
      `t.ratio`,
      `t.qty`,
      `t.small`,
      `t.tiny`,
      `t.amount`,
      `t.coin`,
      `t.vast`,
      `t.ok`,
      `t.day`,
      `t.raw`,
      `t.note`,
      `t.tags`,
      `t.at`,
      `t.ts`,
      unix_micros(`t.ts`) AS `$ts`,
      ((NOT (`$matched0` IS NULL)) AND (`t.price` > 0.0e0)) AS `$keep`,
      CASE WHEN (((try_multiply(`t.qty`, `s.lot`) IS NULL) AND (NOT (`t.qty` IS NULL))) AND (NOT (`s.lot` IS NULL))) THEN 12L ELSE 0L END AS `$failed_values`,
      `s.sector` AS `$k0`
    FROM (
      SELECT
        `symbol` AS `t.symbol`,
        `price` AS `t.price`,
        `ratio` AS `t.ratio`,
        `qty` AS `t.qty`,
        `small` AS `t.small`,
        `tiny` AS `t.tiny`,
        `amount` AS `t.amount`,
        `coin` AS `t.coin`,
        `vast` AS `t.vast`,
        `ok` AS `t.ok`,
        `day` AS `t.day`,
        `raw` AS `t.raw`,
        `note` AS `t.note`,
        `tags` AS `t.tags`,
        `at` AS `t.at`,
        `ts` AS `t.ts`
      FROM `$batch`
    ) AS q
    LEFT JOIN (
      SELECT
        `s.symbol`,
        `s.sector`,
        `s.lot`,
        TRUE AS `$matched0`
      FROM (
        SELECT
          `symbol` AS `s.symbol`,
          `sector` AS `s.sector`,
          `lot` AS `s.lot`
        FROM `symbols`
      ) AS q
      WHERE (`s.lot` > 2L)
    ) AS r
      ON (`t.symbol` = `s.symbol`)
  ) AS q
) AS q
WHERE (`$code` > 1L)
