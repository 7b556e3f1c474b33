"""At which link of the author's chain a run's argument breaks, given the sentences that it selected."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from ludic_deepeval.stats.intervals import Rate, wilson
from worth_deepeval.diagnosis.sample import Sample
from worth_deepeval.validate import derivable


@dataclass(frozen=True)
class Link:
    """One fact of the chain.

    Attributes:
        fact: Its id.
        text: The fact.
        reached: Runs whose sentences give it.
        broken: Runs in which it stops here: every fact that it needs is given, and a sentence is not.
        missing: Of the runs that stop here, those that lack each sentence.
    """

    fact: str
    text: str
    reached: Rate
    broken: Rate
    missing: tuple[tuple[str, Rate], ...]


@dataclass(frozen=True)
class Verdict:
    """One conclusion of the chain.

    Attributes:
        role: The candidate.
        verdict: What the author concludes.
        derivable: Runs whose sentences give it.
        concluded: Runs that concluded it: named a participant, or left out anybody else.
        given_derivable: Of the runs whose sentences give it, those that concluded it.
        given_not: Of the others, those that concluded it all the same.
    """

    role: str
    verdict: str
    derivable: Rate
    concluded: Rate
    given_derivable: Rate
    given_not: Rate


@dataclass(frozen=True)
class ChainReport:
    """The chain over all scored runs."""

    links: tuple[Link, ...]
    verdicts: tuple[Verdict, ...]


def chain(sample: Sample) -> ChainReport:
    """Return where the chain breaks. Empty when the key has none."""
    key = sample.sheet.key
    n = len(sample.scored)
    found = lru_cache(maxsize=100_000)(lambda given: derivable(key.chain, given))
    known = [found(frozenset(score.hits)) for score in sample.scores]
    facts = {fact.id for fact in key.chain.facts}
    links = []
    for fact in key.chain.facts:
        needs, sentences = facts & set(fact.needs), [one for one in fact.needs if one not in facts]
        stopped = [one for one in known if fact.id not in one and needs <= one]
        lacking = Counter(sentence for one in stopped for sentence in sentences if sentence not in one)
        links.append(
            Link(
                fact=fact.id,
                text=fact.text,
                reached=wilson(sum(fact.id in one for one in known), n),
                broken=wilson(len(stopped), n),
                missing=tuple((sentence, wilson(lacking[sentence], len(stopped))) for sentence in sentences),
            )
        )
    verdicts = []
    for end in key.chain.conclusions:
        given = [f"{end.role}:{end.verdict}" in one for one in known]
        said = [(end.role in named) == (end.verdict == "participant") for named in sample.named]
        both = sum(a and b for a, b in zip(given, said, strict=True))
        verdicts.append(
            Verdict(
                role=end.role,
                verdict=end.verdict,
                derivable=wilson(sum(given), n),
                concluded=wilson(sum(said), n),
                given_derivable=wilson(both, sum(given)),
                given_not=wilson(sum(said) - both, n - sum(given)),
            )
        )
    return ChainReport(tuple(links), tuple(verdicts))
