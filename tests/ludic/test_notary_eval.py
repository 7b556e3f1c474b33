"""Weighted kappa by hand; corrupted gold ledgers whose rates the evaluation must give back; the command."""

import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

import ludic_deepeval.cli_extract as extracting
import ludic_deepeval.cli_notary_eval as command
from ludic_deepeval.check import Checker
from ludic_deepeval.corruption import Corrupted, Rates, corrupt
from ludic_deepeval.errors import InputError
from ludic_deepeval.genre_prompts import prompt_for
from ludic_deepeval.kappa import weighted_kappa
from ludic_deepeval.lockfile import load_lockfile, verify, write_lockfile
from ludic_deepeval.notary_eval import Evaluation, Pair, evaluate
from ludic_deepeval.outcome import Scored
from ludic_deepeval.policy import Policy
from ludic_deepeval.sources import find_stories, read_story
from tests.ludic.conftest import CtrlC, Ludic
from tests.ludic.scripted import TALE_SAID, Scripted

SHIPPED = Path(__file__).parents[2] / "test_cases" / "backstories"


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        # Observed Σ(a−b)² = 1. Expected (1/4) Σ over 4 × 4: firsts 1,1,2,3 against seconds 1,2,2,3:
        # 1: 0+1+1+4 = 6, twice: 12; 2: 1+0+0+1 = 2; 3: 4+1+1+0 = 6; together 20, by 4: 5. κ = 1 − 1/5.
        ([(1, 1), (1, 2), (2, 2), (3, 3)], Fraction(4, 5)),
        # Turned round: observed 4 + 4 = 8; firsts 1,3 against 3,1: 4 + 0 + 0 + 4 = 8, by 2: 4. κ = 1 − 2.
        ([(1, 3), (3, 1)], Fraction(-1)),
        # A second rater who says 2 whatever there is: observed 2, expected (1/2)(1+1+1+1) = 2. κ = 0.
        ([(1, 2), (3, 2)], Fraction(0)),
        ([(1, 1), (2, 2)], Fraction(1)),
        ([(2, 2), (2, 2)], None),
        ([], None),
    ],
)
def test_weighted_kappa_as_worked_out_by_hand(pairs: list[tuple[int, int]], kappa: Fraction | None) -> None:
    assert weighted_kappa(pairs) == kappa


def worse(rates: Rates, seed: int = 1) -> tuple[Evaluation, list[Corrupted]]:
    """The shipped stories' ledgers made worse, and measured."""
    checker = Checker()
    pairs, done = [], []
    for path in find_stories([SHIPPED]):
        story = read_story(path)
        gold = load_lockfile(story.lockfile).ledger
        one = corrupt(gold, story.prose, rates, seed)
        verify(one.lock, story.prose, path)
        card = one.lock.too_little_grounded or Scored(checker.read(story, one.lock).card)
        pairs.append(Pair(path.name, gold, one.lock, checker.read_ledger(story, gold).card, card))
        done.append(one)
    return evaluate(pairs), done


def total(done: list[Corrupted], name: str) -> int:
    return sum(getattr(one, name) for one in done)


def test_ledgers_that_were_not_touched_agree_in_all() -> None:
    found, done = worse(Rates())
    assert all(row.precision == row.recall == row.f1 == 1 for row in found.kinds)
    assert all(one.kappa == 1 for one in found.judgements)
    assert found.gate == (22, 22)
    assert found.lpi is not None
    assert found.pcv is not None
    assert (found.lpi.absolute, found.pcv.absolute) == (0, 0)
    assert total(done, "items") == sum(row.gold for row in found.kinds) > 300


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.6])
def test_what_was_dropped_is_missing_from_recall_alone(rate: float) -> None:
    found, done = worse(Rates(dropped=rate))
    gold, matched, read = (
        sum(getattr(row, name) for row in found.kinds) for name in ("gold", "matched", "read")
    )
    assert (gold - matched, read) == (total(done, "dropped"), matched)
    assert (gold - matched) / gold == pytest.approx(rate, abs=0.08)  # 3 s.d. of about 350 draws


@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_what_was_invented_is_missing_from_precision_alone(rate: float) -> None:
    found, done = worse(Rates(invented=rate))
    gold, matched, read = (
        sum(getattr(row, name) for row in found.kinds) for name in ("gold", "matched", "read")
    )
    assert (matched, read - matched) == (gold, total(done, "invented"))
    assert total(done, "invented") / gold == pytest.approx(rate, abs=0.08)


@pytest.mark.parametrize("rate", [0.2, 0.5, 1.0])
def test_hooks_of_another_tier_are_matched_and_disagree(rate: float) -> None:
    found, done = worse(Rates(mistiered=rate))
    tier = found.judgements[0]
    assert (tier.name, tier.pairs) == ("tier", total(done, "hooks"))
    assert tier.pairs - tier.same == total(done, "mistiered")
    assert all(row.f1 == 1 for row in found.kinds)
    assert tier.kappa is not None
    assert tier.kappa < 1
    assert found.judgements[1].kappa == 1


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_misquoted_items_are_counted_apart_and_a_story_of_them_is_not_scored(rate: float) -> None:
    found, done = worse(Rates(misquoted=rate))
    assert sum(row.ungrounded for row in found.kinds) == total(done, "misquoted")
    assert sum(row.gold - row.matched for row in found.kinds) == total(done, "misquoted")
    # More than a fifth without words is not scored: about none at a tenth, about all at a half.
    unscored = sum(row.gates is None for row in found.rows)
    assert unscored <= 3 if rate == 0.1 else unscored >= 20


def test_all_at_once_is_given_back_from_the_counts() -> None:
    found, done = worse(Rates(dropped=0.2, invented=0.2, misquoted=0.1, mistiered=0.3), seed=5)
    gold, matched, read = (
        sum(getattr(row, name) for row in found.kinds) for name in ("gold", "matched", "read")
    )
    assert gold - matched == total(done, "dropped") + total(done, "misquoted")
    assert read - matched == total(done, "invented")


def test_the_same_seed_does_the_same_and_another_does_not() -> None:
    story = read_story(SHIPPED / "three-liens.md")
    gold = load_lockfile(story.lockfile).ledger
    rates = Rates(dropped=0.5)
    one, same, other = (corrupt(gold, story.prose, rates, seed).lock for seed in (1, 1, 2))
    assert one == same != other


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_what_is_no_rate_is_refused(rate: float) -> None:
    with pytest.raises(InputError, match="dropped: found"):
        Rates(dropped=rate)


# The command


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """A scripted model in the place of the one that is named."""
    model = Scripted(lambda _: TALE_SAID, "ollama:qwen3:14b")
    for module in (command, extracting):
        monkeypatch.setattr(module, "open_asked", lambda *_: model)
    return model


def test_ready_lockfiles_are_scored_without_a_model(locked: Path, ludic: Ludic, tmp_path: Path) -> None:
    """The hook's tier is 3 for 1. LPI: RTN loses .3·(1 − .2)/5 = .048, UCR 1, so LPI −.4·.048 − .2 = −.2192."""
    story = read_story(locked / "tale.md")
    lock = load_lockfile(story.lockfile)
    made = corrupt(lock.ledger, story.prose, Rates(mistiered=1.0), seed=0).lock
    assert made.ledger.hooks[0].tier in {2, 3}
    hook = made.ledger.hooks[0].model_copy(update={"tier": 3})
    other = tmp_path / "other"
    other.mkdir()
    ledger = made.ledger.model_copy(update={"hooks": (hook,)})
    write_lockfile(made.model_copy(update={"ledger": ledger}), other / "x.ledger.json")
    ran = ludic("notary-eval", "tale.md", "--against", other, "--json")
    assert ran.code == 0, ran
    found = json.loads(ran.out)
    assert found["lpi_error"] == {"n": 1, "mean": pytest.approx(-0.2192), "absolute": pytest.approx(0.2192)}
    assert found["gate"] == {"same": 1, "both": 1, "stories": 1}
    assert found["judgements"][0] == {"name": "tier", "pairs": 1, "same": 0, "kappa": 0.0}
    told = ludic("notary-eval", "tale.md", "--against", other).out
    assert "tale.md: LPI -0.22, PCV +0.0, falls short in both" in told


def test_a_model_is_scored_and_nothing_is_written(locked: Path, ludic: Ludic, scripted: Scripted) -> None:
    before = (locked / "tale.ledger.json").read_bytes()
    ran = ludic("notary-eval", ".", "--model", "ollama:qwen3:14b", "--json")
    assert (ran.code, len(scripted.asked)) == (0, 1)
    assert all(row["f1"] == 1 for row in json.loads(ran.out)["kinds"])
    assert (locked / "tale.ledger.json").read_bytes() == before


def test_a_story_without_a_reading_is_told_and_counts_in_nothing(
    locked: Path, ludic: Ludic, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    ran = ludic("notary-eval", ".", "--against", tmp_path / "empty")
    assert ran.code == 1
    assert "no reading: no lockfile of this prose" in ran.out


def test_stories_without_marks_by_hand_are_no_gold(tale: Path, ludic: Ludic) -> None:
    ran = ludic("notary-eval", ".", "--against", ".")
    assert (ran.code, "no marks made by hand" in ran.err) == (2, True)


def test_a_spent_budget_ends_with_1_and_says_what_has_no_reading(
    locked: Path, ludic: Ludic, scripted: Scripted
) -> None:
    ran = ludic("notary-eval", "tale.md", "--model", "ollama:qwen3:14b", "--budget-calls", 0)
    assert (ran.code, ran.err, scripted.asked) == (1, "", [])
    assert "tale.md: no reading: the budget of 0 calls is spent" in ran.out


def test_ctrl_c_scores_what_was_read(
    locked: Path, ludic: Ludic, scripted: Scripted, ctrl_c_at: CtrlC
) -> None:
    for path in sorted(locked.glob("tale.*")):
        shutil.copy(path, locked / path.name.replace("tale", "other"))
    ctrl_c_at(scripted, 1)
    ran = ludic("notary-eval", ".", "--model", "ollama:qwen3:14b", "--concurrency", 1)
    assert ran.code == 130
    assert "ollama:qwen3:14b against marks made by hand, 1 story" in ran.out
    assert "tale.md: no reading: interrupted" in ran.out


def test_a_dry_run_counts_and_asks_nobody(locked: Path, ludic: Ludic, scripted: Scripted) -> None:
    ran = ludic("notary-eval", ".", "--model", "ollama:qwen3:14b", "--max-tokens", 900, "--dry-run", "--json")
    found = json.loads(ran.out)
    assert (ran.code, scripted.asked, found["stories"]) == (0, [], 1)
    assert (found["at_most"]["calls"], found["at_most"]["completion_tokens"]) == (1, 900)
    wrong = ludic("notary-eval", ".", "--against", ".", "--dry-run")
    assert (wrong.code, wrong.faults) == (
        2,
        ["ludic: --against: given with --dry-run; lockfiles cost nothing"],
    )


def test_a_cosy_story_is_asked_the_questions_that_extract_would_ask(
    locked: Path, ludic: Ludic, scripted: Scripted
) -> None:
    """What is scored is the prompt that is used, and a cosy story has its genre's."""
    ludic("notary-eval", "tale.md", "--model", "ollama:qwen3:14b", "--max-tokens", 900)
    story = (locked / "tale.md").read_text(encoding="utf-8")
    (locked / "tale.md").write_text(f"---\nprofile: cosy\n---\n{story}", encoding="utf-8")
    ludic("notary-eval", "tale.md", "--model", "ollama:qwen3:14b", "--max-tokens", 900)
    plain, cosy = scripted.asked
    assert (plain.system, plain.max_tokens) == (prompt_for("notary").system, 900)
    assert cosy.system == prompt_for("notary", Policy(profile="cosy")).system != plain.system
