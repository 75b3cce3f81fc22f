"""EXPLAIN ANALYZE of what is not running: the query is run once, by itself, over what its sources have now.

Decided here: nothing is left behind. No sink sees a row, no checkpoint is touched, and the engine is gone afterwards.
Of sources by hand there are the rows that the same text inserts.
"""

from collections.abc import Sequence

import pyarrow as pa

from tidegate.engines.clock import WallClock
from tidegate.engines.embedded.constants import constant_rows
from tidegate.engines.engine import Engine, Surroundings
from tidegate.engines.subject import Build
from tidegate.plan.catalog import SourceDef, TableDef
from tidegate.plan.inserts import InsertedRows
from tidegate.plan.logical import StreamRef, walk
from tidegate.plan.script import NamedQuery, Program
from tidegate.session.accounts import Account, account_of
from tidegate.session.opening import rows_of_table
from tidegate.state import Identity
from tidegate.state.forgetful import ForgetfulLog


def measured(query: NamedQuery, program: Program, build: Build) -> Account:
    """What became of all rows there are. `build` makes engines that read to the end of what is there."""
    alone = _alone(query, program)
    tables = {
        each.name.lower(): rows_of_table(each, None)
        for each in alone.catalog.all_of("table")
        if isinstance(each, TableDef)
    }
    log = ForgetfulLog(Identity(plans={}))
    engine = build(alone, Surroundings(clock=WallClock(), log=log, tables=tables))
    try:
        insert_constants(engine, alone, program.inserts)
        engine.drive(lambda: False, lambda: None)
        engine.end()
        return account_of(engine)
    finally:
        engine.close()


def _alone(query: NamedQuery, program: Program) -> Program:
    """The query with the streams that it reads, and without sinks."""
    alone = without_sinks(program)
    needed = _read_by(query, program)
    others = [one for one in program.queries if one.name.lower() in needed]
    alone.queries = [*others, query]
    return alone


def without_sinks(program: Program) -> Program:
    """The same program, which tells nobody."""
    alone = program.copy()
    for sink in alone.catalog.all_of("sink"):
        alone.catalog.remove(sink.name)
    alone.inserts = [*program.inserts]
    return alone


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
