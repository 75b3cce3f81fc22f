SELECT symbol, price * qty AS value, UPPER(symbol) AS name FROM trades WHERE price / qty > 2 OR symbol LIKE 'A%';
