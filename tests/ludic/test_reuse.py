"""The lexical baseline, and the hand-labelled pairs that say how far it goes."""

import re
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("rapidfuzz")

from ludic_deepeval import reuse
from ludic_deepeval.errors import InputError
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.reuse import THRESHOLD, closest_item, lexical_labels
from ludic_deepeval.reuse_pairs import best_threshold, evaluate, judged, load_pairs
from ludic_deepeval.session import Emitted, known_items
from tests.scripted import Scripted, emitted_in

ROOT = Path(__file__).parents[2]
FILE = ROOT / "test_cases" / "reuse" / "pairs.yaml"
STORIES = ROOT / "test_cases" / "backstories"
PAIRS = load_pairs(FILE, STORIES)
KNOWN = known_items(
    FactLedger.model_validate(
        {
            "schema_version": 1,
            "protagonist": "Ysolde",
            "npcs": [{"id": "odo", "name": "Odo Marsh", "aliases": ["the Miller"]}, {"id": "bess", "name": "Bess"}],
            "hooks": [{"id": "ledger", "text": "he will come for the ledger", "tier": 1}],
            "mysteries": [{"id": "bell", "text": "somebody had paid for the bell not to ring"}],
        }
    )
)  # fmt: skip


def labels(*emitted: Emitted, threshold: int = THRESHOLD) -> list[tuple[str, str | None]]:
    return [(told.label, told.item) for told in lexical_labels(emitted, KNOWN, threshold=threshold)]


@pytest.mark.parametrize(
    ("name", "item"),
    [
        ("Odo Marsh", "npcs:odo"), ("odo  MARSH", "npcs:odo"), ("Miller", "npcs:odo"), ("the miller’s", None), ("Odo", None),
        ("Bess Marsh", None), ("YSOLDE", "protagonist"), ("", None),
    ],
)  # fmt: skip
def test_a_person_is_who_has_the_name_or_an_alias(name: str, item: str | None) -> None:
    assert labels(Emitted("npc", name)) == [("reused" if item else "invented", item)]


def test_a_thread_is_the_item_whose_words_are_closest() -> None:
    # All words of the item are in it, so the token-set ratio is 100.
    assert closest_item("He will come for the ledger, tonight!", KNOWN) == (100, "hooks:ledger")
    # "ring" and "bell" of 4 + 4 letters and a blank, against the 42 of the item: what is shared is all of the shorter text.
    assert closest_item("ring bell", KNOWN) == (100, "mysteries:bell")
    assert closest_item("quartz", KNOWN)[0] < 60
    assert labels(Emitted("hook", "quartz"), Emitted("hook", "come for the ledger")) == [
        ("invented", None),
        ("reused", "hooks:ledger"),
    ]


def test_nothing_is_closest_where_nothing_has_words() -> None:
    assert closest_item("ring bell", KNOWN[:2]) == (0, None)
    assert lexical_labels([Emitted("hook", "ring bell")], KNOWN[:2], threshold=0)[0].label == "invented"


def test_without_rapidfuzz_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    reuse._ratio.cache_clear()
    monkeypatch.setitem(sys.modules, "rapidfuzz.fuzz", None)
    with pytest.raises(
        InputError, match=r"rapidfuzz is not installed; pip install 'ludic-worth\[deepeval\]'"
    ):
        labels(Emitted("hook", "ring bell"))
    assert labels(Emitted("npc", "Bess")) == [("reused", "npcs:bess")]  # names need it not


def test_the_modules_load_no_heavy_one_before_it_is_needed() -> None:
    code = "import sys, ludic_deepeval.reuse, ludic_deepeval.reuse_pairs, ludic_deepeval.stress, ludic_deepeval.cli_stress\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not {"rapidfuzz", "deepeval", "numpy", "ollama", "anthropic", "openai"} & set(done.stdout.split())


# The pairs


def test_there_are_enough_pairs_of_every_kind_on_both_sides() -> None:
    assert len(PAIRS.pairs) >= 200
    traps = Counter(pair.trap for pair in PAIRS.pairs)
    assert len(traps) == 14
    parts = Counter((pair.part, pair.label, pair.emitted.kind) for pair in PAIRS.pairs)
    assert len(parts) == 12
    assert min(parts.values()) >= 3
    stories = {
        part: {pair.story for pair in PAIRS.pairs if pair.part == part}
        for part in ("development", "held-out")
    }
    assert not stories["development"] & stories["held-out"]  # the threshold has seen no held-out story


def test_no_pair_stands_twice() -> None:
    seen = Counter((pair.story, pair.emitted) for pair in PAIRS.pairs)
    assert [one for one, count in seen.items() if count > 1] == []


def test_a_kind_of_trap_has_one_label() -> None:
    found = {(pair.trap, pair.label) for pair in PAIRS.pairs}
    assert len({trap for trap, _ in found}) == len(found)


def test_same_name_is_the_ledgers_own_name() -> None:
    """The one kind that can be checked against the ledger letter for letter, but for a capital or an article."""
    for pair in PAIRS.pairs:
        if pair.trap == "same-name":
            item = next(one for one in PAIRS.known[pair.story] if one.id == pair.item)
            assert pair.emitted.text.casefold() in {name.casefold() for name in item.names}, pair


def test_the_threshold_is_the_one_that_the_development_part_gives() -> None:
    assert best_threshold(PAIRS) == THRESHOLD


def test_the_baselines_errors_counted_another_way_are_what_the_command_says() -> None:
    """Names by a set of casefolded names, threads by rapidfuzz's own process.extractOne: a second implementation."""
    from rapidfuzz import fuzz, process

    wrong = 0
    confusion: Counter[tuple[str, str]] = Counter()
    for pair in PAIRS.pairs:
        known = PAIRS.known[pair.story]
        if pair.emitted.kind == "npc":
            names = {re.sub(r"^the ", "", name.casefold()) for item in known for name in item.names}
            said = "reused" if re.sub(r"^the ", "", pair.emitted.text.casefold()) in names else "invented"
        else:
            texts = [spaced(item.text) for item in known if item.text]
            best = process.extractOne(spaced(pair.emitted.text), texts, scorer=fuzz.token_set_ratio)
            said = "reused" if best[1] >= 90 else "invented"
        confusion[pair.label, said] += 1
        wrong += said != pair.label
    result = evaluate(PAIRS)
    assert {key: count for key, count in result.confusion.items() if count} == dict(confusion)
    assert len(PAIRS.pairs) - result.right == wrong


def spaced(text: str) -> str:
    """Words, and Chinese characters one by one."""
    return " ".join(
        re.findall(r"[\u4e00-\u9fff]|[^\W_\u4e00-\u9fff]+(?:['’][^\W_]+)*", text.casefold().replace("’", "'"))
    )


def test_the_docs_print_what_is_measured() -> None:
    """The held-out table of docs/metrics.md, and the bias under it."""
    text = " ".join((ROOT / "docs" / "metrics.md").read_text(encoding="utf-8").split())
    held_out = evaluate(PAIRS).only(lambda pair: pair.part == "held-out")
    for hand in ("reused", "invented", "ambiguous"):
        cells = " | ".join(str(held_out.confusion[hand, said]) for said in ("reused", "invented"))  # type: ignore[index]
        assert f"| {hand} | {cells} |" in text
    assert held_out.bias is not None
    assert f"{float(held_out.bias):+.2f}" in text
    for trap, (right, of) in held_out.by_trap().items():
        assert f"`{trap}` {right} of {of}" in text


def test_the_bias_is_what_the_errors_add() -> None:
    """Of 128 held-out pairs told apart by hand 47 are invented; the baseline calls 57 more so and 2 fewer: (47+57−2)/128."""
    held_out = evaluate(PAIRS).only(lambda pair: pair.part == "held-out")
    assert held_out.bias == Fraction(47 + 57 - 2, 128) - Fraction(47, 128)


# A judge on the pairs


def hand() -> Scripted:
    """Says what the hand said: it must come out without an error."""
    by_text = {pair.emitted.text: pair for pair in PAIRS.pairs}

    def answer(request: Any) -> Any:
        told = []
        for line in emitted_in(request):
            pair = by_text[line.get("person") or line["thread"]]
            told.append({"number": line["number"], "label": pair.label, "item": pair.item})
        return {"labels": told}

    return Scripted("hand", answer)


def test_a_judge_that_says_what_the_hand_said_is_right_everywhere() -> None:
    judge = hand()
    result, missing = judged(PAIRS, judge)
    assert (result.right, result.bias, missing) == (len(PAIRS.pairs), 0, [])
    same, both = result.right_item
    assert same == both > 100
    assert len(judge.asked) == len(PAIRS.known)  # no story has more than twenty-four
    assert not any("paraphrase" in one.prompt or "held-out" in one.prompt for one in judge.asked)


def test_labels_that_a_judge_did_not_give_are_left_out_and_told() -> None:
    judge = hand()
    answer = judge._answer
    judge._answer = lambda request: "no" if "Casimir Dole" in request.prompt else answer(request)
    result, missing = judged(PAIRS, judge)
    assert len(result.pairs) == len(PAIRS.pairs) - 14
    assert result.right == len(result.pairs)
    assert missing[0].startswith(
        "statement-at-the-grate: 14 pairs without a label: scripted:hand gave no usable answer"
    )


def pairs_file(tmp_path: Path, **line: Any) -> Path:
    one = {"npc": "Reed", "role": "x", "label": "reused", "item": "npcs:reed", "trap": "same-name"} | line
    kept = {key: value for key, value in one.items() if value is not None}
    data = {
        "version": 1,
        "stories": [{"story": "four-hundred-and-six-gulls", "part": "held-out", "pairs": [kept]}],
    }
    path = tmp_path / "pairs.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"item": "npcs:nobody"}, "'npcs:nobody' is no item of the ledger"),
        ({"item": None}, "found nothing"),
        ({"label": "invented"}, "found 'npcs:reed'"),
        ({"hook": "both"}, "not one of npc and hook"),
        ({"trap": "pitfall"}, "trap: found 'pitfall'"),
        ({"label": "maybe"}, "label: found 'maybe'"),
    ],
)
def test_a_pair_that_is_none_is_told_with_its_place(line: dict[str, Any], told: str, tmp_path: Path) -> None:
    assert len(load_pairs(pairs_file(tmp_path), STORIES).pairs) == 1
    with pytest.raises(InputError) as caught:
        load_pairs(pairs_file(tmp_path, **line), STORIES)
    assert told in str(caught.value)
