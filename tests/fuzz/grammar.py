"""Scripts that are mostly valid, from a grammar of every statement and clause.

`GRAMMAR` is the whole of it: a name stands for one of its alternatives, separated by lines or ` | `; `{name}` is
expanded in turn. The first alternative of each name leads to an end, and is taken where the text has become deep.
"""

import re

from hypothesis import strategies as st

_RULES = r"""
script    = {prelude}{select};
            {prelude}{statement}; {statement};
            {prelude}{statement}; {statement}; {statement}; {select};
prelude   = CREATE SOURCE trades (symbol VARCHAR NOT NULL, price DOUBLE, qty BIGINT, tags ARRAY<VARCHAR>,
            . place STRUCT<x INT>, ok BOOLEAN, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
            . CREATE TABLE symbols (symbol VARCHAR, sector VARCHAR) WITH (connector = 'file', path = 'symbols.csv');
            . CREATE STREAM s1 AS SELECT symbol, qty AS x, ts FROM trades;
statement = {select}
            CREATE {replace}SOURCE {exists}{name} ({columns}{watermark}){connector}
            CREATE {replace}TABLE {exists}{name} ({columns}) WITH (connector = 'file', path = 'x.csv')
            CREATE {replace}STREAM {exists}{name} {with}AS {select}
            CREATE {replace}MATERIALIZED VIEW {name} AS {select}
            CREATE {replace}SINK {exists}{name} FROM {relation} WITH (connector = 'file', path = 'out/', format = 'csv')
            INSERT INTO trades {into}VALUES {rows}
            DROP {kind} {ifexists}{name}
            SHOW SOURCES | SHOW STREAMS | SHOW SINKS | SHOW TABLES | SHOW CREATE {kind} {name}
            DESCRIBE {relation} | SET {option} | EXPLAIN {level}{format}{select} | EXPLAIN {level}{relation}
replace   = | OR REPLACE
exists    = | IF NOT EXISTS
ifexists  = | IF EXISTS
kind      = STREAM | SOURCE | SINK | TABLE
level     = | LOGICAL | PHYSICAL | ANALYZE
format    = | FORMAT TEXT | FORMAT JSON
name      = s2 | s3 | s1 | trades | "Quoted name" | `select` | end | window | ключ
relation  = trades | s1 | trades | s1 | symbols | s2
columns   = a BIGINT | {column} | {column}, b {type} | a BIGINT, {column}, c AS {scalar}
column    = a {type} | a {type} NOT NULL | t AS PROCTIME() | ts AS TO_TIMESTAMP_MS(a) | ts TIMESTAMP
type      = BIGINT | DOUBLE | VARCHAR | DECIMAL(10, 2) | ARRAY<{type}> | MAP<VARCHAR, {type}>
            STRUCT<x {type}, y INT>
            TIMESTAMP | DATE | BOOLEAN | BYTES | VARCHAR(10) | TINYINT | INT[]
watermark = | , WATERMARK FOR ts | , WATERMARK FOR ts AS ts - {interval}
connector = | {with} | WITH (connector = 'kafka', topic = 't', 'bootstrap.servers' = 'x:1', format = 'json')
with      = | WITH ({option}) | WITH ({option}, {option})
option    = max_groups = 10 | allowed_lateness = '5s' | watermark_lag = {interval} | idle_timeout = '1m'
            a.b = -1e3 | x = TRUE
into      = | (symbol, qty) | (ts) | (ok, price, symbol)
rows      = ('A', 1) | ({scalar}, {scalar}) | (TIMESTAMP '2026-01-01 00:00:00')
            (NULL, -1.5e3, 'it''s'), (TRUE, .5, '')
select    = SELECT {items} FROM {from}{where}{group}{having}{order}{tail}
            SELECT {items} FROM {from}{where} WINDOW {clause}{tail}
            WITH {cte} SELECT {items} FROM w{where}{group}{tail}
            {select} UNION ALL {select}
            ({select})
            SELECT {items}, {aggregate} OVER ({partition}ORDER BY ts RANGE
            . BETWEEN {interval} PRECEDING AND CURRENT ROW) AS o FROM trades
cte       = w AS ({select}) | w AS ({select}), v AS (SELECT * FROM w)
items     = * | {item} | {item}, {item} | {item}, {aggregate} AS n, window_start, window_end | DISTINCT {item}
            {item}, *
item      = symbol | {scalar} AS x | {number} AS y | {aggregate} AS n | TUMBLE_END(ts, {size}) | window.end AS e
            {scalar}
from      = trades | trades t | s1 | trades AS t JOIN symbols s ON t.symbol = s.symbol
            (SELECT {items} FROM {from}{where}{group}) AS q
            TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), {size})) | HOP(trades, ts, {slide}, {size})
            TABLE(SESSION(TABLE trades PARTITION BY symbol, DESCRIPTOR(ts), {size}))
            trades LEFT JOIN symbols USING (symbol)
            CUMULATE(trades, ts, {slide}, {size})
            TABLE(TUMBLE(DATA => TABLE trades, TIMECOL => DESCRIPTOR(ts), SIZE => {size}))
            (SELECT * FROM trades UNION ALL SELECT * FROM trades)
where     = | WHERE {condition} | WHERE {condition} | WHERE {scalar}
group     = | GROUP BY symbol, {window} | GROUP BY {window} | GROUP BY window_start, window_end, symbol
            GROUP BY symbol, ok, {window} | GROUP BY symbol
window    = TUMBLE(ts, {size}) | HOP(ts, {slide}, {size}) | CUMULATE(ts, {slide}, {size})
            SESSION(ts, {size})
            HOP(ts, SIZE => {size}, SLIDE => {slide}) | tumblingwindow('ss', 10)
            hoppingwindow('ss', 10, 5)
            sessionwindow('mi', 10) | slidingwindow('ss', 10, 5) | countwindow(5) | statewindow(ok, NOT ok)
            window(ts, '10 minutes')
            session_window(ts, '5 minutes') | window(ts, '10 minutes', '5 minutes')
            TUMBLE(ts, {size}, {interval})
clause    = TUMBLING (SIZE {size}) | HOPPING (SIZE {size} SLIDE {slide} ON ts)
            SESSION (GAP {interval}) ON ts WATERMARK({interval})
having    = | HAVING {aggregate} > 10 | HAVING {condition}
order     = | ORDER BY {item} DESC LIMIT 3 | ORDER BY 1 NULLS FIRST LIMIT 10
tail      = | {emit} | {lateness} | {lateness} {emit} | LATE DATA TO late {emit} | {emit} {with}
emit      = EMIT ON WINDOW CLOSE | EMIT AFTER WATERMARK | EMIT ON UPDATE | EMIT EVERY {interval}
            EMIT CHANGES | EMIT FINAL | EMIT EVERY '5s'
lateness  = ALLOWED LATENESS {interval} | ALLOW LATENESS {interval} | ALLOWED LATENESS '10s'
slide     = INTERVAL '5' SECOND | INTERVAL '1' MINUTE
size      = INTERVAL '10' MINUTE | INTERVAL '1' MINUTE | INTERVAL '1 hour 30 minutes' | {interval}
interval  = INTERVAL '5' SECOND | INTERVAL '1' MINUTE | INTERVAL '1 hour 30 minutes' | INTERVAL 10 MINUTES
            INTERVAL '1:30' MINUTE TO SECOND
            INTERVAL '0' SECOND | INTERVAL '1' MONTH | INTERVAL -'5' SECOND | '5s'
partition = | PARTITION BY symbol
aggregate = COUNT(*) | SUM({number}) | AVG(price) | COUNT(DISTINCT symbol)
            MIN(ts) FILTER (WHERE {condition}) | ARG_MAX(symbol, ts)
            PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY price) | ARRAY_AGG(symbol ORDER BY ts DESC)
            STRING_AGG(symbol, ',') | STDDEV(price)
condition = ok | {number} > {number} | {condition} AND {condition} | {condition} OR {condition}
            NOT {condition} | {scalar} IS NOT NULL
            {number} BETWEEN {number} AND {number} | symbol IN ('A', 'B') | symbol LIKE 'A%'
            {scalar} IS DISTINCT FROM {scalar} | ({condition})
number    = qty | price | 1 | {number} + {number} | ({number}) | ABS({number}) | {scalar}
scalar    = price | qty | symbol | 1 | 'text' | {number} + {number} | {number} * {number} | -{number}
            ({scalar}) | {number} / {number}
            CAST({scalar} AS {type}) | TRY_CAST({scalar} AS {type}) | {scalar}::{type}
            CASE WHEN {condition} THEN {scalar} ELSE NULL END
            UPPER(symbol) | COALESCE({scalar}, NULL) | tags[1] | place.x | EXTRACT(HOUR FROM ts)
            ts + {interval} | {scalar} || 'x'
            SUBSTRING(symbol FROM 1 FOR 2) | TRIM(symbol) | {number} DIV 2 | {number} % 3 | NULL | TRUE
            1.5e-3 | DATE '2026-01-01' | x'ff'
            CASE qty WHEN 1 THEN {scalar} END | ARRAY[1, {number}] | POSITION('a' IN symbol)
            IF({condition}, {scalar}, NULL) | {condition}
"""
_DEEP = 7
_HOLE = re.compile(r"\{(\w+)\}")


def _alternatives() -> dict[str, list[str]]:
    grammar: dict[str, list[str]] = {}
    name = ""
    for line in _RULES.strip("\n").splitlines():
        named, equals, text = line.partition("= ")
        if equals and not line.startswith(" "):
            name = named.strip()
            grammar[name] = []
        else:
            text = line.strip()
        if text.startswith(". "):
            grammar[name][-1] += text[1:]
        else:
            grammar[name] += [part.strip() for part in re.split(r"(?:^| )\| ", text)]
    return {name: [f"{text} " if text else "" for text in parts] for name, parts in grammar.items()}


GRAMMAR = _alternatives()


def _expand(draw: st.DrawFn, name: str, depth: int) -> str:
    choices = GRAMMAR[name]
    chosen = choices[0] if depth > _DEEP else draw(st.sampled_from(choices))
    return _HOLE.sub(lambda hole: _expand(draw, hole[1], depth + 1), chosen)


@st.composite
def scripts(draw: st.DrawFn) -> str:
    """A script as the grammar has it."""
    return _expand(draw, "script", 0)
