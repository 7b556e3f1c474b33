"""What people did with an episode, as a reference for what models did (WORTH §4.8, 6.7): two descriptions, and no test.

Thousands of players read once, at their own pace; a model is asked the same five times. The two are no samples of one kind: nothing here
pools the runs of models, tests one side against the other or gives a p-value between them. Players give a distribution and
rates with intervals; each model's runs are placed beside it, one by one, with their own counts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, quantiles
from typing import Final, TypeAlias

from ludic_deepeval.errors import InputError, clean
from ludic_deepeval.outcome import Scored
from ludic_deepeval.stats.intervals import Rate, wilson
from worth_deepeval.diagnosis.histogram import Bin, histogram
from worth_deepeval.diagnosis.models import Spread, spread
from worth_deepeval.diagnosis.roles import common_sets
from worth_deepeval.diagnosis.sample import Sample
from worth_deepeval.episode import Sheet
from worth_deepeval.humans import clean_submissions, read_submissions, selected
from worth_deepeval.response import Response
from worth_deepeval.runs import Run
from worth_deepeval.scoring import score

PLAYERS: Final = "players"
NOTE: Final = (
    "Players read once, each on their own; a model's runs are one reader asked again. They are no samples of one kind: models are not"
    " pooled, and nothing is tested between the two."
)
_QUANTILES: Final = (5, 25, 50, 75, 95)


@dataclass(frozen=True)
class People:
    """What players scored.

    Attributes:
        players: How many; each once.
        total: Mean and SD of their totals.
        clue: Of their points for sentences.
        participant: Of their points for people.
        quantiles: (percent, total): 5, 25, 50, 75 and 95 percent of players score at most so much; empty below two players.
        negative: Players whose total is below 0.
        histogram: How their totals are spread.
    """

    players: int
    total: Spread
    clue: Spread
    participant: Spread
    quantiles: tuple[tuple[int, float], ...]
    negative: Rate
    histogram: tuple[Bin, ...]


@dataclass(frozen=True)
class Beside:
    """One model's runs, placed in the players' distribution.

    Attributes:
        model: Its name.
        runs: How many runs it has.
        totals: The total of each scored run.
        mean: Their mean; None without one.
        players_at_most: Players whose total is at most that mean. It is a place among players, and no test.
    """

    model: str
    runs: int
    totals: tuple[int, ...]
    mean: float | None
    players_at_most: Rate


@dataclass(frozen=True)
class Seen:
    """Something that runs of models do, and how often players do it.

    Attributes:
        code: A word for programs.
        name: What, for people.
        players: Players who do it.
        models: For each model how many of how many scored runs do it: counts, which are not summed over models.
        in_models: Of the models with a scored run, those of which some run does it.
    """

    code: str
    name: str
    players: Rate
    models: tuple[tuple[str, int, int], ...]
    in_models: Rate


@dataclass(frozen=True)
class Reference:
    """Players and models on one episode, side by side.

    Attributes:
        episode: The episode's id.
        condition: Under which condition the models read.
        people: The players.
        models: Each model.
        seen: What runs of models do, beside players.
        skipped: Rows of other episodes.
        note: What may not be made of it.
    """

    episode: str
    condition: str
    people: People
    models: tuple[Beside, ...]
    seen: tuple[Seen, ...]
    skipped: int
    note: str = NOTE


def load_players(path: Path, sheet: Sheet) -> tuple[tuple[Run, ...], int]:
    """Read submissions that `worth humans clean` has kept, and score them; returns also how many rows are of other episodes.

    Raises:
        InputError: As `read_submissions`; or a row that cleaning would leave out, so that this is no cleaned file; or no row.
    """
    fields, rows = read_submissions(path)
    found = clean_submissions(fields, rows, [sheet.episode])
    others = [one for one in found.excluded if one.reason == "other-episode"]
    for out in found.excluded:
        if out.reason != "other-episode":
            raise InputError(
                path,
                f"a submission that is not the first valid one of its player ({out.reason})",
                where=f"row {out.submission.line}",
                hint=f"worth humans clean {clean(str(path))} --out first.csv",
            )
    if not found.kept:
        raise InputError(path, f"no submissions to {sheet.episode.id}")
    runs = []
    for one in found.kept:
        clues, roles = selected(one)
        response = Response("direct", tuple(clues), tuple(roles), "valid", (), None)
        runs.append(Run(PLAYERS, one.line, PLAYERS, response, score(clues, roles, sheet)))
    return tuple(runs), len(others)


def reference(
    sheet: Sheet, players: tuple[Run, ...], condition: str, runs: tuple[Run, ...], skipped: int = 0
) -> Reference:
    """Set players beside models on one episode.

    Args:
        sheet: The episode and its key.
        players: One run a player, from `load_players`.
        condition: Under which condition the models read.
        runs: The models' runs under it.
        skipped: Rows that were of other episodes.
    """
    people, models = Sample(sheet, players), Sample(sheet, runs)
    totals = [one.total for one in people.scores]
    cuts = quantiles(totals, n=100, method="inclusive") if len(totals) > 1 else []
    return Reference(
        episode=sheet.episode.id,
        condition=condition,
        people=People(
            players=len(players),
            total=spread(totals),
            clue=spread([one.clue for one in people.scores]),
            participant=spread([one.participant for one in people.scores]),
            quantiles=tuple((one, cuts[one - 1]) for one in _QUANTILES) if cuts else (),
            negative=wilson(sum(one < 0 for one in totals), len(totals)),
            histogram=histogram(people),
        ),
        models=tuple(_beside(models, model, totals) for model in models.models),
        seen=tuple(_seen(code, name, does, people, models) for code, name, does in _asked(sheet, models)),
        skipped=skipped,
    )


def _beside(sample: Sample, model: str, players: list[int]) -> Beside:
    own = tuple(sample.scores[i].total for i in sample.positions[model])
    mean = fmean(own) if own else None
    return Beside(
        model=model,
        runs=sum(run.model == model for run in sample.runs),
        totals=own,
        mean=mean,
        players_at_most=wilson(sum(one <= mean for one in players), len(players))
        if mean is not None
        else wilson(0, 0),
    )


Does: TypeAlias = Callable[[Run], bool]


def _selects(sentence: str, without: str = "") -> Does:
    """Whether a run selects one sentence, and not another."""
    return lambda run: sentence in run.response.clue_ids and without not in run.response.clue_ids


def _names(roles: frozenset[str], *, alone: bool = False) -> Does:
    """Whether a run names some candidates, perhaps among others."""
    if alone:
        return lambda run: frozenset(run.response.role_ids) == roles
    return lambda run: roles.issubset(run.response.role_ids)


def _below_0(run: Run) -> bool:
    return isinstance(run.outcome, Scored) and run.outcome.value.total < 0


def _asked(sheet: Sheet, models: Sample) -> list[tuple[str, str, Does]]:
    """What is looked for: whatever the report says of all runs, and every key sentence and candidate (§6.7)."""
    names = {one.id: one.name for one in sheet.episode.candidates}
    asked: list[tuple[str, str, Does]] = [
        ("negative", "total below 0", _below_0),
        ("all-right", "name all participants and nobody else", _names(sheet.key.guilty, alone=True)),
    ]
    for common in common_sets(models)[:1]:
        who = ", ".join(names[role] for role in sorted(common))
        said = f"name the models' most common answer, perhaps among others: {who}"
        asked.append(("attractor", said, _names(common)))
    asked += [(f"named-{role}", f"name {name}", _names(frozenset({role}))) for role, name in names.items()]
    key, n = set(sheet.key.sentences), len(models.scored)
    for sentence, mask in models.by_sentence.items():
        if sentence not in key and n and mask.bit_count() == n:
            said = f"select {sentence}, which is no key sentence and which every run selects"
            asked.append((f"unanimous-{sentence}", said, _selects(sentence)))
    for pair in sheet.key.pairs:
        bad, good = pair.suspicion, pair.exoneration
        asked += [
            (
                f"suspicion-{bad}-{good}",
                f"select {bad} (suspicion), not {good} (what clears)",
                _selects(bad, good),
            ),
            (
                f"exoneration-{bad}-{good}",
                f"select {good} (what clears), not {bad} (suspicion)",
                _selects(good, bad),
            ),
        ]
    asked += [(f"key-{one}", f"select the key sentence {one}", _selects(one)) for one in sheet.key.sentences]
    return asked


def _seen(code: str, name: str, does: Does, people: Sample, models: Sample) -> Seen:
    counts = tuple(
        (model, sum(does(models.scored[i]) for i in positions), len(positions))
        for model, positions in models.positions.items()
    )
    return Seen(
        code=code,
        name=name,
        players=wilson(sum(map(does, people.scored)), len(people.scored)),
        models=counts,
        in_models=wilson(sum(count > 0 for _, count, _ in counts), sum(of > 0 for _, _, of in counts)),
    )
