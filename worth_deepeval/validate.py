"""Is an episode's key sound? Every id exists, every distractor can be cleared, and K suffices for the answer.

The chain in the key says which facts follow from which sentences, and which verdicts from which facts. From the sentences
of K alone every participant must be derivable and every other candidate excludable, and no sentence of K may be idle.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from worth_deepeval.episode import SENTENCE, Chain, Key, Sheet


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with an episode.

    Attributes:
        code: A word for programs.
        where: The place in the key.
        message: A line for people; names the sentence or candidate.
    """

    code: str
    where: str
    message: str


def validate(sheet: Sheet) -> tuple[Fault, ...]:
    """Find everything that is wrong with an episode; an empty result means that it is sound.

    The key's `status: draft` asks for existing ids alone: a draft claims nothing yet.
    """
    faults = [*_references(sheet), *_sides(sheet.key), *_points(sheet)]
    if sheet.key.status == "final":
        faults += [*_distractors(sheet), *_solvable(sheet)]
    return tuple(faults)


def derivable(chain: Chain, given: Iterable[str]) -> frozenset[str]:
    """Everything that follows from some sentences: the sentences, the facts, and the verdicts as "R01:participant"."""
    known = set(given)
    grew = True
    while grew:
        grew = False
        for fact in chain.facts:
            if fact.id not in known and known.issuperset(fact.needs):
                known.add(fact.id)
                grew = True
    known |= {f"{one.role}:{one.verdict}" for one in chain.conclusions if known.issuperset(one.facts)}
    return frozenset(known)


def _references(sheet: Sheet) -> Iterator[Fault]:
    key, sentences, roles = sheet.key, sheet.episode.sentence_ids, sheet.episode.role_ids
    used: list[tuple[str, str]] = [(f"clues[{n}]", clue.sentence) for n, clue in enumerate(key.clues)]
    used += [(f"outside[{n}]", one) for n, one in enumerate(key.outside)]
    used += [(f"participants[{n}]", payoff.role) for n, payoff in enumerate(key.participants)]
    for n, note in enumerate(key.annotations):
        used.append((f"annotations[{n}]", note.sentence))
        used += [(f"annotations[{n}]", note.target)] if note.target else []
    for n, pair in enumerate(key.pairs):
        used += [(f"pairs[{n}]", each) for each in (pair.suspicion, pair.exoneration, pair.target)]
    for n, other in enumerate(key.distractors):
        used += [
            (f"distractors[{n}]", each) for each in (other.role, *other.incriminating, *other.exonerating)
        ]
    facts = {fact.id for fact in key.chain.facts}
    for n, fact in enumerate(key.chain.facts):
        used += [(f"chain.facts[{n}]", need) for need in fact.needs if need not in facts]
    for n, conclusion in enumerate(key.chain.conclusions):
        used.append((f"chain.conclusions[{n}]", conclusion.role))
        for need in conclusion.facts:
            if need not in facts:
                yield Fault("unknown-fact", f"chain.conclusions[{n}]", f"{need} is no fact of the chain")
    for where, one in used:
        if one in sentences or one in roles:
            continue
        code, what = (
            ("unknown-sentence", "sentence")
            if SENTENCE.fullmatch(one)
            else ("unknown-candidate", "candidate")
        )
        yield Fault(code, where, f"{one} is no {what} of the episode")
    for path, ids in (
        ("clues", [clue.sentence for clue in key.clues]),
        ("participants", [one.role for one in key.participants]),
        ("distractors", [one.role for one in key.distractors]),
        ("chain.facts", [fact.id for fact in key.chain.facts]),
        ("chain.conclusions", [one.role for one in key.chain.conclusions]),
    ):
        for twice in sorted({one for one in ids if ids.count(one) > 1}):
            yield Fault("twice", path, f"{twice} is given twice")


def _sides(key: Key) -> Iterator[Fault]:
    """What cannot stand on both sides of an argument."""
    for n, pair in enumerate(key.pairs):
        if pair.suspicion == pair.exoneration:
            yield Fault("one-sentence-pair", f"pairs[{n}]", f"{pair.suspicion} is both sides of a pair")
    for n, other in enumerate(key.distractors):
        for both in sorted(set(other.incriminating) & set(other.exonerating)):
            yield Fault("both-sides", f"distractors[{n}]", f"{both} is given for and against {other.role}")
    for n, one in enumerate(key.outside):
        if one in key.weights:
            yield Fault("inside-and-outside", f"outside[{n}]", f"{one} is in K and said to be outside of it")


def _points(sheet: Sheet) -> Iterator[Fault]:
    key, episode = sheet.key, sheet.episode
    if not key.clues and not key.unplaced:
        yield Fault("no-clues", "clues", "there are no key sentences")
    if key.status == "draft":
        return
    yield from _unfinished(key)
    if not key.guilty:
        yield Fault("no-participant", "participants", "nobody takes part: no candidate has points above 0")
    for role in sorted(episode.role_ids - set(key.points)):
        yield Fault("no-points", "participants", f"{role} has no points")
    if episode.quota.sentences < len(key.clues):
        yield Fault(
            "small-quota",
            "quota.sentences",
            f"{episode.quota.sentences} of {len(key.clues)} key sentences can be selected",
        )
    weights = [clue.weight for clue in key.clues]
    if key.clue_total is not None and None not in weights:
        total = sum(weight for weight in weights if weight is not None)
        if total != key.clue_total:
            yield Fault("wrong-total", "clue_total", f"the weights sum to {total}, not {key.clue_total}")


def _unfinished(key: Key) -> Iterator[Fault]:
    """What a final key may not leave open."""
    for n, clue in enumerate(key.clues):
        if clue.proposed:
            yield Fault(
                "unconfirmed",
                f"clues[{n}]",
                f"{clue.sentence} is a program's proposal; whoever confirms it takes its `proposed` out",
            )
        if clue.weight is None:
            yield Fault("no-weight", f"clues[{n}]", f"{clue.sentence} has no weight")
    if key.unplaced:
        yield Fault(
            "unplaced", "unplaced", f"{key.unplaced} key sentences are not known; a final key has them all"
        )
    if key.unaligned:
        yield Fault(
            "unaligned",
            "unaligned",
            f"{len(key.unaligned)} facts of the source wait for a decision: {key.unaligned[0]}",
        )


def _distractors(sheet: Sheet) -> Iterator[Fault]:
    key = sheet.key
    for n, one in enumerate(key.distractors):
        where = f"distractors[{n}]"
        if key.points.get(one.role, 0) > 0:
            yield Fault("guilty-distractor", where, f"{one.role} is a participant")
        if not one.incriminating:
            yield Fault("no-suspicion", where, f"nothing throws suspicion on {one.role}")
        if not one.exonerating:
            yield Fault("no-counter-evidence", where, f"nothing clears {one.role}")


def _solvable(sheet: Sheet) -> Iterator[Fault]:
    key = sheet.key
    if not key.chain.conclusions:
        yield Fault("no-chain", "chain", "no chain from the key sentences to the answer")
        return
    known = derivable(key.chain, key.sentences)
    for fact in key.chain.facts:
        if fact.id not in known:
            missing = [need for need in fact.needs if need not in known]
            yield Fault(
                "underivable",
                f"chain.facts.{fact.id}",
                f"{fact.id} needs {', '.join(missing)}, which is not in K",
            )
    for one in key.chain.conclusions:
        if (one.verdict == "participant") != (one.role in key.guilty):
            yield Fault(
                "wrong-verdict",
                f"chain.conclusions.{one.role}",
                f"{one.role} is concluded to be {one.verdict}",
            )
    for role in sorted(sheet.episode.role_ids):
        wanted = "participant" if role in key.guilty else "excluded"
        if f"{role}:{wanted}" not in known:
            verb = "derived to take part" if wanted == "participant" else "excluded"
            yield Fault("unsolvable", "chain", f"{role} cannot be {verb} from K alone")
    needed = _needed(key.chain)
    for sentence in key.sentences:
        if sentence not in needed:
            yield Fault("idle-clue", "clues", f"{sentence} is idle: no verdict rests on it")


def _needed(chain: Chain) -> set[str]:
    """The facts and sentences on which verdicts rest. What only leads to a fact that leads nowhere is not among them."""
    needs = {fact.id: fact.needs for fact in chain.facts}
    left = [fact for one in chain.conclusions for fact in one.facts]
    found: set[str] = set()
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += needs.get(one, ())
    return found
