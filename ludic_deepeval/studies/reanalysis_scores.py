"""LudicMetrics §3: the scores of its examples, by the code that scores stories."""

from fractions import Fraction
from typing import Any, Final

from ludic_deepeval.ledger import Event, FactLedger, Goal, Hook, Mystery, Npc
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import ScoreCard, score_ledger, thematic_holes
from ludic_deepeval.studies.reanalysis_figures import Figure, Found, Recipe, agreement, equal
from ludic_deepeval.vagueness import Names, measure

_LEDGER: Final = "score_ledger"


def story(
    people: int = 0,
    hooks: tuple[int, ...] = (),
    goals: int = 0,
    holes: int = 0,
    events: tuple[tuple[int, int, int, int], ...] = (),
) -> FactLedger:
    """A ledger with so many people who want something, hooks of these tiers, pursued goals, holes, and events' I, G, V, D."""
    return FactLedger(
        schema_version=1,
        protagonist="Kaelen",
        npcs=tuple(Npc(id=f"n{i}", name="a rival", status="alive", unresolved=True) for i in range(people)),
        hooks=tuple(Hook(id=f"h{i}", text="a thread", tier=tier) for i, tier in enumerate(hooks)),
        goals=tuple(Goal(id=f"g{i}", text="an aim") for i in range(goals)),
        mysteries=tuple(Mystery(id=f"m{i}", text="someone left no word") for i in range(holes)),
        events=tuple(
            Event(
                id=f"e{i}", phase="P2", summary="it happened", immediacy=a, gravity=b, linkage=c, divergence=d
            )
            for i, (a, b, c, d) in enumerate(events)
        ),
    )


# Table 2's two drafts, as far as the text tells what they hold.
STERILE: Final = story(people=3, hooks=(1, 2), holes=1)
READY: Final = story(people=3, hooks=(1, 1), goals=4, holes=3)
_RTN: Final = {
    "rtn.sterile": STERILE,
    "rtn.ready": READY,
    "rtn.corpus_min": story(people=1, hooks=(1,)),
    "rtn.corpus_max": story(people=3, hooks=(1, 1, 1, 2, 2)),  # Σ τ = 4.2
}


def lpi(ledger: FactLedger, policy: Policy | None = None) -> float:
    """LPI as a float."""
    return float(score_ledger(ledger, policy).lpi)  # type: ignore[arg-type]  # these ledgers have one


def _pcv(card: ScoreCard) -> float:
    return float(card.pcv)  # type: ignore[arg-type]  # as above


def _one(value: float, figure: Figure, by: str = _LEDGER) -> Found:
    return Found(value, agreement([(value, figure.printed, None)]), by)


def _lpi_gap(figure: Figure, _: dict[str, Figure]) -> Found:
    return _one(lpi(READY) - lpi(STERILE), figure)


def _rtn(figure: Figure, _: dict[str, Figure]) -> Found:
    return _one(float(score_ledger(_RTN[figure.id]).rtn), figure)


def _ucr(figure: Figure, _: dict[str, Figure]) -> Found:
    shares = [figure.inputs[name] for name in ("a", "b")]
    hooks = [(1,) * urgent + (2,) * (every - urgent) for urgent, every in shares]
    value = [float(score_ledger(story(hooks=one)).ucr) for one in hooks]
    return Found(value, equal(value, figure.printed), _LEDGER)


def _ucr_single(figure: Figure, _: dict[str, Figure]) -> Found:
    return _one(float(score_ledger(story(hooks=(1,))).ucr), figure)


def _th_curve(figure: Figure, _: dict[str, Figure]) -> Found:
    value = [float(thematic_holes(k)) for k in figure.inputs["k"]]
    pairs = [(value[1], figure.printed["k=1"], 3), (value[3], figure.printed["k=3"], 1)]
    return Found(value, agreement(pairs), "thematic_holes")


def _th_median(figure: Figure, _: dict[str, Figure]) -> Found:
    return _one(float(thematic_holes(4) + thematic_holes(3)) / 2, figure, "thematic_holes")


def _draws(figure: Figure, _: dict[str, Figure]) -> Found:
    shares = figure.inputs["pct"]
    value = [share / sum(shares) for share in shares]
    return Found(value, agreement((a, b, 1) for a, b in zip(value, figure.printed, strict=True)), "shares")


def _dims(figure: Figure) -> tuple[int, int, int, int]:
    i, g, v, d = (figure.inputs[name] for name in "IGVD")
    return i, g, v, d


def _event(figure: Figure, _: dict[str, Figure]) -> Found:
    return _one(_pcv(score_ledger(story(events=(_dims(figure),)))), figure)


def _sterile_total(figure: Figure, every: dict[str, Figure]) -> Found:
    first = _pcv(score_ledger(story(events=(_dims(every["pcv.infancy_sterile"]),))))
    return Found(figure.inputs["total"] - first, "not printed", _LEDGER)


def _ready_total(figure: Figure, every: dict[str, Figure]) -> Found:
    last = _pcv(score_ledger(story(events=(_dims(every["pcv.adulthood_ready"]),))))
    return Found(figure.inputs["total"] - last, "not printed", _LEDGER)


def _range(figure: Figure, _: dict[str, Figure]) -> Found:
    value = [_pcv(score_ledger(story(events=(tuple(figure.inputs[end]),)))) for end in ("lo", "hi")]
    return Found(value, equal(value, figure.printed), _LEDGER)


def _bands(figure: Figure, _: dict[str, Figure]) -> Found:
    card = score_ledger(story(events=tuple((5, g, 5, 5) for g in figure.inputs["G"])))
    return Found([row.band for row in card.events], "not printed", _LEDGER)


def _vague(figure: Figure, _: dict[str, Figure]) -> Found:
    found = [measure(figure.inputs[name], Names(story())) for name in ("s1", "s2")]
    densities = [float(one.density) for one in found]  # type: ignore[union-attr]  # English is measured
    value: dict[str, list[Any]] = {
        "counts": [[len(one.named), one.tokens] for one in found],  # type: ignore[union-attr]  # as above
        "d": densities,
        "VI": [1 - one for one in densities],
    }
    pairs = [
        (one, shown, 2)
        for name in ("d", "VI")
        for one, shown in zip(value[name], figure.printed[name], strict=True)
    ]
    return Found(value, agreement(pairs), "vagueness.measure")


def _vague_as_printed(figure: Figure, _: dict[str, Figure]) -> Found:
    counts = []
    for name in ("s1", "s2"):
        _, *later = words = figure.inputs[name].split()
        counts.append([sum(word[0].isupper() or word[0].isdigit() for word in later), len(words)])
    densities = [Fraction(named, every) for named, every in counts]
    accepted = densities[1] <= Policy().density
    value: dict[str, Any] = {"counts": counts, "d": [float(one) for one in densities]}
    value["second"] = "accepted" if accepted else "rejected"
    return Found(value, equal(value["second"], figure.printed["second"]), "the rule as worded")


def _percent(figure: Figure, _: dict[str, Figure]) -> Found:
    value = 100 * figure.inputs["a"] / figure.inputs["b"]
    return Found(value, agreement([(value, figure.printed, 1)]), "share")


def _mean_vagueness(figure: Figure, _: dict[str, Figure]) -> Found:
    return _one(1 - figure.inputs["d"], figure, "1 − d")


def _threshold(_figure: Figure, _: dict[str, Figure]) -> Found:
    return Found(None, "disagrees", "reading")


def _expert(figure: Figure, _: dict[str, Figure]) -> Found:
    weights = tuple(Fraction(str(weight)) for weight in figure.inputs["w"])
    policy = Policy(weights=weights)  # type: ignore[arg-type]  # four
    return Found({"sterile": lpi(STERILE, policy), "ready": lpi(READY, policy)}, "not printed", _LEDGER)


RECIPES: Final[dict[str, Recipe]] = {
    "lpi.sterile": lambda figure, _: _one(lpi(STERILE), figure),
    "lpi.ready": lambda figure, _: _one(lpi(READY), figure),
    "lpi.gap": _lpi_gap,
    **dict.fromkeys(_RTN, _rtn),
    "ucr.examples": _ucr,
    "ucr.single_t1": _ucr_single,
    "th.curve": _th_curve,
    "th.median": _th_median,
    "draw.weights": _draws,
    "pcv.infancy_sterile": _event,
    "pcv.adulthood_ready": _event,
    "pcv.sterile_total": _sterile_total,
    "pcv.ready_total": _ready_total,
    "pcv.range": _range,
    "pcv.bands": _bands,
    "pcv.threshold": _threshold,
    "vi.examples": _vague,
    "vi.detector_as_printed": _vague_as_printed,
    "vi.audit160": _percent,
    "vi.audit478": _percent,
    "vi.mean": _mean_vagueness,
    "ahp.lpi": _expert,
}
