"""Tidegate: event-time window SQL for streams, in one process or on Spark.

    with tidegate.connect() as session:
        session.sql("CREATE SOURCE …; CREATE STREAM out AS SELECT …")
        session.insert("trades", rows)
        session.table("out").df()

In a Spark job that is there already: `tidegate.spark.attach(spark)`.

Importing this package is cheap: no engine, no SQL parser and no Arrow is loaded until one is needed.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tidegate.errors import TidegateError

if TYPE_CHECKING:
    from os import PathLike

    from tidegate.connectors.callback import Callback
    from tidegate.engines.clock import Clock
    from tidegate.session.session import Session

__version__ = "0.1.0"
__all__ = ["TidegateError", "__version__", "connect"]


def __getattr__(name: str) -> Any:
    if name == "spark":
        return import_module("tidegate.spark")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext tidegate` in a notebook; then `%%tidegate` runs SQL."""
    import_module("tidegate.notebook").load(shell)


def connect(  # noqa: PLR0913  # a facade: every argument has a name and a default
    config: "str | PathLike[str] | Mapping[str, object] | None" = None,
    *,
    checkpoint: "str | PathLike[str] | None" = None,
    engine: str = "local",
    clock: "Clock | None" = None,
    bounded: bool | None = None,
    batch_rows: int | None = None,
    reset_state: bool = False,
    callbacks: "Mapping[str, Callback] | None" = None,
    aggregates: Mapping[str, type[Any] | object] | None = None,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> "Session":
    """Open a session.

    `config` is a file, or a mapping written like one; `tidegate.toml` here if it is not given. `checkpoint` is a
    directory or URI that keeps state: a session with the same streams goes on where the last one was, `reset_state`
    starts over. `clock` is a settable one for tests. `bounded` True reads of sources what is there now, False waits for
    more; by default each source does what it is declared to do. An epoch takes about `batch_rows` rows. `callbacks` are
    functions by the name of their sink, `aggregates` classes by the name that queries call. `master` and `conf` are for
    `engine="spark"`.
    """
    from tidegate.session.choice import need_engine

    need_engine(engine)
    from dataclasses import replace

    from tidegate.engines.clock import WallClock
    from tidegate.session.choice import Running, run_build
    from tidegate.session.opening import Way
    from tidegate.session.session import Session, settings_from

    settings = settings_from(config)
    running = Running(bounded=bounded, batch_rows=batch_rows, master=master, conf=conf or {})
    way = Way(
        build=run_build(engine, running, settings),
        build_bounded=run_build(engine, replace(running, bounded=True), settings),
        clock=clock or WallClock(),
        checkpoint=checkpoint,
        reset=reset_state,
        anonymous=False,
        callbacks=callbacks or {},
    )
    session = Session(settings, way)
    for name, implementation in (aggregates or {}).items():
        session.register(name, implementation)
    return session
