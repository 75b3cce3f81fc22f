"""Python aggregates in queries: what may be registered, how they are called, and what plans say of them."""

import re
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from tests.planning import cases, check_refusal, planned, refusal, the, written
from tests.user_aggregates import USERS, Product
from tidegate.errors import TidegateError
from tidegate.model.plain_data import from_text, to_text
from tidegate.model.types import Array, Decimal, Scalar
from tidegate.plan import user_aggregates
from tidegate.plan.aggregates import is_bounded
from tidegate.plan.decompositions import AggregateCall
from tidegate.plan.explain.physical import physical_tree
from tidegate.plan.explain.text import as_text
from tidegate.plan.fingerprint import Fingerprint, fingerprint
from tidegate.plan.logical import Aggregate
from tidegate.plan.physical import Plan
from tidegate.plan.planner import plan_query
from tidegate.plan.settings import Settings
from tidegate.plan.user_aggregates import Installed, user_aggregate

WITH_USERS = Settings(aggregates=USERS)
TUMBLE = "TUMBLE(ts, INTERVAL '1' MINUTE)"


def call(aggregate: str) -> AggregateCall:
    sql = f"SELECT {aggregate} AS x FROM trades GROUP BY {TUMBLE}"
    made = planned(sql, settings=WITH_USERS).queries[-1].logical
    return the(Aggregate, made).aggregates[0].call


def plan(sql: str, settings: Settings = WITH_USERS) -> Plan:
    made = planned(sql, settings=settings)
    return plan_query(made.queries[-1], made)


# Registering


def test_a_class_or_an_object_of_it() -> None:
    made = user_aggregate("Geo_Product", Product)
    assert (made.name, made.arguments, made.returns) == (
        "geo_product",
        (Scalar.DOUBLE,),
        Scalar.DOUBLE,
    )
    own = Product()
    other = user_aggregate("geo_product", own)
    assert other.implementation is own
    assert made == other
    assert hash(made) == hash(other)
    assert made != user_aggregate("another", own)
    assert repr(own) not in repr(other)
    assert USERS["path"].returns == Array(Scalar.VARCHAR)
    assert USERS["cents"].arguments == (Decimal(38, 2), Scalar.TIMESTAMP)


@pytest.mark.parametrize(
    "name",
    [
        "sum",
        "MEAN",
        "upper",
        "date_trunc",
        "tumble",
        "slidingwindow",
        "now",
        "tumble_start",
        "proctime",
    ],
)
def test_names_that_mean_something_already(name: str) -> None:
    with pytest.raises(TidegateError, match=f"TG-4202: {name} is a function of Tidegate SQL"):
        user_aggregate(name, Product)


@pytest.mark.parametrize(
    "name", ["", "a b", "1st", "a.b", "$x", "select", "cast", "case", "over", "x)--"]
)
def test_names_that_no_query_can_call(name: str) -> None:
    with pytest.raises(TidegateError, match=r"TG-4203: .* is no name that a query can call"):
        user_aggregate(name, Product)


@pytest.mark.parametrize("name", ["f", "Größe", "geo_mean", "user", "emit", "key"])
def test_names_that_are_free(name: str) -> None:
    made = user_aggregate(name, Product)
    sql = f"SELECT {name}(price) AS x FROM trades GROUP BY {TUMBLE}"
    planned(sql, settings=Settings(aggregates={made.name: made}))


class _NeedsMore(Product):
    def __init__(self, base: int) -> None:
        self.base = base


class _Broken(Product):
    def init(self) -> Any:
        raise OSError("no disk")


class _NotPlain(Product):
    def init(self) -> Any:
        return [object()]


class _Shared(Product):
    zero: list[int] = []  # noqa: RUF012  (that is the point)

    def init(self) -> Any:
        return self.zero


class _TooFew(Product):
    def accumulate(self, state: Any) -> Any:  # type: ignore[override]
        return state


class _OneType(Product):
    arguments = "DOUBLE"  # type: ignore[assignment]


class _NoType(Product):
    arguments = (float,)  # type: ignore[assignment]


class _BadType(Product):
    arguments = ("DOUBLE", "DUBLE")  # type: ignore[assignment]


class _EmptyType(Product):
    returns = ""


class _BadDecimal(Product):
    returns = "DECIMAL(99)"


class _NoReturns(Product):
    returns = None  # type: ignore[assignment]


class _NoMerge(Product):
    merge = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("made", "message", "hint"),
    [
        (_NeedsMore, "_NeedsMore() raises TypeError", "register an object of it"),
        (_Broken, "init raises OSError: no disk", "init(self)"),
        (_NotPlain, "the state that init gives: it holds a object; a state is made of None", "init"),
        (_Shared, "init gives the same list each time", "make it inside init"),
        (_TooFew, "accumulate does not take 2 arguments besides self", "accumulate(self, state, …)"),
        (_OneType, "arguments is no tuple of types", 'arguments = ("DOUBLE",)'),
        (_NoType, "arguments[0] is no type", 'such as "DOUBLE"'),
        (_BadType, "arguments[1]: there is no type named DUBLE", "did you mean DOUBLE?"),
        (_EmptyType, "returns: there is no type named ''", "types are BOOLEAN"),
        (_BadDecimal, "returns: DECIMAL: precision is 1 to 38", "an aggregate is a class"),
        (_NoReturns, "returns is no type", "write types as text"),
        (_NoMerge, "it has no method merge", "merge(self, one, other)"),
        (object(), "arguments is no tuple", "with one type or more"),
    ],
)  # fmt: skip
def test_classes_that_are_no_aggregates(made: object, message: str, hint: str) -> None:
    with pytest.raises(TidegateError) as refused:
        user_aggregate("mine", made)
    assert refused.value.code == "TG-4201"
    assert refused.value.message.startswith(f"aggregate mine: {message}")
    assert hint in refused.value.hint


def test_objects_that_need_more_are_registered_as_objects() -> None:
    assert user_aggregate("mine", _NeedsMore(3)).name == "mine"


def test_methods_without_a_signature_are_trusted() -> None:
    class Largest(Product):
        merge = max  # type: ignore[assignment]

    assert user_aggregate("largest", Largest).name == "largest"


# Installed packages


def installed(monkeypatch: pytest.MonkeyPatch, **points: str) -> Installed:
    found = [
        EntryPoint(name=name, value=value, group=user_aggregates.GROUP)
        for name, value in points.items()
    ]
    monkeypatch.setattr(user_aggregates, "entry_points", lambda group: found)
    return Installed()


def test_installed_aggregates_are_loaded_when_they_are_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    brought = installed(
        monkeypatch, Product_Of="tests.user_aggregates:Product", broken="tests.no_such_module:X"
    )
    assert (list(brought), len(brought), "product_of" in brought) == (
        ["product_of", "broken"],
        2,
        True,
    )
    settings = Settings(aggregates=brought)
    planned(f"SELECT PRODUCT_OF(price) AS x FROM trades GROUP BY {TUMBLE}", settings=settings)
    assert brought["product_of"] is brought["product_of"]
    error = refusal(f"SELECT BROKEN(price) AS x FROM trades GROUP BY {TUMBLE}", settings=settings)
    assert error.code == "TG-4204"
    assert (
        "aggregate broken cannot be loaded from tests.no_such_module:X: ModuleNotFoundError"
        in error.message
    )
    assert brought.get("nothing") is None


def test_nothing_is_installed_here() -> None:
    assert dict(Installed()) == {}


# Calling


def test_what_a_call_keeps() -> None:
    made = call("PRODUCT(price) FILTER (WHERE ok)")
    assert (made.function, made.type, made.user) == ("product", Scalar.DOUBLE, USERS["product"])
    assert not is_bounded(made)
    sql = (
        "SELECT Product(price) AS a, product(price) FILTER (WHERE ok) AS b, PICKY(DISTINCT qty) AS c, "
        f"COUNT(DISTINCT qty) AS d, PATH(symbol, qty) AS e, PATH(DISTINCT symbol, 7) AS f FROM trades GROUP BY {TUMBLE}"
    )
    stage = plan(sql).last
    shown = [
        f"{spec.op}({', '.join(map(written, spec.args))}) {spec.type} by {spec.merge} as {spec.kept_type}"
        for spec in stage.partials
    ]
    entry = "ARRAY<STRUCT<v0 DOUBLE, v1 BIGINT>>"
    assert shown == [
        f"collect($x0, $ts) {entry} by user as VARCHAR",
        f"collect($x0, $ts) {entry} by user as VARCHAR",
        "collect_set($x2) ARRAY<BIGINT> by union as ARRAY<BIGINT>",
        "collect($x3, $x2, $ts) ARRAY<STRUCT<v0 VARCHAR, v1 BIGINT, v2 BIGINT>> by user as VARCHAR",
        "collect_set($x3, 7) ARRAY<STRUCT<v0 VARCHAR, v1 BIGINT>> by union as ARRAY<STRUCT<v0 VARCHAR, v1 BIGINT>>",
    ]
    assert [(finish.function, finish.partials, finish.distinct) for finish in stage.finishes] == [
        ("product", (0,), False),
        ("product", (1,), False),
        ("picky", (2,), True),
        ("count", (2,), True),
        ("path", (3,), False),
        ("path", (4,), True),
    ]


def test_two_aggregates_of_the_same_column_keep_states_of_their_own() -> None:
    other = user_aggregate("other", Product)
    settings = Settings(aggregates={**USERS, "other": other})
    stage = plan(
        f"SELECT PRODUCT(price), OTHER(price) FROM trades GROUP BY {TUMBLE}", settings
    ).last
    assert [spec.user for spec in stage.partials] == [USERS["product"], other]


def test_arguments_are_widened() -> None:
    assert written(call("PRODUCT(qty)").args[0]) == "qty::DOUBLE"
    assert written(call("PRODUCT(1)").args[0]) == "1.0"
    assert written(call("CENTS(amount, day)").args[0]) == "amount::DECIMAL(38, 2)"


@cases(
    (f"SELECT «PRODUCT»(price, qty) AS x FROM trades GROUP BY {TUMBLE}",
     "TG-2005", "PRODUCT takes 1 argument, not 2", "it is product(DOUBLE), in Python"),
    (f"SELECT «path»(symbol) AS x FROM trades GROUP BY {TUMBLE}",
     "TG-2005", "path takes 2 arguments, not 1", "it is path(VARCHAR, BIGINT), in Python"),
    (f"SELECT «product»() AS x FROM trades GROUP BY {TUMBLE}", "TG-2005", "product takes 1 argument, not 0"),
    (f"SELECT PRODUCT(«symbol») AS x FROM trades GROUP BY {TUMBLE}",
     "TG-2006", "PRODUCT does not take VARCHAR; it takes DOUBLE", "CAST"),
    (f"SELECT PICKY(«price») AS x FROM trades GROUP BY {TUMBLE}",
     "TG-2006", "PICKY does not take DOUBLE; it takes BIGINT"),
    (f"SELECT PATH(symbol, «price») AS x FROM trades GROUP BY {TUMBLE}", "TG-2006", "it takes BIGINT"),
    ("SELECT price FROM trades WHERE «PRODUCT»(price) > 1", "TG-3001", "cannot stand in WHERE", "HAVING"),
    (f"SELECT SUM(«PRODUCT»(price)) AS x FROM trades GROUP BY {TUMBLE}", "TG-3002", "PRODUCT is an aggregate inside"),
    (f"SELECT «PRODUKT»(price) AS x FROM trades GROUP BY {TUMBLE}", "TG-2004", "no function named PRODUKT",
     "did you mean PRODUCT?"),
    (f"SELECT «PRODUCT(price ORDER BY qty) AS x FROM trades GROUP BY {TUMBLE}", "TG-2018",
     "ORDER BY inside PRODUCT"),
    ("CREATE STREAM s AS SELECT symbol, window_time AS t, COUNT(*) AS n FROM trades GROUP BY symbol, "
     f"{TUMBLE} EMIT CHANGES; SELECT PICKY(n) AS x FROM «s»",
     "TG-3018", "s is changelog, and PICKY cannot take rows back", "let s EMIT ON WINDOW CLOSE"),
)  # fmt: skip
def test_calls_that_are_refused(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint, settings=WITH_USERS)


def test_without_registration_there_is_no_such_function() -> None:
    assert refusal(f"SELECT «PRODUCT»(price) AS x FROM trades GROUP BY {TUMBLE}").code == "TG-2004"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT symbol FROM trades GROUP BY symbol, {TUMBLE} HAVING PRODUCT(price) > 2",
        f"SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol, {TUMBLE} ORDER BY PRODUCT(price) LIMIT 3",
        "SELECT PRODUCT(price) OVER (PARTITION BY symbol ORDER BY ts RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING "
        "AND CURRENT ROW) AS p FROM trades",
        "SELECT PRODUCT(price) AS p FROM trades",
        f"SELECT PRODUCT(n) AS p FROM (SELECT COUNT(*) AS n, window_time AS t FROM trades GROUP BY {TUMBLE}) "
        "GROUP BY TUMBLE(t, INTERVAL '1' HOUR)",
        f"SELECT PRODUCT(s.lot) AS p FROM trades t JOIN symbols s ON t.symbol = s.symbol GROUP BY {TUMBLE}",
    ],
)
def test_they_stand_where_aggregates_do(sql: str) -> None:
    plan(sql)


# What plans say


def test_sliding_windows_are_buffered() -> None:
    stage = plan("SELECT PRODUCT(price) AS p FROM trades GROUP BY slidingwindow('ss', 10)").last
    assert not stage.fused
    assert [made.reason for made in stage.decisions if made.rule == "sliding"] == [
        "PRODUCT needs all values of its frame"
    ]


def test_explain_says_that_rows_cross_into_python() -> None:
    sql = f"SELECT PRODUCT(price) AS p, PICKY(DISTINCT qty) AS q, COUNT(*) AS n FROM trades GROUP BY {TUMBLE}"
    text = as_text(physical_tree(plan(sql)))
    assert "crosses=partials; rows, as arguments of PRODUCT\n" in text
    assert (
        "PRODUCT(price): partial collect(price, $ts) FILTER (WHERE price IS NOT NULL); merge user; "
        "finish product; in Python\n"
    ) in text
    assert "finish picky of the distinct values; keeps every different value; in Python\n" in text
    without = as_text(physical_tree(plan(f"SELECT COUNT(*) AS n FROM trades GROUP BY {TUMBLE}")))
    assert "crosses=partials\n" in without


def difference(one: str, other: str, others: Settings = WITH_USERS) -> str:
    """Between the fingerprints of two queries."""

    def of(sql: str, settings: Settings) -> Fingerprint:
        return fingerprint(plan(f"SELECT {sql} AS x FROM trades GROUP BY {TUMBLE}", settings))

    return of(one, WITH_USERS).difference(of(other, others))


def test_fingerprints_know_names_and_types() -> None:
    class Elsewhere(Product):
        """The same name and types, another code: state may go on."""

    class Other(Product):
        returns = "REAL"

    class Wider(Product):
        arguments = ("DECIMAL(38, 2)",)

    def settings(made: type[Any]) -> Settings:
        return Settings(aggregates={"product": user_aggregate("product", made)})

    assert difference("PRODUCT(price)", "Product(price)", settings(Elsewhere)) == ""
    assert "PRODUCT($x0) REAL" in difference("PRODUCT(price)", "PRODUCT(price)", settings(Other))
    assert "v0 DECIMAL(38, 2)" in difference("PRODUCT(qty)", "PRODUCT(qty)", settings(Wider))
    assert "PICKY" in difference("PRODUCT(qty)", "PICKY(qty)")


def test_the_example_of_the_documentation() -> None:
    """Its class is registered, its query is planned, and its state survives being written."""
    text = (Path(__file__).parents[2] / "docs" / "python-aggregates.md").read_text(encoding="utf-8")
    made: dict[str, Any] = {}
    exec(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[0], made)
    geo_mean = user_aggregate("geo_mean", made["GeometricMean"])
    settings = Settings(aggregates={"geo_mean": geo_mean})
    written_query = " ".join(re.findall(r"`(SELECT [^`]*MINUTE\))`", text)[0].split())
    planned(written_query.replace("…", "FROM trades"), settings=settings)
    own = geo_mean.implementation
    one, other = own.init(), own.init()
    for state, value in ((one, 2.0), (one, 8.0), (other, 4.0)):
        assert own.accumulate(state, value) is None
    merged = own.merge(from_text(to_text(one)), other)
    assert own.finish(merged) == pytest.approx(4.0)
    assert own.finish(own.init()) is None
