"""`ludic generate`, `ludic stress` and `ludic crosscheck` with a real model on this machine: one documented line each.

That they run, keep what they say they keep, and end as documented: a model of this size can neither write, plan nor judge,
and nothing that it says is looked at for its sense.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ludic_deepeval.lockfile import load_lockfile
from ludic_deepeval.session import load_session
from ludic_deepeval.sources import read_story
from tests.live.conftest import ROOT, Standin
from tests.live.protocols import NAME
from tests.live.test_plumbing import ludic, reply_path
from tests.ludic.conftest import SHEET, TALE

pytestmark = pytest.mark.live
Note = Callable[[str, object], None]


@pytest.fixture
def story(tmp_path: Path) -> Path:
    """A very short story with the ledger that a person made of it."""
    (tmp_path / "tale.md").write_text(TALE, encoding="utf-8")
    (tmp_path / "tale.marks.yaml").write_text(SHEET, encoding="utf-8")
    done = ludic(None, "lock", str(tmp_path / "tale.md"))
    assert done.returncode == 0, done.stderr
    return tmp_path / "tale.md"


def test_a_backstory_is_written_read_and_judged_and_all_of_it_is_kept(
    local: Standin, tmp_path: Path, record_property: Note
) -> None:
    run = tmp_path / "run"
    asked = len(local.asked)
    name = f"openai:{NAME}"
    done = ludic(local, "generate", "--bible", str(ROOT / "bible" / "faerun"), "--out", str(run), "--model", name,
                 "--max-iter", "1", "--record", str(tmp_path / "kept"), "--json")  # fmt: skip
    # 1: the draft falls short, or too little of what was read rests on its words. It is a failure of nothing here.
    assert done.returncode in {0, 1}, done.stderr
    found = json.loads(done.stdout)
    requests = len(local.asked) - asked
    assert set(local.asked[asked:]) == {reply_path("openai")}
    assert len(list((tmp_path / "kept").glob("*.json"))) >= 2
    assert requests >= 2  # written, and read
    (first, *_) = found["drafts"]
    draft = read_story(run / "draft-0.md")
    lock = load_lockfile(draft.lockfile)
    assert lock.source_sha256 == draft.prose.sha256
    assert lock.notary.model == name
    assert draft.prose.body.count("\n\n") >= 1  # two paragraphs, as it was made to end
    assert all(
        draft.prose.body[one.start : one.end] == one.quote
        for _, _, item in lock.ledger.items()
        for one in item.evidence
    )
    assert first["decision"] in {"accept", "rewrite", "exhausted", "unscored"}
    # The same command asks nobody: what was paid for is kept.
    again = ludic(local, "generate", "--bible", str(ROOT / "bible" / "faerun"), "--out", str(run), "--model", name,
                  "--max-iter", "1", "--json")  # fmt: skip
    assert again.returncode == done.returncode
    assert json.loads(again.stdout) == found
    assert len(local.asked) - asked == requests
    record_property("requests", requests)
    record_property("ended", found["result"]["ended"])


def test_sessions_are_planned_and_labelled_through_two_protocols(
    local: Standin, story: Path, tmp_path: Path, record_property: Note
) -> None:
    asked = len(local.asked)
    done = ludic(local, "stress", str(story), "--tester", f"ollama:{NAME}", "--judge", f"openai:{NAME}",
                 "--same-model", "--concurrency", "1", "--max-tokens", "900", "--out", str(tmp_path / "sessions"), "--json")  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr
    (row,) = json.loads(done.stdout)["stories"]
    assert row["state"] in {"measured", "unscored"}
    session = load_session(Path(row["session"]))  # which refuses labels that rest on nothing
    assert (session.tester.kind, session.judge.kind, session.same_model) == ("model", "model", True)
    assert (row["state"] == "measured") == (row["effort"] is not None)
    assert local.asked[asked] == reply_path("ollama")
    assert session.tester.calls + session.judge.calls == len(local.asked) - asked >= 3
    if session.unscored is None:
        # All may be told ambiguous: then nothing was measured, and never 0.
        assert len(session.labels) == len(session.outlines) == 3
        assert {told.item for labels in session.labels for told in labels} - {None} <= {
            item.id for item in session.known
        }
    record_property("state", row["state"])
    record_property("reason", row["reason"])
    record_property("requests", len(local.asked) - asked)


def test_a_judge_by_rubrics_is_set_beside_the_arithmetic(
    local: Standin, story: Path, tmp_path: Path, record_property: Note
) -> None:
    asked = len(local.asked)
    done = ludic(local, "crosscheck", str(story), "--model", f"anthropic:{NAME}", "--no-pcv",
                 "--record", str(tmp_path / "kept"), "--json")  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr
    found = json.loads(done.stdout)
    (row,) = found["stories"]
    judged = {one["name"]: one for one in row["rows"]}
    assert set(judged) >= {"rtn", "mv", "ucr", "th"}
    for one in judged.values():  # a figure within its range, or a reason why there is none
        assert (one["judge"] is None) == (one["verdict"] == "unmeasured")
        assert one["judge"] is None or 0 <= one["judge"] <= 1
    assert set(local.asked[asked:]) == {reply_path("anthropic")}
    assert len(list((tmp_path / "kept").glob("*.json"))) == 4  # what answered them once does so again
    record_property("requests", len(local.asked) - asked)
    record_property("unmeasured", [one["name"] for one in judged.values() if one["judge"] is None])
