"""The tables of a study's report, in the shape of the paper's Tables 4 to 10: words and traceable numbers, no layout."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ludic_deepeval.errors import DataError
from ludic_deepeval.studies.design import spelt
from ludic_deepeval.studies.frozen import Sidecar
from ludic_deepeval.studies.numbers import Number, make, measured, pearson
from ludic_deepeval.studies.plan import StudyPlan
from ludic_deepeval.studies.record import STAGES
from ludic_deepeval.studies.rows import Data, Row
from ludic_deepeval.studies.threshold import BOUND, LOUD_BELOW, QUIET_FROM, Threshold

Entry: TypeAlias = str | Number | None


@dataclass(frozen=True)
class Table:
    """A table of the report.

    Attributes:
        id: Its anchor.
        title: What it shows.
        columns: The heads.
        rows: The rows; None where nothing was measured.
        notes: What has to be said beside it.
        like: Which table of the paper it has the shape of.
        extra: Further numbers, each with its name.
    """

    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...] = ()
    like: str = ""
    extra: tuple[tuple[str, Number], ...] = ()


def short(cell: dict[str, str]) -> str:
    """A cell in a narrow place."""
    return " ".join(cell.values())


def roles_table(plan: StudyPlan, data: Data) -> Table:
    """Who plays which part (Table 4)."""
    roles = plan.design.roles
    writers = dict.fromkeys(str(plan.level(key).architect) for key in plan.trials)
    rows: list[tuple[Entry, ...]] = [
        ("Architect", ", ".join(writers)),
        ("Notary", roles.notary),
        ("Gate", "arithmetic, no model"),
        ("Stress-Tester", roles.tester),
        ("reuse judge", roles.judge),
    ]
    notes = [f"Answers are {' and '.join(data.kinds)}: no model gave them."] if data.kinds else []
    if roles.same_model:
        notes.append("One model labels what it planned itself, by same_model.")
    return Table("roles", "Who plays which part", ("role", "model"), tuple(rows), tuple(notes), "Table 4")


def cells_table(data: Data) -> Table:
    """Means and spreads of each cell (Table 6)."""
    heads = ["cell", "trials"]
    parts = (("e_a", "E_a", 3), ("lpi", "LPI", 3), ("pcv", "PCV", 1))
    for _, head, _ in parts:
        heads += [head, f"SD {head}"]
    heads += ["clear the gate", "rewrites", "consistent"]

    def rows() -> Iterator[tuple[Entry, ...]]:
        for cell in data.cells:
            found = data.select(cell)
            entries: list[Entry] = [spelt(cell), make("count", "seed", [found], digits=0)]
            for name, _, digits in parts:
                path = f"measures.{name}"
                entries += [
                    make("mean", path, [found], digits=digits),
                    make("sd", path, [found], digits=digits),
                ]
            entries += [
                make("sum", "gate.passed", [found], digits=0),
                make("mean", "gate.rewrites", [found], digits=2),
                make("mean", "consistency.score", [found], digits=0, percent=True),
            ]
            yield tuple(entries)

    notes = ("Figures are over the trials in which they were measured.",)
    try:
        r = pearson("measures.lpi", "measures.e_a", data.rows)
    except DataError:
        r = None
    extra = (("Pearson r of LPI and E_a over all cells, descriptive", r),) if r is not None else ()
    return Table("cells", "Each cell", tuple(heads), tuple(rows()), notes, "Table 6", extra)


def _sides(data: Data) -> tuple[str, str, str, str, tuple[str, ...], tuple[str, ...]] | None:
    """The gate's factor and levels, the generator's factor, its ladder, and its other levels."""
    gate, ladder = data.design.gate, data.design.ladder
    if gate is None or ladder is None:
        return None
    others = tuple(name for name in data.design.factors[ladder.factor] if name not in ladder.levels)
    return gate.factor, gate.from_level, gate.to_level, ladder.factor, ladder.levels, others


def anova_tables(data: Data) -> Iterator[Table]:
    """The analysis of variance of E_a and of Div_alpha over gate and ladder (Table 7); controls are held out."""
    sides = _sides(data)
    if sides is None:
        return
    gate, before, after, generator, ladder, others = sides
    for name, label in (("e_a", "E_a"), ("div_alpha", "Div_alpha")):
        path = f"measures.{name}"
        groups = [data.select({gate: side, generator: level}) for side in (before, after) for level in ladder]
        notes = [f"Held out: {', '.join(others)}."] if others else []
        rows: list[tuple[Entry, ...]] = []
        if len(ladder) < 2:
            notes.append("The ladder has one level, so there is nothing to cross the gate with.")
        else:
            terms = (("of rows", gate), ("of columns", generator), ("interaction", f"{gate} × {generator}"))
            for term, said in terms:
                found = [
                    _try(f"ANOVA {term} {what}", path, groups, digits=digits, columns=len(ladder))
                    for what, digits in (("F", 2), ("df", 0), ("residual df", 0), ("p", "p"), ("eta", 3))
                ]
                rows.append((said, *found))
            if rows[0][1] is None:
                notes.append(f"Not computed: {_why(path, groups, len(ladder))}.")
        yield Table(
            f"anova-{name}",
            f"Two-way analysis of variance of {label}",
            ("effect", "F", "df", "residual df", "p", "partial η²"),
            tuple(rows),
            tuple(notes),
            "Table 7" if name == "e_a" else "",
        )


def _try(
    recipe: str, path: str, groups: Sequence[Sequence[Row]], *, digits: int | str, columns: int
) -> Number | None:
    try:
        return make(recipe, path, groups, digits=digits, columns=columns)
    except DataError:
        return None


def _why(path: str, groups: Sequence[Sequence[Row]], columns: int) -> str:
    try:
        if make("ANOVA interaction F", path, groups, columns=columns) is None:
            return "a cell has no measured trial"
    except DataError as error:
        return error.found
    return "it was"


def entities_table(data: Data) -> Table:
    """What the outlines of a trial hold (Table 8)."""
    names = ("reused", "invented", "ambiguous")
    rows: list[tuple[Entry, ...]] = []
    for cell in data.cells:
        found = data.select(cell)
        rows.append(
            (
                spelt(cell),
                *(make("mean", f"measures.{name}", [found], digits=2) for name in names),
                make("mean", "measures.invented_of_all", [found]),
                make("mean", "measures.e_a", [found]),
            )
        )
    heads = ("cell", "Reused", "Invented", "Ambiguous", "invented / all", "E_a")
    notes = (
        "Mean counts of a trial: people and threads of its three outlines together. Ambiguous ones are in no E_a.",
    )
    return Table("entities", "People and threads of a trial's outlines", heads, tuple(rows), notes, "Table 8")


def ladder_table(data: Data) -> Table | None:
    """Each generator without and with the gate, and the difference (Table 10)."""
    sides = _sides(data)
    if sides is None:
        return None
    gate, before, after, generator, ladder, others = sides
    measures = (("e_a", "E_a", 3), ("div_alpha", "Div_alpha", 3), ("lpi", "LPI", 3), ("pcv", "PCV", 1))
    rows: list[tuple[Entry, ...]] = []
    for level in (*ladder, *others):
        groups = [data.select({gate: side, generator: level}) for side in (before, after)]
        entries: list[Entry] = [level + (" (control)" if level in others else "")]
        for name, _, digits in measures:
            path = f"measures.{name}"
            entries += [make("mean", path, [group], digits=digits) for group in groups]
            entries.append(make("difference of means", path, groups, digits=digits, sign=True))
        rows.append(tuple(entries))
    heads = [generator]
    for _, label, _ in measures:
        heads += [f"{label} {before}", f"{label} {after}", f"Δ{label}"]
    return Table(
        "ladder", "Each generator without and with the gate", tuple(heads), tuple(rows), (), "Table 10"
    )


def threshold_table(found: Threshold) -> Table:
    """What the gate does to each backbone (§5.5)."""
    rows: list[tuple[Entry, ...]] = []
    for one in found.backbones:
        get = one.numbers.get
        rows.append(
            (
                one.name,
                one.effect or "not measured",
                one.failure or "none",
                get("e_a"), get("e_a from"), get("e_a to"), get("p"), get("TOST p"),
                get("converged"), get("rewrites"), one.cascades, one.quiet_trials,
                get("reused"), get("invented"), get("lpi"), get("pcv"), get("div_alpha"),
            )
        )  # fmt: skip
    heads = (
        "backbone", "the gate", "failure", "ΔE_a", "95 % from", "to", "p", "TOST p", "converge", "rewrites", "cascades",
        "quiet trials", "ΔReused", "ΔInvented", "ΔLPI", "ΔPCV", "ΔDiv_alpha",
    )  # fmt: skip
    notes = (
        found.boundary,
        (
            f"The gate helps or harms where the two-sided Welch test of ΔE_a has p < .05, does nothing where ΔE_a is equivalent to 0 within"
            f" ±{BOUND:.2f} by TOST, and else neither is shown."
        ),
        (
            f"Loud: fewer than {LOUD_BELOW:.0%} of the gated trials converge. Quiet: at least {QUIET_FROM:.0%} do, LPI, PCV and E_a rise, and"
            " more Invented than Reused ones are added. Cascades and quiet trials are counted trial by trial from the drafts."
        ),
    )
    return Table(
        "threshold", "The capability threshold, backbone by backbone", heads, tuple(rows), notes, "§5.5, 5.12"
    )


def sensitivity_table(data: Data, sidecar: Sidecar, draws: int = 20_000) -> Table | None:
    """How many stories would change sides of the LPI gate with other weights (Table 9)."""
    from fractions import Fraction  # noqa: PLC0415

    from ludic_deepeval.studies.sensitivity import weight_stability  # noqa: PLC0415

    rows = measured(data.rows, "measures.lpi")
    if not rows:
        return None
    paths = [f"measures.{name}" for name in ("rtn", "mv", "ucr", "th")]
    scores = [[row.value(path) or 0.0 for path in paths] for row in rows]
    weights = [float(Fraction(one)) for one in sidecar.policy["weights"].split()]
    least = float(Fraction(sidecar.policy["lpi_gate"]))
    lines = (tuple(row.number for row in rows),)
    found: list[tuple[Entry, ...]] = []
    for spread in (0.05, 0.10, 0.20, 0.30, 0.50):
        one = weight_stability(scores, weights=weights, least=least, spread=spread, draws=draws)
        more = {"spread": spread, "draws": draws, "seed": one.seed, "weights": weights, "least": least}

        def number(
            value: float | None, what: str, more: dict[str, object] = more, *, percent: bool = False
        ) -> Entry:
            if value is None:
                return None
            digits = 2 if percent else 3
            return Number(value, f"weights: {what}", " ".join(paths), lines, digits, more, percent=percent)

        found.append(
            (
                f"±{spread:.0%}",
                number(one.reclassified, "reclassified", percent=True),
                number(one.never, "never reclassified", percent=True),
                number(one.spearman_mean, "Spearman mean"),
                number(one.spearman_min, "Spearman minimum"),
            )
        )
    heads = ("weights", "change sides", "never do", "Spearman mean", "least")
    notes = (f"{draws:,} weight vectors, {len(rows)} stories; the bound of robustness is 5 % (§5.4).",)
    return Table("sensitivity", "Other LPI weights", heads, tuple(found), notes, "Table 9")


def components_table(data: Data) -> Table:
    """The mean of each component of LPI in each cell."""
    names = ("rtn", "mv", "ucr", "th")
    rows: list[tuple[Entry, ...]] = [
        (spelt(cell), *(make("mean", f"measures.{name}", [data.select(cell)]) for name in names))
        for cell in data.cells
    ]
    return Table("components", "Components of LPI", ("cell", "RTN", "MV", "UCR", "TH"), tuple(rows))


def interaction_table(data: Data) -> Table:
    """The mean of E_a in each cell with its interval, as the interaction plot draws it."""
    path = "measures.e_a"
    rows: list[tuple[Entry, ...]] = []
    for cell in data.cells:
        found = [data.select(cell)]
        mean = make("mean", path, found)
        ends = [make(f"interval of the mean, {end} end", path, found) for end in ("lower", "upper")]
        rows.append((spelt(cell), mean, *ends))
    heads = ("cell", "mean E_a", "95 % from", "to")
    return Table("interaction", "E_a with and without the gate", heads, tuple(rows))


def cost_table(data: Data) -> Table:
    """What each stage took in each cell: seconds, calls and tokens of a trial."""
    rows: list[tuple[Entry, ...]] = []
    for cell in data.cells:
        found = data.select(cell)
        rows.append(
            (
                spelt(cell),
                *(make("mean", f"times.seconds.{stage}", [found], digits=2) for stage in STAGES),
                *(_cost(found, stage, "calls", 1) for stage in STAGES if stage != "score"),
                *(_cost(found, stage, "completion_tokens", 0) for stage in STAGES if stage != "score"),
            )
        )
    asked = [stage for stage in STAGES if stage != "score"]
    heads = (
        "cell",
        *(f"{stage}, s" for stage in STAGES),
        *(f"{stage}, calls" for stage in asked),
        *(f"{stage}, tokens" for stage in asked),
    )
    notes = ("Means of a trial. Seconds are those in which an answer was awaited; tokens are those written.",)
    return Table("cost", "Time and cost of each stage", heads, tuple(rows), notes, "§4.5")


def _cost(rows: Sequence[Row], stage: str, what: str, digits: int) -> Number | None:
    return make("mean", f"cost.{stage}.{what}", [rows], digits=digits)


def missing_table(data: Data) -> Table | None:
    """What was not measured, and why; none when everything was."""
    counts: dict[tuple[str, str, str], list[Row]] = {}
    for row in data.rows:
        for one in row.line["unscored"]:
            counts.setdefault((spelt(row.cell), one["stage"], one["cause"]), []).append(row)
    if not counts:
        return None
    rows: list[tuple[Entry, ...]] = [
        (cell, stage, cause, make("count", "seed", [found], digits=0))
        for (cell, stage, cause), found in counts.items()
    ]
    notes = ("Such a trial is in no mean of what it lacks. If it is unlike the rest, the means are off.",)
    return Table("missing", "Not measured", ("cell", "stage", "cause", "trials"), tuple(rows), notes)
