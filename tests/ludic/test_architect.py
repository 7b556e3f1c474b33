"""The Architect and the gate loop with scripted models: what is asked, what is kept, and how it ends."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ludic_deepeval.architect import Trial, run_trial
from ludic_deepeval.bible import Bible, load_bible
from ludic_deepeval.check import check_stories
from ludic_deepeval.contrast import Cell, contrast
from ludic_deepeval.errors import InputError, ModelError
from ludic_deepeval.files import dump_json
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.llm.budget import Budget, Meter
from ludic_deepeval.llm.client import ChatModel
from ludic_deepeval.llm.loop import run
from ludic_deepeval.llm.recorded import RecordingModel, Recordings
from ludic_deepeval.llm.retry import Retry
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import score_ledger
from ludic_deepeval.trial import Plan, TrialFolder
from ludic_deepeval.trial_plan import Setting, draw, make_plan, world_text
from tests.ludic.conftest import CtrlC, Ludic
from tests.scripted_turns import READY, WEAK, Answer, Scripted, bare, notary_of, prose_of

ROOT = Path(__file__).parents[2]
FAERUN = ROOT / "bible" / "faerun"


@pytest.fixture(scope="module")
def setting() -> Setting:
    return Setting(load_bible(FAERUN), Policy())


def plan_for(setting: Setting, **options: Any) -> Plan:
    return make_plan(setting, seed=1, architect="ollama:scripted", notary="ollama:scripted", **options)


def play(
    setting: Setting,
    folder: Path,
    architect: ChatModel,
    notary: ChatModel,
    *,
    meter: Meter | None = None,
    **options: Any,
) -> Trial:
    return run(
        run_trial(
            plan_for(setting, **options),
            setting,
            TrialFolder(folder, bible="faerun"),
            architect=architect,
            notary=notary,
            meter=meter,
        )
    )


def both(*ledgers: dict[str, Any]) -> tuple[Scripted, Scripted]:
    """An Architect that writes these stories in turn, and a Notary that reads them rightly."""
    return Scripted(*map(prose_of, ledgers)), Scripted(*map(notary_of, ledgers))


# Before anybody is asked


def test_a_seed_draws_the_same_faction_and_place_for_ever() -> None:
    """By sha256sum: printf 'faerun/1/factions' ends in e, 14 % 4 = 2, the third of the four ids in alphabetical order.

    Of three places the sum of the hexadecimal digits decides, since 16 % 3 = 1.
    """
    bible = load_bible(FAERUN)
    drawn = [(faction.id, place.id) for faction, place in (draw(bible, seed) for seed in (1, 2, 3, 4))]
    assert drawn == DRAWN
    backwards = bible.model_copy(
        update={"factions": bible.factions[::-1], "locations": bible.locations[::-1]}
    )
    assert [(f.id, p.id) for f, p in (draw(backwards, seed) for seed in (1, 2, 3, 4))] == drawn


DRAWN = [
    ("red-wizards", "candlekeep"),
    ("harpers", "waterdeep"),
    ("harpers", "waterdeep"),
    ("red-wizards", "candlekeep"),
]


def test_forty_seeds_draw_every_faction_and_place() -> None:
    bible = load_bible(FAERUN)
    drawn = [draw(bible, seed) for seed in range(1, 41)]
    assert {one.id for one, _ in drawn} == {one.id for one in bible.factions}
    assert {one.id for _, one in drawn} == {one.id for one in bible.locations}


def test_a_bible_without_factions_draws_nothing() -> None:
    with pytest.raises(InputError, match="bible empty: it has no factions"):
        draw(Bible(schema_version=1, id="empty", name="Empty"), 1)


def test_a_model_is_told_every_node_of_the_bible() -> None:
    bible = load_bible(FAERUN)
    told = world_text(bible)
    for _, _, node in bible.nodes():
        assert node.name in told
        assert node.text in told


def test_a_plan_names_every_prompt_and_number_that_decides(setting: Setting) -> None:
    plan = plan_for(setting)
    assert [one.role for one in plan.prompts] == ["architect", "instability", "notary", "notary-again"]
    assert plan.policy["lpi_gate"] == "7/10"
    assert plan.policy["weights"] == "2/5 3/10 1/5 1/10"
    assert (plan.bible, plan.faction, plan.location) == ("faerun@v1", "red-wizards", "candlekeep")
    ungated = plan_for(setting, gated=False, arm="control")
    assert [one.role for one in ungated.prompts] == ["control", "notary", "notary-again"]
    assert (ungated.max_iter, ungated.passes) == (0, 1)


# The loop


def test_a_draft_that_passes_is_not_rewritten(setting: Setting, tmp_path: Path) -> None:
    architect, notary = both(READY)
    trial = play(setting, tmp_path / "run", architect, notary)
    assert (len(architect.asked), len(notary.asked)) == (1, 1)
    assert (trial.result.ended, trial.result.passed, trial.result.rewrites) == ("accept", True, 0)
    (asked,) = architect.asked
    assert "the faction the Red Wizards of Thay and the place Candlekeep" in asked.prompt
    assert (asked.seed, asked.temperature) == (1, 0.8)
    (draft,) = trial.drafts
    # RTN 0.7 + 0.3·2.6/5 = 107/125, MV 3/4, UCR 2/3, TH 1/3.
    assert draft.lpi == Fraction(2, 5) * Fraction(107, 125) + Fraction(9, 40) + Fraction(2, 15) + Fraction(
        1, 30
    )
    assert draft.card.pcv == 210


def test_a_draft_below_the_gate_goes_back_as_a_whole_until_one_passes(
    setting: Setting, tmp_path: Path
) -> None:
    thin = WEAK | {"mysteries": []}
    architect, notary = both(WEAK, thin, READY)
    trial = play(setting, tmp_path / "run", architect, notary)
    assert [draft.decided.decision for draft in trial.drafts] == ["rewrite", "rewrite", "accept"]
    first, second, third = architect.asked
    assert "Rewrite the whole backstory" not in first.prompt
    for asked in (second, third):
        assert "Rewrite the whole backstory" in asked.prompt
        assert "allied with or opposed to the Red Wizards of Thay" in asked.prompt
        assert "ties the character to Candlekeep" in asked.prompt
    assert prose_of(WEAK) in second.prompt
    assert f"BEGIN DRAFT\n{prose_of(thin)}\nEND DRAFT" in third.prompt  # the last one, and it alone
    rewrite = trial.drafts[2].decided.rewrite
    assert rewrite
    assert [met.met for met in rewrite.demands] == [True, True, True]
    assert trial.drafts[0].decided.rewrite is None


def test_after_the_last_rewrite_it_ends_below_the_gate_and_the_cascade_is_named(
    setting: Setting, tmp_path: Path
) -> None:
    thin = WEAK | {"mysteries": []}
    architect, notary = both(WEAK, thin, thin, thin)
    trial = play(setting, tmp_path / "run", architect, notary)
    assert (trial.result.ended, trial.result.rewrites) == ("exhausted", 3)
    assert len(architect.asked) == 4
    assert trial.result.cascade
    assert trial.result.cascade.found  # nearly identical, and LPI fell by the mystery's 1/30
    architect, notary = both(WEAK)
    assert play(setting, tmp_path / "one", architect, notary, max_iter=1).result.rewrites == 1
    assert play(setting, tmp_path / "none", *both(WEAK), max_iter=0).result.ended == "exhausted"


def test_ungated_nothing_is_rewritten_and_the_figures_are_there(setting: Setting, tmp_path: Path) -> None:
    architect, notary = both(WEAK)
    trial = play(setting, tmp_path / "run", architect, notary, gated=False, arm="control")
    assert (trial.result.ended, trial.result.passed, len(architect.asked)) == ("not-gated", False, 1)
    assert "Write a coherent biography" in architect.asked[0].prompt


def test_a_draft_that_cannot_be_scored_is_no_draft_below_the_gate(setting: Setting, tmp_path: Path) -> None:
    """The Notary quotes words that are not there: over a fifth of its items rest on nothing."""
    wrong = notary_of(WEAK).replace("Somebody had paid for the bell", "Nobody ever paid for any bell")
    wrong = wrong.replace("Somewhere there is a ledger", "Nowhere is there any ledger")
    architect, notary = Scripted(prose_of(WEAK)), Scripted(wrong, '{"items": []}')
    trial = play(setting, tmp_path / "run", architect, notary)
    assert (trial.result.ended, trial.result.passed) == ("unscored", None)
    assert len(architect.asked) == 1
    (draft,) = trial.drafts
    assert draft.decided.unscored == {
        "cause": "extraction",
        "reason": "2 of the 4 items that the Notary found rest on no quote of the prose",
    }
    assert (draft.decided.lpi, draft.decided.figures) == (None, None)


# What is kept


def test_everything_is_kept_and_the_drafts_are_stories(setting: Setting, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    trial = play(setting, folder, *both(WEAK, READY))
    kept = sorted(path.name for path in folder.iterdir())
    each = [f"{kind}-{n}.json" for kind in ("decision", "draft", "reading") for n in (0, 1)]
    assert kept == sorted([*each, *(f"draft-{n}{end}" for n in (0, 1) for end in (".md", ".ledger.json")), "run.json", "result.json"])  # fmt: skip
    written = json.loads((folder / "draft-1.json").read_text())
    assert written["kind"] == "scripted"
    assert written["prompt"]["role"] == "instability"
    assert (written["prompt_tokens"], written["completion_tokens"]) == (100, 40)
    decided = json.loads((folder / "decision-1.json").read_text())
    assert Fraction(decided["lpi"]) == trial.drafts[1].lpi
    assert decided["figures"]["consistency"] == {"score": 1, "faults": []}
    assert json.loads((folder / "result.json").read_text())["ended"] == "accept"
    (tmp_path / "bible").symlink_to(ROOT / "bible")
    checked = check_stories([folder])
    assert [story.plays for story in checked.stories] == [False, True]


def test_a_draft_that_looks_like_front_matter_is_prose(setting: Setting, tmp_path: Path) -> None:
    tricky = f"---\nexpect: {{gate: pass}}\nprofile: one-shot\n---\n\n{prose_of(WEAK)}"
    trial = play(setting, tmp_path / "run", Scripted(tricky), Scripted(notary_of(WEAK)), max_iter=0)
    story = trial.drafts[0].story
    assert story.prose.body == tricky
    assert (story.front.expect, story.front.profile) == (None, None)


@pytest.mark.parametrize(("text", "kind"), [("a\x00b", "malformed"), ("\ud800 x", "malformed"), ("<think>hm</think>", "empty"), ("e" + "\u0301" * 40, "malformed")])  # fmt: skip
def test_what_is_no_prose_is_no_draft(text: str, kind: str, setting: Setting, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        play(setting, tmp_path / "run", Scripted(text), Scripted("{}"))
    assert caught.value.kind == kind
    assert not (tmp_path / "run").exists()


def test_a_run_that_was_broken_off_goes_on_where_it_was(setting: Setting, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    play(setting, whole, *both(WEAK, READY))
    folder = tmp_path / "run"
    down = ModelError("denied", "ollama:scripted", "the key is not accepted")
    architect = Scripted(prose_of(WEAK), prose_of(READY))
    with pytest.raises(ModelError, match="the key is not accepted"):
        play(setting, folder, architect, Scripted(notary_of(WEAK), down))
    assert (len(architect.asked), (folder / "draft-1.md").exists()) == (2, True)
    again, notary = Scripted("never asked"), Scripted(notary_of(READY))
    trial = play(setting, folder, again, notary)
    assert (trial.result.ended, len(again.asked), len(notary.asked)) == ("accept", 0, 1)
    same = {
        path.name: path.read_text()
        for path in whole.iterdir()
        if path.name[:5] in {"run.j", "resul", "decis"}
    }
    assert {name: (folder / name).read_text() for name in same} == same
    assert play(setting, folder, Scripted("no"), Scripted("no")).result == trial.result


def test_a_spent_budget_keeps_what_was_done(setting: Setting, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    architect, notary = both(WEAK, READY)
    with pytest.raises(ModelError) as caught:
        play(setting, folder, architect, notary, meter=Meter(Budget(calls=3)))
    assert caught.value.kind == "budget"
    assert (folder / "draft-1.md").exists()
    assert not (folder / "draft-1.ledger.json").exists()
    trial = play(setting, folder, Scripted("no"), Scripted(notary_of(READY)))
    assert trial.result.passed


@pytest.mark.parametrize(
    ("change", "says"),
    [({"max_iter": 2}, "another max_iter: 3, and now 2"), ({"arm": "control"}, "another arm: architect, and now control"),
     ({"request": "a bard"}, "another request: , and now a bard")],
)  # fmt: skip
def test_a_run_with_other_settings_is_not_mixed_up(
    change: dict[str, Any], says: str, setting: Setting, tmp_path: Path
) -> None:
    play(setting, tmp_path / "run", *both(READY))
    with pytest.raises(InputError, match=says):
        play(setting, tmp_path / "run", *both(READY), **change)


def test_an_edited_draft_or_a_folder_of_something_else_is_refused(setting: Setting, tmp_path: Path) -> None:
    play(setting, tmp_path / "run", *both(READY))
    with (tmp_path / "run" / "draft-0.md").open("a") as stream:
        stream.write("\nAnd they lived.\n")
    with pytest.raises(InputError, match=r"draft-0\.md: this is not the draft that was written"):
        play(setting, tmp_path / "run", *both(READY))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "novel.md").write_text("x")
    with pytest.raises(InputError, match="there is something else in it"):
        play(setting, tmp_path / "mine", *both(READY))


# The contrast


def card(data: dict[str, Any]) -> Any:
    return score_ledger(FactLedger.model_validate(bare(data)))


def cells(*seeds: int, unscored: tuple[int, ...] = ()) -> list[Cell]:
    return [
        Cell(arm, seed, "f", "l", None if arm == "control" and seed in unscored else card(WEAK if arm == "control" else READY), "why")
        for arm in ("control", "architect")
        for seed in seeds
    ]  # fmt: skip


def test_the_contrast_gives_means_and_their_difference() -> None:
    found = contrast(cells(1, 2, 3))
    control, architect = found.arms
    assert (control.scored, control.passed, architect.scored, architect.passed) == (3, 0, 3, 3)
    assert (control.means["pcv"], architect.means["pcv"], found.difference("pcv")) == (49, 210, 161)
    assert found.difference("mv") == Fraction(3, 4)


@pytest.mark.parametrize(
    ("seeds", "says"),
    [
        (
            (1,),
            "With 1 and 1 scored drafts the smallest two-sided p that an exact permutation test could give is 1",
        ),
        (
            (1, 2, 3),
            "could give is 0.1: no difference, however large, could be told from chance at .05",
        ),  # 2/20
        ((1, 2, 3, 4), "could give is 0.029: a test could find something, and none was made here"),  # 2/70
    ],
)
def test_the_contrast_says_what_so_few_can_show(seeds: tuple[int, ...], says: str) -> None:
    caution = " ".join(contrast(cells(*seeds)).caution)
    assert "no evidence for the prompt" in caution
    assert says in caution


def test_what_is_not_scored_is_in_no_mean_and_is_counted() -> None:
    found = contrast(cells(1, 2, 3, unscored=(2,)))
    assert (found.arms[0].drafts, found.arms[0].scored, found.arms[0].means["pcv"]) == (3, 2, 49)
    assert "1 draft is not scored and in no mean" in found.caution[-1]
    assert "could give is 0.1:" in found.caution[1]  # 2 and 3: 1/10
    nothing = contrast(cells(1, unscored=(1,)))
    assert nothing.difference("lpi") is None
    assert nothing.arms[0].means["lpi"] is None


# The command, on recordings of a script


def recorded(
    folder: Path, setting: Setting, tmp: Path, *answers: tuple[Answer, Answer], **options: Any
) -> None:
    """Play a trial with scripted models and record it."""
    architect = Scripted(*(one for one, _ in answers), name="ollama:architect")
    notary = Scripted(*(one for _, one in answers), name="ollama:notary")
    kept = [RecordingModel(model, Recordings(folder)) for model in (architect, notary)]
    play(setting, tmp, kept[0], kept[1], **options)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the bibles."""
    (tmp_path / "bible").symlink_to(ROOT / "bible")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LUDIC_MODEL", raising=False)
    return tmp_path


MODELS = ("--model", "recorded:rec#ollama:architect", "--notary", "recorded:rec#ollama:notary")


def test_the_command_tells_of_each_draft_and_ends_with_0_when_one_passes(
    here: Path, setting: Setting, ludic: Ludic
) -> None:
    recorded(
        here / "rec",
        setting,
        here / "t",
        (prose_of(WEAK), notary_of(WEAK)),
        (prose_of(READY), notary_of(READY)),
    )
    ran = ludic("generate", "--bible", "faerun", "--out", "run", *MODELS)
    assert (ran.code, ran.err) == (0, "")
    assert "seed 1: the Red Wizards of Thay, Candlekeep; the Architect of Hooks, up to 3 rewrites" in ran.out
    assert "first draft [scripted, not a model's]: below the gate" in ran.out
    assert "rewrite 1 [scripted, not a model's]: ready to play" in ran.out
    assert "asked for a new person, alive, for or against the Red Wizards of Thay: “Sela Vant”" in ran.out
    assert "new: 2 people, 2 threads, 3 goals, 2 events; 4 of 9 rest on the Story Bible" in ran.out
    assert "ready to play after 1 rewrite" in ran.out
    assert "nobody was asked: every answer was there already; all of it is in run" in ran.out
    assert (
        (here / "run" / "draft-1.md").read_text().startswith("---\ntitle: Draft 1\nbible: faerun@v1\n---\n")
    )
    again = ludic("generate", "--bible", "faerun", "--out", "run", *MODELS, "--json")
    told = json.loads(again.out)
    assert [draft["decision"] for draft in told["drafts"]] == ["rewrite", "accept"]
    assert told["plan"]["architect"] == "ollama:architect"
    assert ludic("check", "run").code in {0, 1}


def test_the_command_ends_with_1_below_the_gate_and_names_the_cascade(
    here: Path, setting: Setting, ludic: Ludic
) -> None:
    thin = WEAK | {"mysteries": []}
    said = [(prose_of(one), notary_of(one)) for one in (WEAK, thin, thin, thin)]
    recorded(here / "rec", setting, here / "t", *said)
    ran = ludic("generate", "--bible", "faerun", "--out", "run", *MODELS)
    assert ran.code == 1
    assert "still below the gate after 3 rewrites" in ran.out
    assert (
        "rewrite cascade (§5.5): every rewrite says nearly what the one before it said; LPI fell" in ran.out
    )
    assert ludic("generate", "--bible", "faerun", "--out", "run", *MODELS, "--ungated").code == 2


def test_the_quiet_failure_is_named_though_the_gate_is_passed(
    here: Path, setting: Setting, ludic: Ludic
) -> None:
    loose = json.loads(json.dumps(READY).replace("Candlekeep", "Nowhere Keep").replace("the Red Wizards", "the Ash Guild").replace("the red of Thay", "a red coat"))  # fmt: skip
    recorded(
        here / "rec",
        setting,
        here / "t",
        (prose_of(WEAK), notary_of(WEAK)),
        (prose_of(loose), notary_of(loose)),
    )
    ran = ludic("generate", "--bible", "faerun", "--out", "run", *MODELS)
    assert ran.code == 0
    assert "asked for a new person, alive, for or against the Red Wizards of Thay: no" in ran.out
    assert "not in the bible: “Nowhere Keep”, “the Ash Guild”" in ran.out
    assert (
        "quiet failure (§5.5): it passed by 4 people and threads that rest on nothing in the Story Bible"
        in ran.out
    )


def test_the_contrast_is_one_command(here: Path, setting: Setting, ludic: Ludic) -> None:
    folder = here / "rec"
    for seed in (1, 2, 3):
        for arm, data in (("control", WEAK), ("architect", READY)):
            kept = [
                RecordingModel(model, Recordings(folder))
                for model in (Scripted(prose_of(data), name="ollama:architect"), Scripted(notary_of(data), name="ollama:notary"))
            ]  # fmt: skip
            plan = make_plan(setting, seed=seed, architect="ollama:architect", notary="ollama:notary", arm=arm, gated=False)  # fmt: skip
            run(
                run_trial(
                    plan, setting, TrialFolder(here / f"t{arm}{seed}"), architect=kept[0], notary=kept[1]
                )
            )
    ran = ludic("generate", "--bible", "faerun", "--out", "pilot", *MODELS, "--contrast", 3)
    assert (ran.code, ran.err) == (0, "")
    assert "mean of 3 control" in ran.out
    assert "+161" in ran.out
    assert "no difference, however large, could be told from chance at .05" in ran.out
    assert "These answers are scripted: no model gave them." in ran.out
    assert sorted(path.name for path in (here / "pilot").iterdir()) == [f"{arm}-{n}" for arm in ("architect", "control") for n in (1, 2, 3)]  # fmt: skip
    told = json.loads(
        ludic("generate", "--bible", "faerun", "--out", "pilot", *MODELS, "--contrast", 3, "--json").out
    )
    assert told["difference"]["pcv"] == 161
    assert len(told["caution"]) == 2


def test_a_dry_run_asks_nobody_and_writes_nothing(here: Path, ludic: Ludic) -> None:
    ran = ludic("generate", "--bible", "faerun", "--out", "run", "--dry-run")
    assert (ran.code, ran.err) == (0, "")
    assert "without a rewrite 2 calls" in ran.out
    assert "with every rewrite 8 calls" in ran.out
    assert not (here / "run").exists()
    told = json.loads(
        ludic("generate", "--bible", "faerun", "--out", "run", "--dry-run", "--contrast", 3, "--json").out
    )
    assert (told["least"]["calls"], told["most"]["calls"], len(told["plans"])) == (12, 12, 6)


def test_without_a_server_one_line_says_what_to_do_and_nothing_is_written(
    here: Path, ludic: Ludic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    ran = ludic("generate", "--bible", "faerun", "--out", "run")
    assert ran.code == 2
    assert len(ran.faults) == 1
    assert "no server at http://127.0.0.1:9" in ran.err
    assert not (here / "run").exists()


def test_a_spent_budget_ends_with_1_and_says_how_to_go_on(here: Path, setting: Setting, ludic: Ludic, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    architect, notary = both(WEAK, READY)
    opened = iter([architect, notary, architect, notary])
    monkeypatch.setattr("ludic_deepeval.llm.names.open_model", lambda *_, **__: next(opened))
    options = ("generate", "--bible", "faerun", "--out", "run", "--model", "ollama:scripted")
    ran = ludic(*options, "--budget-calls", 2)
    assert ran.code == 1
    assert "the budget of 2 calls is spent" in ran.faults[0]
    assert ran.faults[1].startswith("2 calls, 200 tokens read, 80 written; what was done is in run")
    assert ludic(*options).code == 0


def test_what_was_done_is_in_the_json_when_something_ends_the_trial(
    here: Path, ludic: Ludic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that fails at the rewrite: the first draft is told, there is no result, and the call was not wrong."""
    architect, notary = both(WEAK, READY)
    architect.answers[1] = ModelError("server-error", "ollama:scripted", "it failed (500)")
    architect.retry = Retry(attempts=1)
    opened = iter([architect, notary])
    monkeypatch.setattr("ludic_deepeval.llm.names.open_model", lambda *_, **__: next(opened))
    ran = ludic("generate", "--bible", "faerun", "--out", "run", "--model", "ollama:scripted", "--json")
    told = json.loads(ran.out)
    assert ran.code == 1
    assert [draft["decision"] for draft in told["drafts"]] == ["rewrite"]
    assert (told["result"], told["stopped"]["kind"]) == (None, "server-error")
    assert "what was done is in run, and the same command goes on from there" in ran.err


def test_ctrl_c_keeps_the_drafts_and_says_how_to_go_on(
    here: Path, ludic: Ludic, monkeypatch: pytest.MonkeyPatch, ctrl_c_at: CtrlC
) -> None:
    architect, notary = both(WEAK, READY)
    ctrl_c_at(architect, 1)
    opened = iter([architect, notary])
    monkeypatch.setattr("ludic_deepeval.llm.names.open_model", lambda *_, **__: next(opened))
    ran = ludic("generate", "--bible", "faerun", "--out", "run", "--model", "ollama:scripted", "--json")
    told = json.loads(ran.out)
    assert (ran.code, told["stopped"]["kind"], len(told["drafts"])) == (130, "interrupted", 1)
    assert ran.faults[0] == "interrupted"
    assert "the same command goes on from there" in ran.faults[1]
    assert (here / "run" / "draft-0.md").is_file()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--bible", "nowhere"), "no Story Bible called 'nowhere'"),
        (("--bible", "faerun", "--model", "qwen3"), "allowed: provider:model"),
        (
            ("--bible", "faerun", "--contrast", "3", "--ungated"),
            "--contrast: given with --ungated or --control",
        ),
        (
            ("--bible", "faerun", "--request", "x" * 2001),
            "--request: 2,001 characters; allowed: at most 2,000",
        ),
        (("--bible", "faerun", "--profile", "epic"), "--profile: found 'epic'"),
    ],
)
def test_a_wrong_call_is_one_line(options: tuple[str, ...], says: str, here: Path, ludic: Ludic) -> None:
    ran = ludic("generate", "--out", "run", *options)
    assert ran.code == 2
    assert says in ran.err
    assert len(ran.faults) == 1
    assert not (here / "run").exists()


def test_run_files_are_the_same_to_the_byte(setting: Setting) -> None:
    one, other = (dump_json(plan_for(setting).model_dump(mode="json")) for _ in range(2))
    assert one == other
