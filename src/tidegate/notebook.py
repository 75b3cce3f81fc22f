"""`%%tidegate` in notebooks: SQL in a cell, rows and plans below it.

    %load_ext tidegate

    %%tidegate
    CREATE SOURCE trades (symbol VARCHAR, qty BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
    CREATE STREAM volume AS SELECT symbol, SUM(qty) AS qty FROM trades GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE);

    %tidegate EXPLAIN volume

Decided here: all cells of a notebook talk to one session, the variable `tidegate_session` if there is one, which the
first cell makes otherwise; so Python cells insert rows into what SQL cells have defined. `--watch STREAM` shows the
newest rows of a stream while its sources are read, until they end or the kernel is interrupted.
"""

import time
from typing import TYPE_CHECKING, Any

from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import HTML, display

import tidegate
from tidegate.session import html
from tidegate.session.answers import Result, Rows

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from tidegate.session.session import Session

SESSION = "tidegate_session"
_EVERY_S = 0.5


@magics_class
class TidegateMagics(Magics):
    """The magic."""

    @magic_arguments()
    @argument("-o", "--out", metavar="NAME", help="Keep the answer in this variable.")
    @argument("--watch", metavar="STREAM", help="Show the newest rows of a stream as they come.")
    @argument("--seconds", type=float, default=float("inf"), help="How long to watch at most.")
    @argument("sql", nargs="*", help="SQL, on a line of its own.")
    @line_cell_magic
    def tidegate(self, line: str, cell: str | None = None) -> Rows | None:
        """Run SQL; what the last statement answers is shown."""
        given = (
            parse_argstring(self.tidegate, line)
            if cell is not None or line.startswith("-")
            else None
        )
        sql = cell if cell is not None else (" ".join(given.sql) if given else line)
        session = self._session()
        answer = session.sql(sql) if sql.strip() else None
        if given is not None and given.out:
            self._names[given.out] = answer
        if given is not None and given.watch:
            watch(session, given.watch, seconds=given.seconds)
            return None
        return None if isinstance(answer, Result) and answer.is_status else answer

    @property
    def _names(self) -> dict[str, Any]:
        """The notebook's variables."""
        assert self.shell is not None
        names: dict[str, Any] = self.shell.user_ns
        return names

    def _session(self) -> "Session":
        names = self._names
        if names.get(SESSION) is None:
            names[SESSION] = tidegate.connect()
        session: Session = names[SESSION]
        return session


def watch(session: "Session", stream: str, *, seconds: float = float("inf")) -> None:
    """Read the sources in the background, and show the stream's newest rows until they end, or an interrupt."""
    shown = display(HTML(html.table(session.table(stream).arrow())), display_id=True)
    until = time.monotonic() + seconds
    session.run()
    try:
        while not session.wait(_EVERY_S) and time.monotonic() < until:
            _update(shown, session, stream)
    except KeyboardInterrupt:
        pass
    finally:
        session.stop()
        _update(shown, session, stream)


def _update(shown: Any, session: "Session", stream: str) -> None:
    rows = session.table(stream).arrow()
    newest = rows.slice(max(rows.num_rows - html.MOST_ROWS, 0))
    note = f"{rows.num_rows:,} rows, the newest last"
    if shown is not None:
        shown.update(HTML(html.table(newest, note=note)))


def load(shell: "InteractiveShell") -> None:
    """For `%load_ext tidegate`."""
    shell.register_magics(TidegateMagics)
