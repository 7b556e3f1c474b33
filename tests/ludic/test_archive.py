"""Folding weak events into phase summaries: less to read, the same verdict."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludic_deepeval.archive import Archive, Folding, fold_events
from ludic_deepeval.compact import compact
from ludic_deepeval.consistency import check_consistency
from ludic_deepeval.ledger import Event, FactLedger, Hook, Npc, Possession, Relation
from ludic_deepeval.lockfile import load_lockfile
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.scoring import score_ledger

STORIES = Path(__file__).parents[2] / "test_cases/backstories"


def event(name: str, i: int, g: int, phase: str = "P1", **more: Any) -> Event:
    return Event(
        id=name,
        phase=phase,
        summary=f"what happened in {name}",
        immediacy=i,
        gravity=g,
        linkage=1,
        divergence=1,
        **more,
    )  # type: ignore[arg-type]


def ledger_of(*events: Event, **lists: Any) -> FactLedger:
    return FactLedger(schema_version=1, protagonist="Ada", events=events, **lists)


def folded(ledger: FactLedger, share: str = "0.2") -> Folding:
    found = fold_events(ledger, share=Fraction(share))
    assert isinstance(found, Folding)
    return found


def ids(found: Folding) -> list[list[str]]:
    return [[one.id for one in part.events] for part in found.archive.phases]


# Raw PCV is 4I + 4G + V + D: weak 4 + 4 + 2 = 10, middling 12 + 16 + 2 = 30, strong 36 + 24 + 2 = 62.
WEAK, MIDDLING, STRONG = event("weak", 1, 1), event("middling", 3, 4), event("strong", 9, 6, "P3")


def test_the_weakest_go_as_long_as_their_sum_is_within_the_share() -> None:
    # 102 in all, each in a gravity band of its own. A fifth is 20.4: weak (10) fits, middling (40 with it) does not.
    found = folded(ledger_of(MIDDLING, STRONG, WEAK))
    assert (found.pcv, found.folded_pcv) == (102, 10)
    assert ids(found) == [["weak"]]
    # Two fifths are 40.8: both.
    assert ids(folded(ledger_of(MIDDLING, STRONG, WEAK), "0.4")) == [["middling", "weak"]]
    assert ids(folded(ledger_of(MIDDLING, STRONG, WEAK), "0.09")) == []


def test_what_presses_stays_however_much_may_go() -> None:
    found = folded(ledger_of(WEAK, STRONG), "1")
    assert [one.id for one in found.archive.active.events] == ["strong"]


def test_whom_an_open_hook_is_about_keeps_their_events() -> None:
    npcs = (Npc(id="n", name="Osk", status="alive"),)
    with_osk = event("weak", 1, 1, relations=(Relation(npc="n"),))
    assert ids(folded(ledger_of(with_osk, STRONG, npcs=npcs))) == [["weak"]]
    hooked = ledger_of(with_osk, STRONG, npcs=npcs, hooks=(Hook(id="h", text="x", tier=2, npc="n"),))
    assert ids(folded(hooked)) == []
    shut = ledger_of(
        with_osk, STRONG, npcs=npcs, hooks=(Hook(id="h", text="x", tier=2, npc="n", open=False),)
    )
    assert ids(folded(shut)) == [["weak"]]


def test_how_somebody_ended_stays_and_how_they_were_before_may_go() -> None:
    npcs = (Npc(id="n", name="Osk", status="dead"),)
    met = event("met", 1, 1, relations=(Relation(npc="n", status="alive"),))
    died = event("died", 1, 1, "P2", relations=(Relation(npc="n", status="dead"),))
    assert ids(folded(ledger_of(met, died, STRONG, npcs=npcs))) == [["met"]]


def test_of_two_as_weak_the_earlier_goes_first() -> None:
    # 10 + 10 + 62 = 82, of which 0.2 is 16.4: room for one.
    late, early = event("late", 1, 1, "P2"), event("early", 1, 1, "P1")
    assert ids(folded(ledger_of(late, early, STRONG))) == [["early"]]


def test_a_summary_is_the_beginning_of_each_events_own_words() -> None:
    long = event("long", 1, 1).model_copy(
        update={"summary": "one two three four five six seven eight, nine ten"}
    )
    chinese = event("zh", 1, 1).model_copy(
        update={"summary": "她在大雪封山的第三天夜里把最后一盏灯送给了陌生人"}
    )
    found = folded(ledger_of(long, chinese, STRONG), "0.5")
    assert found.archive.phases[0].summary == (
        "childhood: one two three four five six seven eight …; 她在大雪封山的第三天夜里把最后一…"
    )


def test_without_dimensions_nothing_can_be_folded_and_it_says_why() -> None:
    found = fold_events(ledger_of(Event(id="e", phase="P1", summary="x")))
    assert isinstance(found, Unscored)
    assert found.reason


# Nothing is lost

LEDGERS = [load_lockfile(path).ledger for path in sorted(STORIES.glob("*.ledger.json"))]


@pytest.mark.parametrize("share", ["0", "0.2", "0.5", "1"])
def test_gate_and_consistency_of_the_shipped_stories_are_unchanged(share: str) -> None:
    went = 0
    for ledger in LEDGERS:
        found = folded(ledger, share)
        again = Archive.model_validate_json(found.archive.model_dump_json(exclude_defaults=True))
        assert again.whole == ledger
        before, after = score_ledger(ledger), score_ledger(again.whole)
        assert (before.gate, before.pcv, before.lpi) == (after.gate, after.pcv, after.lpi)
        assert check_consistency(ledger) == check_consistency(again.whole)
        assert found.folded + len(found.archive.active.events) == len(ledger.events)
        assert found.folded_pcv <= Fraction(share) * found.pcv
        went += found.folded
    assert (went > 0) == (share != "0")


NUMBERS = st.integers(1, 10)
THINGS = st.builds(
    Possession, item=st.sampled_from(["a lamp", "a key"]), change=st.sampled_from(["gained", "lost", "used"])
)
EVENTS = st.tuples(NUMBERS, NUMBERS, st.sampled_from(["P1", "P2", "P3"]), st.lists(THINGS, max_size=2))


@st.composite
def campaigns(draw: st.DrawFn) -> FactLedger:
    drawn = draw(st.lists(EVENTS, min_size=1, max_size=12))
    return ledger_of(
        *(
            event(f"e{at}", i, g, phase, inventory=tuple(things))
            for at, (i, g, phase, things) in enumerate(drawn)
        )
    )


@settings(max_examples=150, deadline=None)
@given(campaigns(), st.fractions(0, 1, max_denominator=20))
def test_folding_changes_no_verdict_and_loses_no_event(ledger: FactLedger, share: Fraction) -> None:
    found = fold_events(ledger, share=share)
    assert isinstance(found, Folding)
    assert found.archive.whole == ledger
    assert score_ledger(found.archive.whole).pcv == score_ledger(ledger).pcv
    assert check_consistency(found.archive.whole) == check_consistency(ledger)
    kept = {one.id for one in found.archive.active.events}
    assert all(one.id in kept for one in ledger.events if one.immediacy is not None and one.immediacy >= 7)


def test_what_is_kept_is_read_as_before_and_what_is_folded_as_one_line() -> None:
    found = folded(ledger_of(WEAK, STRONG))
    text = found.archive.compact()
    assert "P3 strong: what happened in strong; I9 G6 V1 D1" in text
    assert "P1 weak" not in text
    assert text.endswith("long ago\n- P1: childhood: what happened in weak")
    assert compact(ledger_of(STRONG)) in text


def test_an_archive_that_lacks_an_event_is_refused() -> None:
    parts = folded(ledger_of(WEAK, STRONG)).archive.model_dump(mode="json")
    for wrong in ([], ["weak"], ["weak", "strong", "strong"], ["weak", "strange"]):
        with pytest.raises(ValueError, match="not the ids of all events"):
            Archive.model_validate(parts | {"order": wrong})


# The command


def test_the_command_says_what_would_be_folded_and_writes_only_when_asked(tmp_path: Path, ludic: Any) -> None:
    path = tmp_path / "long.json"
    path.write_text(
        ledger_of(WEAK, MIDDLING, STRONG).model_dump_json(exclude_defaults=True), encoding="utf-8"
    )
    done = ludic("archive", path)
    assert done.code == 0
    assert "1 of 3 events folded, with 10 of PCV 102" in done.out
    assert not (tmp_path / "long.archive.json").exists()
    [result] = json.loads(ludic("archive", path, "--write", "--json").out)["ledgers"]
    assert (result["events"], result["folded"], result["active"]) == (3, 1, 2)
    written = Archive.model_validate_json((tmp_path / "long.archive.json").read_text(encoding="utf-8"))
    assert written.whole == ledger_of(WEAK, MIDDLING, STRONG)


def test_the_command_takes_stories_and_lockfiles(ludic: Any) -> None:
    for name in ("from-the-box.md", "from-the-box.ledger.json"):
        assert ludic("archive", STORIES / name).code == 0


@pytest.mark.parametrize("share", ["-0.1", "1.5", "much", "1e-9999999", "1/0", "nan", ""])
def test_a_share_that_is_none_is_refused(share: str, ludic: Any) -> None:
    done = ludic("archive", STORIES / "from-the-box.md", f"--share={share}")
    assert done.code == 2
    assert "--share: found" in done.err


def test_what_cannot_be_read_or_measured_has_its_exit_code(tmp_path: Path, ludic: Any) -> None:
    bare = tmp_path / "bare.json"
    bare.write_text(
        '{"schema_version": 1, "protagonist": "A", "events": [{"id": "e", "phase": "P1", "summary": "x"}]}'
    )
    done = ludic("archive", bare)
    assert done.code == 1
    assert "nothing folded" in done.out
    assert ludic("archive", tmp_path / "none.json").code == 2
    (tmp_path / "new.md").write_text("Once upon a time.", encoding="utf-8")
    assert ludic("archive", tmp_path / "new.md").code == 2
