-- SELECT k, COUNT(*), FIRST_VALUE(v) FROM feed WHERE v > 0 GROUP BY k, tumblingwindow('ss', 10)

-- datafusion, branch 0, main
SELECT
  "$pane",
  "$k0",
  count(*) AS "$rows",
  max("$ts") FILTER (WHERE ((NOT "$stamped") AND ("$ts" <= :latest_us))) AS "$max_ts",
  count(*) FILTER (WHERE "$stamped") AS "$stamped_rows",
  count(*) AS "$p0",
  min("$ts") FILTER (WHERE ((NOT ("$x0" IS NULL)) AND (NOT ("$ts" IS NULL)))) AS "$p1",
  first_value("$x0" ORDER BY "$ts" ASC, (nanvl("$x0", CAST('NaN' AS DOUBLE)) + 0.0e0) ASC) FILTER (WHERE ((NOT ("$x0" IS NULL)) AND (NOT ("$ts" IS NULL)))) AS "$p2"
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
    "$stamped",
    "$k0",
    "$x0"
  FROM (
    SELECT
      CAST(coalesce("$t0", "received_at", :clock_us) AS BIGINT) AS "$ts",
      (coalesce("$t0", "received_at") IS NULL) AS "$stamped",
      ((nanvl("v", CAST('NaN' AS DOUBLE)) + 0.0e0) > 0.0e0) AS "$keep",
      "k" AS "$k0",
      "v" AS "$x0"
    FROM (
      SELECT
        "k",
        "received_at",
        "v",
        to_timestamp_micros((NULLIF(NULLIF(GREATEST(LEAST("millis", 253402300800000), -62135596800001), 253402300800000), -62135596800001) * 1000)) AS "$t0"
      FROM "$batch" AS q
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
      WHEN ((("$ts" >= :open_from_us) AND ("$ts" <= :latest_us)) AND "$keep") THEN 0
      WHEN ("$keep" IS DISTINCT FROM TRUE) THEN 1
      WHEN ("$ts" IS NULL) THEN 6
      WHEN (("$ts" < (-62135596800000000)) OR ("$ts" > 253402300799999999)) THEN 12
      WHEN ("$ts" > :latest_us) THEN 7
      ELSE 2
    END AS "$code",
    "$ts",
    "$k0",
    "k",
    "millis",
    "v",
    "received_at"
  FROM (
    SELECT
      "k",
      "millis",
      "v",
      "received_at",
      CAST(coalesce("$t0", "received_at", :clock_us) AS BIGINT) AS "$ts",
      (coalesce("$t0", "received_at") IS NULL) AS "$stamped",
      ((nanvl("v", CAST('NaN' AS DOUBLE)) + 0.0e0) > 0.0e0) AS "$keep",
      "k" AS "$k0"
    FROM (
      SELECT
        "k",
        "millis",
        "received_at",
        "v",
        to_timestamp_micros((NULLIF(NULLIF(GREATEST(LEAST("millis", 253402300800000), -62135596800001), 253402300800000), -62135596800001) * 1000)) AS "$t0"
      FROM "$batch" AS q
    ) AS q
  ) AS q
) AS q
WHERE ("$code" > 1)

-- spark, branch 0, main
SELECT
  `$pane`,
  `$k0`,
  count(*) AS `$rows`,
  max(`$ts`) FILTER (WHERE ((NOT `$stamped`) AND (`$ts` <= :latest_us))) AS `$max_ts`,
  count(*) FILTER (WHERE `$stamped`) AS `$stamped_rows`,
  count(*) AS `$p0`,
  min(`$ts`) FILTER (WHERE ((NOT (`$x0` IS NULL)) AND (NOT (`$ts` IS NULL)))) AS `$p1`,
  (min(named_struct('k', `$ts`, 'v', (`$x0` + CAST(0 AS DOUBLE)))) FILTER (WHERE ((NOT (`$x0` IS NULL)) AND (NOT (`$ts` IS NULL))))).v AS `$p2`
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
    `$stamped`,
    `$k0`,
    `$x0`
  FROM (
    SELECT
      unix_micros(coalesce(`$t0`, `received_at`, :clock_us)) AS `$ts`,
      (coalesce(`$t0`, `received_at`) IS NULL) AS `$stamped`,
      (`v` > 0.0e0) AS `$keep`,
      `k` AS `$k0`,
      `v` AS `$x0`
    FROM (
      SELECT
        `k`,
        `received_at`,
        `v`,
        timestamp_micros((NULLIF(NULLIF(GREATEST(LEAST(`millis`, 253402300800000), -62135596800001), 253402300800000), -62135596800001) * 1000L)) AS `$t0`
      FROM `$batch` AS q
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
      WHEN (((`$ts` >= :open_from_us) AND (`$ts` <= :latest_us)) AND `$keep`) THEN 0L
      WHEN (NOT (`$keep` <=> TRUE)) THEN 1L
      WHEN (`$ts` IS NULL) THEN 6L
      WHEN ((`$ts` < (-62135596800000000L)) OR (`$ts` > 253402300799999999L)) THEN 12L
      WHEN (`$ts` > :latest_us) THEN 7L
      ELSE 2L
    END AS `$code`,
    `$ts`,
    `$k0`,
    `k`,
    `millis`,
    `v`,
    `received_at`
  FROM (
    SELECT
      `k`,
      `millis`,
      `v`,
      `received_at`,
      unix_micros(coalesce(`$t0`, `received_at`, :clock_us)) AS `$ts`,
      (coalesce(`$t0`, `received_at`) IS NULL) AS `$stamped`,
      (`v` > 0.0e0) AS `$keep`,
      `k` AS `$k0`
    FROM (
      SELECT
        `k`,
        `millis`,
        `received_at`,
        `v`,
        timestamp_micros((NULLIF(NULLIF(GREATEST(LEAST(`millis`, 253402300800000), -62135596800001), 253402300800000), -62135596800001) * 1000L)) AS `$t0`
      FROM `$batch` AS q
    ) AS q
  ) AS q
) AS q
WHERE (`$code` > 1L)
