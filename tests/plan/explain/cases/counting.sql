SELECT symbol, AVG(price) AS mean FROM trades GROUP BY symbol, countwindow(100, 10);
