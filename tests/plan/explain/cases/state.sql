SELECT COUNT(*) AS n, MAX(price) AS high FROM trades GROUP BY statewindow(price > 100, price < 90);
