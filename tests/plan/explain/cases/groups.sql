-- No window: upsert by group.
SELECT symbol, sum(amount) AS total FROM trades GROUP BY symbol;
