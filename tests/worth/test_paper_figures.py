"""The WORTH paper's own figures (arXiv 2610.27597, §5 and A.4), recomputed by the report.

The paper's runs are not public. For EP01 the hits and net participants of each run follow from the printed totals and
means; for EP02 the sample below is one of the many that have the printed counts, so that what is tested is that the report
counts as the paper does, and nothing about its models.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.outcome import Scored
from worth_deepeval.diagnosis.roles import attractor
from worth_deepeval.diagnosis.sample import Sample
from worth_deepeval.diagnostics import Diagnosis, diagnose
from worth_deepeval.episode import Episode, Key, Sheet
from worth_deepeval.runs import Run, make_run


def sheet(name: str, sentences: int, key: list[tuple[str, int]], points: list[int], **more: Any) -> Sheet:
    roles = [f"R{n:02d}" for n in range(1, len(points) + 1)]
    episode = Episode.model_validate(
        {
            **dict.fromkeys(("canary", "title", "question", "scope", "participant_definition"), "not public"),
            "id": name,
            "version": "1",
            "language": "zh",
            "provenance": {"source": "arXiv 2610.27597; its story is not public"},
            "quota": {"sentences": len(key)},
            "sentences": [{"id": f"S{n:03d}", "text": "not public"} for n in range(1, sentences + 1)],
            "candidates": [{"id": role, "name": role} for role in roles],
        }
    )
    rules = Key.model_validate(
        {
            "status": "draft",
            "clues": [{"sentence": one, "weight": weight} for one, weight in key],
            "participants": [{"role": role, "points": one} for role, one in zip(roles, points, strict=True)],
            **more,
        }
    )
    return Sheet(episode, rules, Path("episode.yaml"))


def reply(episode: str, clues: list[str], roles: list[str]) -> str:
    """All seven fields."""
    return json.dumps(
        {
            "episode_id": episode,
            "clue_sentence_ids": clues,
            "selected_role_ids": roles,
            "clue_interpretations": [{"sentence_id": one, "interpretation": "–"} for one in clues],
            "evidence_combination": "–",
            "final_conclusion": "–",
            "confidence": 100,
        }
    )


# §5.1, 5.1.1: hits and right less wrong of each run (the only whole numbers with the printed totals); printed: total, SD,
# clue, participant, hits, correct, incorrect.
EP01: dict[str, tuple[list[int], list[int], tuple[float, ...]]] = {
    "GPT-5.6 Sol": ([3, 4, 3, 2, 5], [1, 1, -1, -2, 2], (11.2, 11.3, 10.2, 1.0, 3.4, 0.8, 0.6)),
    "Claude Opus 4.6": ([4, 4, 3, 2, 3], [2, -1, -1, 0, 2], (11.6, 8.3, 9.6, 2.0, 3.2, 1.0, 0.6)),
    "GLM-5.2": ([4, 2, 5, 3, 1], [2, 2, 1, 1, 0], (15.0, 7.4, 9.0, 6.0, 3.0, 1.4, 0.2)),
    "Kimi K3": ([3, 2, 4, 1, 4], [2, -1, 0, 1, -1], (9.4, 6.7, 8.4, 1.0, 2.8, 1.0, 0.8)),
    "Gemini 3.1 Pro": ([2, 3, 3, 2, 2], [0, 2, 2, 0, 0], (11.2, 7.1, 7.2, 4.0, 2.4, 1.4, 0.6)),
    "DeepSeek-V4-Flash": ([2, 1, 4, 1, 3], [1, 2, 2, 1, 2], (14.6, 5.8, 6.6, 8.0, 2.2, 1.6, 0.0)),
}


def ep01_runs(rules: Sheet) -> tuple[Run, ...]:
    """R01 is the narrator (+7, never chosen), R02 and R03 took part (+5 each), R04 to R06 did not (−5 each)."""
    out = []
    for model, (hits, net, printed) in EP01.items():
        wrong = [max(-one, 0) for one in net]
        spare = round(5 * printed[6]) - sum(wrong)
        for n, one in enumerate(net):  # one right and one wrong more leave a total as it is
            more = 1 if spare and one + wrong[n] < 2 else 0
            wrong[n], spare = wrong[n] + more, spare - more
        assert spare == 0
        for n, (found, one) in enumerate(zip(hits, net, strict=True)):
            clues = [f"S{k:03d}" for k in range(1, found + 1)]
            roles = ["R02", "R03"][: one + wrong[n]] + ["R04", "R05", "R06"][: wrong[n]]
            out.append(make_run(model, n + 1, "full-story", reply("EP01", clues, roles), rules))
    return tuple(out)


def test_episode_01s_table_and_who_finds_most_names_worst() -> None:
    rules = sheet("EP01", 120, [(f"S{n:03d}", 3) for n in range(1, 13)], [7, 5, 5, -5, -5, -5])
    (found,) = diagnose(rules, ep01_runs(rules), draws=199)
    for row in found.models:
        spreads = (row.total, row.clue, row.participant, row.hits, row.correct, row.incorrect)
        total, sd, *others = EP01[row.model][2]
        assert [round(one.mean or 0.0, 2) for one in spreads] == pytest.approx([total, *others])
        assert round(row.total.sd or 0.0, 1) == sd
        assert (row.scored, row.runs) == (5, 5)
    gpt, gemini = (
        next(one for one in found.models if one.model == name) for name in ("GPT-5.6 Sol", "Gemini 3.1 Pro")
    )
    assert (min(gpt.totals), max(gpt.totals)) == (-4, 25)
    assert sorted(gemini.totals) == [6, 6, 6, 19, 19]  # §5.1.3: two levels, confidence 100 in all five
    assert set(gemini.confidences) == {100}
    assert found.dissociation is not None
    places = {one.model: (one.rank_hits, one.rank_net_correct) for one in found.dissociation.contrast}
    assert places["GPT-5.6 Sol"] == (1, 5.5)  # 0.8 − 0.6 as Kimi's 1.0 − 0.8
    assert places["DeepSeek-V4-Flash"] == (6, 1)
    assert next(one for one in found.roles if one.role == "R01").named.count == 0  # §5.1.2: 0/30


LEI, BAISHUN, BAILI, JIA, HUANG, FATHER = "R01 R02 R03 R04 R05 R06".split()
TRIO = [FATHER, JIA, HUANG]
NEVER = ("S025", "S074", "S077", "S106", "S112")  # §5.2.5
OTHER_KEY = [f"S{n:03d}" for n in range(1, 15)]  # which sentences they are is not printed, nor each weight
MODELS = (
    "GPT-5.6 Sol|Claude Opus 4.6|Gemini 3.1 Pro|GLM-5.3|Kimi K3|DeepSeek-V4-Pro|Hy4 preview|MiniMax-M3".split(
        "|"
    )
)
UNSCORED = {  # A.4
    ("Gemini 3.1 Pro", 5): reply("EP02", ["S207"], [LEI]),
    ("Hy4 preview", 5): "So: " + reply("EP02", ["S146"], [LEI]),
    ("Kimi K3", 2): '{"clue_sentence_ids": ["S001-S005"], "selected_role_ids": ["R01 or R02"], cut off',
}


@pytest.fixture(scope="module")
def ep02() -> tuple[Sheet, tuple[Run, ...], Diagnosis]:
    key = [(one, 2) for one in (*NEVER, *OTHER_KEY)] + [("S081", 3)]  # 19 · 2 + 3 = 41
    pair = {"suspicion": "S113", "exoneration": "S112", "target": JIA}
    distractors = [{"role": one, "incriminating": ["S113"], "exonerating": ["S112"]} for one in (JIA, HUANG)]
    rules = sheet("EP02", 134, key, [2, 2, 2, -8, -6, -2, -2, -2, -2], pairs=[pair], distractors=distractors)
    # 16 the trio; 2 one more than it; 13 it with two of the right; 6 without it, of which 2 with somebody right.
    answers = [TRIO] * 16 + [[*TRIO, "R07"]] * 2 + [[*TRIO, LEI, BAISHUN]] * 13
    answers += [[LEI, BAISHUN], [LEI, BAISHUN, HUANG], [JIA], [JIA], [JIA], [JIA]]
    slots = [(model, n) for n in range(1, 6) for model in MODELS if (model, n) not in UNSCORED]
    runs = []
    for i, ((model, n), roles) in enumerate(zip(slots, answers, strict=True)):
        clues = ["S124", *(["S113"] if i < 25 else []), *(["S081"] if 26 <= i < 32 else [])]
        text = reply("EP02", [*clues, *(OTHER_KEY if i == 0 else [])], roles)
        if 25 <= i < 33:
            text = f"Here it is: {text}"
        elif i >= 33:
            text = text.replace('"confidence": 100}', '"confidence": 100,,}')
        runs.append(make_run(model, n, "full-story", text, rules))
    runs += [make_run(model, n, "full-story", text, rules) for (model, n), text in UNSCORED.items()]
    return rules, tuple(runs), diagnose(rules, tuple(runs), draws=199)[0]


def test_episode_02s_row_of_table_a4(ep02: tuple[Sheet, tuple[Run, ...], Diagnosis]) -> None:
    whole = ep02[2].validity[-1]
    assert whole.runs == 40
    assert (whole.direct.count, whole.embedded.count, whole.invalid.count) == (26, 9, 5)
    assert (whole.scorable.count, whole.compliant.count) == (37, 25)
    assert {name for name, _ in whole.causes} == {
        "Gemini 3.1 Pro run 5",
        "Hy4 preview run 5",
        "Kimi K3 run 2",
    }
    four = {row.model for row in ep02[2].models if row.scored == 4}
    assert four == {"Gemini 3.1 Pro", "Hy4 preview", "Kimi K3"}
    assert isinstance(ep02[0].range, Scored)
    assert (ep02[0].range.value.minimum, ep02[0].range.value.maximum) == (-22, 47)


def test_table_a4_in_whole(ep02: tuple[Sheet, tuple[Run, ...], Diagnosis]) -> None:
    """EP01: 22 replies as they should be, 7 with text around them, 1 that is no JSON and can be read; and the sum of both rows."""
    rules = sheet("EP01", 120, [(f"S{n:03d}", 3) for n in range(1, 13)], [7, 5, 5, -5, -5, -5])
    good = reply("EP01", ["S001"], ["R02"])
    texts = [good] * 22 + [f"```json\n{good}\n```"] * 7 + [good[:-1] + ",}"]
    runs = [
        make_run(list(EP01)[i // 5], i % 5 + 1, "full-story", text, rules) for i, text in enumerate(texts)
    ]
    one, two = diagnose(rules, tuple(runs), draws=99)[0].validity[-1], ep02[2].validity[-1]
    rows = [
        (
            row.runs,
            *(part.count for part in (row.direct, row.embedded, row.invalid, row.scorable, row.compliant)),
        )
        for row in (one, two)
    ]
    assert rows[0] == (30, 22, 7, 1, 30, 22)
    assert tuple(map(sum, zip(*rows, strict=True))) == (70, 48, 16, 6, 67, 47)


def test_the_common_attractor(ep02: tuple[Sheet, tuple[Run, ...], Diagnosis]) -> None:
    rules, runs, found = ep02
    trio = attractor(Sample(rules, runs), TRIO)
    assert trio == found.attractors.sets[0]
    shares = [one.rate for one in (trio.contained, trio.exact, trio.within_one)]
    assert [round(100 * one, 1) for one in shares if one is not None] == [83.8, 43.2, 48.6]  # §5.2.1
    assert (trio.contained.count, trio.exact.count, trio.within_one.count, trio.participants) == (
        31,
        16,
        18,
        0,
    )
    assert (trio.models.count, trio.models.of) == (8, 8)
    assert found.attractors.across is not None
    assert found.attractors.across.p_value < 0.05


def test_the_pair_s112_and_s113(ep02: tuple[Sheet, tuple[Run, ...], Diagnosis]) -> None:
    (pair,) = ep02[2].pairs
    assert (pair.only_suspicion, pair.only_exoneration, pair.selected_suspicion.of) == (25, 0, 37)
    assert pair.runs.p_value == pytest.approx(5.960464477539063e-08, rel=1e-12)
    # All eight models lean one way in this sample: 2 / 2⁸. The least that a vote of eight can say.
    assert pair.models.p_value == 2 / 2**8


def test_s081_goes_with_geng_baishun(ep02: tuple[Sheet, tuple[Run, ...], Diagnosis]) -> None:
    one = next(one for one in ep02[2].covariations if (one.sentence, one.role) == ("S081", BAISHUN))
    assert one.table == (6, 0, 9, 22)
    assert round(one.whole.p_value, 6) == 0.002153
    assert round(one.whole.effect or 0.0, 4) == 2.4667
    assert (one.given.count, one.given.of) == (6, 6)


def test_what_nobody_and_what_everybody_selects(ep02: tuple[Sheet, tuple[Run, ...], Diagnosis]) -> None:
    assert ep02[2].zero_hit == NEVER
    assert ep02[2].unanimous == ("S124",)  # §5.2.4: 37/37


def test_the_right_beside_jia_changgeng(ep02: tuple[Sheet, tuple[Run, ...], Diagnosis]) -> None:
    beside = ep02[2].with_distractor
    assert (beside.any_correct.count, beside.any_correct.of) == (15, 37)
    jia = dict(beside.each)[JIA]
    assert (jia.count, jia.of) == (13, 15)
    assert (round(100 * (beside.any_correct.rate or 0), 1), round(100 * (jia.rate or 0), 1)) == (
        40.5,
        86.7,
    )  # §5.2.7
