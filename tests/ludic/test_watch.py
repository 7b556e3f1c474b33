import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval import cli_table
from ludic_deepeval.check import Checker, StoryResult
from ludic_deepeval.consistency import check_consistency
from ludic_deepeval.difference import difference, told
from ludic_deepeval.errors import InputError
from ludic_deepeval.findings import Finding
from ludic_deepeval.judging import Reading
from ludic_deepeval.ledger import load_ledger
from ludic_deepeval.outcome import Scored, Unscored
from ludic_deepeval.report.as_watch import look_json, look_text
from ludic_deepeval.scoring import score_ledger
from ludic_deepeval.watch import Look, Watcher, inputs_of, watch

Ludic = Callable[..., Any]
FLAWED = Path(cli_table.__file__).with_name("demo") / "1-closed.md"


class Desk:
    """A folder and what somebody does to it while the watcher waits: nothing here takes time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.waited: list[float] = []
        self.meanwhile: list[Callable[[], object]] = []

    def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        if self.meanwhile:
            self.meanwhile.pop(0)()

    def edit(self, old: str, new: str, name: str = "tale.md") -> None:
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def watcher(self, *paths: Path) -> Watcher:
        return Watcher(list(paths) or [Path()], sleep=self.sleep)

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}


@pytest.fixture
def desk(locked: Path) -> Desk:
    return Desk(locked)


def only(looks: list[Look]) -> Look:
    (look,) = looks
    return look


def verdict(look: Look) -> StoryResult:
    assert isinstance(look.result, StoryResult)
    return look.result


# What is looked at again


def test_the_first_look_judges_everything_and_the_next_nothing(desk: Desk) -> None:
    watcher = desk.watcher()
    look = only(watcher.look())
    assert (verdict(look).state, look.changed, look.same) == ("read", (), False)
    assert watcher.look() == []
    assert desk.waited == []


def test_only_the_story_that_changed_is_judged_again(desk: Desk, ludic: Ludic) -> None:
    for ending in ("md", "ledger.json"):
        (desk.folder / f"other.{ending}").write_bytes((desk.folder / f"tale.{ending}").read_bytes())
    watcher = desk.watcher()
    assert len(watcher.look()) == 2
    desk.edit("late", "early")
    assert only(watcher.look()).path.name == "tale.md"


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("ludic.toml", "lpi_gate = 0.9\n", "settings"),
        ("tale.marks.yaml", "sheet: 1\n", "mark sheet"),
        ("tale.ledger.json", "{", "marks"),
        ("tale.md", "Something else.\n", "prose"),
    ],
)
def test_every_file_that_a_verdict_rests_on_is_watched(desk: Desk, name: str, text: str, word: str) -> None:
    watcher = desk.watcher()
    watcher.look()
    (desk.folder / name).write_text(text, encoding="utf-8")
    assert only(watcher.look()).changed == (word,)


def test_a_bible_and_a_background_log_are_watched_also_before_they_are_there(desk: Desk) -> None:
    front = "---\nbible: port\nbackground_log: log.yaml\n---\n"
    (desk.folder / "tale.md").write_text(
        front + (desk.folder / "tale.md").read_text(encoding="utf-8"), encoding="utf-8"
    )
    watcher = desk.watcher()
    first = only(watcher.look())
    assert isinstance(first.result, InputError)
    (desk.folder / "log.yaml").write_text("[]\n", encoding="utf-8")
    assert only(watcher.look()).changed == ("background log",)
    bible = desk.folder / "bible" / "port"
    bible.mkdir(parents=True)
    (bible / "bible.yaml").write_text("schema_version: 1\nid: port\nname: Port\n", encoding="utf-8")
    look = only(watcher.look())
    assert look.changed == ("Story Bible",)
    assert verdict(look).state == "read"
    assert look.since.figures == ("it can be used again",)


def test_settings_farther_off_than_those_in_force_are_not_watched(desk: Desk) -> None:
    (desk.folder / "ludic.toml").write_text("", encoding="utf-8")
    watched = inputs_of(desk.folder / "tale.md")
    assert desk.folder / "ludic.toml" in watched
    assert desk.folder.parent / "ludic.toml" not in watched


def test_a_file_that_was_only_touched_tells_nothing(desk: Desk) -> None:
    watcher = desk.watcher()
    watcher.look()
    os.utime(desk.folder / "tale.md", ns=(1, 1))
    assert watcher.look() == []
    waits = len(desk.waited)
    assert watcher.look() == []
    assert len(desk.waited) == waits  # and is not looked at a second time


# Editors and writers


def test_a_file_is_read_once_it_holds_still(desk: Desk) -> None:
    """Three writes, each while the watcher waits for the one before."""
    watcher = desk.watcher()
    watcher.look()
    tale = desk.folder / "tale.md"
    whole = tale.read_bytes().replace(b"late", b"soon")
    desk.meanwhile = [lambda: tale.write_bytes(whole[:40]), lambda: tale.write_bytes(whole)]
    tale.write_bytes(b"")
    look = only(watcher.look())
    assert verdict(look).state == "read"
    assert look.moved is not None
    assert [quote for _, _, quote in look.moved.lost] == ["he signs them late"]
    # One wait for each write, and one more in which nothing changed.
    assert len(desk.waited) == 3


def test_a_file_that_never_holds_still_is_judged_in_the_end(desk: Desk) -> None:
    watcher = desk.watcher()
    watcher.look()
    tale = desk.folder / "tale.md"
    desk.meanwhile = [lambda n=n: tale.write_text(f"Word {'x' * n}.") for n in range(200)]  # type: ignore[misc]  # mypy infers no type for a default
    tale.write_text("A beginning.", encoding="utf-8")
    assert only(watcher.look()).changed == ("prose",)


def test_an_editor_that_saves_by_rename_is_no_deletion(desk: Desk) -> None:
    watcher = desk.watcher()
    watcher.look()
    tale, draft = desk.folder / "tale.md", desk.folder / ".tale.md.swp"
    draft.write_text(tale.read_text(encoding="utf-8").replace("late", "soon"), encoding="utf-8")
    tale.unlink()
    desk.meanwhile = [lambda: draft.replace(tale)]
    assert only(watcher.look()).changed == ("prose",)


def test_a_story_that_is_gone_and_back_is_compared_with_what_it_was(desk: Desk) -> None:
    watcher = desk.watcher(Path("tale.md"))
    watcher.look()
    tale = desk.folder / "tale.md"
    text = tale.read_text(encoding="utf-8")
    tale.unlink()
    gone = only(watcher.look())
    assert gone.result is None
    assert watcher.looks == ()
    assert watcher.look() == []
    tale.write_text(text.replace("She means to stand before the judge.", ""), encoding="utf-8")
    back = only(watcher.look())
    assert back.changed == ("back",)
    assert any(message.endswith("pursues nothing") for message in back.since.new)


def test_a_new_story_in_a_watched_folder_is_seen_and_a_note_without_prose_is_not(desk: Desk) -> None:
    watcher = desk.watcher()
    watcher.look()
    (desk.folder / "empty.md").write_text("", encoding="utf-8")
    assert watcher.look() == []
    (desk.folder / "empty.md").write_text("Now there is prose.", encoding="utf-8")
    look = only(watcher.look())
    assert (look.changed, verdict(look).state) == (("new",), "unread")


def test_an_empty_folder_can_be_watched_and_a_missing_one_cannot(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    watcher = desk.watcher(tmp_path)
    assert watcher.look() == []
    (tmp_path / "a.md").write_text("A tale.", encoding="utf-8")
    assert only(watcher.look()).changed == ("new",)
    with pytest.raises(InputError, match="no such file"):
        desk.watcher(tmp_path / "nowhere.md")


# As if relocked


def test_an_edit_is_judged_as_if_relocked_and_nothing_is_written(desk: Desk) -> None:
    watcher = desk.watcher()
    before = verdict(only(watcher.look()))
    desk.edit("She means to stand before the judge.", "She has given that up.\n\nA new morning begins here.")
    files = desk.files()
    look = only(watcher.look())
    assert desk.files() == files
    assert isinstance(before.outcome, Scored)
    assert isinstance(verdict(look).outcome, Scored)
    assert look.moved is not None
    assert look.moved.lost == (("goals", "judge", "She means to stand before the judge"),)
    assert len(look.moved.unread) == 2  # both paragraphs have three new words in a row
    assert any("pursues nothing" in message for message in look.since.new)
    # The story has one goal of four: MV falls from 1/4 to 0, and LPI by .3 × 1/4 = .075.
    assert isinstance(verdict(look).outcome, Scored)
    old, new = (result.outcome.value.card.lpi for result in (before, verdict(look)))  # type: ignore[union-attr]  # both are scored, as asserted
    assert old - new == Fraction(3, 40)  # type: ignore[operator]  # fractions
    said = "\n".join(look_text(look, "21:14:03"))
    assert "judged as if relocked; nothing is written (to keep it: ludic relock tale.md)" in said
    assert "lost: goal 'judge': “She means to stand before the judge”" in said


def test_the_verdict_as_if_relocked_is_that_of_relock(desk: Desk, ludic: Ludic) -> None:
    desk.edit("he signs them late", "he signs all of them late")
    look = only(desk.watcher().look())
    assert ludic("relock", "--read", "tale.md").code == 0
    real = Checker().check(Path("tale.md"))
    assert (verdict(look).outcome, verdict(look).holds) == (real.outcome, real.holds)


def test_a_story_that_was_unread_before_gets_no_verdict_by_an_edit(desk: Desk, ludic: Ludic) -> None:
    desk.edit("She means", "A stranger came over the hill.\n\nShe means")
    assert ludic("relock", "tale.md").code == 1
    watcher = desk.watcher()
    assert verdict(only(watcher.look())).state == "unread"
    desk.edit("for two nights", "for two whole nights")
    assert verdict(only(watcher.look())).state == "unread"


def test_an_edit_that_changes_no_verdict_is_one_line(desk: Desk) -> None:
    watcher = desk.watcher()
    watcher.look()
    desk.edit("still", "yet")
    first = only(watcher.look())
    assert first.moved is not None
    assert [quote for _, _, quote in first.moved.lost] == ["Odo Marsh still signs the ledgers"]
    desk.edit("and he", "while he")
    second = only(watcher.look())
    assert second.same
    assert list(look_text(second, "21:14:03")) == [
        "21:14:03  tale.md: prose changed; the verdict is the same (as if relocked, 1 quote lost)"
    ]


# What is different


def finding(code: str, message: str, quote: str | None = None, **more: Any) -> Finding:
    return Finding(code, more.pop("severity", "warning"), message, more.pop("line", 1), 1, quote, **more)


@pytest.fixture
def result() -> StoryResult:
    found = Checker().check(FLAWED)
    assert found.state == "read"
    return found


def test_a_finding_that_only_moved_or_changed_its_figures_is_neither_new_nor_mended(
    result: StoryResult,
) -> None:
    old = (
        finding("few-hooks", "LPI 0.45, needs 0.70"),
        finding("told-mystery", "5 of 14 words are names", "a long quote"),
        finding("age-fell", "age falls", "at nine", line=4, against="line 2: “at ten”"),
    )
    new = (
        finding("few-hooks", "LPI 0.52, needs 0.70"),
        finding("told-mystery", "5 of 15 words are names", "a  long quote"),
        finding("age-fell", "age falls (expected)", "at nine", line=6, against="line 3: “at ten”"),
    )
    assert not difference(replace(result, findings=old), replace(result, findings=new))


def test_what_is_mended_and_what_is_new_is_told_by_its_message(result: StoryResult) -> None:
    old = (
        finding("no-goal", "she pursues nothing"),
        finding("dead-then-active", "Pip dies", "Pip", against="x"),
    )
    new = (
        finding("no-mystery", "nothing is left unexplained"),
        finding("dead-then-active", "Fulk dies", "Pip", against="x"),
    )
    found = difference(replace(result, findings=old), replace(result, findings=new))
    assert found.mended == ("she pursues nothing", "Pip dies")
    assert found.new == ("nothing is left unexplained", "Fulk dies")


def test_of_two_findings_alike_one_that_goes_is_mended(result: StoryResult) -> None:
    twice = (finding("same-weight", "counts half", "the fire"),) * 2
    found = difference(replace(result, findings=twice), replace(result, findings=twice[:1]))
    assert (found.mended, found.new) == (("counts half",), ())


def scored(result: StoryResult, **lists: Any) -> StoryResult:
    ledger = load_ledger({"schema_version": 1, "protagonist": "Mab", **lists})
    reading = Reading(ledger, score_ledger(ledger), check_consistency(ledger), ())
    return replace(result, outcome=Scored(reading), holds=bool(lists.get("goals")))


def test_figures_are_told_where_they_differ_as_the_report_writes_them(result: StoryResult) -> None:
    people = [{"id": f"n{n}", "name": f"N{n}", "unresolved": True} for n in range(2)]
    hooks = [{"id": f"h{n}", "text": "t", "tier": 1} for n in range(5)]
    holes = [{"id": f"m{n}", "text": "somebody paid for it"} for n in range(3)]
    goals = [{"id": f"g{n}", "text": "t"} for n in range(2)]
    # RTN = .7 × 2/3 + .3 = .7667, UCR = TH = 1: LPI = .4 × .7667 + .2 + .1 = .6067, and two goals add .3 × 2/4 = .15.
    less = scored(result, npcs=people, hooks=hooks, mysteries=holes)
    more = scored(result, npcs=people, hooks=hooks, mysteries=holes, goals=goals)
    assert difference(less, more).figures == (
        "LPI 0.61 → 0.76",
        "not as it should be → as it should be",
    )
    # One ambient hook alone: RTN = .3 × .2/5 = .012, LPI = .0048, which is still written 0.00.
    assert not difference(scored(result), scored(result, hooks=[{"id": "h", "text": "t", "tier": 3}]))


def test_an_error_and_its_mending_are_told(result: StoryResult) -> None:
    error = InputError("a.md", "not valid JSON")
    assert told(difference(result, error)) == ("it cannot be used any more",)
    assert told(difference(error, error)) == ("the verdict is the same",)
    assert told(difference(error, result, last=result)) == ("it can be used again",)
    assert difference(None, result).figures == ()
    worse = replace(result, findings=(*result.findings, finding("no-quote", "an item")))
    assert difference(error, worse, last=result).new == ("an item",)


def test_a_change_of_state_is_told(result: StoryResult) -> None:
    unread = replace(result, state="unread", outcome=Unscored("unread", "not read yet"), holds=False)
    (line,) = told(difference(unread, result))
    assert line.startswith("not read → ")


# The loop and the command


def test_the_loop_tells_the_first_look_and_then_only_changes(desk: Desk) -> None:
    seen: list[list[Look]] = []

    def stop() -> None:
        raise EOFError

    desk.meanwhile = [lambda: None, lambda: desk.edit("late", "soon"), lambda: None, stop]
    with pytest.raises(EOFError):
        watch(desk.watcher(), seen.append, sleep=desk.sleep, interval=7)
    assert [len(looks) for looks in seen] == [1, 1]
    assert desk.waited == [7, 7, 0.2, 7]


def test_once_prints_what_check_prints_and_ends_as_it_does(locked: Path, ludic: Ludic) -> None:
    checked, watched = ludic("check", "tale.md"), ludic("watch", "--once", "tale.md")
    assert (watched.out, watched.code) == (checked.out, checked.code)
    (locked / "tale.ledger.json").write_text("{", encoding="utf-8")
    broken = ludic("watch", "--once", "tale.md")
    assert (broken.code, len(broken.faults)) == (2, 1)


def test_once_over_a_story_that_was_edited_exits_with_1(desk: Desk, ludic: Ludic) -> None:
    desk.edit("late", "soon")
    ran = ludic("watch", "--once", "tale.md")
    assert ran.code == 1
    assert "judged as if relocked" in ran.out


def test_nothing_to_watch_is_wrong_input(tmp_path: Path, ludic: Ludic) -> None:
    assert ludic("watch", "--once", tmp_path).code == 2
    assert ludic("watch", "--once", tmp_path / "nowhere.md").code == 2
    assert ludic("watch", "--once", "--profile", "epic", tmp_path).code == 2


def test_ctrl_c_ends_with_0_and_one_line(locked: Path, ludic: Ludic, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_table.time, "sleep", interrupted)
    ran = ludic("watch", "tale.md")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith("watching; Ctrl-C ends\n\nno longer watching\n")


def test_a_real_interrupt_ends_the_real_program_with_0(locked: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "ludic_deepeval", "watch", "tale.md"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdout is not None
    assert any("watching" in line for line in process.stdout)  # what is printed is not kept back
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out.strip(), err) == (0, "no longer watching", "")


def test_json_is_one_line_a_look(locked: Path, ludic: Ludic) -> None:
    (line,) = ludic("watch", "--once", "--json", "tale.md").out.splitlines()
    found = json.loads(line)
    checked = json.loads(ludic("check", "--json", "tale.md").out)
    assert found["story"] == checked["stories"][0]
    assert (found["state"], found["moved"], found["since"]) == (
        "seen",
        None,
        {"figures": [], "mended": [], "new": []},
    )


def test_a_story_that_is_gone_has_a_line_in_both_forms() -> None:
    look = Look(Path("a.md"), None)
    assert list(look_text(look, "21:14:03")) == ["21:14:03  a.md: gone"]
    assert look_json(look, "now")["state"] == "gone"
