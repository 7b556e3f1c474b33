"""All that a store shows, worked out once for every form of the report."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ludic_deepeval.studies.adjudicate import Verdict, adjudicate
from ludic_deepeval.studies.frozen import Sidecar
from ludic_deepeval.studies.numbers import Number
from ludic_deepeval.studies.plan import StudyPlan
from ludic_deepeval.studies.rating_key import RatingKey
from ludic_deepeval.studies.ratings import Ratings
from ludic_deepeval.studies.rows import Data
from ludic_deepeval.studies.store import SIDECAR, Entry, Store
from ludic_deepeval.studies.tables import (
    Table,
    anova_tables,
    cells_table,
    components_table,
    cost_table,
    entities_table,
    interaction_table,
    ladder_table,
    missing_table,
    roles_table,
    sensitivity_table,
    threshold_table,
)
from ludic_deepeval.studies.tables_ranks import Ranking, omnibus_table, rank_tables, rankings
from ludic_deepeval.studies.tables_ratings import Rated, rated_of, ratings_tables
from ludic_deepeval.studies.threshold import Threshold, capability_threshold


@dataclass(frozen=True)
class Findings:
    """What a study shows.

    Attributes:
        plan: The study.
        sidecar: What was frozen.
        data: Its trials.
        log: Amendments and deviations.
        verdicts: What became of the hypotheses.
        threshold: What the gate does to each backbone, where there is a gate and a ladder.
        rankings: The cells by rank.
        tables: Every table, in order.
        rated: What people made of its stories, where they were asked.
    """

    plan: StudyPlan
    sidecar: Sidecar
    data: Data
    log: tuple[Entry, ...]
    verdicts: tuple[Verdict, ...]
    threshold: Threshold | None
    rankings: tuple[Ranking, ...]
    tables: tuple[Table, ...]
    rated: Rated | None = None

    @property
    def title(self) -> str:
        """The study's name."""
        return self.plan.design.title or self.plan.design.id

    @property
    def cautions(self) -> tuple[str, ...]:
        """What has to be known before anything is read."""
        found = []
        kept, total = len(self.data.rows), self.data.trials
        if kept < total:
            found.append(f"Only {kept} of {total} trials are kept: this is no result yet.")
        if self.data.kinds:
            found.append(f"The answers are {' and '.join(self.data.kinds)}: no model gave them.")
        few = [cell for cell in self.data.cells if len(self.data.select(cell)) < 10]
        if few and kept:
            found.append(
                f"{len(few)} of {len(self.data.cells)} cells have fewer than 10 trials: tests on so few find hardly anything, and intervals are wide."
            )
        if self.rated is not None:
            found += filter(None, (self.rated.caution, self.rated.missing))
        return tuple(found)

    def numbers(self) -> Iterator[tuple[str, Number]]:
        """Every number, with where it stands."""
        for table in self.tables:
            for at, row in enumerate(table.rows):
                for column, one in zip(table.columns, row, strict=True):
                    if isinstance(one, Number):
                        yield f"{table.id}/{at}/{column}", one
            for name, one in table.extra:
                yield f"{table.id}/{name}", one
        for verdict in self.verdicts:
            for name, one in verdict.numbers:
                yield f"hypothesis {verdict.hypothesis.id}/{name}", one


def findings_of(store: Store, key: RatingKey | None = None, ratings: Ratings | None = None) -> Findings:
    """Work out all that a store shows.

    Args:
        store: The study.
        key: Of a form that was made from the store.
        ratings: What came back for it.

    Raises:
        InputError: No study here, a store that was edited, or ratings of other stories.
    """
    sidecar = store.sidecar()
    plan = sidecar.plan(store.path / SIDECAR)
    data = Data.of(plan.design, store.lines())
    rated = rated_of(data, key, ratings) if key is not None and ratings is not None else None
    threshold, ranked = capability_threshold(data), rankings(data)
    tables = [
        roles_table(plan, data),
        cells_table(data),
        *anova_tables(data),
        entities_table(data),
        components_table(data),
        sensitivity_table(data, sidecar),
        ladder_table(data),
        threshold_table(threshold) if threshold else None,
        interaction_table(data),
        omnibus_table(data),
        *rank_tables(ranked, len(data.cells)),
        *ratings_tables(rated),
        cost_table(data),
        missing_table(data),
    ]
    return Findings(
        plan,
        sidecar,
        data,
        store.log(),
        adjudicate(data),
        threshold,
        ranked,
        tuple(one for one in tables if one is not None),
        rated,
    )


def findings_json(found: Findings) -> dict[str, Any]:
    """Everything for programs: the verdicts, and every number with its recipe and lines."""
    return {
        "version": 1,
        "study": found.plan.design.id,
        "trials": found.data.trials,
        "kept": len(found.data.rows),
        "frozen": found.sidecar.created,
        "commit": found.sidecar.environment.commit,
        "cautions": list(found.cautions),
        "hypotheses": [
            {
                "id": one.hypothesis.id,
                "kind": one.hypothesis.kind,
                "outcome": one.outcome,
                "why": one.why,
                "missing": one.missing,
            }
            for one in found.verdicts
        ],
        "threshold": None
        if found.threshold is None
        else {
            "boundary": found.threshold.boundary,
            "backbones": [
                {"name": one.name, "effect": one.effect, "failure": one.failure}
                for one in found.threshold.backbones
            ],
        },
        "log": [entry.model_dump(mode="json") for entry in found.log],
        "ratings": found.rated.json if found.rated else None,
        "numbers": [{"id": name} | number.json for name, number in found.numbers()],
    }
