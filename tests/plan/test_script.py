"""Whole scripts: definitions, what depends on them, inserted rows, joins and subqueries."""

import pytest

from tests.planning import cases, check_refusal, logical, nodes, planned, program, the, written
from tidegate.plan.catalog import SinkDef, StreamDef
from tidegate.plan.logical import Emission, Filter, Project, Source, StreamRef, TableJoin, UnionAll

V = "CREATE STREAM v AS SELECT symbol, qty, ts FROM trades WHERE qty > 0; "
W = "CREATE STREAM w AS SELECT symbol, window_end AS e, COUNT(*) AS n FROM trades GROUP BY symbol, TUMBLE(ts, '1m'); "
ROWS = "SELECT symbol, qty FROM trades"


# Definitions


def test_queries_and_their_names() -> None:
    made = planned(f"SELECT * FROM quotes; {W} SELECT * FROM quotes; SELECT * FROM w")
    assert [(query.name, query.anonymous) for query in made.queries] == [
        ("select_1", True),
        ("w", False),
        ("select_2", True),
        ("select_3", True),
    ]
    assert made.query("W") is made.queries[1]
    assert made.query("nope") is None


def test_streams_in_the_catalogue() -> None:
    made = planned(V + W + "CREATE SINK o FROM W WITH (connector = 'console')")
    v, w, o = (made.catalog.find(name) for name in "vwo")
    assert isinstance(v, StreamDef)
    assert isinstance(w, StreamDef)
    assert isinstance(o, SinkDef)
    assert (v.stateless, str(v.stream_kind), set(v.reads)) == (True, "append", {"trades"})
    assert (w.stateless, w.stream_kind, w.emission, w.output.names) == (
        False,
        "append",
        "ON WINDOW CLOSE",
        ("symbol", "e", "n"),
    )
    assert (o.stream, o.connector) == ("w", "console")
    assert v.text.startswith("CREATE STREAM v AS SELECT")
    assert made.catalog.readers("TRADES") == ["v", "w"]
    assert made.catalog.readers("w") == ["o"]
    assert [each.name for each in made.catalog.all_of("source")] == ["trades", "quotes"]


def test_plain_streams_are_read_through_and_windowed_ones_are_not() -> None:
    through = logical(
        V + "SELECT COUNT(*) AS n FROM v WHERE symbol <> 'x' GROUP BY TUMBLE(ts, '1m')"
    )
    assert nodes(StreamRef, through) == []
    assert the(Source, through).name == "trades"
    assert [written(node.predicate) for node in nodes(Filter, through)] == [
        "(symbol <> 'x')",
        "(qty > 0)",
    ]
    reference = the(StreamRef, logical(W + "SELECT * FROM w"))
    assert (reference.name, reference.kind, reference.window_columns) == (
        "w",
        "append",
        (("e", "window_end"),),
    )


def test_replacing_and_dropping() -> None:
    made = planned(W + W.replace("CREATE", "CREATE OR REPLACE").replace("'1m'", "'2m'"))
    assert [query.name for query in made.queries] == ["w"]
    kept = planned(
        W + W.replace("CREATE STREAM", "CREATE STREAM IF NOT EXISTS").replace("'1m'", "nope")
    )
    assert len(kept.queries) == 1
    gone = planned(W + "DROP STREAM w; DROP STREAM IF EXISTS w; DROP SOURCE quotes")
    assert gone.queries == []
    assert gone.catalog.find("w") is None
    assert gone.catalog.find("quotes") is None


def test_statements_that_only_look() -> None:
    made = planned(
        W
        + "DESCRIBE w; DESC trades; SHOW STREAMS; SHOW CREATE w; EXPLAIN w; EXPLAIN SELECT * FROM w"
    )
    assert len(made.queries) == 1


@cases(
    (V + "CREATE STREAM «v» AS SELECT * FROM trades",
     "TG-2016", "there is already a stream named v", "CREATE OR REPLACE"),
    ("CREATE SOURCE «SYMBOLS» (a INT)", "TG-2016", "there is already a table named symbols"),
    ("CREATE TABLE «trades» (a INT)", "TG-2016", "a source named trades"),
    (W + "CREATE SINK «w» FROM w", "TG-2016", "a stream named w"),
    ('CREATE SOURCE «"$s"» (a INT)', "TG-2019", "$s"),
    ('CREATE STREAM «"$s"» AS SELECT * FROM trades', "TG-2019", "$s"),
    (V + "CREATE OR REPLACE STREAM «v» AS SELECT * FROM v", "TG-3025", "v would read itself: v → v"),
    ("CREATE SINK o FROM «trade»", "TG-2001", "trade", "did you mean trades?"),
    ("CREATE SINK o FROM «symbols»", "TG-2021", "symbols is a table; CREATE SINK needs a stream"),
    ("SELECT * FROM «nope»",
     "TG-2001", "there is no source, table or stream named nope", "there are trades, quotes, symbols"),
    ("SELECT * FROM «trade»", "TG-2001", "trade", "did you mean trades?"),
    ("SELECT * FROM db.«trades»", "TG-2001", "db.trades"),
    (W + "CREATE SINK o FROM w; SELECT * FROM «o»", "TG-2021", "o is a sink; FROM needs a source or stream"),
    ("SELECT * FROM «symbols»",
     "TG-3024", "a query needs FROM with a source or stream", "a table is joined to a stream"),
    ("«SELECT» 1 AS one", "TG-3024", "a query needs FROM", "SELECT … FROM trades"),
    ("DROP STREAM «nope»", "TG-2001", "nope"),
    ("DROP STREAM «trades»", "TG-2021", "trades is a source; DROP STREAM needs a stream", "write DROP SOURCE trades"),
    (W + "DROP SOURCE «trades»", "TG-3031", "trades is still read by w", "drop them first"),
    (W + "CREATE OR REPLACE SOURCE «trades» (a BIGINT)", "TG-3031", "trades is still read by w"),
    (V + "CREATE STREAM x AS SELECT * FROM v; CREATE OR REPLACE STREAM «v» AS SELECT symbol, qty, ts FROM trades",
     "TG-3031", "v is still read by x"),
    (W + "CREATE STREAM x AS SELECT n FROM w; CREATE OR REPLACE STREAM «w» AS SELECT symbol FROM trades",
     "TG-3031", "w is still read by x"),
    (W + "CREATE SINK o FROM w; DROP STREAM «w»", "TG-3031", "w is still read by o"),
    ("DESCRIBE «nope»", "TG-2001", "nope"),
    ("SHOW CREATE «nope»", "TG-2001", "nope"),
    ("EXPLAIN «trades»", "TG-2021", "trades is a source; EXPLAIN needs a stream"),
    ("EXPLAIN SELECT «nope» FROM trades", "TG-2002", "nope"),
    # rows
    ("INSERT INTO «nope» VALUES (1)", "TG-2001", "nope"),
    (W + "INSERT INTO «w» VALUES (1)", "TG-2021", "w is a stream; INSERT needs a source"),
    ("INSERT INTO quotes (symbol, «bit») VALUES ('a', 1)", "TG-2002", "bit", "did you mean bid?"),
    ("INSERT INTO quotes VALUES («'a'», 1)", "TG-2020", "2 values for 3 columns"),
    ("INSERT INTO quotes (symbol) VALUES («'a'», 1)", "TG-2020", "2 values for 1 columns"),
    ("INSERT INTO quotes (bid) VALUES («'a'»)",
     "TG-2010", "VARCHAR cannot be converted to DOUBLE", "a value of the column's type"),
    ("INSERT INTO quotes (symbol) VALUES («1»)", "TG-2010", "BIGINT cannot be converted to VARCHAR"),
    ("INSERT INTO quotes (ts) VALUES («'soon'»)", "TG-1012", "'soon' is not a valid TIMESTAMP literal"),
    ("INSERT INTO quotes (bid) VALUES («bid»)", "TG-2002", "bid"),
    ("INSERT INTO quotes (bid) VALUES («SUM»(1))", "TG-3001", "cannot stand in VALUES"),
)  # fmt: skip
def test_wrong_statements(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)


def test_inserted_rows() -> None:
    made = planned(
        "INSERT INTO trades (symbol, price, qty, amount, day, ts) VALUES ('a', 1, 2.0, 3, "
        "'1970-01-02', '1970-01-01 00:00:01'), (NULL, 1.5, NULL, 1e1, DATE '1970-01-01', DATE '1970-01-02'); "
        "INSERT INTO symbols VALUES ('a', 'b', -1 + 2)"
    )
    first, second = made.inserts
    assert (first.source, first.columns) == (
        "trades",
        ("symbol", "price", "qty", "amount", "day", "ts"),
    )
    assert [[written(value) for value in row] for row in first.rows] == [
        ["'a'", "1.0", "2.0::BIGINT", "3", "day 1", "1970-01-01T00:00:01Z"],
        [
            "NULL::VARCHAR",
            "1.5",
            "NULL::BIGINT",
            "10.0::DECIMAL(10, 2)",
            "day 0",
            "day 1::TIMESTAMP",
        ],
    ]
    assert (second.source, second.columns) == ("symbols", ("symbol", "sector", "lot"))
    assert [str(value.type) for value in first.rows[0]] == [
        "VARCHAR",
        "DOUBLE",
        "BIGINT",
        "DECIMAL(10, 2)",
        "DATE",
        "TIMESTAMP",
    ]


def test_errors_come_in_the_order_of_the_text() -> None:
    made = program("SELECT nope FROM trades;\nFOO;\nSELECT nope2, nope3 FROM trades")
    assert [(error.line, error.column) for error in made.errors] == [
        (6, 8),
        (7, 1),
        (8, 8),
        (8, 15),
    ]


# Joins with tables


@pytest.mark.parametrize(
    ("join", "condition", "outer"),
    [
        ("JOIN symbols s ON t.symbol = s.symbol", "(t.symbol = s.symbol)", False),
        (
            "INNER JOIN symbols s ON t.symbol = s.symbol AND lot > 1",
            "((t.symbol = s.symbol) and (s.lot > 1))",
            False,
        ),
        ("LEFT JOIN symbols s ON t.symbol = s.symbol", "(t.symbol = s.symbol)", True),
        ("LEFT OUTER JOIN symbols s USING (symbol)", "(t.symbol = s.symbol)", True),
        ("JOIN symbols s USING (symbol)", "(t.symbol = s.symbol)", False),
        (", symbols s", "TRUE", False),
        ("CROSS JOIN symbols s", "TRUE", False),
    ],
)
def test_joins(join: str, condition: str, outer: bool) -> None:
    node = the(
        TableJoin,
        logical(f"SELECT sector FROM trades t{join if join.startswith(',') else ' ' + join}"),
    )
    assert (written(node.on), node.outer) == (condition, outer)


@pytest.mark.parametrize(
    ("query", "outer"),
    [
        ("FROM symbols s JOIN trades t ON t.symbol = s.symbol", False),
        ("FROM symbols s INNER JOIN trades t ON t.symbol = s.symbol", False),
        ("FROM symbols s RIGHT JOIN trades t ON t.symbol = s.symbol", True),
    ],
)
def test_the_stream_may_be_named_second(query: str, outer: bool) -> None:
    node = the(TableJoin, logical(f"SELECT sector {query}"))
    assert node.outer is outer
    assert isinstance(node.input, Source)
    assert node.input.name == "trades"


def test_two_tables_may_be_joined() -> None:
    plan = logical(
        "SELECT a.sector, b.lot FROM trades t JOIN symbols a USING (symbol) JOIN symbols b ON b.symbol = t.symbol"
    )
    assert len(nodes(TableJoin, plan)) == 2


@cases(
    ("SELECT t.symbol FROM trades t «JOIN» quotes q ON t.symbol = q.symbol",
     "TG-3019", "a join of two streams without windows is not supported yet", "CREATE TABLE"),
    ("SELECT t.symbol FROM trades t LEFT «JOIN» quotes q ON t.symbol = q.symbol",
     "TG-3019", "an outer join of two streams"),
    ("SELECT t.symbol FROM trades t, «quotes q", "TG-3019", "a join of two streams"),
    ("SELECT t.symbol FROM trades t RIGHT JOIN symbols «s» ON t.symbol = s.symbol",
     "TG-3019", "a RIGHT join with a table", "JOIN or LEFT JOIN"),
    ("SELECT t.symbol FROM trades t FULL JOIN symbols «s» ON t.symbol = s.symbol", "TG-3019", "a FULL"),
    ("SELECT t.symbol FROM trades t NATURAL JOIN symbols «s»", "TG-3019", "a NATURAL join with a table"),
    ("SELECT t.symbol FROM trades t ASOF JOIN symbols «s» ON t.symbol = s.symbol", "TG-3019", "a ASOF join"),
    ("SELECT t.symbol FROM trades t LEFT SEMI JOIN symbols «s» ON t.symbol = s.symbol", "TG-3019", "a LEFT SEMI join"),
    ("SELECT t.symbol FROM trades t NATURAL LEFT JOIN symbols «s»", "TG-3019", "a NATURAL LEFT join"),
    ("SELECT t.symbol FROM trades t ANTI JOIN symbols «s» ON t.symbol = s.symbol", "TG-3019", "a ANTI join"),
    ("SELECT t.symbol FROM trades t LEFT JOIN symbols «s»", "TG-3019", "a join without a condition", "add ON"),
    ("SELECT t.symbol FROM symbols «s» LEFT JOIN trades t ON t.symbol = s.symbol",
     "TG-3019", "begins with a table", "FROM trades JOIN"),
    ("SELECT t.symbol FROM trades t JOIN symbols s ON «lot»", "TG-2008", "ON needs a condition"),
    ("SELECT t.symbol FROM trades t JOIN symbols s USING («sector»)", "TG-2002", "sector"),
    ("SELECT t.symbol FROM trades t JOIN symbols «t» ON TRUE", "TG-2015", "table name t is defined twice", "alias"),
    ("SELECT * FROM «trades AS t(a, b)", "TG-2024", "t and its column names have 12 and 2 columns"),
    ("SELECT * FROM (VALUES (1)) AS v(a)", "TG-3022", "VALUES in FROM"),
    ("SELECT * FROM trades JOIN symbols «FOR SYSTEM_TIME AS OF ts» ON TRUE", "TG-3022", "FOR SYSTEM_TIME AS OF"),
    ("SELECT symbol FROM trades «QUALIFY ok»", "TG-3022", "QUALIFY"),
)  # fmt: skip
def test_wrong_joins(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)


# WITH and UNION ALL


def test_names_of_with() -> None:
    plan = logical(
        "WITH a AS (SELECT symbol, qty FROM trades), b AS (SELECT qty FROM A WHERE qty > 1) SELECT x.qty FROM b x"
    )
    assert [written(node.predicate) for node in nodes(Filter, plan)] == ["(qty > 1)"]


def test_names_of_with_hide_streams_and_do_not_see_themselves() -> None:
    plan = logical("WITH trades AS (SELECT bid AS symbol FROM quotes) SELECT symbol FROM trades")
    assert the(Source, plan).name == "quotes"
    shadow = logical("WITH trades AS (SELECT symbol FROM trades) SELECT symbol FROM trades")
    assert the(Source, shadow).name == "trades"


def test_union_all_gives_common_types_and_the_first_names() -> None:
    plan = logical(
        "SELECT symbol AS s, small AS n FROM trades UNION ALL SELECT symbol, bid FROM quotes UNION "
        "ALL (SELECT 'x', NULL FROM quotes)"
    )
    union = the(UnionAll, plan)
    assert len(union.inputs) == 3
    assert plan.schema.names == ("s", "n")
    assert [str(column.type) for column in union.schema] == ["VARCHAR", "DOUBLE"]
    assert {part.schema.names for part in union.inputs} == {("s", "n")}


def test_a_union_of_windowed_queries_appends() -> None:
    part = "SELECT COUNT(*) AS n FROM trades GROUP BY TUMBLE(ts, '1m')"
    plan = logical(f"{part} UNION ALL {part}")
    assert (plan.kind, plan.emit.mode) == ("append", "on_update")


def test_a_clause_behind_the_last_part_is_for_all_parts() -> None:
    part = "SELECT COUNT(*) AS n FROM trades GROUP BY TUMBLE(ts, '1m')"
    plan = logical(f"{part} UNION ALL {part} ALLOWED LATENESS '5s'")
    assert [node.lateness_us for node in nodes(Emission, plan)[1:]] == [5_000_000, 5_000_000]


@cases(
    (f"{ROWS} UNION ALL «SELECT» symbol FROM trades", "TG-2024", "the parts of UNION ALL have 1 and 2 columns"),
    (f"{ROWS} UNION ALL «SELECT» symbol, symbol AS s2 FROM trades",
     "TG-2009", "column 2 of UNION ALL must have one type; these are BIGINT and VARCHAR"),
    (f"{ROWS} «UNION» {ROWS}", "TG-3022", "UNION without ALL", "use UNION ALL"),
    (f"{ROWS} UNION ALL {ROWS} «UNION» {ROWS}", "TG-3022", "UNION without ALL"),
    (f"{ROWS} «UNION» ALL {ROWS} ORDER BY symbol LIMIT 3", "TG-3022", "ORDER BY or LIMIT behind UNION ALL"),
    (f"{ROWS} «INTERSECT» {ROWS}", "TG-3022", "INTERSECT", "UNION ALL"),
    (f"{ROWS} «EXCEPT» {ROWS}", "TG-3022", "EXCEPT"),
    (f"WITH a AS ({ROWS}), «a» AS ({ROWS}) SELECT * FROM a", "TG-2015", "the name a is defined twice"),
    (f"WITH a(x, y) AS ({ROWS}) SELECT * FROM a", "TG-3022", "column names behind the name of WITH", "AS"),
    (f"WITH RECURSIVE a AS ({ROWS}) SELECT * FROM a", "TG-3022", "WITH RECURSIVE"),
    (f"WITH a AS (SELECT * FROM «b»), b AS ({ROWS}) SELECT * FROM a", "TG-2001", "b"),
    ("SELECT COUNT(*) AS n FROM trades GROUP BY symbol UNION ALL SELECT COUNT(*) AS n FROM trades",
     "TG-3018", "the subquery is upsert, and this query"),
)  # fmt: skip
def test_wrong_queries(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)


def test_projections_that_only_pass_on_are_left_out() -> None:
    assert (
        len(
            nodes(
                Project,
                logical("SELECT symbol, bid, ts FROM quotes UNION ALL SELECT * FROM quotes"),
            )
        )
        == 2
    )


def test_what_is_read_may_be_replaced_by_what_reads_the_same() -> None:
    again = W.replace("CREATE STREAM", "CREATE OR REPLACE STREAM").replace("'1m'", "'2m'")
    made = planned(W + "CREATE STREAM x AS SELECT n FROM w; " + again)
    assert [query.name for query in made.queries] == ["w", "x"]  # what is read comes first
    assert made.catalog.readers("w") == ["x"]
