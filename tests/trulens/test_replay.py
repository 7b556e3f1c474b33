"""What was recorded goes into a TruLens database with its scores and reasons, once; the same on SQLite and PostgreSQL."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.errors import InputError
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.sources import read_story
from ludic_deepeval.sources.markdown import meets
from tests.trulens.conftest import ROOT, Open, figure, recorded
from trulens_feedback.board import Seen
from trulens_feedback.database import GuardedConnector, Place
from trulens_feedback.gather import gather
from trulens_feedback.reading import read_records
from trulens_feedback.recorded import MOST_TEXT, Recorded, Step, fit, short_name
from trulens_feedback.replay import Replayed, replay

CASES = ROOT / "test_cases"
NAN = float("nan")


def scores(record: Seen) -> dict[str, float | None]:
    return {one.name: one.score for one in record.evaluations}


def read_by_trulens(database: GuardedConnector) -> Any:
    """The frame that the dashboard shows: it fails as a whole where one record is spoilt."""
    frame, _ = database.get_records_and_feedback()
    return frame.set_index("input_id")


def test_the_shipped_cases_are_recorded_and_read_back_with_scores_and_reasons(
    database: GuardedConnector,
) -> None:
    found = gather([CASES])
    assert found.errors == ()
    done = replay(found.records, database)
    assert (done.records, done.added) == (len(found.records), len(found.records))
    seen = {(one.app, one.version, one.id): one for one in read_records(database)}
    assert len(seen) == len(found.records)
    for record in found.records:
        back = seen[record.app, record.version, record.id]
        assert back.said == record.said
        assert scores(back) == {one.name: one.value for one in record.figures}
        assert {one.name: one.reason for one in back.evaluations} == {
            one.name: one.why for one in record.figures
        }
    stories = {one.id: one for one in seen.values() if one.app == "ludic stories"}
    for path in sorted(CASES.glob("backstories/*.md")):
        story = read_story(path) if path.name != "README.md" else None
        if story and story.front.expect and story.front.expect.lpi:
            lpi = scores(stories[story.id])["LPI"]
            assert lpi is not None
            assert meets(story.front.expect.lpi, lpi)


def test_trulens_itself_reads_the_same_records_and_scores(database: GuardedConnector) -> None:
    found = gather([CASES / "sessions", CASES / "episodes"])
    replay(found.records, database)
    frame = read_by_trulens(database)
    assert len(frame) == len(found.records)
    assert frame.loc["two-short-one-long", "E_a"] == pytest.approx(4 / 27)
    assert frame.loc["two-short-one-long", "E_a direction"] is False
    assert frame.loc["direct", "WORTH total [WEN01]"] == pytest.approx(23 / 68)
    told = [
        call["meta"]["explanation"]
        for call in frame.loc["direct", "WORTH total [WEN01]_calls"]
        if "meta" in call
    ]
    assert told == ["8 points of -15 to 53: 6 for sentences, 2 for participants."]
    board, _ = database.db.get_leaderboard_aggregates()
    of_worth = board[board["app_name"] == "WORTH"]
    assert of_worth["app_version"].str.match("(WEN01|WZH01) ").all()


def test_replaying_twice_adds_nothing(place: Place, opened: Open) -> None:
    records = gather([CASES / "sessions"]).records
    assert replay(records, opened(place)).added == 5
    again = opened(place)
    before = again.get_events()
    assert replay(records, again) == Replayed(records=5, added=0, figures=0, unmeasured=2)
    assert len(again.get_events()) == len(before)


def test_a_figure_that_is_new_is_added_to_a_record_that_is_there(database: GuardedConnector) -> None:
    replay([recorded("one", figure("LPI", 0.5))], database)
    done = replay([recorded("one", figure("LPI", 0.5), figure("PCV", 0.25))], database)
    assert (done.added, done.figures) == (0, 1)
    (seen,) = read_records(database)
    assert scores(seen) == {"LPI": 0.5, "PCV": 0.25}


def test_a_record_that_changed_is_another_record(database: GuardedConnector) -> None:
    replay([recorded("one", figure("LPI", 0.5))], database)
    assert replay([recorded("one", figure("LPI", 0.6), said="Another.")], database).added == 1
    assert sorted(scores(one)["LPI"] or 0 for one in read_records(database)) == [0.5, 0.6]


def test_two_replays_at_once_add_each_record_once(place: Place, opened: Open) -> None:
    records = [recorded(f"r{n}", figure("LPI", n / 100)) for n in range(60)]
    databases = [opened(place) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda one: replay(records, one), databases))
    assert sum(one.added for one in done) == 60
    assert len(read_records(databases[0])) == 60


def test_what_was_not_measured_stays_unmeasured_and_spoils_no_mean(database: GuardedConnector) -> None:
    why = Unscored("dimensions", "event 'fire' has none")
    replay([recorded("one", figure("PCV", 0.5)), recorded("two", figure("PCV", why))], database)
    by_id = {one.id: one for one in read_records(database)}
    assert scores(by_id["two"]) == {"PCV": None}
    assert by_id["two"].evaluations[0].reason == "unmeasured (dimensions): event 'fire' has none"
    frame = read_by_trulens(database)
    assert (
        frame.loc["two", "PCV"] is None or frame.loc["two", "PCV"] != frame.loc["two", "PCV"]
    )  # NaN in pandas
    board, _ = database.db.get_leaderboard_aggregates()
    assert board["PCV"].tolist() == [0.5]


HOSTILE = {
    "nul": "a\x00b",
    "half a pair": "a\ud800b",
    "huge": "x" * (MOST_TEXT + 10),
    "markup": "<script>alert(1)</script>{{7*7}}",
    "sql": "'); DROP TABLE trulens_events; --",
    "json": '{"a": NaN}',
    "rtl": "\u202eabc\u2066",
    "emoji": "👩‍👩‍👧 閃",
    "empty": "",
}


def test_hostile_text_is_kept_and_every_record_can_be_read_back(database: GuardedConnector) -> None:
    records = [
        recorded(name, figure("LPI", 0.5, reason=text), asked=text, said=text, notes={"ludic.x": text}, steps=(Step("gate", {"a": text}, text),))
        for name, text in HOSTILE.items()
    ]  # fmt: skip
    assert replay(records, database).added == len(records)
    seen = {one.id: one for one in read_records(database)}
    assert {name: seen[name].said for name in HOSTILE} == {name: fit(text) for name, text in HOSTILE.items()}
    assert seen["nul"].said == "a�b"
    assert seen["huge"].said.endswith("… (cut: 200,010 characters)")
    assert len(read_by_trulens(database)) == len(records)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"notes": {"x": NAN}}, "one: notes.x: found nan; allowed: a finite number"),
        ({"notes": {"x": [1.0, {"y": float("inf")}]}}, "one: notes.x[1].y: found inf"),
        ({"steps": (Step("score", {"lpi": NAN}),)}, "one: score.given.lpi: found nan"),
        ({"steps": (Step("score", gave=[NAN]),)}, "one: score.given.return[0]: found nan"),
        ({"notes": {f"n{at}": at for at in range(129)}}, "one: notes: 129 attributes; allowed: at most 100"),
        ({"seconds": NAN}, "one: seconds: found nan"),
        ({"seconds": -1.0}, "one: seconds: found -1.0"),
    ],
)
def test_numbers_that_are_none_and_too_many_attributes_are_refused_by_name(
    more: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError) as error:
        recorded("one", **more)
    assert str(error.value).startswith(says)


def test_a_figure_is_there_once(database: GuardedConnector) -> None:
    with pytest.raises(InputError, match="the figure LPI is there twice"):
        recorded("one", figure("LPI", 0.1), figure("LPI", 0.2))
    assert read_records(database) == []


def test_a_hundred_attributes_are_kept_in_full(database: GuardedConnector) -> None:
    """OpenTelemetry would drop the oldest beyond 128 of them, and TruLens then the span."""
    notes = {f"n{at}": at for at in range(100)}
    replay([recorded("one", figure("LPI", 0.5), notes=notes)], database)
    events = database.get_events()
    kept = max(events["record_attributes"], key=len)
    assert {name: kept[name] for name in notes} == notes


def test_times_are_kept_and_what_nobody_dated_is_dated_when_it_was_recorded(
    database: GuardedConnector,
) -> None:
    ended = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
    replay([recorded("dated", ended=ended, seconds=1.5), recorded("undated")], database)
    by_id = {one.id: one for one in read_records(database)}
    assert by_id["dated"].when == ended.astimezone().replace(tzinfo=None)
    assert abs((by_id["undated"].when - datetime.now()).total_seconds()) < 600  # noqa: DTZ005  # as TruLens has it
    assert read_by_trulens(database).loc["dated", "latency"] == pytest.approx(1.5)


def test_long_names_are_cut_to_what_a_column_holds_and_stay_apart() -> None:
    one, two = short_name("m" * 400 + "1"), short_name("m" * 400 + "2")
    assert len(one) <= 200
    assert one != two


def test_steps_come_back_in_their_order_with_decisions(database: GuardedConnector) -> None:
    steps = tuple(
        Step(name, notes={"ludic.gate.decision": "rewrite", "ludic.gate.reasons": ["LPI 0.10 is below 0.70"]} if name == "gate" else {})
        for name in ("generate", "extract", "score", "gate", "generate", "extract")
    )  # fmt: skip
    replay([recorded("one", steps=steps)], database)
    (seen,) = read_records(database)
    assert [one.name for one in seen.steps] == [one.name for one in steps]
    assert (seen.steps[3].decision, seen.steps[3].reasons) == ("rewrite", ("LPI 0.10 is below 0.70",))


def test_the_spans_are_those_that_trulens_writes(database: GuardedConnector) -> None:
    """Every attribute of a replayed evaluation but our details is one that TruLens 2.16 has a name for."""
    from trulens.otel.semconv.trace import SpanAttributes as Span

    replay([recorded("one", figure("LPI", 0.5))], database)
    by_type = {one[Span.SPAN_TYPE]: one for one in database.get_events()["record_attributes"]}
    assert set(by_type) == {"record_root", "eval_root", "eval"}
    known = {
        Span.SPAN_TYPE, Span.RECORD_ID, Span.RUN_NAME, Span.INPUT_ID, Span.CONVERSATION_ID,
        Span.EVAL.TARGET_RECORD_ID, Span.EVAL.EVAL_ROOT_ID, Span.EVAL.METRIC_NAME, Span.EVAL.EXPLANATION,
        Span.EVAL_ROOT.METRIC_NAME, Span.EVAL_ROOT.HIGHER_IS_BETTER, Span.EVAL_ROOT.SCORE,
        f"{Span.EVAL_ROOT.ARGS_SPAN_ID}.said", f"{Span.EVAL_ROOT.ARGS_SPAN_ATTRIBUTE}.said",
        f"{Span.EVAL.METADATA}.reason",
    }  # fmt: skip
    assert {name for name in by_type["eval_root"] if ".app_" not in name} == known
    assert json.loads(json.dumps(by_type["eval_root"])) == by_type["eval_root"]


def test_digests_tell_records_apart_by_all_they_say() -> None:
    one = recorded("one", figure("LPI", 0.5))
    assert one.digest == replace(one, figures=()).digest
    changes: list[dict[str, Any]] = [
        {"said": "x"}, {"asked": "x"}, {"version": "v2"}, {"app": "b"}, {"notes": {"x": 1}}, {"steps": (Step("a"),)},
    ]  # fmt: skip
    assert len({one.digest, *(replace(one, **change).digest for change in changes)}) == 1 + len(changes)


def test_a_path_without_anything_recorded_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing recorded here"):
        gather([tmp_path])
    with pytest.raises(InputError, match="no such file"):
        gather([tmp_path / "none"])


def test_one_bad_file_stops_no_other(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "session.json").write_text("{}")
    good = tmp_path / "b"
    good.mkdir()
    text = (CASES / "sessions" / "from-the-box" / "session.json").read_text(encoding="utf-8")
    (good / "session.json").write_text(text, encoding="utf-8")
    found = gather([tmp_path])
    assert [one.id for one in found.records] == ["from-the-box"]
    assert len(found.errors) == 1
    assert isinstance(found.records[0], Recorded)


# Studies: the store of `ludic study run`, a line a trial (docs/formats.md)


def trial_line(**more: Any) -> dict[str, Any]:
    """What a store keeps of one trial, written by hand."""
    return {
        "version": 1, "trial": "4B-gated-1", "cell": {"generator": "4B", "gate": "gated"}, "seed": 1,
        "measures": {
            "lpi": 0.75, "rtn": 0.8, "mv": 0.5, "ucr": 1.0, "th": 0.33, "pcv": 120.0, "e_a": 0.25, "reused": 6,
            "invented": 2, "ambiguous": 1, "div_alpha": 0.9, "npc_overlap": 0.1, "hook_overlap": 0.0,
        },
        "gate": {"gated": True, "passed": False, "rewrites": 1},
        "consistency": {"score": 1, "faults": []},
        "drafts": [
            {"decision": "rewrite", "lpi": "1/10", "pcv": "40", "prose_sha256": "a"},
            {"decision": "exhausted", "lpi": "3/4", "pcv": "120", "prose_sha256": "b"},
        ],
        "prose": "Once.", "prose_sha256": "b", "producers": {"architect": {"kind": "scripted"}}, "unscored": [],
        "times": {"finished": "2026-01-01T00:00:00+00:00", "seconds": {"generate": 10.0, "extract": 2.5}},
    } | more  # fmt: skip


def store(folder: Path, *lines: dict[str, Any], tail: str = "", policy: dict[str, str] | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "study.json").write_text(json.dumps({"schema_version": 1, "policy": policy or {}}))
    (folder / "trials.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines) + tail)
    return folder


def test_a_study_is_recorded_with_its_cells_as_versions(tmp_path: Path, database: GuardedConnector) -> None:
    why = [{"stage": "label", "cause": "model", "reason": "no usable answer"}]
    unlabelled = trial_line(trial="4B-gated-2", seed=2, unscored=why)
    unlabelled["measures"] |= {"e_a": None, "div_alpha": None}
    folder = store(tmp_path / "gate", trial_line(), unlabelled, tail='{"trial": "torn')
    assert replay(gather([folder]).records, database).added == 2
    by_id = {one.id: one for one in read_records(database)}
    first = by_id["4B-gated-1"]
    assert (first.app, first.version) == ("ludic study gate", "generator 4B, gate gated (scripted, no model)")
    assert scores(first) == {
        "LPI": 0.75, "RTN": 0.8, "MV": 0.5, "UCR": 1.0, "TH": 0.33, "PCV of 150": 0.8, "Consistency": 1.0,
        "E_a": 0.25, "Div_alpha": 0.9,
    }  # fmt: skip
    assert [one.decision for one in first.steps if one.decision] == ["rewrite", "exhausted"]
    assert scores(by_id["4B-gated-2"])["E_a"] is None
    assert replay(gather([folder]).records, database).added == 0


def test_a_study_under_other_weights_has_metrics_of_its_own(tmp_path: Path) -> None:
    folder = store(tmp_path / "s", trial_line(), policy={"weights": "1/4 1/4 1/4 1/4", "pcv_gate": "100"})
    names = [one.name for one in gather([folder]).records[0].figures]
    assert names[0].startswith("LPI [")
    assert names[5].startswith("PCV of 100 [")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (trial_line(measures={"lpi": 1.5}), "line 1: metric LPI: found 1.5; allowed: 0 to 1"),
        (trial_line(measures={"lpi": "high"}), "line 1: measures: found 'high'; allowed: a number or null"),
        (trial_line(measures={"lpi": NAN}), "line 1: no JSON object, or a number that JSON does not have"),
        (trial_line(cell=None), "line 1: no trial of a study"),
        ({"version": 1}, "line 1: no trial of a study"),
    ],
)
def test_a_line_that_is_no_trial_is_named(line: dict[str, Any], says: str, tmp_path: Path) -> None:
    (error,) = gather([store(tmp_path / "s", line)]).errors
    assert says in str(error)
