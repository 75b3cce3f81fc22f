-- No aggregates: a window's rows are emitted when it closes.
SELECT symbol, price, window_start FROM trades GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE);
