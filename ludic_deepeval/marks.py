"""The mark sheet: how a person makes a ledger without a model, with quotes and plain answers and no offsets.

`ludic annotate NAME.md` writes `NAME.marks.yaml`; `ludic lock NAME.md` turns it into the lockfile. The fields are the
ledger's, with `quote` where the ledger has evidence, names where it has ids, and words for phases.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ludic_deepeval.candidates import Candidate, find_candidates
from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.files import MAX_YAML_BYTES, decode, load_yaml, read_bytes
from ludic_deepeval.ledger import PHASE_NAMES, FactLedger, Item, Npc, load_ledger
from ludic_deepeval.lockfile import (
    Lockfile,
    Notary,
    evidence_problem,
    make_lockfile,
    quote_problem,
    sheet_digest,
)
from ludic_deepeval.sources import Story
from ludic_deepeval.text import Prose, name_key

SECTIONS: Final = {
    "people": "npcs",
    "hooks": "hooks",
    "goals": "goals",
    "mysteries": "mysteries",
    "events": "events",
}
_TOP: Final = ("sheet", "story", "protagonist", *SECTIONS, "candidates")
_PHASES: Final = {
    **{name: phase for phase, name in PHASE_NAMES.items()},
    "infancy": "P1", "adolescence": "P2", "adult": "P3", "now": "P3", "p1": "P1", "p2": "P2", "p3": "P3",
}  # fmt: skip
_MOST_PLACES: Final = 4
_UNPRINTABLE: Final = re.compile(
    "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]"
)  # JSON leaves them, YAML bars them


def lock_story(story: Story, sheet: Path | None = None) -> Lockfile:
    """Turn the mark sheet beside a story into a lockfile, which remembers the sheet's hash.

    Args:
        story: The story.
        sheet: Where the sheet lies, if it is not the story's own but a second reader's.

    Raises:
        InputError: No sheet, or one that `lock_sheet` refuses.
    """
    sheet = sheet or story.sheet
    if not sheet.exists():
        hint = f"run first: ludic annotate {story.path}"
        raise InputError(story.path, "no mark sheet beside it", allowed=sheet.name, hint=hint)
    text = decode(read_bytes(sheet, limit=MAX_YAML_BYTES), sheet)
    made = lock_sheet(load_yaml(text, sheet), story, sheet)
    notary = made.notary.model_copy(update={"options": {"sheet_sha256": sheet_digest(text)}})
    return made.model_copy(update={"notary": notary})


def lock_sheet(sheet: object, story: Story, file: object) -> Lockfile:
    """Turn a filled mark sheet into a lockfile, finding each quote in the prose.

    Args:
        sheet: The sheet as loaded from YAML.
        story: The story that it marks.
        file: The sheet's name, for errors.

    Raises:
        InputError: A quote that is not in the prose or stands in it more than once, a person whose quote holds none of
            the person's names, or anything that the ledger does not allow.
    """
    return make_lockfile(story.prose, sheet_ledger(sheet, story.prose, file), Notary(kind="hand"))


def sheet_ledger(sheet: object, prose: Prose, file: object, *, tries: int | None = None) -> FactLedger:
    """Return the ledger that a filled mark sheet stands for; as `lock_sheet`, with `tries` as for `Prose.places`."""
    if not isinstance(sheet, dict):
        raise InputError(file, f"found {shown(sheet)}", allowed="a mark sheet as ludic annotate writes it")
    for key in sheet:
        if key not in _TOP:
            raise InputError(file, f"unknown key {shown(str(key))}", allowed=", ".join(_TOP))
    if sheet.get("sheet") != 1 or type(sheet.get("sheet")) is not int:
        raise InputError(file, f"found {shown(sheet.get('sheet'))}", where="sheet", allowed="1")
    data: dict[str, Any] = {"schema_version": 1, "protagonist": sheet.get("protagonist")}
    if data["protagonist"] is None:
        raise InputError(
            file,
            "no protagonist",
            where="protagonist",
            allowed="the name of the character whose story this is",
        )
    for section, name in SECTIONS.items():
        data[name] = [
            _item(entry, f"{section}[{n}]", section, prose, file, tries)
            for n, entry in _entries(sheet, section, file)
        ]
    _give_ids(data)
    _resolve_people(data, file)
    # The error speaks of the sheet's own words: people, not npcs.
    try:
        ledger = load_ledger(data, file)
    except InputError as error:
        where, allowed = (re.sub(r"\bnpcs\b", "people", text) for text in (error.where, error.allowed))
        allowed = re.sub(r"^evidence, ", "quote, ", allowed)
        raise InputError(file, error.found, where=where, allowed=allowed, hint=error.hint) from None
    for name, index, item in ledger.items():
        if problem := evidence_problem(item, prose.body):
            section = next(key for key, value in SECTIONS.items() if value == name)
            raise InputError(
                file, problem, where=f"{section}[{index}].quote", allowed="exact words of the prose"
            )
    return ledger


def _entries(sheet: dict[Any, Any], section: str, file: object) -> Iterator[tuple[int, dict[str, Any]]]:
    entries = sheet.get(section)
    if entries is None:
        return
    if not isinstance(entries, list):
        raise InputError(file, f"found {shown(entries)}", where=section, allowed="a list")
    for n, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise InputError(
                file, f"found {shown(entry)}", where=f"{section}[{n}]", allowed="a mapping with a quote"
            )
        yield n, entry


def _item(
    entry: dict[str, Any], where: str, section: str, prose: Prose, file: object, tries: int | None
) -> dict[str, Any]:
    # An answer left empty is an answer not given.
    item = {key: value for key, value in entry.items() if key != "quote" and value is not None}
    quotes = entry.get("quote")
    quotes = [quotes] if isinstance(quotes, str) else quotes
    if (
        not isinstance(quotes, list)
        or not quotes
        or not all(isinstance(quote, str) and quote.strip() for quote in quotes)
    ):
        raise InputError(
            file, "no quote", where=f"{where}.quote", allowed="exact words of the prose, or a list of such"
        )
    if "evidence" in item:
        raise InputError(file, "unknown field", where=f"{where}.evidence", allowed="quote")
    item["evidence"] = [_find(quote, f"{where}.quote", prose, file, tries) for quote in quotes]
    if section == "mysteries":
        item.setdefault("text", quotes[0])
    phase = item.get("phase")
    if section == "events" and isinstance(phase, str):
        item["phase"] = _PHASES.get(phase.lower(), phase)
    return item


def _find(quote: str, where: str, prose: Prose, file: object, tries: int | None) -> dict[str, Any]:
    if problem := quote_problem(quote):
        raise InputError(file, problem, where=where, allowed="3 to 25 words, or 6 to 50 Chinese characters")
    found = prose.find(quote, tries=tries)
    if not found:
        raise InputError(
            file,
            f"{shown(quote)} is not in the prose",
            where=where,
            allowed=f"exact words of {clean(prose.file, limit=400)}",
        )
    if len(found) > 1:
        lines = ", ".join(
            map(str, dict.fromkeys(prose.place(start).line for start, _ in found[:_MOST_PLACES]))
        )
        raise InputError(
            file, f"{shown(quote)} stands {len(found)} times in the prose (lines {lines})", where=where, allowed="words that stand once",
            hint="add a word before or after",
        )  # fmt: skip
    start, end = found[0]
    return {"quote": prose.body[start:end], "start": start, "end": end}


def _give_ids(data: dict[str, Any]) -> None:
    """Give each item without an id one made of its name or text, made unique by a number."""
    for name in SECTIONS.values():
        taken = {item.get("id") for item in data[name] if isinstance(item.get("id"), str)}
        for item in data[name]:
            if item.get("id") is None:
                words = str(item.get("name") or item.get("text") or item.get("summary") or name.rstrip("s"))
                base = "-".join(name_key(words).split()[:4])[:40] or name.rstrip("s")
                wanted = base
                number = 2
                while wanted in taken:
                    wanted = f"{base}-{number}"
                    number += 1
                item["id"] = wanted
                taken.add(wanted)


def _resolve_people(data: dict[str, Any], file: object) -> None:
    """Let hooks and relations name people by name or alias as well as by id."""
    people: dict[str, str] = {}
    whole = True  # whether every person's names can be read; else it is they that are wrong
    for npc in data["npcs"]:
        aliases = npc.get("aliases")
        whole &= isinstance(npc.get("name"), str) and isinstance(aliases, list | None)
        for name in (npc["id"], npc.get("name"), *(aliases if isinstance(aliases, list) else ())):
            if isinstance(name, str) and isinstance(npc["id"], str):
                people.setdefault(name_key(name), npc["id"])

    def resolve(holder: object, where: str) -> None:
        if isinstance(holder, dict) and isinstance(holder.get("npc"), str):
            given: str = holder["npc"]
            found = people.get(name_key(given), given)
            if (
                whole and found not in people.values() and len(found.split()) > 1
            ):  # the ledger would speak of blanks in an id
                known = ", ".join(sorted(set(people.values()))[:12]) or "there are none"
                allowed = f"the id of one of people: {known}"
                raise InputError(file, f"{shown(found)} is nobody", where=where, allowed=allowed)
            holder["npc"] = found

    for n, hook in enumerate(data["hooks"]):
        resolve(hook, f"hooks[{n}].npc")
    for n, event in enumerate(data["events"]):
        relations = event.get("relations")
        for at, relation in enumerate(relations if isinstance(relations, list) else ()):
            resolve(relation, f"events[{n}].relations[{at}].npc")


# Writing a sheet

_HEAD: Final = """\
# Mark sheet for {story}
#
# Say what the story holds: copy exact words into `quote` (3 to 25 of them, standing only once in the story) and answer
# what you can. Leave out what you do not know. Then run:  ludic lock {story}
#
# What counts is what a game master could pick up: people with unfinished business, threads, goals, things unexplained.
"""

_HELP: Final = {
    "people": """\
# PEOPLE tied to the protagonist.
# - name: Odo Marsh
#   aliases: [the Reeve]              # other words for the same person
#   quote: Odo Marsh still signs the ledgers   # must hold the name or an alias
#   status: alive                     # alive, dead, missing, undead or unknown: at the end of the story
#   tie: enemy                        # enemy, rival, ally, family, mentor, lover, debtor, creditor, patron, other
#   unresolved: true                  # is something between the two still open?
#   faction: zhentarim                # if the Story Bible has it
""",
    "hooks": """\
# HOOKS: threads that play could pick up.
# - text: Odo will come for the ledger before the thaw
#   quote: he gave her until the thaw
#   tier: 1                           # 1: could drive the very next scene; 2: wants exploring; 3: colour
#   open: true                        # false: it was settled in the story
#   npc: Odo Marsh                    # whose thread it is, if anybody's
""",
    "goals": """\
# GOALS of the protagonist.
# - text: get the ledger to a judge
#   quote: she means to stand before the judge
#   proactive: true                   # is it being pursued, now?
""",
    "mysteries": """\
# MYSTERIES: words that leave something unexplained. The quote itself is measured: the fewer names, the better.
# - quote: somebody had paid for the bell not to ring
#   thematic_hole: true               # your own judgement: implied, but left unclear?
""",
    "events": """\
# EVENTS, in the order in which they happened. The four numbers go from 1 to 10; give all four or none.
# - phase: childhood                  # childhood, youth or adulthood
#   summary: the mill burns with the grain in it
#   quote: the mill burned for two nights
#   immediacy: 3                      # must this be answered next session? centuries hence 1, at the door tonight 9
#   gravity: 8                        # what is at stake? a few coins 1, a curse that kills within the year 10
#   linkage: 5                        # how much of the world is in it? a faction, a place and a precedent: high
#   divergence: 6                     # how many different things could come of it? open the box or leave it 2
#   location: waterdeep
#   relations: [{npc: Odo Marsh, status: alive}]              # who takes part; who is only remembered dead: status: dead
#   physical: [{kind: injury, text: left hand, permanent: true, present: true}]   # or {kind: age, age: 12}
#   inventory: [{item: brass key, change: gained}]            # gained, lost or used
#   skills: [{skill: lip-reading, change: gained}]            # gained, lost or used
#   practices: [{practice: necromancy, openly: true}]         # what the setting's law may forbid
#   asserted_by: Odo Marsh            # only if this is somebody's claim, rumour or memory
""",
}
_OMITTED: Final = frozenset({"evidence"})


def write_sheet(story: Story, ledger: FactLedger | None = None, notes: tuple[str, ...] = ()) -> str:
    """Return a mark sheet: with the questions and, below, candidates found in the text; or with a ledger to correct.

    Args:
        story: The story to mark.
        ledger: What is marked already.
        notes: Lines to say at the top, such as what an edit lost.
    """
    name = clean(story.path.name, limit=200)
    lines = [_HEAD.format(story=name)]
    lines += [f"# ! {clean(note, limit=300)}\n" for note in notes]
    protagonist = ledger.protagonist if ledger else None
    lines.append(
        f"sheet: 1\nstory: {scalar(name)}\nprotagonist: {scalar(protagonist) if protagonist else ''}\n"
    )
    for section, attribute in SECTIONS.items():
        items: tuple[Item, ...] = getattr(ledger, attribute) if ledger else ()
        lines.append(f"\n{_HELP[section]}{section}:{'' if items else ' []'}\n")
        lines += [_entry(item, section) for item in items]
    if ledger is None:
        lines.append(_candidate_lines(find_candidates(story.prose)))
    return "".join(lines)


def sheet_of(story: Story, lock: Lockfile | None) -> str:
    """Return the mark sheet that `ludic annotate` begins with: of what was read already, with what is left to do.

    Args:
        story: The story.
        lock: Its lockfile, made of this very prose; None while nobody has read it.
    """
    if lock is None:
        return write_sheet(story)
    lines = [story.prose.place(part.start).line for part in lock.unread]
    notes = [f"not read yet: the paragraph at line {line}" for line in lines]
    notes += [
        f"{item.list}: {item.item.get('name') or item.item.get('text') or item.item.get('id')}: {item.reason}"
        for item in lock.ungrounded
    ]
    return write_sheet(story, lock.ledger, tuple(notes))


def _entry(item: Item, section: str) -> str:
    values = item.model_dump(mode="json", exclude_defaults=True, exclude=set(_OMITTED))
    quotes = [evidence.quote for evidence in item.evidence]
    if section == "mysteries" and quotes and values.get("text") == quotes[0]:
        del values["text"]
    values["quote"] = quotes[0] if len(quotes) == 1 else quotes
    if isinstance(item, Npc):  # the answers that a person would look for
        values |= {"status": item.status, "unresolved": item.unresolved}
    rows = [f"{key}: {scalar(value)}" for key, value in values.items()]
    return "".join(f"{'- ' if n == 0 else '  '}{row}\n" for n, row in enumerate(rows))


def scalar(value: object) -> str:
    """JSON is YAML, and escapes whatever prose may hold."""
    return _UNPRINTABLE.sub(
        lambda match: f"\\u{ord(match.group()):04x}", json.dumps(value, ensure_ascii=False)
    )


def _candidate_lines(candidates: list[Candidate]) -> str:
    if not candidates:
        return ""
    lines = [
        "\n# CANDIDATES found in the text by simple rules. Nothing here is scored: move up what you agree with, delete the rest.\ncandidates:\n"
    ]
    lines += [
        f"- {{kind: {candidate.kind}, line: {candidate.line}, about: {scalar(candidate.about)}, quote: {scalar(candidate.quote)}}}\n"
        for candidate in candidates
    ]
    return "".join(lines)


__all__ = ["SECTIONS", "lock_sheet", "lock_story", "sheet_of", "write_sheet"]
