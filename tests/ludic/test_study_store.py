"""The store: what a kill leaves, what is refused, what is on record."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.errors import InputError
from ludic_deepeval.studies.frozen import Sidecar, freeze, require_same
from ludic_deepeval.studies.store import TRIALS, Store
from tests.scripted_study import TWO_BY_TWO, begun

STUDY = TWO_BY_TWO.format(seeds=2)


def trial(name: str, **more: Any) -> dict[str, Any]:
    return {"trial": name, "note": "Käse, 茶, \u2028", **more}


def filled(path: Path, count: int = 5) -> Store:
    store, _ = begun(path, STUDY)
    for number in range(count):
        store.append(trial(f"t{number}"))
    return store


def test_a_line_is_a_trial_and_comes_back_as_it_was(tmp_path: Path) -> None:
    store = filled(tmp_path / "s")
    assert [(number, line["trial"]) for number, line in store.lines()] == [
        (1, "t0"),
        (2, "t1"),
        (3, "t2"),
        (4, "t3"),
        (5, "t4"),
    ]
    assert next(store.lines())[1] == trial("t0")


def test_a_store_cut_at_any_byte_loses_its_last_trials_and_nothing_else(tmp_path: Path) -> None:
    store = filled(tmp_path / "s")
    file = store.path / TRIALS
    whole = file.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 10]
    for cut in range(len(whole) + 1):
        file.write_bytes(whole[:cut])
        kept = sum(end <= cut for end in ends)
        lacks_its_end = any(cut == end - 1 for end in ends)  # a whole line without its line break is whole
        assert len(store.done()) == kept + lacks_its_end
        lost = store.mend()
        assert lost == (0 if lacks_its_end else cut - ([0, *ends][kept]))
        assert len(store.done()) == kept + lacks_its_end
        store.append(trial("after"))
        assert [line["trial"] for _, line in store.lines()] == [
            *(f"t{n}" for n in range(kept + lacks_its_end)),
            "after",
        ]


@pytest.mark.parametrize("garbage", [b"\x00" * 40, b"\xff\xfe", b'{"trial"', b"[1, 2]", b'"x"'])
def test_garbage_at_the_end_is_cut_off(tmp_path: Path, garbage: bytes) -> None:
    store = filled(tmp_path / "s")
    with (store.path / TRIALS).open("ab") as file:
        file.write(garbage)
    assert len(store.done()) == 5
    assert store.mend() == len(garbage)
    assert len(store.done()) == 5


def test_a_line_that_was_edited_is_refused_with_its_number(tmp_path: Path) -> None:
    store = filled(tmp_path / "s")
    file = store.path / TRIALS
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([lines[0], b"{}\n", *lines[2:]]))
    with pytest.raises(InputError, match="line 2: no trial of a study"):
        store.done()
    file.write_bytes(b"".join([*lines, lines[1]]))
    with pytest.raises(InputError, match="line 6: the trial t1 is also on line 2"):
        store.done()


def test_two_runs_cannot_write_to_one_store(tmp_path: Path) -> None:
    store = filled(tmp_path / "s")
    with (
        store.locked(),
        pytest.raises(InputError, match="another run is writing"),
        Store(store.path).locked(),
    ):
        pass
    with Store(store.path).locked():
        pass


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    """A folder in its place, since whoever runs tests may be allowed to read everything."""
    store, _ = begun(tmp_path / "s", STUDY)
    (store.path / TRIALS).mkdir()
    with pytest.raises(InputError, match=r"trials.jsonl: cannot be read \("):
        store.done()
    with pytest.raises(InputError, match=r"trials.jsonl: cannot be written \("):
        store.mend()
    (store.path / ".lock").unlink(missing_ok=True)
    (store.path / ".lock").mkdir()
    with pytest.raises(InputError, match=r"\.lock: cannot be written \("), store.locked():
        pass


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "novel.md").write_text("mine")
    with pytest.raises(InputError, match=r"something else in it \(novel.md\)"):
        begun(tmp_path, STUDY)
    assert [one.name for one in tmp_path.iterdir()] == ["novel.md"]


def test_an_amendment_is_dated_and_comes_before_the_first_trial(tmp_path: Path) -> None:
    store, plan = begun(tmp_path / "s", STUDY)
    changed = freeze(plan, STUDY.replace('id = "scripted"', 'id = "amended"'), created="later")
    entry = store.amend(changed, "a smoke run showed it", ("study.id: scripted, and now amended",))
    assert (entry.kind, entry.trials) == ("amendment", 0)
    assert entry.date.endswith("+00:00")
    assert store.sidecar().plan().design.id == "amended"
    store.append(trial("t0"))
    with pytest.raises(
        InputError, match="1 trial is kept already; allowed: amendments before the first outcome"
    ):
        store.amend(changed, "too late", ())
    assert store.sidecar().plan().design.id == "amended"
    store.deviate("the server was moved")
    assert [(one.kind, one.trials, one.reason) for one in store.log()] == [
        ("amendment", 0, "a smoke run showed it"),
        ("deviation", 1, "the server was moved"),
    ]


def test_an_amendment_that_was_killed_between_its_two_writes_is_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, plan = begun(tmp_path / "s", STUDY)
    changed = freeze(plan, STUDY.replace('id = "scripted"', 'id = "amended"'), created="later")
    changes = ("study.id: scripted, and now amended",)

    def killed(_: Sidecar) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(store, "_freeze", killed)
        with pytest.raises(KeyboardInterrupt):
            store.amend(changed, "a smoke run showed it", changes)
    assert 'id = "scripted"' in store.sidecar().study
    store.amend(changed, "a smoke run showed it", changes)
    assert 'id = "amended"' in store.sidecar().study
    assert [entry.reason for entry in store.log()] == ["a smoke run showed it"]


def test_other_code_is_refused_until_it_is_on_record_and_another_study_always(tmp_path: Path) -> None:
    store, plan = begun(tmp_path / "s", STUDY)
    was = store.sidecar()
    other = was.model_copy(update={"environment": was.environment.model_copy(update={"commit": "f" * 40})})
    with pytest.raises(InputError, match=r"environment.commit: .*, and now ffff.*--deviation"):
        require_same(was, other, "study.json")
    changes = require_same(was, other, "study.json", deviation=True)
    assert require_same(was, other, "study.json", known=frozenset(changes)) == ()
    seeds = freeze(plan, STUDY.replace('"1-2"', '"1-3"'), created="later")
    with pytest.raises(InputError, match=r"study.seeds: \[1, 2\], and now \[1, 2, 3\]"):
        require_same(was, seeds, "study.json", deviation=True)


def test_code_that_was_edited_without_a_commit_is_other_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "one.py").write_bytes(b"a = 1\nb = 2\n")
    monkeypatch.setattr("ludic_deepeval.studies.frozen._PACKAGE", package)
    store, plan = begun(tmp_path / "s", STUDY)
    was = store.sidecar()
    (package / "one.py").write_bytes(b"a = 1\r\nb = 2\r\n")  # another checkout of the same
    (package / "notes.txt").write_text("no code")
    assert require_same(was, freeze(plan, STUDY, created="later"), "study.json") == ()
    (package / "one.py").write_bytes(b"a = 1\nb = 3\n")
    with pytest.raises(InputError, match=r"environment.code_sha256: .*--deviation"):
        require_same(was, freeze(plan, STUDY, created="later"), "study.json")


def test_random_cuts_and_appends_never_make_a_trial_twice(tmp_path: Path) -> None:
    store, _ = begun(tmp_path / "s", STUDY)
    chance = random.Random(3)  # noqa: S311
    file = store.path / TRIALS
    for _ in range(60):
        store.mend()
        done = store.done()
        store.append(
            trial(
                next(name for n in range(100) if (name := f"t{n}") not in done),
                pad="x" * chance.randrange(200),
            )
        )
        if chance.random() < 0.5:
            with file.open("r+b") as stream:
                stream.truncate(chance.randrange(file.stat().st_size + 1))
    store.mend()
    names = [json.loads(raw)["trial"] for raw in file.read_bytes().splitlines()]
    assert len(set(names)) == len(names)
    assert names == [f"t{n}" for n in range(len(names))]
