import json
import multiprocessing
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.errors import InputError, StaleError
from ludic_deepeval.files import write_atomic
from ludic_deepeval.ledger import load_ledger
from ludic_deepeval.lockfile import (
    Lockfile,
    Notary,
    Ungrounded,
    load_lockfile,
    make_lockfile,
    verify,
    write_lockfile,
)
from ludic_deepeval.text import Prose

BODY = (
    "Odo Marsh still signs the ledgers at the mill.\n\n"
    "Somebody had paid for the bell not to ring.\n\n"
    "She means to stand before the judge, “soon”."
)
QUOTES = {
    "npcs": "Odo Marsh still signs the ledgers",
    "mysteries": "had paid for the bell not to ring",
    "goals": "She means to stand before the judge",
    "hooks": "signs the ledgers at the mill",
    "events": "paid for the bell not to ring",
}


def evidence(quote: str, body: str = BODY) -> list[dict[str, Any]]:
    start = body.index(quote)
    return [{"quote": quote, "start": start, "end": start + len(quote)}]


def ledger() -> dict[str, Any]:
    return {
        "schema_version": 1,
        "protagonist": "Ysolde",
        "npcs": [
            {"id": "odo", "name": "Odo Marsh", "unresolved": True, "evidence": evidence(QUOTES["npcs"])}
        ],
        "events": [
            {"id": "e1", "phase": "P2", "summary": "the bell", "evidence": evidence(QUOTES["events"])}
        ],
        "hooks": [
            {
                "id": "h1",
                "text": "the ledgers",
                "tier": 1,
                "npc": "odo",
                "evidence": evidence(QUOTES["hooks"]),
            }
        ],
        "goals": [{"id": "g1", "text": "the judge", "evidence": evidence(QUOTES["goals"])}],
        "mysteries": [{"id": "m1", "text": QUOTES["mysteries"], "evidence": evidence(QUOTES["mysteries"])}],
    }


def made(data: dict[str, Any] | None = None, kind: str = "hand") -> Lockfile:
    notary = Notary.model_validate({"kind": kind})
    return make_lockfile(Prose(BODY), load_ledger(data or ledger()), notary)


def listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_lockfile_is_made_written_loaded_and_verified(tmp_path: Path) -> None:
    path = tmp_path / "tale.ledger.json"
    lock = made()
    write_lockfile(lock, path)
    again = load_lockfile(path)
    assert again == lock
    verify(again, Prose(BODY), path)
    data = json.loads(path.read_bytes())
    assert data["source_sha256"] == sha256(BODY.encode()).hexdigest()
    assert data["notary"] == {"kind": "hand"}
    assert data["ledger"]["hooks"][0]["evidence"] == evidence(QUOTES["hooks"])


def test_a_lockfile_is_the_same_to_the_byte_sorted_and_ends_with_one_newline(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    write_lockfile(made(), first)
    shuffled = {key: ledger()[key] for key in reversed(ledger())}
    write_lockfile(made(shuffled), second)
    data = first.read_bytes()
    assert data == second.read_bytes()
    assert data.endswith(b"}\n")
    assert not data.endswith(b"\n\n")
    assert b"\r" not in data
    keys = [key for key, _ in json.loads(data, object_pairs_hook=lambda pairs: pairs)]
    assert keys == sorted(keys)
    write_lockfile(load_lockfile(first), second)
    assert second.read_bytes() == data


def test_writing_what_is_there_touches_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tale.ledger.json"
    write_lockfile(made(), path)
    os.utime(path, (1, 1))
    write_lockfile(made(), path)
    assert path.stat().st_mtime == 1


@pytest.mark.parametrize(
    "changed", [BODY + "!", BODY.replace("soon", "Soon"), "", BODY.replace("\n\n", "\n")]
)
def test_a_lockfile_of_other_prose_is_stale(changed: str) -> None:
    with pytest.raises(
        StaleError, match=r"tale\.ledger\.json: the prose has changed .*run: ludic relock tale\.md"
    ):
        verify(made(), Prose(changed, "tale.md"), Path("tale.ledger.json"))


@pytest.mark.parametrize(
    "same", ["\ufeff" + BODY, BODY.replace("\n", "\r\n"), f"---\nid: x\n---\n\n{BODY}\n\n"]
)
def test_a_lockfile_fits_every_copy_of_its_prose(same: str) -> None:
    verify(made(), Prose(same), Path("x"))


def _shift(data: dict[str, Any]) -> None:
    data["ledger"]["hooks"][0]["evidence"][0]["start"] += 1


def _beyond(data: dict[str, Any]) -> None:
    data["ledger"]["hooks"][0]["evidence"][0]["end"] = len(BODY) + 1


def _backwards(data: dict[str, Any]) -> None:
    span = data["ledger"]["hooks"][0]["evidence"][0]
    span["start"], span["end"] = span["end"], span["start"]


def _empty(data: dict[str, Any]) -> None:
    span = data["ledger"]["hooks"][0]["evidence"][0]
    span["end"] = span["start"]


def _other_words(data: dict[str, Any]) -> None:
    data["ledger"]["hooks"][0]["evidence"][0]["quote"] = "burns the ledgers at the mill"


def _no_evidence(data: dict[str, Any]) -> None:
    del data["ledger"]["hooks"][0]["evidence"]


def _too_short(data: dict[str, Any]) -> None:
    data["ledger"]["hooks"][0]["evidence"] = evidence("the ledgers")


def _second_quote(data: dict[str, Any]) -> None:
    data["ledger"]["hooks"][0]["evidence"].append({"quote": "nobody ever wrote this", "start": 0, "end": 22})


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (_shift, "the quote 'signs the ledgers at the mill' is not at 17; 'igns the ledgers at the mill' is"),
        (_beyond, f"offsets 16 to {len(BODY) + 1} are outside the prose of {len(BODY)} characters"),
        (_backwards, f"offsets 45 to 16 are outside the prose of {len(BODY)} characters"),
        (_empty, "offsets 16 to 16 are outside the prose"),
        (
            _other_words,
            "the quote 'burns the ledgers at the mill' is not at 16; 'signs the ledgers at the mill' is",
        ),
        (_no_evidence, "no quote"),
        (_too_short, "the quote 'the ledgers' has fewer than 3 words"),
        (_second_quote, "the quote 'nobody ever wrote this' is not at 0"),
    ],
)
def test_a_tampered_lockfile_is_refused_with_its_place(
    tmp_path: Path, tamper: Callable[[dict[str, Any]], None], said: str
) -> None:
    path = tmp_path / "tale.ledger.json"
    write_lockfile(made(), path)
    data = json.loads(path.read_bytes())
    tamper(data)
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        verify(load_lockfile(path), Prose(BODY), path)
    assert str(caught.value).startswith(f"{path}: ledger.hooks[0].evidence: ")
    assert "\n" not in str(caught.value)


def test_a_quote_of_more_than_25_words_is_refused() -> None:
    body = " ".join(f"word{n}" for n in range(26))
    data = {
        "schema_version": 1,
        "protagonist": "Y",
        "goals": [{"id": "g", "text": "t", "evidence": [{"quote": body, "start": 0, "end": len(body)}]}],
    }
    lock = make_lockfile(Prose(body), load_ledger(data), Notary(kind="hand"))
    with pytest.raises(InputError, match="has more than 25 words"):
        verify(lock, Prose(body), Path("x"))


@pytest.mark.parametrize("name", ["Oda", "Od", "Marshal", "arsh still"])
def test_a_persons_quote_must_hold_a_name_of_the_person(name: str) -> None:
    data = ledger()
    data["npcs"][0]["name"] = name
    with pytest.raises(InputError, match=r"ledger\.npcs\[0\]\.evidence: the quote .* does not hold the name"):
        verify(made(data), Prose(BODY), Path("x"))
    data["npcs"][0]["aliases"] = ["Marsh"]
    verify(made(data), Prose(BODY), Path("x"))


def test_a_models_reading_may_hold_no_background_log() -> None:
    data = ledger()
    data["background_log"] = [{"id": "b", "phase": "P1", "kind": "death", "subject": "x", "text": "y"}]
    verify(made(data), Prose(BODY), Path("x"))
    with pytest.raises(InputError, match=r"ledger\.background_log: a background log in a model's reading"):
        verify(made(data, "model"), Prose(BODY), Path("x"))


def with_shares(grounded: int, ungrounded: int, kind: str = "model") -> Lockfile:
    goals = [{"id": f"g{n}", "text": "t", "evidence": evidence(QUOTES["goals"])} for n in range(grounded)]
    facts = load_ledger({"schema_version": 1, "protagonist": "Y", "goals": goals})
    apart = [Ungrounded(list="goals", item={"id": f"u{n}"}, reason="not there") for n in range(ungrounded)]
    return make_lockfile(Prose(BODY), facts, Notary.model_validate({"kind": kind}), apart)


@pytest.mark.parametrize(
    ("grounded", "ungrounded", "scored"),
    [
        (4, 1, True),
        (8, 2, True),
        (800, 200, True),
        (799, 200, False),
        (3, 1, False),
        (7, 2, False),
        (1, 0, True),
    ],
)
def test_more_than_a_fifth_without_words_is_unscored_and_exactly_a_fifth_is_not(
    grounded: int, ungrounded: int, scored: bool
) -> None:
    outcome = with_shares(grounded, ungrounded).too_little_grounded
    if scored:
        assert outcome is None
    else:
        assert outcome is not None
        assert outcome.cause == "extraction"
        assert outcome.reason.startswith(f"{ungrounded} of the {grounded + ungrounded} items")


@pytest.mark.parametrize("ungrounded", [0, 3])
def test_a_model_that_found_nothing_is_unscored(ungrounded: int) -> None:
    outcome = with_shares(0, ungrounded).too_little_grounded
    assert outcome is not None
    assert outcome.cause == "extraction"


def test_a_person_who_marked_little_is_scored() -> None:
    assert with_shares(0, 0, "hand").too_little_grounded is None
    assert with_shares(1, 9, "hand").too_little_grounded is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema_version": 2}, "schema_version: found 2; allowed: 1"),
        ({"source_sha256": "abc"}, "source_sha256: found 'abc'"),
        ({"notary": {"kind": "cat"}}, "notary.kind: found 'cat'; allowed: 'hand' or 'model'"),
        ({"notary": {"kind": "model", "repetition": 1.0}}, "notary.repetition: found 1.0"),
        ({"notary": {"kind": "model", "repetition": True}}, "notary.repetition: found true"),
        ({"extra": 1}, "extra: unknown field; allowed: schema_version, source_sha256, notary, ledger"),
        ({"fingerprint": {"words": "", "paragraphs": [-9], "at": {}}}, "fingerprint.paragraphs[0]: found -9"),
        ({"unread": [{"paragraph": 0, "start": -1, "end": 2}]}, "unread[0].start: found -1"),
    ],
)
def test_a_malformed_lockfile_is_refused_with_its_place(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    path = tmp_path / "tale.ledger.json"
    write_lockfile(made(), path)
    path.write_text(json.dumps(json.loads(path.read_bytes()) | change), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_lockfile(path)
    assert str(caught.value).startswith(f"{path}: {said}")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_that_json_cannot_write_are_refused_where_anything_may_stand(
    tmp_path: Path, number: str
) -> None:
    path = tmp_path / "tale.ledger.json"
    write_lockfile(made(), path)
    text = path.read_text(encoding="utf-8").replace(
        '"kind": "hand"', f'"kind": "model", "options": {{"t": [{number}]}}'
    )
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"notary\.options: found (nan|inf); allowed: finite numbers"):
        load_lockfile(path)


# Writing


def _write(job: tuple[str, int]) -> None:
    path, number = job
    for _ in range(20):
        write_atomic(Path(path), f"{number}\n" * 20_000)


def test_parallel_processes_leave_one_whole_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "tale.ledger.json"
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        pool.map(_write, [(str(path), number) for number in range(4)])
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 20_000
    assert len(set(lines)) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["tale.ledger.json"]


def test_a_reader_beside_parallel_threads_always_sees_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "tale.ledger.json"
    write_atomic(path, "9\n" * 20_000)
    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(_write, (str(path), number)) for number in range(3)]
        while not all(writer.done() for writer in writers):
            text = path.read_text(encoding="utf-8")
            assert len(text) == 40_000
            assert len(set(text.split())) == 1
        for writer in writers:
            writer.result()
    assert [file.name for file in tmp_path.iterdir()] == ["tale.ledger.json"]


@pytest.mark.parametrize(
    ("there", "broken"), [(None, "replace"), (b"as it was", "replace"), (b"as it was", "chmod")]
)
def test_a_write_that_fails_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bytes | None, broken: str
) -> None:
    path = tmp_path / "tale.ledger.json"
    if there is not None:
        path.write_bytes(there)
    before = listing(tmp_path)

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, broken, fail)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
        write_lockfile(made(), path)
    monkeypatch.undo()
    assert listing(tmp_path) == before


def test_a_write_that_is_interrupted_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_lockfile(made(), tmp_path / "tale.ledger.json")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_where_the_lockfile_belongs_is_an_error_and_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "tale.ledger.json").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write_lockfile(made(), tmp_path / "tale.ledger.json")
    assert [file.name for file in tmp_path.iterdir()] == ["tale.ledger.json"]


def test_parallel_writers_leave_the_process_its_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: write_atomic(tmp_path / f"{n}.json", "x"), range(200)))
    finally:
        left = os.umask(old)
    assert left == 0o027
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o640}


def test_a_new_file_can_be_read_by_whoever_may_read_the_prose(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        write_lockfile(made(), tmp_path / "new.json")
        (tmp_path / "old.json").write_text("x", encoding="utf-8")
        (tmp_path / "old.json").chmod(0o640)
        write_lockfile(made(), tmp_path / "old.json")
    finally:
        os.umask(old)
    assert (tmp_path / "new.json").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "old.json").stat().st_mode & 0o777 == 0o640
