-- State on the driver, by the configuration.
SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol;
