"""A report as tidy tables for other programs: one row an observation, one column a figure, no words around numbers.

A rate becomes five columns: `…_count`, `…_of`, `…_rate`, `…_low`, `…_high`. What does not exist is an empty cell.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from worth_deepeval.csv_text import cell
from worth_deepeval.diagnosis.contrasts import Contrast
from worth_deepeval.diagnostics import Diagnosis
from worth_deepeval.episode import Sheet
from worth_deepeval.runs import Run

if TYPE_CHECKING:
    import pandas as pd

Row: TypeAlias = dict[str, Any]


def run_rows(sheet: Sheet, runs: Iterable[Run]) -> Iterator[Row]:
    """Yield a row for each run: what it selected and scored; empty figures where it was not scored."""
    for run in runs:
        score = run.score
        body = run.response.body or {}
        said = body.get("confidence")
        yield {
            "episode": sheet.episode.id,
            "condition": run.condition,
            "model": run.model,
            "repetition": run.repetition,
            "json": run.response.json,
            "selections": run.response.selections,
            "compliant": run.response.compliant,
            "scored": score is not None,
            "unscored_reason": "" if score else getattr(run.outcome, "reason", ""),
            "total": score.total if score else None,
            "clue": score.clue if score else None,
            "participant": score.participant if score else None,
            "hits": len(score.hits) if score else None,
            "correct": len(score.correct) if score else None,
            "incorrect": len(score.incorrect) if score else None,
            "confidence": said if isinstance(said, int | float) and not isinstance(said, bool) else None,
            "clue_ids": " ".join(run.response.clue_ids),
            "role_ids": " ".join(run.response.role_ids),
        }


def to_frame(sheet: Sheet, runs: Iterable[Run]) -> "pd.DataFrame":
    """One row a run, as in `runs.csv`; missing values for what was not scored (needs pandas)."""
    import pandas as pd  # noqa: PLC0415  # an extra

    return pd.DataFrame(list(run_rows(sheet, runs)))


def tidy(
    sheet: Sheet, found: Sequence[Diagnosis], contrasts: Sequence[Contrast], runs: Iterable[Run]
) -> dict[str, list[Row]]:
    """Return every table of a report by name, each row with its episode and condition."""
    out: dict[str, list[Row]] = {"runs": list(run_rows(sheet, runs))}
    for one in found:
        lead = {"episode": one.episode, "version": one.version, "condition": one.condition}
        for name, rows in _tables(one):
            out.setdefault(name, []).extend(lead | row for row in rows)
    for each in contrasts:
        lead = {"episode": sheet.episode.id, "base": each.base, "other": each.other}
        for name, rows in (
            ("contrasts", [_flat(each, without=("base", "other", "shifts", "turns", "models"))]),
            ("contrast_shifts", map(_flat, each.shifts)),
            ("contrast_turns", ({"what": one.name} | _flat(one, without=("name",)) for one in each.turns)),
            ("contrast_models", map(_flat, each.models)),
        ):
            out.setdefault(name, []).extend(lead | row for row in rows)
    return {name: rows for name, rows in out.items() if rows}


def as_csv(rows: Sequence[Row]) -> str:
    """Return rows as CSV; text that a spreadsheet would take for a formula is given an apostrophe."""
    out = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([cell(row.get(name)) for name in columns] for row in rows)
    return out.getvalue()


def _tables(one: Diagnosis) -> Iterator[tuple[str, Iterable[Row]]]:
    yield (
        "conditions",
        [_flat({"cued": one.cued, "runs": one.runs, "scored": one.scored, "negative": one.negative})],
    )
    yield "models", (_flat(each, without=("totals", "confidences")) for each in one.models)
    yield "validity", (_flat(each, without=("causes",)) for each in one.validity)
    yield "not_scored", ({"run": name, "reason": why} for name, why in one.validity[-1].causes)
    yield "profiles", (_flat(each, without=("traits", "figures")) for each in one.profiles)
    yield "traits", ({"model": each.model} | _flat(trait) for each in one.profiles for trait in each.traits)
    apart = one.dissociation
    if apart:
        yield (
            "dissociation",
            [_flat(apart, without=("contrast", "much_found_nobody_right", "little_found_all_right"))],
        )
        yield "dissociation_ranks", map(_flat, apart.contrast)
        yield (
            "dissociation_runs",
            (
                {"what": what} | _flat(case)
                for what, cases in (
                    ("much found, nobody right", apart.much_found_nobody_right),
                    ("little found, somebody right and nobody wrong", apart.little_found_all_right),
                )
                for case in cases
            ),
        )
    yield "confidence", [_flat(one.confidence, without=("models", "points"))]
    yield "confidence_models", map(_flat, one.confidence.models)
    yield (
        "confidence_points",
        ({"confidence": said, "total": total, "runs": runs} for said, total, runs in one.confidence.points),
    )
    yield "histogram", (_flat(each, without=("by_model",)) for each in one.histogram)
    yield (
        "histogram_models",
        (
            {"low": each.low, "high": each.high, "model": model, "runs": runs}
            for each in one.histogram
            for model, runs in each.by_model
        ),
    )
    yield "attractors", map(_flat, one.attractors.sets)
    yield (
        "attractor_tests",
        (
            {"test": name} | _flat(each)
            for name, each in (("across", one.attractors.across), ("together", one.attractors.together))
            if each
        ),
    )
    yield "people", (_flat(each, without=("by_model",)) for each in one.roles)
    yield (
        "people_models",
        (
            {"role": each.role, "model": model} | _flat({"named": rate})
            for each in one.roles
            for model, rate in each.by_model
        ),
    )
    yield "with_distractor", [_flat(one.with_distractor, without=("each",))]
    yield (
        "with_each_distractor",
        ({"role": role} | _flat({"named": rate}) for role, rate in one.with_distractor.each),
    )
    yield "sentences", (_flat(each, without=("by_model",)) for each in one.sentences)
    yield (
        "sentences_models",
        (
            {"sentence": each.sentence, "key": each.key, "model": model} | _flat({"selected": rate})
            for each in one.sentences
            for model, rate in each.by_model
        ),
    )
    yield "key_sentences", map(_flat, one.near_misses)
    yield "nearness", [_flat(one.nearness)]
    yield "unanimous", ({"sentence": each} for each in one.unanimous)
    yield "zero_hit", ({"sentence": each} for each in one.zero_hit)
    yield "watched_pairs", map(_flat, one.pairs)
    yield "sentences_and_people", map(_flat, one.covariations)
    yield "links", (_flat(each, without=("missing",)) for each in one.chain.links)
    yield (
        "links_missing",
        (
            {"fact": each.fact, "sentence": sentence} | _flat({"lacking": rate})
            for each in one.chain.links
            for sentence, rate in each.missing
        ),
    )
    yield "conclusions", map(_flat, one.chain.verdicts)
    yield "items", map(_flat, one.items)


def _flat(one: Any, *, without: Sequence[str] = ()) -> Row:
    """A dataclass or mapping as one row: what is nested gets its path as its name."""
    pairs: Iterable[tuple[str, Any]] = (
        one.items()
        if isinstance(one, Mapping)
        else ((field.name, getattr(one, field.name)) for field in fields(one))
    )
    out: Row = {}
    for name, value in pairs:
        if name in without:
            continue
        if is_dataclass(value):
            out |= {f"{name}_{inner}": each for inner, each in _flat(value).items()}
        elif isinstance(value, tuple):
            out[name] = " ".join(map(str, value))
        else:
            out[name] = value
    return out
