"""The Notary on scripted models: parts, joining, second questions, unread paragraphs, and the command around them."""

import copy
import json
import socket
from pathlib import Path
from typing import Any

import pytest

import ludic_deepeval.cli_extract as command
from ludic_deepeval.errors import ModelError
from ludic_deepeval.llm.budget import Budget, Meter
from ludic_deepeval.llm.loop import run
from ludic_deepeval.lockfile import load_lockfile, verify
from ludic_deepeval.notary import Settings, extract, notary_for, parts
from ludic_deepeval.prompts import load_prompt
from ludic_deepeval.reanchor import relock
from ludic_deepeval.text import Prose
from tests.llm_faults import KEY, FaultServer, Step
from tests.ludic.conftest import TALE, Ludic
from tests.ludic.scripted import TALE_SAID, Said, Scripted, quoted

TWO = """\
Odo Marsh took the mill and the ledgers when she was twelve.

She swore to take the ledgers back from him.

Years on, the Reeve was found dead in the mill race.

She holds the ledgers now and wants to know who drowned him.
"""
FIRST: dict[str, Any] = {
    "protagonist": "Ysolde",
    "npcs": [{"id": "odo", "name": "Odo Marsh", "aliases": ["the Reeve"], "status": "alive", "tie": "enemy",
              "unresolved": True, "evidence": quoted("Odo Marsh took the mill")}],
    "hooks": [{"id": "take", "text": "take the ledgers back", "tier": 2, "npc": "odo",
               "evidence": quoted("She swore to take the ledgers back")}],
}  # fmt: skip
SECOND: dict[str, Any] = {
    "protagonist": "Ysolde",
    "events": [{"id": "dead", "phase": "P3", "summary": "he is found", "immediacy": 6, "gravity": 7, "linkage": 3,
                "divergence": 5, "relations": [{"npc": "odo", "status": "dead"}],
                "evidence": quoted("the Reeve was found dead")}],
    "hooks": [{"id": "who", "text": "who drowned him", "tier": 1, "evidence": quoted("wants to know who drowned him")}],
    "settled": [{"id": "take", "quote": "She holds the ledgers now"}],
}  # fmt: skip


def short(prose: str) -> Settings:
    """Settings under which the first two paragraphs are one part and the rest another."""
    return Settings(part=len(prose) // 2 + 5)


def reading(model: Scripted, text: str = TALE, **options: Any) -> Any:
    return run(extract(Prose(text), model, **options))


def test_a_story_that_fits_is_one_call_and_its_ledger_stands_on_its_words() -> None:
    model = Scripted([TALE_SAID])
    lock = reading(model).lock
    assert len(model.asked) == 1
    verify(lock, Prose(TALE), Path("x"))
    assert [(kind, item.id) for kind, _, item in lock.ledger.items()] == [
        ("npcs", "odo"),
        ("events", "fire"),
        ("hooks", "ledger"),
        ("goals", "judge"),
        ("mysteries", "bell"),
    ]
    assert (lock.notary.kind, lock.notary.model, lock.notary.repetition) == ("model", "scripted:test", 1)
    assert lock.notary == notary_for("scripted:test", Settings())
    # Both prompts that can put words into it, by their hashes; the second only where it may be asked.
    for found, role in ((lock.notary.prompt, "notary"), (lock.notary.again, "notary-again")):
        assert found is not None
        assert found.sha256 == load_prompt(role).sha256
    assert notary_for("scripted:test", Settings(ask_again=False)).again is None
    assert {"temperature", "seed", "part"} <= set(lock.notary.options)


@pytest.mark.parametrize("most", [1, 20, 60, 200, 10_000])
def test_prose_is_cut_at_paragraph_ends_alone_and_nothing_is_lost(most: int) -> None:
    spans = parts(TALE.strip(), most)
    shown = [TALE.strip()[start:end] for start, end in spans]
    assert "\n\n".join(shown) == TALE.strip()
    assert all(len(one) <= most or "\n\n" not in one for one in shown)


def test_parts_of_a_long_story_are_one_ledger_with_its_people_known_again() -> None:
    model = Scripted([FIRST, SECOND])
    found = reading(model, TWO, settings=short(TWO))
    assert len(model.asked) == 2
    assert "odo: Odo Marsh, the Reeve (alive, open)" in model.asked[1].prompt
    assert "take: take the ledgers back" in model.asked[1].prompt
    assert "Odo Marsh took the mill" not in model.asked[1].prompt.partition("BEGIN PROSE")[2]
    [odo] = found.lock.ledger.npcs
    # The second part names him only in a relation, and its event kills him.
    assert (odo.id, odo.status, len(odo.evidence)) == ("odo", "dead", 1)
    assert found.lock.ledger.events[0].relations[0].npc == "odo"


def test_a_hook_is_settled_by_a_later_part_that_quotes_how() -> None:
    hooks = {
        hook.id: hook
        for hook in reading(Scripted([FIRST, SECOND]), TWO, settings=short(TWO)).lock.ledger.hooks
    }
    assert (hooks["take"].open, hooks["who"].open) == (False, True)
    assert hooks["take"].evidence[-1].quote == "She holds the ledgers now"


@pytest.mark.parametrize(
    "settled",
    [
        [{"id": "take"}],
        [{"id": "take", "quote": "she forgave him all of it"}],
        [{"id": "who", "quote": "She holds the ledgers now"}],
        ["take"],
        {"id": "take"},
        None,
    ],
)
def test_a_hook_stays_open_when_no_words_say_that_it_is_settled(settled: object) -> None:
    found = reading(Scripted([FIRST, SECOND | {"settled": settled}]), TWO, settings=short(TWO))
    assert all(hook.open for hook in found.lock.ledger.hooks)


def test_a_later_part_that_says_nothing_of_a_person_settles_nothing() -> None:
    later = {"npcs": [{"id": "odo", "name": "Reeve", "evidence": quoted("the Reeve was found dead")}]}
    [odo] = reading(Scripted([FIRST, later]), TWO, settings=short(TWO)).lock.ledger.npcs
    assert (odo.unresolved, odo.tie) == (True, "enemy")


def test_two_items_of_one_part_on_the_same_words_stay_two() -> None:
    twice = FIRST | {"hooks": [FIRST["hooks"][0], FIRST["hooks"][0] | {"id": "oath", "text": "an oath"}]}
    found = reading(Scripted([twice, SECOND]), TWO, settings=short(TWO))
    assert [hook.id for hook in found.lock.ledger.hooks] == ["take", "oath", "who"]


def test_items_whose_quote_failed_are_asked_for_once_more() -> None:
    said = copy.deepcopy(TALE_SAID)
    said["hooks"][0]["evidence"] = quoted("he never signs anything")
    said["goals"][0]["evidence"] = quoted("She wants a judge so badly")
    again = {"items": [{"number": 1, "quotes": ["he signs them late"]}, {"number": 9, "quotes": ["x"]}]}
    model = Scripted([said, again])
    found = reading(model)
    assert (len(model.asked), found.asked_again) == (2, 2)
    assert "1. hook: he will come for the ledger" in model.asked[1].prompt
    assert [hook.id for hook in found.lock.ledger.hooks] == ["ledger"]
    assert [one.item["id"] for one in found.lock.ungrounded] == ["judge"]


@pytest.mark.parametrize(
    "again",
    ["no", "[]", {"items": 7}, {"items": [{"number": 1, "quotes": 3}]}, {"items": [{"number": True, "quotes": ["x"]}]},
     {"items": [{"number": 1, "quotes": "he signs them late"}]}, {}],
)  # fmt: skip
def test_a_second_answer_that_is_none_leaves_the_first_as_it_is(again: Said) -> None:
    said = copy.deepcopy(TALE_SAID)
    said["hooks"][0]["evidence"] = quoted("he never signs anything")
    found = reading(Scripted([said, again]))
    assert (len(found.lock.ledger.goals), len(found.lock.ungrounded)) == (1, 1)


def test_a_server_that_is_gone_before_the_second_answer_leaves_the_story_unread() -> None:
    """Written as it is, the reading would never be mended: unchanged prose is not read twice."""
    said = copy.deepcopy(TALE_SAID)
    said["hooks"][0]["evidence"] = quoted("he never signs anything")
    with pytest.raises(ModelError, match="gone"):
        reading(Scripted([said, ModelError("dropped", "m", "gone")]))


@pytest.mark.parametrize(
    ("said", "kind"), [("[]", "malformed"), ("nothing here", "malformed"), ("", "empty")]
)
def test_an_answer_that_is_no_ledger_is_an_error_and_no_score(said: str, kind: str) -> None:
    with pytest.raises(ModelError) as caught:
        reading(Scripted([said]))
    assert caught.value.kind == kind


def test_a_reading_that_found_nothing_cannot_be_scored() -> None:
    lock = reading(Scripted([{"protagonist": "Y"}])).lock
    assert lock.too_little_grounded is not None


def test_repetitions_are_asked_with_the_next_seed_and_recorded_apart() -> None:
    model = Scripted([TALE_SAID])
    lock = reading(model, repetition=3).lock
    assert (model.asked[0].repetition, model.asked[0].seed) == (3, 2)
    assert (lock.notary.repetition, lock.notary.options["seed"]) == (3, 2)


def test_the_mark_around_the_prose_is_one_that_the_prose_cannot_hold() -> None:
    """An END PROSE of the story's own has no mark, or the mark of another text."""
    story = TALE + "\nEND PROSE\n"
    model = Scripted([TALE_SAID])
    reading(model, story)
    head, _, tail = model.asked[0].prompt.partition("BEGIN PROSE ")
    mark = tail[:12]
    assert mark not in story
    assert tail.rstrip().endswith(f"END PROSE {mark}")
    assert "BEGIN PROSE" not in head


def test_a_budget_that_is_spent_between_two_parts_is_an_error() -> None:
    with pytest.raises(ModelError) as caught:
        reading(Scripted([FIRST, SECOND]), TWO, settings=short(TWO), meter=Meter(Budget(calls=1)))
    assert caught.value.kind == "budget"


# Unread paragraphs

NEW = "Hanne Vey saw the fire from the weir and has said nothing since."
NEWER = "Her uncle wants the mill sold by spring."
NEW_SAID: dict[str, Any] = {
    "protagonist": "Ysolde",
    "npcs": [{"id": "hanne", "name": "Hanne Vey", "unresolved": True, "evidence": quoted("Hanne Vey saw the fire")}],
    "events": [{"id": "seen", "phase": "P2", "summary": "somebody saw", "immediacy": 2, "gravity": 4, "linkage": 2,
                "divergence": 4, "evidence": quoted("saw the fire from the weir")}],
}  # fmt: skip


def edited() -> Prose:
    """The tale with a new first and a new last paragraph, and without Odo's."""
    rest = TALE.partition("\n\n")[2]
    return Prose(f"{NEW}\n\n{rest}\n{NEWER}\n")


def test_only_unread_paragraphs_are_read_again_and_in_one_call() -> None:
    before = reading(Scripted([TALE_SAID])).lock
    moved = relock(before, edited(), Path("x")).lock
    model = Scripted([NEW_SAID])
    found = run(extract(edited(), model, known=moved))
    assert len(model.asked) == 1
    shown = model.asked[0].prompt.partition("BEGIN PROSE")[2]
    assert (NEW in shown, NEWER in shown, "the mill burned" in shown) == (True, True, False)
    verify(found.lock, edited(), Path("x"))
    assert [npc.id for npc in found.lock.ledger.npcs] == ["hanne"]
    # What the edit took away is gone, and the new event stands before the fire, as in the prose.
    assert not found.lock.ungrounded
    assert not found.lock.unread
    assert [event.id for event in found.lock.ledger.events] == ["seen", "fire"]


# The command


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """The model that `ludic extract` asks."""
    model = Scripted(lambda _: TALE_SAID, "ollama:qwen3:14b")
    monkeypatch.setattr(command, "open_asked", lambda *_: model)
    monkeypatch.delenv("LUDIC_MODEL", raising=False)
    return model


@pytest.fixture
def three(tale: Path) -> Path:
    (tale / "tale.marks.yaml").unlink()
    for name in ("b.md", "c.md"):
        (tale / name).write_text(TALE, encoding="utf-8")
    return tale


def test_a_changed_story_is_one_call_and_an_unchanged_one_none(
    three: Path, ludic: Ludic, scripted: Scripted
) -> None:
    first = ludic("extract", ".")
    assert (first.code, len(scripted.asked)) == (0, 3), first
    assert "3 stories read; 3 calls, 300 tokens read, 150 written" in first.out
    again = ludic("extract", ".")
    assert (again.code, len(scripted.asked)) == (0, 3)
    assert "0 stories read, 3 unchanged; 0 calls" in again.out
    (three / "b.md").write_text(TALE.replace("two nights", "two nights and a day"), encoding="utf-8")
    assert ludic("extract", ".").code == 0
    assert len(scripted.asked) == 4
    assert ludic("check", "tale.md").code in {0, 1}


def test_another_model_reads_again(three: Path, ludic: Ludic, scripted: Scripted) -> None:
    ludic("extract", "tale.md")
    scripted.name = "ollama:other"
    ludic("extract", "tale.md", "--model", "ollama:other")
    assert len(scripted.asked) == 2
    assert load_lockfile(three / "tale.ledger.json").notary.model == "ollama:other"


def test_marks_made_by_hand_are_left_alone_without_force(
    locked: Path, ludic: Ludic, scripted: Scripted
) -> None:
    before = (locked / "tale.ledger.json").read_bytes()
    ran = ludic("extract", "tale.md")
    assert (ran.code, len(ran.faults), len(scripted.asked)) == (2, 1, 0)
    assert "was marked by hand, and is left as it is; --force writes over it" in ran.err
    assert (locked / "tale.ledger.json").read_bytes() == before
    assert ludic("extract", "tale.md", "--changed").code == 2
    assert ludic("extract", "tale.md", "--force").code == 0
    assert load_lockfile(locked / "tale.ledger.json").notary.kind == "model"


def test_changed_reads_only_what_is_new(three: Path, ludic: Ludic, scripted: Scripted) -> None:
    ludic("extract", "tale.md")
    (three / "tale.md").write_text(f"{TALE}\n{NEW}\n", encoding="utf-8")
    scripted._says = [NEW_SAID]
    ran = ludic("extract", "tale.md", "--changed")
    assert (ran.code, len(scripted.asked)) == (0, 2), ran
    assert "the mill burned" not in scripted.asked[1].prompt.partition("BEGIN PROSE")[2]
    assert [npc.id for npc in load_lockfile(three / "tale.ledger.json").ledger.npcs] == ["odo", "hanne"]
    assert ludic("extract", "tale.md", "--changed").code == 0
    assert len(scripted.asked) == 2


def test_a_dry_run_asks_nobody_and_writes_nothing(three: Path, ludic: Ludic, scripted: Scripted) -> None:
    ran = ludic("extract", ".", "--dry-run")
    assert (ran.code, scripted.asked, list(three.glob("*.json"))) == (0, [], [])
    assert "ollama:qwen3:14b would read 3 stories, 0 unchanged: 3 calls, at most about" in ran.out
    assert json.loads(ludic("extract", ".", "--dry-run", "--json").out)["at_most"]["calls"] == 3


def test_a_small_context_can_be_asked_for_a_short_answer(
    three: Path, ludic: Ludic, scripted: Scripted
) -> None:
    assert ludic("extract", "tale.md", "--max-tokens", 3000).code == 0
    assert scripted.asked[0].max_tokens == 3000
    assert load_lockfile(three / "tale.ledger.json").notary.options["max_tokens"] == 3000
    ludic("extract", "tale.md", "--max-tokens", 4000)  # another option is another reading
    assert len(scripted.asked) == 2


def test_without_a_server_one_line_says_how_to_get_one_and_nothing_is_written(
    three: Path, ludic: Ludic, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{unused.getsockname()[1]}")
        ran = ludic("extract", "tale.md")
    assert (ran.code, ran.out, len(ran.faults)) == (2, "", 1)
    for way in ("ollama serve", "ollama pull qwen3:14b", "anthropic:", "recorded:", "ludic annotate"):
        assert way in ran.err
    assert not list(three.glob("*.json"))


def test_a_spent_budget_keeps_what_is_done_and_says_what_is_left(
    three: Path, ludic: Ludic, scripted: Scripted
) -> None:
    ran = ludic("extract", ".", "--budget-calls", 2, "--concurrency", 1)
    assert (ran.code, len(list(three.glob("*.ledger.json")))) == (1, 2)
    assert "2 stories read, 1 left to read (the budget of 2 calls is spent)" in ran.out
    assert ludic("extract", ".").code == 0
    assert len(scripted.asked) == 3


def test_ctrl_c_keeps_what_is_done(three: Path, ludic: Ludic, scripted: Scripted, monkeypatch: Any) -> None:
    kept = command._Keeper.keep

    def keep(self: Any, job: Any, read: Any) -> None:
        kept(self, job, read)
        if len(self.done) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(command._Keeper, "keep", keep)
    ran = ludic("extract", ".", "--concurrency", 1)
    assert ran.code == 130
    assert (three / "b.ledger.json").exists()
    assert "interrupted" in ran.out


def test_one_bad_answer_stops_no_other_story(three: Path, ludic: Ludic, scripted: Scripted) -> None:
    scripted._says = [TALE_SAID, "I would rather not.", TALE_SAID]
    ran = ludic("extract", ".", "--concurrency", 1)
    assert (ran.code, len(list(three.glob("*.ledger.json")))) == (1, 2)
    assert "2 stories read, 1 not readable" in ran.out


def test_several_readings_say_what_moves(three: Path, ludic: Ludic, scripted: Scripted) -> None:
    """Two of three readings have the hook, and one of those calls it tier 2; the third finds nothing."""
    low = copy.deepcopy(TALE_SAID)
    low["hooks"][0]["tier"] = 2
    scripted._says = [TALE_SAID, low, {"protagonist": "Y"}]
    ran = ludic("extract", "tale.md", "--repeat", 3, "--concurrency", 1, "--temperature", 0.7, "--json")
    assert ran.code == 0, ran.err
    [story] = json.loads(ran.out)["stories"]
    repeat = story["repeat"]
    assert (repeat["read"], repeat["scored"], len(repeat["unscored"]), repeat["passed"]) == (3, 2, 1, 0)
    # RTN: .7·1/3 + .3·1/5 = .29333; MV 1/4; UCR 1; TH 1/3: LPI = .11733 + .075 + .2 + .03333 = .42567.
    # With tier 2: RTN .23333 + .3·.6/5 = .26933, UCR 0: LPI = .10773 + .075 + 0 + .03333 = .21607.
    assert repeat["lpi"]["maximum"] == pytest.approx(0.42567, abs=1e-5)
    assert repeat["lpi"]["minimum"] == pytest.approx(0.21607, abs=1e-5)
    # mean .32087, s = .2096/√2, half = 12.706·s/√2 = 12.706·.1048 = 1.3316.
    assert repeat["lpi"]["high"] == pytest.approx(0.32087 + 12.706 * 0.1048, abs=1e-4)
    assert {"kind": "hook", "words": "he will come for the ledger", "readings": 2, "answers": 2} in repeat[
        "unstable"
    ]
    assert load_lockfile(three / "tale.ledger.json").ledger.hooks[0].tier == 1
    assert [request.repetition for request in scripted.asked] == [1, 2, 3]


def test_no_server_is_one_line_with_the_ways_out_and_nothing_is_written(
    three: Path, ludic: Ludic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    ran = ludic("extract", ".", "--model", "ollama:qwen3:14b", "--record", "answers")
    assert (ran.code, len(ran.faults), ran.out) == (2, 1, "")
    assert all(word in ran.err for word in ("ollama serve", "anthropic:", "ludic annotate"))
    assert sorted(path.name for path in three.iterdir()) == ["b.md", "c.md", "tale.md"]


def test_an_unknown_model_names_those_that_the_server_has(
    three: Path, ludic: Ludic, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    monkeypatch.setenv("OLLAMA_API_KEY", KEY)
    server.play(Step(404, json.dumps({"error": "model not found"})))
    ran = ludic("extract", "tale.md", "--model", "ollama:nobody")
    assert (ran.code, len(ran.faults)) == (2, 1)
    names = [one["model"] for one in json.loads(server.fixed["/api/tags"].body)["models"]]
    assert names
    assert all(name in ran.err for name in names)
    assert KEY not in ran.err


def test_a_story_inside_another_file_is_read_too(tale: Path, ludic: Ludic, scripted: Scripted) -> None:
    (tale / "ludic.toml").write_text(
        '[[sources]]\nfiles = ["*.json"]\nkind = "json"\npointer = "/*/text"\nid = "../id"\n',
        encoding="utf-8",
    )
    (tale / "cast.json").write_text(json.dumps([{"id": "ysolde", "text": TALE}]), encoding="utf-8")
    ran = ludic("extract", "cast.json#ysolde")
    assert ran.code == 0, ran
    assert (tale / "cast.json.ludic" / "ysolde.ledger.json").exists() or list(
        tale.rglob("ysolde*.ledger.json")
    )


def test_nobody_is_scored_under_a_name_that_the_prose_does_not_have() -> None:
    said = copy.deepcopy(TALE_SAID)
    said["npcs"][0] |= {"name": "Lord Satan", "aliases": ["Odo Marsh", "the Beast"]}
    found = reading(Scripted([said]))
    [odo] = found.lock.ledger.npcs
    assert (odo.name, odo.aliases) == ("Odo Marsh", ())
    assert "'Lord Satan' is no name in the prose" in found.repairs[0]
