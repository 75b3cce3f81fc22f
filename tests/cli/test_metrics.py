"""`tidegate run --metrics`: what Prometheus reads of a run."""

import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from tests.cli.conftest import ROOT
from tidegate.cli.scrapes import Durations, Endpoint, exposition
from tidegate.model.time import NEVER_US
from tidegate.session.accounts import Account, StageAccount

SQL = """\
CREATE SOURCE ev (k VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH (connector = 'generator', rows = 500, rate = '100000/s');
CREATE STREAM it AS SELECT k, COUNT(*) AS n FROM ev WHERE k <> 'A' GROUP BY k, TUMBLE(ts, INTERVAL '1' MILLISECOND);
CREATE SOURCE more (n BIGINT) WITH (connector = 'generator', rate = '1/h');
CREATE STREAM slow AS SELECT n FROM more;
CREATE SINK a FROM it WITH (connector = 'file', path = 'a');
CREATE SINK b FROM slow WITH (connector = 'file', path = 'b');
"""


def samples(text: str) -> dict[str, float]:
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            assert re.fullmatch(r'\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})?', name), line
            found[name] = float(value)
    return found


def stage(**given: object) -> StageAccount:
    told: dict[str, object] = {
        "name": "it", "stream": "it", "anonymous": False, "stateless": False, "falls_back": False,
        "aggregated": 3, "filtered": 2, "reasons": {"late/allowed_lateness_exceeded": 1}, "broken": {},
        "emitted": 4, "stamped": 0, "watermark_us": 5_000_000, "open_windows": 6, "state_bytes": 7,
        "seconds": 0.5,
    }  # fmt: skip
    return StageAccount(**{**told, **given})  # type: ignore[arg-type]


def account(*stages: StageAccount) -> Account:
    return Account(
        epoch=9,
        read={"ev": 6},
        malformed={"ev": 1},
        stages=stages,
        delivered={"late": 1},
        dropped={},
    )


def test_what_is_told() -> None:
    epochs = Durations()
    epochs.add(0.02)
    silent = stage(name="quiet", stream="quiet", watermark_us=NEVER_US)
    found = samples(exposition(account(stage(), silent), now_us=7_500_000, epochs=epochs))
    own = 'stream="it",stage="it"'
    assert found["tidegate_epoch"] == 9
    assert found['tidegate_rows_in_total{source="ev"}'] == 6
    assert found[f"tidegate_rows_aggregated_total{{{own}}}"] == 3
    diverted = f'{own},kind="late",reason="allowed_lateness_exceeded"'
    assert found[f"tidegate_rows_diverted_total{{{diverted}}}"] == 1
    assert found['tidegate_side_output_delivered_total{kind="late"}'] == 1
    assert found[f"tidegate_watermark_lag_seconds{{{own}}}"] == 2.5
    assert not [name for name in found if "watermark" in name and "quiet" in name]
    assert found['tidegate_epoch_duration_seconds_bucket{le="0.01"}'] == 0
    assert found['tidegate_epoch_duration_seconds_bucket{le="+Inf"}'] == 1


def test_all_are_documented() -> None:
    text = exposition(account(stage()), now_us=0, epochs=Durations())
    told = re.findall(r"^# TYPE (\w+) ", text, re.M)
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert sorted(told) == sorted(re.findall(r"^\| `(\w+)`", page, re.M))


def test_other_paths() -> None:
    endpoint = Endpoint("127.0.0.1", 0)
    try:
        endpoint.look(lambda: account(stage()), now_us=0, epochs_s=[0.1])
        with urllib.request.urlopen(endpoint.url) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            assert samples(answer.read().decode())["tidegate_epoch_duration_seconds_count"] == 1
        status = 0
        try:
            urllib.request.urlopen(endpoint.url.replace("metrics", "else"))
        except urllib.error.HTTPError as refused:
            with refused:
                status = refused.code
        assert status == 404
    finally:
        endpoint.close()


def test_a_run_that_goes_on(tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text(SQL)
    command = [
        sys.executable,
        "-m",
        "tidegate",
        "run",
        "q.sql",
        "--engine",
        "local",
        "--metrics",
        "0",
    ]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(ROOT / "src")},
    ) as run:
        try:
            assert run.stderr is not None
            (url,) = re.findall(r"metrics: (http\S+)", run.stderr.readline())
            found: dict[str, float] = {}
            until = time.monotonic() + 60
            while (
                time.monotonic() < until and found.get('tidegate_rows_in_total{source="ev"}') != 500
            ):
                time.sleep(0.05)
                with urllib.request.urlopen(url) as answer:
                    found = samples(answer.read().decode())
            rows = [
                found[f'tidegate_rows_{what}_total{{stream="it",stage="it"}}']
                for what in ("aggregated", "filtered")
            ]
            assert sum(rows) == 500
            assert min(rows) > 0
            assert found["tidegate_epoch_duration_seconds_count"] >= 1
        finally:
            run.kill()
