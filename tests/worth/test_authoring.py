"""`worth new` and `worth import-episode`: what they write, what they leave to a person, and what they refuse."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from ludic_deepeval.errors import InputError
from worth_deepeval.authoring.alignment import align
from worth_deepeval.authoring.importing import import_file
from worth_deepeval.cli import app
from worth_deepeval.episode import load_sheet
from worth_deepeval.validate import validate

SAMPLES = Path(__file__).parents[3] / "shared" / "samples" / "mystery"
STORY = "The bridge was shut. “Who has the key?” asked Ben. Ada had it on a string about her neck.\n\nIt rained.\n"
SAID = [
    "--id",
    "T02",
    "--title",
    "The Bridge",
    "--question",
    "Who shut it?",
    "--scope",
    "The shutting of the bridge.",
]
SAID += ["--source", "written for these tests", "--candidate", "Ada: a keeper of keys", "--candidate", "Ben"]


def run(*arguments: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    error = done.exception if isinstance(done.exception, InputError) else None
    return (2 if error else done.exit_code), f"{done.output}{error or ''}"


@pytest.fixture
def story(tmp_path: Path) -> Path:
    file = tmp_path / "bridge.txt"
    file.write_text(STORY, encoding="utf-8")
    return file


def test_new_writes_a_draft_that_reads_back(story: Path, tmp_path: Path) -> None:
    code, said = run("new", story, *SAID, "--out", tmp_path / "T02")
    assert code == 0
    assert "5 sentences, 2 candidates; a draft without a key" in said or "4 sentences" in said
    sheet = load_sheet(tmp_path / "T02")
    assert (sheet.key.status, sheet.key.clues, sheet.episode.language) == ("draft", (), "en")
    assert "".join("".join(one.text for one in sheet.episode.sentences).split()) == "".join(STORY.split())
    assert sheet.episode.candidates[0].note == "a keeper of keys"
    assert [one.code for one in validate(sheet)] == ["no-clues"]
    # A prompt would say that there are 0 key sentences.
    assert run("prompt", tmp_path / "T02") == (
        2,
        "T02: key.clues: no key sentences yet; allowed: at least one",
    )


def test_new_writes_over_nothing_unless_it_is_told_to(story: Path, tmp_path: Path) -> None:
    folder = tmp_path / "T02"
    folder.mkdir()
    (folder / "episode.yaml").write_text("mine", encoding="utf-8")
    code, said = run("new", story, *SAID, "--out", folder)
    assert (code, "is there already" in said) == (2, True)
    assert (folder / "episode.yaml").read_text(encoding="utf-8") == "mine"
    assert run("new", story, *SAID, "--out", folder, "--force")[0] == 0
    assert load_sheet(folder).episode.id == "T02"


def test_new_names_all_that_is_missing_where_nobody_can_be_asked(story: Path) -> None:
    assert run("new", story, "--id", "T02") == (
        2,
        "new: not said yet: --title, --question, --scope, --source, --candidate (two or more); give them as options",
    )


def test_new_asks_a_person_for_what_is_missing(
    story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["The Bridge", "Who shut it?", "The bridge.", "mine", "Ada: keys", "Ben", ""])
    asked: list[str] = []

    def prompt(text: str, **_: Any) -> str:
        asked.append(text)
        return next(answers)

    monkeypatch.setattr("typer.prompt", prompt)
    monkeypatch.setattr("worth_deepeval.cli_author.at_terminal", lambda: True)
    assert run("new", story, "--id", "T03", "--out", tmp_path / "T03")[0] == 0
    assert [one.name for one in load_sheet(tmp_path / "T03").episode.candidates] == ["Ada", "Ben"]
    assert asked[0] == "Its title"
    assert len(asked) == 7


def test_sentences_can_be_mended_by_hand_and_given_back(story: Path, tmp_path: Path) -> None:
    code, shown = run("new", story, "--show")
    assert code == 0
    assert shown.splitlines()[0] == "The bridge was shut."
    mended = tmp_path / "mended.txt"
    mended.write_text(shown.replace("shut.\n", "shut. "), encoding="utf-8")
    assert run("new", mended, *SAID, "--lines", "--out", tmp_path / "T02")[0] == 0
    sheet = load_sheet(tmp_path / "T02")
    assert len(sheet.episode.sentences) == len(shown.splitlines()) - 1


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("", [], "empty"),
        ("Это не по-английски. Совсем.", [], "neither English nor Chinese"),
        ("One. Two.", ["--language", "fr"], "allowed: en or zh"),
        ("One. Two.", ["--id", "../up"], "id: found '../up'"),
        ("One. Two.", ["--quota", "0"], "quota"),
        ("One. Two.", ["--candidate", ": nobody"], "NAME or NAME: NOTE"),
        (
            "One. Two.",
            ["--candidate", "Ada", "--candidate", "Ada: again"],
            "'Ada' twice; allowed: each candidate once",
        ),
        ("a.\n" * 2001, ["--lines"], "at most 2,000 sentences"),
        ("x" * 20_001, ["--lines"], "sentences[0].text"),
    ],
)
def test_new_refuses_in_one_line(tmp_path: Path, text: str, options: list[str], said: str) -> None:
    file = tmp_path / "story.txt"
    file.write_text(text, encoding="utf-8")
    code, line = run("new", file, *SAID, *options, "--out", tmp_path / "out")
    assert code == 2
    assert said in line
    assert "\n" not in line
    assert not (tmp_path / "out").exists()


# Importers


def leaf(value: str, kind: str = "explicit") -> dict[str, Any]:
    return {"value": value, "fact_type": kind, "children": []}


def tree(name: str, *facts: str) -> dict[str, Any]:
    step = {
        "value": f"{name} could do it.",
        "fact_type": "explicit",
        "children": [*map(leaf, facts), leaf("Whoever can may.", "commonsense")],
    }
    motive = {"value": f"{name} has a motive.", "fact_type": "explicit", "children": [step]}
    root = {"value": f"{name} is the murderer.", "fact_type": "explicit", "children": [motive]}
    return {"root_structure": [root], "depth": 3}


@pytest.fixture
def musr() -> list[dict[str, Any]]:
    """A mystery in MuSR's form, written for this test."""
    return [
        {
            "context": "Tam lay under the crane.\n\nAda kept the only key of the crane on a string. Rain fell on the harbour."
            " Ben had quarrelled with Tam about a lobster pot. Nobody else came by.",
            "questions": [
                {
                    "question": "Who is the most likely murderer?",
                    "answer": 0,
                    "choices": ["Ada", "Ben"],
                    "intermediate_trees": [
                        tree("Ada", "Ada keeps the only key of the crane.", "Ada was left a fortune by Tam."),
                        tree("Ben", "Ben quarrelled with Tam over a lobster pot."),
                    ],
                    "intermediate_data": [
                        {
                            "victim_info": {"victim": "Tam", "crime_scene": "harbour"},
                            "suspect_info": [{"suspect_info": {"role": "Crane driver"}}, {}],
                        }
                    ],
                }
            ],
        }
    ]


SHERLOCK: dict[str, Any] = {
    "title": "The Case of the Wet Clock",
    "difficulty": "easy",
    "mystery": "The clock stood in a puddle.\nOnly Miss Orde carried the cellar lantern that night.\nMr. Pell slept."
    ' "The culprit is none other than Miss Orde. She carried the cellar lantern," said the detective.',
    "suspects": ["Miss Orde", "Mr. Pell"],
    "culprit": "Miss Orde",
}
SHERLOCK["reveal_index"] = SHERLOCK["mystery"].index(" Miss Orde. She")


def put(folder: Path, data: object, name: str = "data.json") -> Path:
    file = folder / name
    file.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return file


def test_what_aligns_is_proposed_with_its_score_and_what_does_not_is_listed(
    tmp_path: Path, musr: list[dict[str, Any]]
) -> None:
    code, said = run("import-episode", put(tmp_path, musr), "--out", tmp_path / "out")
    assert code == 0
    assert "found 1 of the solution's 2 facts in 1 sentence" in said
    assert "Ada was left a fortune by Tam." in said
    sheet = load_sheet(tmp_path / "out" / "musr-001")
    key = sheet.key
    assert (key.status, key.sentences, key.guilty) == ("draft", ("S002",), {"R01"})
    [proposal] = key.clues[0].proposed
    assert (proposal.fact, proposal.score >= 50) == ("Ada keeps the only key of the crane.", True)
    assert key.unaligned == ("Ada was left a fortune by Tam.",)
    assert [(one.role, one.incriminating) for one in key.distractors] == [("R02", ("S004",))]
    assert [(one.text, one.needs) for one in key.chain.facts] == [
        ("Ada could do it.", ("S002",)),
        ("Ada has a motive.", ("F1",)),
    ]
    assert {one.role for one in key.annotations} == {"motive"}
    assert sheet.episode.candidates[0].note == "Crane driver"
    assert "Tam" in sheet.episode.scope
    assert validate(sheet) == ()


def test_an_import_can_be_prompted_and_scored_and_a_score_says_that_its_key_is_a_draft(
    tmp_path: Path, musr: list[dict[str, Any]]
) -> None:
    run("import-episode", put(tmp_path, musr), "--out", tmp_path / "out")
    folder = tmp_path / "out" / "musr-001"
    code, text = run("prompt", folder)
    assert code == 0
    assert "[S002] Ada kept the only key of the crane on a string." in text
    assert "fortune" not in text  # what only the key has
    reply = put(tmp_path, {"clue_sentence_ids": ["S002"], "selected_role_ids": ["R01", "R02"]}, "reply.txt")
    code, said = run("score", folder, reply)
    # 3 for S002; +5 for Ada, -5 for Ben.
    assert (code, "3 points (from -5 to 8)" in said) == (0, True)
    assert "the key of musr-001 is a draft" in said
    found = json.loads(run("score", folder, reply, "--json")[1])
    assert (found["status"], found["replies"][0]["total"]) == ("draft", 3)


def test_a_person_has_to_confirm_a_proposal_before_a_key_is_final(
    tmp_path: Path, musr: list[dict[str, Any]]
) -> None:
    run("import-episode", put(tmp_path, musr), "--out", tmp_path / "out")
    file = tmp_path / "out" / "musr-001" / "episode.yaml"
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    data["key"]["status"] = "final"
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    faults = {one.code: one.message for one in validate(load_sheet(file))}
    assert "S002" in faults["unconfirmed"]
    assert "Ada was left a fortune" in faults["unaligned"]
    assert "R02" in faults["no-counter-evidence"]


def test_a_sherlock_story_ends_before_its_reveal(tmp_path: Path) -> None:
    assert run("import-episode", put(tmp_path, SHERLOCK), "--out", tmp_path / "out")[0] == 0
    sheet = load_sheet(tmp_path / "out" / "sherlock-case-of-the-wet-clock")
    assert [one.text for one in sheet.episode.sentences] == [
        "The clock stood in a puddle.",
        "Only Miss Orde carried the cellar lantern that night.",
        "Mr. Pell slept.",
    ]
    assert sheet.key.sentences == ("S002",)
    assert sheet.points == {"R01": 5, "R02": -5}
    assert "none other" not in run("prompt", sheet.path)[1]


def test_the_score_of_an_alignment_is_the_share_of_rarity_that_a_sentence_has() -> None:
    sentences = ["The red lamp burned.", "A lamp fell.", "Nothing else."]
    # red stands in 1 of 3 sentences, ln(4/1.5) = .981; lamp in 2, ln(4/2.5) = .470; smoked in none, ln(4/.5) = 2.079.
    # (.981 + .470) / (.981 + .470 + 2.079) = .411.
    [one] = align(["The red lamp smoked."], sentences, least=41)
    assert (one.sentence, one.score) == (0, 41)
    assert align(["The red lamp smoked."], sentences, least=42)[0].sentence is None
    assert align(["Ada had a lamp."], ["Ada left.", "A lamp."], names=["Ada"])[0].sentence is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("not json", "not valid JSON"),
        ("[]", "0 mysteries"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": NaN}', "found NaN"),
        ('{"a": 1, "a": 2}', "given twice"),
        ([1], "found 1"),
        ([{"context": "x"}], "neither form"),
        ({"context": "One. Two.", "questions": []}, "questions: found a list; allowed: one question"),
        ({**SHERLOCK, "suspects": "Miss Orde"}, "suspects: found 'Miss Orde'"),
        ({**SHERLOCK, "suspects": ["Miss Orde", 2]}, "something that is no name"),
        ({**SHERLOCK, "culprit": "Nobody"}, "culprit: found 'Nobody'"),
        ({**SHERLOCK, "culprit": ["Miss Orde"]}, "culprit: found a list"),
        ({**SHERLOCK, "reveal_index": "12"}, "reveal_index: found '12'"),
        ({**SHERLOCK, "reveal_index": 10**6}, "reveal_index: found 1000000"),
        ({**SHERLOCK, "mystery": {"a": 1}}, "mystery: found a mapping"),
        ({**SHERLOCK, "mystery": "x\ud800. Then. " + SHERLOCK["mystery"]}, "half a surrogate pair"),
        ({**SHERLOCK, "mystery": "word " * 100_000, "reveal_index": 400_000}, "characters of story"),
    ],
)  # fmt: skip
def test_a_hostile_file_is_one_line_and_writes_nothing(tmp_path: Path, change: object, said: str) -> None:
    code, line = run("import-episode", put(tmp_path, change), "--out", tmp_path / "out")
    assert code == 2
    assert said in line
    assert "\n" not in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("way", "value", "said"),
    [
        (("answer",), 2, "questions[0].answer: found 2; allowed: 0 to 1"),
        (("answer",), True, "answer: found true"),
        (("choices",), ["Ada", "Ada"], "choices"),
        (("intermediate_trees",), [], "one tree for each choice"),
        (("intermediate_trees", 0), "x", "intermediate_trees[0].root_structure"),
        (("intermediate_trees", 1, "root_structure", 0), 7, "root_structure[0]: found 7"),
        (("intermediate_trees", 1, "root_structure", 0, "children", 0, "value"), 7, "children[0].value: found 7"),
        (("intermediate_trees", 1, "root_structure", 0, "children"), "x", "children: found 'x'"),
    ],
)  # fmt: skip
def test_a_malformed_tree_is_named_by_its_place(
    tmp_path: Path, musr: list[dict[str, Any]], way: tuple[Any, ...], value: object, said: str
) -> None:
    holder: Any = musr[0]["questions"][0]
    for step in way[:-1]:
        holder = holder[step]
    holder[way[-1]] = value
    code, line = run("import-episode", put(tmp_path, musr), "--out", tmp_path / "out")
    assert (code, said in line, "\n" in line) == (2, True, False), line


def test_a_tree_without_end_is_refused(tmp_path: Path, musr: list[dict[str, Any]]) -> None:
    node = leaf("deep")
    for _ in range(40):
        node = {"value": "step", "fact_type": "explicit", "children": [node]}
    musr[0]["questions"][0]["intermediate_trees"][0]["root_structure"] = [node]
    assert "too large" in run("import-episode", put(tmp_path, musr), "--out", tmp_path / "out")[1]
    wide = {"value": "all", "fact_type": "explicit", "children": [leaf(f"fact {n}") for n in range(6000)]}
    musr[0]["questions"][0]["intermediate_trees"][0]["root_structure"] = [wide]
    assert "too large" in run("import-episode", put(tmp_path, musr), "--out", tmp_path / "out")[1]


def test_an_import_writes_over_nothing_and_two_alike_are_refused(tmp_path: Path) -> None:
    file = put(tmp_path, SHERLOCK)
    assert "two mysteries would be" in run("import-episode", file, file, "--out", tmp_path / "out")[1]
    assert run("import-episode", file, "--out", tmp_path / "out")[0] == 0
    code, said = run("import-episode", file, "--out", tmp_path / "out")
    assert (code, "is there already" in said) == (2, True)
    assert run("import-episode", file, "--out", tmp_path / "out", "--force", "--json")[0] == 0


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="../shared is not there")
def test_the_samples_import_prompt_and_score(tmp_path: Path) -> None:
    files = [SAMPLES / "musr" / "two_murder_mysteries.json", *sorted((SAMPLES / "sherlock").glob("*.json"))]
    assert len(files) == 5
    code, said = run("import-episode", *files, "--out", tmp_path, "--json")
    assert code == 0
    episodes = json.loads(said)["episodes"]
    assert len(episodes) == 6
    for one in episodes:
        sheet = load_sheet(Path(one["path"]))
        assert validate(sheet) == ()
        assert sheet.key.clues, one["episode"]
        code, text = run("prompt", one["path"])
        assert (code, sheet.episode.sentences[0].text in text) == (0, True)
        clue, role = sheet.key.sentences[0], min(sheet.key.guilty)
        reply = put(tmp_path, {"clue_sentence_ids": [clue], "selected_role_ids": [role]}, "reply.txt")
        [scored] = json.loads(run("score", one["path"], reply, "--json")[1])["replies"]
        assert scored["total"] == 3 + 5


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="../shared is not there")
def test_no_sherlock_story_tells_what_follows_its_reveal() -> None:
    for file in sorted((SAMPLES / "sherlock").glob("*.json")):
        data = json.loads(file.read_text(encoding="utf-8"))
        [one] = import_file(file)
        text = " ".join(one.draft.sentences)
        assert "none other than" not in text
        assert not text.endswith(data["culprit"])
