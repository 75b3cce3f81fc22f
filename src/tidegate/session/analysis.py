"""EXPLAIN ANALYZE and EXPLAIN WHY of what is not running: the query is run once, alone, over what its sources have now.

Decided here: nothing is left behind. No sink sees a row, no checkpoint is touched, and the engine is gone afterwards.
Of sources by hand there are the rows that the same text inserts.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from tidegate.engines.clock import WallClock
from tidegate.engines.embedded.constants import constant_rows
from tidegate.engines.engine import DEAF, Engine, Surroundings, identity_of
from tidegate.engines.epochs import Listener
from tidegate.engines.sides import Payload
from tidegate.engines.subject import Build
from tidegate.model.policies import SideKind
from tidegate.plan.catalog import SourceDef, TableDef
from tidegate.plan.inserts import InsertedRows
from tidegate.plan.logical import StreamRef, walk
from tidegate.plan.script import NamedQuery, Program
from tidegate.session.accounts import Account, account_of
from tidegate.session.opening import empty_table, rows_of_table
from tidegate.session.standing import Standing, standing_of
from tidegate.state import Identity, Log
from tidegate.state.forgetful import ForgetfulLog
from tidegate.state.onlooker import Onlooker


def measured(query: NamedQuery, program: Program, build: Build) -> Account:
    """What became of all rows there are. `build` makes engines that read to the end of what is there."""
    with _over_everything(alone(query, program), build, DEAF) as engine:
        engine.end()
        return account_of(engine)


def stood(query: NamedQuery, program: Program, build: Build) -> tuple[Standing, list[Payload]]:
    """Where the query stands behind all rows there are, as if more could come; and the rows that were late for it."""
    late: list[Payload] = []
    listener = Listener(diverted=late.extend, wanted=frozenset({SideKind.LATE}))
    with _over_everything(alone(query, program), build, listener) as engine:
        standing = standing_of(engine, query.name)
    return standing, [one for one in late if one["stream"].lower() == query.name.lower()]


def stood_in(checkpoint: str, query: NamedQuery, program: Program) -> Standing:
    """Where the query stands in a checkpoint, which may be in use."""
    from tidegate.engines.local.build import local_build

    silent = without_sinks(program)
    log = Onlooker(checkpoint, identity=identity_of(silent))
    engine = local_build()(silent, _around(silent, log, DEAF, read_tables=False))
    try:
        return standing_of(engine, query.name)
    finally:
        engine.close()


@contextmanager
def _over_everything(program: Program, build: Build, listener: Listener) -> Iterator[Engine]:
    """An engine that has read all there is, and that nobody else hears of."""
    engine = build(program, _around(program, ForgetfulLog(Identity(plans={})), listener))
    try:
        insert_constants(engine, program, program.inserts)
        engine.drive(lambda: False, lambda: None)
        yield engine
    finally:
        engine.close()


def _around(
    program: Program, log: Log, listener: Listener, *, read_tables: bool = True
) -> Surroundings:
    """`read_tables` False: no row will be joined with them."""
    tables = {
        each.name.lower(): rows_of_table(each, None) if read_tables else empty_table(each)
        for each in program.catalog.all_of("table")
        if isinstance(each, TableDef)
    }
    return Surroundings(clock=WallClock(), log=log, tables=tables, listener=listener)


def alone(query: NamedQuery, program: Program) -> Program:
    """The query with the streams that it reads, and without sinks."""
    made = without_sinks(program)
    needed = _read_by(query, program)
    others = [one for one in program.queries if one.name.lower() in needed]
    made.queries = [*others, query]
    return made


def without_sinks(program: Program) -> Program:
    """The same program, which tells nobody."""
    silent = program.copy()
    for sink in silent.catalog.all_of("sink"):
        silent.catalog.remove(sink.name)
    silent.inserts = [*program.inserts]
    return silent


def _read_by(query: NamedQuery, program: Program) -> set[str]:
    """Streams whose rows it needs, and those that these need."""
    needed: set[str] = set()
    left = [query]
    while left:
        nodes = walk(left.pop().logical)
        names = {node.name.lower() for node in nodes if isinstance(node, StreamRef)} - needed
        needed |= names
        left += [one for one in map(program.query, names) if one is not None]
    return needed


def insert_constants(engine: Engine, program: Program, inserts: Sequence[InsertedRows]) -> None:
    """INSERTs are the first epochs of a run, one each; those that an earlier run has done are left out."""
    for number, inserted in enumerate(inserts):
        if engine.epoch >= number:
            continue
        target = program.catalog.find(inserted.source)
        assert isinstance(target, (SourceDef, TableDef))
        batch = constant_rows(inserted, target.physical)
        if isinstance(target, TableDef):
            engine.insert_into_table(target.name, pa.Table.from_batches([batch]))
        else:
            engine.insert(target.name, [batch])
