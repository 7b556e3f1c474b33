"""Drafts from two data sets of mysteries, with a key that is proposed and not known.

- MuSR (Sprague et al., murder mysteries): a list of `{context, questions: [{question, answer, choices, intermediate_trees}]}`. Its
  trees hold the facts that the story was written around: what the culprit's tree states goes into K, what another's states
  incriminates a distractor.
- The Sherlock set (patrickmziet/sherlock): `{title, mystery, suspects, culprit, reveal_index}`. It has no trees; the detective's
  explanation, from `reveal_index` on, is not part of the story and states the facts, a sentence each.

Facts that stand in no sentence are listed under `unaligned` and guessed nowhere. Neither set has payoffs: all weigh as in the
paper's first episode (§4.5), +5 and −5 for candidates.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ludic_deepeval.errors import InputError, shown
from ludic_deepeval.files import read_bytes
from ludic_deepeval.strict_json import load_json
from worth_deepeval.authoring.alignment import LEAST, Aligned, align
from worth_deepeval.authoring.drafting import DEFINITION, Draft, role_id, sentence_id
from worth_deepeval.authoring.splitting import split_story

Format: TypeAlias = Literal["musr", "sherlock"]
MAX_BYTES: Final = 32 * 1024 * 1024
MAX_SAMPLES: Final = 1000
MAX_FACTS: Final = 400
_MAX_DEPTH: Final = 16
_MAX_NODES: Final = 5000
# An explanation puts a fact in its own words, with others around it; a tree's leaf is what the story was told to say.
LEAST_OF: Final[dict[Format, int]] = {"musr": LEAST, "sherlock": 40}
WEIGHT: Final = 3
RIGHT: Final = 5
WRONG: Final = -5
_KINDS: Final = {"means": "method", "opportunity": "time", "motive": "motive"}
_NOTE: Final = "The key was proposed by comparing words. No person has confirmed it."


@dataclass(frozen=True)
class Imported:
    """One mystery of a data set as a draft.

    Attributes:
        draft: The draft.
        proposals: Every fact of the solution with the sentence it was found in, if any.
        about_others: The same for facts that speak of those who are innocent.
    """

    draft: Draft
    proposals: tuple[Aligned, ...]
    about_others: tuple[Aligned, ...]


def import_file(path: Path, *, least: int | None = None) -> Iterator[Imported]:
    """Yield the mysteries of a file, in its order.

    Args:
        path: JSON of one of the two forms; which one is seen from its fields.
        least: The score from which on a sentence is proposed; `LEAST_OF` the form when left out.

    Raises:
        InputError: It is too large, no JSON, of neither form, or something in it is not as the form has it.
    """
    data = load_json(read_bytes(path, limit=MAX_BYTES), path)
    samples = data if isinstance(data, list) else [data]
    if not samples or len(samples) > MAX_SAMPLES:
        raise InputError(path, f"{len(samples):,} mysteries", allowed=f"1 to {MAX_SAMPLES:,} mysteries")
    for at, sample in enumerate(samples):
        here = _At(path, f"[{at}]" if isinstance(data, list) else "")
        if not isinstance(sample, dict):
            raise here.error("", f"found {shown(sample)}", "a mystery of MuSR or of the Sherlock set")
        if {"context", "questions"} <= sample.keys():
            yield _musr(sample, here, at, LEAST_OF["musr"] if least is None else least)
        elif {"mystery", "suspects", "culprit"} <= sample.keys():
            yield _sherlock(sample, here, LEAST_OF["sherlock"] if least is None else least)
        else:
            raise here.error(
                "",
                "neither form",
                "context and questions (MuSR), or mystery, suspects and culprit (Sherlock)",
            )


@dataclass(frozen=True)
class _At:
    """A place in a file, for errors."""

    file: Path
    path: str

    def error(self, name: str, found: str, allowed: str) -> InputError:
        return InputError(self.file, found, where=f"{self.path}.{name}".strip("."), allowed=allowed)

    def text(self, holder: dict[str, Any], name: str) -> str:
        value = holder.get(name)
        if not isinstance(value, str) or not value.strip():
            raise self.error(name, f"found {shown(value)}", "text")
        if any("\ud800" <= char <= "\udfff" for char in value):
            raise self.error(name, "half a surrogate pair", "text that can be written in UTF-8")
        return value

    def names(self, holder: dict[str, Any], name: str) -> list[str]:
        value = holder.get(name)
        if not isinstance(value, list) or not 2 <= len(value) <= 200:
            raise self.error(name, f"found {shown(value)}", "2 to 200 names")
        found = [one.strip() for one in value if isinstance(one, str) and one.strip()]
        if len(found) < len(value) or len(set(found)) < len(found):
            raise self.error(name, "something that is no name, or one twice", "names, each once")
        return found


@dataclass
class _Leaves:
    """The facts of a tree, and the steps between them and what it concludes."""

    facts: list[str] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    steps: list[tuple[str, list[str]]] = field(default_factory=list)
    top: list[str] = field(default_factory=list)
    nodes: int = 0


def _musr(sample: dict[str, Any], here: _At, at: int, least: int) -> Imported:
    context = here.text(sample, "context")
    questions = sample["questions"]
    if not isinstance(questions, list) or len(questions) != 1 or not isinstance(questions[0], dict):
        raise here.error("questions", f"found {shown(questions)}", "one question")
    inner, asked = _At(here.file, f"{here.path}.questions[0]"), questions[0]
    choices = inner.names(asked, "choices")
    answer = asked.get("answer")
    if not isinstance(answer, int) or isinstance(answer, bool) or not 0 <= answer < len(choices):
        raise inner.error("answer", f"found {shown(answer)}", f"0 to {len(choices) - 1}, whose choice it is")
    trees = asked.get("intermediate_trees")
    if not isinstance(trees, list) or len(trees) != len(choices):
        raise inner.error("intermediate_trees", f"found {shown(trees)}", "one tree for each choice")
    read = [
        _tree(tree, _At(here.file, f"{inner.path}.intermediate_trees[{n}]")) for n, tree in enumerate(trees)
    ]
    sentences = split_story(context, "en", speeches=True, file=here.file).sentences
    found = [align(tree.facts, sentences, names=choices, least=least) for tree in read]
    info = _about(asked, len(choices))
    scene = ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in info[0].items())
    draft = Draft(
        id=f"musr-{at + 1:03d}",
        language="en",
        title=f"MuSR murder mystery {at + 1}",
        question=inner.text(asked, "question"),
        scope=f"The case is the murder that the story tells of{f' ({scene})' if scene else ''}.",
        definition="whoever committed the murder.",
        source="MuSR (Sprague et al.), murder mysteries",
        licence="MIT",
        note=_NOTE,
        sentences=sentences,
        candidates=tuple(zip(choices, info[1], strict=True)),
        key={},
    )
    guilty = [answer]
    key = _key(found, read, guilty, len(choices))
    others = tuple(one for n, part in enumerate(found) if n not in guilty for one in part)
    return Imported(_with_key(draft, key), found[answer], others)


def _about(asked: dict[str, Any], count: int) -> tuple[dict[str, str], list[str | None]]:
    """Victim, scene and weapon, and each suspect's role, where the set has them; they are of no use where it has not."""
    data = asked.get("intermediate_data")
    first = data[0] if isinstance(data, list) and data and isinstance(data[0], dict) else {}
    victim = first.get("victim_info")
    scene = {
        name: value[:200]
        for name, value in (victim.items() if isinstance(victim, dict) else ())
        if name in {"victim", "crime_scene", "murder_weapon"} and isinstance(value, str) and value.strip()
    }
    suspects = first.get("suspect_info")
    notes: list[str | None] = []
    for n in range(count):
        one = suspects[n] if isinstance(suspects, list) and n < len(suspects) else None
        inner = one.get("suspect_info") if isinstance(one, dict) else None
        role = inner.get("role") if isinstance(inner, dict) else None
        notes.append(role[:200] if isinstance(role, str) and role.strip() else None)
    return scene, notes


def _tree(tree: object, here: _At) -> _Leaves:
    roots = tree.get("root_structure") if isinstance(tree, dict) else None
    if not isinstance(roots, list) or len(roots) != 1:
        raise here.error("root_structure", f"found {shown(roots)}", "one root")
    out = _Leaves()
    _walk(roots[0], _At(here.file, f"{here.path}.root_structure[0]"), out, "premise", 0)
    if len(out.facts) > MAX_FACTS:
        raise here.error("root_structure", f"{len(out.facts)} facts", f"at most {MAX_FACTS}")
    return out


def _walk(node: object, here: _At, out: _Leaves, kind: str, depth: int) -> str | None:
    """Take in a node and what is under it; return what it states, unless that is common sense and in no story."""
    out.nodes += 1
    if depth > _MAX_DEPTH or out.nodes > _MAX_NODES:
        raise here.error("", "a tree that is too large", f"{_MAX_DEPTH} levels and {_MAX_NODES} nodes")
    if not isinstance(node, dict):
        raise here.error("", f"found {shown(node)}", "a node of value, fact_type and children")
    value, children = here.text(node, "value").strip()[:2000], node.get("children", [])
    if not isinstance(children, list):
        raise here.error("children", f"found {shown(children)}", "a list of nodes")
    if node.get("fact_type") == "commonsense":
        return None
    if depth == 1:
        kind = next((known for word, known in _KINDS.items() if word in value.casefold()), "suspicion")
    under = [
        stated
        for n, child in enumerate(children)
        if (stated := _walk(child, _At(here.file, f"{here.path}.children[{n}]"), out, kind, depth + 1))
    ]
    if not children:
        if value not in out.kinds:
            out.facts.append(value)
            out.kinds[value] = kind
    elif depth:
        out.steps.append((value, under))
    else:
        out.top = under
    return value


def _sherlock(sample: dict[str, Any], here: _At, least: int) -> Imported:
    title, mystery = here.text(sample, "title"), here.text(sample, "mystery")
    suspects, culprit = here.names(sample, "suspects"), here.text(sample, "culprit").strip()
    if culprit not in suspects:
        raise here.error("culprit", f"found {shown(culprit)}", "one of the suspects")
    reveal = sample.get("reveal_index")
    if not isinstance(reveal, int) or isinstance(reveal, bool) or not 0 < reveal <= len(mystery):
        raise here.error(
            "reveal_index", f"found {shown(reveal)}", f"1 to {len(mystery)}, where the story ends"
        )
    before = mystery[:reveal].rstrip()
    sentences = split_story(before, "en", speeches=True, file=here.file).sentences
    if sentences and not before.endswith((".", "!", "?", '"', "”")):
        sentences = sentences[:-1]  # the sentence that goes on to name the culprit
        if sentences and sentences[-1].endswith((' "', " “")):  # the quotation that it opens
            sentences = (*sentences[:-1], sentences[-1][:-2].rstrip())
    if not sentences:
        raise here.error("reveal_index", f"found {reveal}", "a story before the reveal")
    facts = _Leaves(
        facts=list(
            dict.fromkeys(split_story(mystery[reveal:], "en", speeches=True, file=here.file).sentences)
        )
    )
    if len(facts.facts) > MAX_FACTS:
        raise here.error("mystery", f"{len(facts.facts)} sentences of explanation", f"at most {MAX_FACTS}")
    found = align(facts.facts, sentences, names=[*suspects, "Holmes Watson Lestrade"], least=least)
    guilty = suspects.index(culprit)
    parts: list[tuple[Aligned, ...]] = [()] * len(suspects)
    parts[guilty] = found
    slug = re.sub(r"[^a-z0-9]+", "-", title.casefold().removeprefix("the ")).strip("-")[:48].strip("-")
    draft = Draft(
        id=f"sherlock-{slug}" if slug else "sherlock",
        language="en",
        title=title.strip()[:300],
        question="Who committed the crime?",
        scope="The case is the crime that the detective is called in for.",
        definition=DEFINITION["en"],
        source="patrickmziet/sherlock",
        licence="MIT",
        note=f"{_NOTE} The story ends where the set marks the reveal.",
        sentences=sentences,
        candidates=tuple((name, None) for name in suspects),
    )
    key = _key(
        parts, [facts if n == guilty else _Leaves() for n in range(len(suspects))], [guilty], len(suspects)
    )
    return Imported(_with_key(draft, key), found, ())


def _with_key(draft: Draft, key: dict[str, Any]) -> Draft:
    """A draft whose quota is the size of K, as in the paper's episodes."""
    values = {name: getattr(draft, name) for name in draft.__dataclass_fields__}
    return Draft(**(values | {"key": key, "quota": len(key["clues"]) or None}))


def _key(
    found: Sequence[tuple[Aligned, ...]], read: Sequence[_Leaves], guilty: Sequence[int], count: int
) -> dict[str, Any]:
    """What the alignment proposes of the key."""
    clues: dict[int, list[Aligned]] = {}
    annotations: list[dict[str, Any]] = []
    distractors: list[dict[str, Any]] = []
    for role, part in enumerate(found):
        placed = [one for one in part if one.sentence is not None]
        for one in placed:
            if role in guilty:
                clues.setdefault(one.sentence or 0, []).append(one)
            annotations.append(
                {
                    "sentence": sentence_id(one.sentence or 0),
                    "role": read[role].kinds.get(one.fact, "premise"),
                    "target": role_id(role),
                }
            )
        if role not in guilty and placed:
            against = sorted({sentence_id(one.sentence or 0) for one in placed})
            distractors.append({"role": role_id(role), "incriminating": against, "exonerating": []})
    return {
        "clues": [
            {
                "sentence": sentence_id(at),
                "weight": WEIGHT,
                "proposed": [{"fact": one.fact, "score": one.score} for one in clues[at]],
            }
            for at in sorted(clues)
        ],
        "participants": [
            {"role": role_id(n), "points": RIGHT if n in guilty else WRONG} for n in range(count)
        ],
        "annotations": [dict(one) for one in _once(annotations)],
        "distractors": distractors,
        "chain": _chain(found, read, guilty),
        "unaligned": list(dict.fromkeys(one.fact for part in found for one in part if one.sentence is None)),
    }


def _once(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({tuple(one.values()): one for one in items}.values())


def _chain(
    found: Sequence[tuple[Aligned, ...]], read: Sequence[_Leaves], guilty: Sequence[int]
) -> dict[str, Any]:
    """The culprit's tree as far as sentences carry it: a step that rests on nothing found is left out."""
    facts: list[dict[str, Any]] = []
    conclusions: list[dict[str, Any]] = []
    for role in guilty:
        known = {one.fact: sentence_id(one.sentence) for one in found[role] if one.sentence is not None}
        for text, under in read[role].steps:
            needs = list(dict.fromkeys(known[one] for one in under if one in known))
            if needs and text not in known and len(facts) < 999:
                known[text] = f"F{len(facts) + 1}"
                facts.append({"id": known[text], "text": text, "needs": needs})
        top = [known[one] for one in read[role].top if known.get(one, "").startswith("F")]
        if top:
            conclusions.append({"role": role_id(role), "verdict": "participant", "facts": top})
    return {"facts": facts, "conclusions": conclusions}
