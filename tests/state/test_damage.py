"""What cannot be trusted is refused by name, both by a restart and by `verify`; earlier files stay as they are."""

import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from tests.state.fragile import Disk, FragileStore
from tests.state.story import IDENTITY, Run
from tidegate.errors import TidegateError
from tidegate.state import Identity, Recovered, layout, open_log
from tidegate.state.documents import seal, unseal
from tidegate.state.store import Store, store_at
from tidegate.state.survey import survey, verify

LAST, SNAPSHOT = 5, 2
MANIFEST, OLDER = layout.manifest(LAST), layout.manifest(LAST - 1)
BASE = layout.manifest(SNAPSHOT)
INTENT = layout.intent(LAST + 1)
DELTA, SNAPPED = layout.delta(LAST - 1, 1), layout.snapshot(SNAPSHOT, 0)
ALL = (MANIFEST, OLDER, BASE, INTENT, DELTA, SNAPPED, layout.IDENTITY)


def story(identity: Identity = IDENTITY) -> Disk:
    """Six epochs, a snapshot after the third, the seventh intended."""
    disk = Disk()
    log = open_log(FragileStore(disk), identity=identity)
    log.recover()
    run = Run(frozenset({SNAPSHOT}))
    run.to(LAST, log)
    log.intend(LAST + 1, {"offsets": {}})
    log.close()
    return disk


def read_all(store: Store) -> Recovered | None:
    log = open_log(store, identity=IDENTITY)
    try:
        found = log.recover()
        for _ in found.deltas() if found else ():
            pass
        return found
    finally:
        log.close()


def refused(disk: Disk, code: str, file: str, reason: str = "") -> TidegateError:
    """By a restart, which takes nothing away that counts, and by `verify`, which names the same file."""
    store = FragileStore(disk)
    spent = {layout.intent(epoch) for epoch in range(LAST + 1)}
    before = {name: content for name, content in disk.visible.items() if name not in spent}
    with pytest.raises(TidegateError) as told:
        read_all(store)
    assert told.value.code == code
    assert told.value.message.startswith(f"disk/{file} ")
    assert reason in told.value.message
    assert {name: disk.visible.get(name) for name in before} == before
    problems = verify(store)
    assert (code, file) in [
        (each.code, each.message.split(" ")[0].removeprefix("disk/")) for each in problems
    ]
    return told.value


def test_the_story_is_sound() -> None:
    store = FragileStore(story())
    assert verify(store) == []
    found = read_all(store)
    assert found is not None
    assert (found.epoch, found.intent) == (LAST, {"offsets": {}})


# Missing


@pytest.mark.parametrize("file", [OLDER, BASE, DELTA, SNAPPED, layout.IDENTITY])
def test_missing(file: str) -> None:
    disk = story()
    del disk.visible[file]
    refused(disk, "TG-5005", file, "is missing")


def test_a_missing_newest_manifest_shows_by_what_came_after() -> None:
    disk = story()
    del disk.visible[MANIFEST]
    refused(disk, "TG-5005", MANIFEST, "there are later epochs")


def test_missing_manifests_show_by_a_snapshot() -> None:
    disk = story()
    for name in [name for name in disk.visible if name.startswith(("manifest", "intent"))]:
        del disk.visible[name]
    refused(disk, "TG-5005", layout.manifest(LAST - 1))


def test_the_last_missing_file_is_found_in_the_first_epoch_too() -> None:
    disk = Disk()
    log = open_log(FragileStore(disk), identity=IDENTITY)
    log.recover()
    Run().to(1, log)
    del disk.visible[layout.manifest(0)]
    del disk.visible[layout.manifest(1)]
    log.close()
    refused(disk, "TG-5005", layout.manifest(0))


# Torn


@pytest.mark.parametrize("kept", [0, 1, -2, -1])
@pytest.mark.parametrize("file", ALL)
def test_torn(file: str, kept: int) -> None:
    disk = story()
    disk.visible[file] = disk.visible[file][:kept]
    refused(disk, "TG-5006", file, "is torn")


# Damaged


@pytest.mark.parametrize("file", ALL)
def test_any_byte_that_changed_is_noticed(file: str) -> None:
    """A document whose format changed looks like one of another version; the rest is damage."""
    whole = story()
    sound = whole.visible[file]
    step = max(1, len(sound) // 40)
    for place in range(0, len(sound), step):
        disk = Disk(dict(whole.visible))
        disk.visible[file] = flipped(sound, place)
        with pytest.raises(TidegateError) as told:
            read_all(FragileStore(disk))
        assert re.fullmatch(r"TG-50(06|07|09|10)", told.value.code), place
        assert told.value.message.startswith(f"disk/{file} ")


def flipped(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize("file", ALL)
def test_more_than_was_written(file: str) -> None:
    disk = story()
    disk.visible[file] += disk.visible[file]
    refused(disk, "TG-5007", file, "is damaged")


@pytest.mark.parametrize("content", [b'"text"\n}\n', b"[1, 2, {}\n", b"\xff\xfe}\n", b"[{}]}\n"])
def test_a_document_that_is_no_json(content: bytes) -> None:
    disk = story()
    disk.visible[MANIFEST] = content
    code = "TG-5007" if content.endswith(b"}\n") else "TG-5006"
    refused(disk, code, MANIFEST)


@pytest.mark.parametrize("format", ["1", None, 1.5, True])
def test_a_document_without_a_format(format: object) -> None:
    disk = story()
    disk.visible[MANIFEST] = seal({"format": format})
    refused(disk, "TG-5007", MANIFEST, "format")


def changed(disk: Disk, file: str, **changes: object) -> None:
    """As if it had been written like that."""
    body = unseal(disk.visible[file], file)
    disk.visible[file] = seal({**body, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"delta": None},
        {"delta": {"facts": [], "entries": []}},
        {"delta": {"facts": {}, "entries": [{"file": "x"}]}},
        {"snapshot": 5},
        {"base": "none"},
    ],
    ids=str,
)
def test_a_manifest_of_another_shape(changes: dict[str, object]) -> None:
    disk = story()
    changed(disk, MANIFEST, **changes)
    refused(disk, "TG-5007", MANIFEST, "shaped")


def test_a_manifest_names_no_files_but_its_own() -> None:
    disk = story()
    body = unseal(disk.visible[MANIFEST], MANIFEST)
    body["delta"]["entries"][0]["file"] = "../../precious"
    changed(disk, MANIFEST, delta=body["delta"])
    refused(disk, "TG-5007", MANIFEST, "../../precious")


@pytest.mark.parametrize("changes", [{"plans": 5}, {"plans": {"q": 5}}], ids=str)
def test_an_identity_of_another_shape(changes: dict[str, object]) -> None:
    disk = story()
    changed(disk, layout.IDENTITY, **changes)
    refused(disk, "TG-5007", layout.IDENTITY, "shaped")


def test_an_intent_of_another_shape() -> None:
    disk = story()
    changed(disk, INTENT, facts=[])
    refused(disk, "TG-5007", INTENT, "shaped")


def test_a_document_may_be_formatted_anew() -> None:
    disk = story()
    disk.visible[MANIFEST] = disk.visible[MANIFEST].replace(b",", b", \n ")
    assert verify(FragileStore(disk)) == []


# Of something else


@pytest.mark.parametrize("file", [MANIFEST, OLDER, BASE, INTENT])
def test_a_document_of_another_checkpoint(file: str) -> None:
    disk = story()
    disk.visible[file] = story().visible[file]
    refused(disk, "TG-5008", file, "another checkpoint")


@pytest.mark.parametrize(
    ("file", "other"), [(MANIFEST, OLDER), (OLDER, MANIFEST), (layout.manifest(LAST + 1), MANIFEST)]
)
def test_a_manifest_of_another_epoch(file: str, other: str) -> None:
    """A copy under another name: no epoch has two manifests, and no manifest two epochs."""
    disk = story()
    disk.visible[file] = disk.visible[other]
    refused(disk, "TG-5008", file, "it was written for epoch")


def test_a_delta_of_another_checkpoint() -> None:
    disk = story()
    disk.visible[DELTA] = disk.visible[layout.delta(LAST, 1)]
    refused(disk, "TG-5007", DELTA)


@pytest.mark.parametrize("base", [None, SNAPSHOT + 1])
def test_a_manifest_that_builds_on_another_snapshot(base: int | None) -> None:
    disk = story()
    changed(disk, OLDER, base=base)
    refused(disk, "TG-5008", OLDER, "it does not build on the snapshot of epoch 2")


# Formats


@pytest.mark.parametrize(("format", "code"), [(2, "TG-5009"), (0, "TG-5010"), (-1, "TG-5010")])
@pytest.mark.parametrize("file", [MANIFEST, OLDER, BASE, INTENT, layout.IDENTITY])
def test_formats_of_other_versions(file: str, format: int, code: str) -> None:
    disk = story()
    changed(disk, file, format=format)
    assert "use the version that wrote it" in refused(disk, code, file, f"format {format}").hint


# Other things


def test_a_directory_that_holds_other_things(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    for reset in (False, True):
        with pytest.raises(TidegateError, match=r"TG-5001: .* it holds thesis\.tex"):
            open_log(tmp_path, identity=IDENTITY, reset=reset)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_directory_of_other_things_with_shards(tmp_path: Path) -> None:
    (tmp_path / "shard=00").mkdir()
    (tmp_path / "shard=00" / "data.bin").write_text("")
    with pytest.raises(TidegateError, match=r"TG-5001: .* it holds shard=00/data\.bin"):
        open_log(tmp_path, identity=IDENTITY)


@pytest.mark.parametrize("name", [".DS_Store", "lost+found", ".nfs0001"])
def test_what_file_systems_bring_along_is_not_looked_at(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    log = open_log(tmp_path, identity=IDENTITY)
    assert log.recover() is None
    log.close()
    assert (tmp_path / name).exists()


@pytest.mark.parametrize(
    "file", ["notes.txt", "manifest=7.json", "shard=00/x.arrow", "manifest=0000000000005.json"]
)
def test_a_foreign_file_is_named_by_verify_and_left_alone(file: str) -> None:
    disk = story()
    disk.visible[file] = b"?"
    found = read_all(FragileStore(disk))
    assert found is not None
    assert disk.visible[file] == b"?"
    [problem] = verify(FragileStore(disk))
    assert (problem.code, problem.message.split(" ")[0]) == ("TG-5008", f"disk/{file}")


def test_every_problem_is_told_at_once() -> None:
    disk = story()
    del disk.visible[OLDER]
    disk.visible[MANIFEST] = b""
    disk.visible[SNAPPED] = disk.visible[SNAPPED][:-5]
    disk.visible[INTENT] = flipped(disk.visible[INTENT], 30)
    disk.visible["notes.txt"] = b""
    assert [problem.code for problem in verify(FragileStore(disk))] == [
        "TG-5008",
        "TG-5006",
        "TG-5006",
        "TG-5007",
    ]


# Other plans


@pytest.mark.parametrize(
    ("plans", "difference"),
    [
        (
            {**IDENTITY.plans, "hours": ("format: 1", "key: k DOUBLE")},
            "stream hours:\n- key: k BIGINT\n+ key: k DOUBLE",
        ),
        ({"minutes": IDENTITY.plans["minutes"]}, "- stream hours"),
        ({**IDENTITY.plans, "days": ()}, "+ stream days"),
        ({}, "- stream hours\n- stream minutes"),
    ],
    ids=["changed", "fewer", "more", "none"],
)
def test_the_state_of_another_plan(plans: dict[str, tuple[str, ...]], difference: str) -> None:
    disk = story()
    with pytest.raises(TidegateError) as told:
        open_log(FragileStore(disk), identity=Identity(plans=plans))
    assert told.value.code == "TG-5003"
    assert told.value.message == f"disk holds the state of another plan:\n{difference}"
    assert "--reset-state" in told.value.hint
    log = open_log(FragileStore(disk), identity=IDENTITY)  # the refusal has left the lock
    log.recover()
    log.close()


def test_the_order_of_streams_does_not_matter() -> None:
    disk = story()
    turned = Identity(plans={name: IDENTITY.plans[name] for name in reversed([*IDENTITY.plans])})
    log = open_log(FragileStore(disk), identity=turned)
    found = log.recover()
    assert found is not None
    assert found.epoch == LAST
    log.close()


# Looking from outside


def test_a_survey_sees_what_a_restart_would() -> None:
    found = survey(FragileStore(story()))
    assert found.identity == IDENTITY
    assert (found.place, found.epoch, found.intent) == ("disk", LAST, {"offsets": {}})
    assert found.chain is not None
    assert [link.epoch for link in found.chain.deltas] == [3, 4, 5]
    assert found.chain.snapshot is not None


def test_looking_changes_nothing_and_needs_no_lock() -> None:
    disk = story()
    disk.visible["manifest=000000000006.json.01234567.tmp"] = b"half"
    log = open_log(FragileStore(disk), identity=IDENTITY)
    before = dict(disk.visible)
    survey(FragileStore(disk))
    verify(FragileStore(disk))
    assert disk.visible == before
    log.close()


class MovingStore(FragileStore):
    """Between two looks, a writer goes on."""

    def __init__(self, disk: Disk, go_on: Callable[[], None]) -> None:
        super().__init__(disk)
        self.reads = 0
        self.go_on = go_on

    def read(self, file: str) -> pa.Buffer:
        self.reads += 1
        if self.reads == 2:
            self.go_on()
        return super().read(file)


@pytest.mark.parametrize("look", [survey, verify])
def test_a_look_at_a_running_query_is_repeated(look: Callable[[Store], object]) -> None:
    disk = story()
    log = open_log(FragileStore(disk), identity=IDENTITY)
    log.recover()

    def go_on() -> None:
        Run(frozenset({6, 7, 8})).to(9, log, first=LAST + 1)

    store = MovingStore(disk, go_on)
    found = look(store)
    assert store.reads > 2
    assert found == look(FragileStore(disk))
    assert survey(FragileStore(disk)).epoch == 9
    log.close()


@pytest.mark.parametrize("look", [survey, verify])
def test_there_is_no_checkpoint(tmp_path: Path, look: Callable[[Store], object]) -> None:
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(TidegateError, match=f"TG-5002: there is no checkpoint in {place}"):
            look(store_at(place))
    assert list(tmp_path.iterdir()) == []
