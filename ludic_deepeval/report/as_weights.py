"""What `ludic ahp report`, `ludic weights` and `ludic policy` say of the weights of LPI."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ludic_deepeval.errors import clean
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from ludic_deepeval.report.as_text import Paint, counted, plain
from ludic_deepeval.studies.ahp import Elicitation
from ludic_deepeval.studies.ahp_words import SYMBOLS
from ludic_deepeval.studies.calibration import Calibration, Effect
from ludic_deepeval.studies.weights import NAMES, Comparison, rounded
from ludic_deepeval.studies.weights_draws import DrawComparison


def ahp_json(found: Elicitation, effect: Effect | None) -> dict[str, Any]:
    """The report of a panel as JSON."""
    rule = found.corroboration
    return {
        "version": 1,
        "experts": [
            {
                "expert": one.judgement.expert,
                "weights": _by_name(one.result.weights),
                "lambda_max": one.result.lambda_max,
                "consistency_ratio": one.result.consistency_ratio,
                "kept": one.kept,
                "oddest": {"pair": [SYMBOLS[name] for name in one.oddest[0]], "factor": one.oddest[1]},
            }
            for one in found.experts
        ],
        "kept": found.kept,
        "group": _by_name(found.group.value) if isinstance(found.group, Scored) else None,
        "intervals": {
            name: list(one.value) if isinstance(one, Scored) else None
            for name, one in zip(NAMES, found.intervals, strict=True)
        },
        "unscored": _why(found.group),
        "corroboration": None
        if rule is None
        else {
            "against": _by_name(rule.against),
            "deltas": _by_name(rule.deltas),
            "order": [SYMBOLS[name] for name in rule.order],
            "order_kept": rule.order_kept,
            "near": rule.near,
            "met": rule.met,
            "reach": rule.reach,
        },
        "effect": _effect_json(effect),
    }


def _effect_json(effect: Effect | None) -> dict[str, Any] | None:
    if effect is None:
        return None
    return {"stories": effect.stories, "gained": list(effect.gained), "lost": list(effect.lost)}


def _why(found: Outcome[Any]) -> dict[str, str] | None:
    return {"cause": found.cause, "reason": found.reason} if isinstance(found, Unscored) else None


def _by_name(values: Sequence[float]) -> dict[str, float]:
    return dict(zip(NAMES, values, strict=True))


def ahp_text(found: Elicitation, effect: Effect | None, paint: Paint = plain) -> Iterator[str]:
    """The report of a panel for people."""
    yield f"{counted(len(found.experts), 'expert', 'experts')}, {found.kept} with judgements that fit together (CR at most .10)"
    yield _head("consistency ratio")
    for one in found.experts:
        pair = " and ".join(one.oddest[0])
        told = (
            paint("kept", "green")
            if one.kept
            else paint("left out", "yellow") + f": {pair} fits its other answers worst (×{one.oddest[1]:.1f})"
        )
        name = clean(one.judgement.expert, limit=14)
        yield f"  {name:<14}{_cells(one.result.weights)}   {one.result.consistency_ratio:.3f}  {told}"
    rule = found.corroboration
    if isinstance(found.group, Unscored) or rule is None:
        yield f"  {paint('no group vector', 'yellow')}: {found.group.reason if isinstance(found.group, Unscored) else ''}"
        return
    yield f"  {'group':<14}{_cells(found.group.value)}"
    for end, name in enumerate(("from", "to")):
        ends = [one.value[end] if isinstance(one, Scored) else None for one in found.intervals]
        if None not in ends:
            yield f"  {name + ' (95 % BCa)':<14}{_cells([one for one in ends if one is not None])}"
    yield f"  {'in force':<14}{_cells(rule.against)}"
    yield f"  {'difference':<14}{''.join(f'{delta:>+8.3f}' for delta in rule.deltas)}"
    order = SYMBOLS[rule.order[0]]
    by_weight = sorted(rule.weights, reverse=True)
    for name, weight, before in zip(rule.order[1:], by_weight[1:], by_weight, strict=False):
        order += f" {'=' if before - weight < 1e-9 else '>'} {SYMBOLS[name]}"
    yield f"  order {order}: {'kept' if rule.order_kept else 'not kept'}; {'no' if rule.near else 'some'} weight off by more than .10"
    yield "  " + (
        paint("the panel bears the weights in force out", "green")
        if rule.met
        else paint("the panel does not bear the weights in force out", "yellow")
    )
    yield f"  a sweep of the weights reaches this vector from ±{100 * rule.reach:.0f} % on"
    if effect is not None:
        yield from _effect_text(effect)


def _effect_text(effect: Effect) -> Iterator[str]:
    moved = len(effect.gained) + len(effect.lost)
    yield f"  under it {moved} of {counted(effect.stories, 'story', 'stories')} would change sides of the LPI gate"
    for word, names in (("would pass", effect.gained), ("would fail", effect.lost)):
        for name in names:
            yield f"    {word}: {clean(name, limit=200)}"


def _head(last: str) -> str:
    return f"  {'':<14}{''.join(f'{name:>8}' for name in NAMES)}   {last}"


def _cells(values: Sequence[float]) -> str:
    return "".join(f"{value:>8.3f}" for value in values)


def weights_json(
    found: Sequence[Calibration], default: Sequence[float], about: Mapping[str, Any]
) -> dict[str, Any]:
    """What the methods found, as JSON."""
    return {
        "version": 1,
        **about,
        "in_force": _by_name(default),
        "methods": [
            {
                "name": one.name,
                "weights": _by_name(one.fit.value.weights) if isinstance(one.fit, Scored) else None,
                "shrunk": list(one.fit.value.shrunk) if isinstance(one.fit, Scored) else None,
                "details": dict(one.fit.value.details) if isinstance(one.fit, Scored) else None,
                "remarks": list(one.fit.value.remarks) if isinstance(one.fit, Scored) else None,
                "cross_validation": _comparison_json(one.comparison),
                "unscored": _why(one.fit) or _why(one.comparison),
            }
            for one in found
        ],
    }


def _comparison_json(found: Outcome[Comparison | DrawComparison]) -> dict[str, Any] | None:
    if isinstance(found, Unscored):
        return None
    one = found.value
    data: dict[str, Any] = {
        "error": one.error,
        "error_in_force": one.default_error,
        "gain": one.gain,
        "interval": list(one.interval.value) if isinstance(one.interval, Scored) else None,
        "better": one.better,
        "folds": one.folds,
        "ranges": {name: list(ends) for name, ends in zip(NAMES, one.ranges, strict=True)},
    }
    if isinstance(one, Comparison):
        return data | {
            "unit": "rmse",
            "concordance": one.concordance,
            "concordance_in_force": one.default_concordance,
            "stories": one.stories,
        }
    return data | {"unit": "nats a draw", "sessions": one.sessions}


def weights_text(
    found: Sequence[Calibration], default: Sequence[float], about: Sequence[str], paint: Paint = plain
) -> Iterator[str]:
    """What the methods found, for people."""
    yield from about
    yield _head("on what it did not see: error (in force), order right (in force)")
    yield f"  {'in force':<14}{_cells(default)}"
    for one in found:
        if isinstance(one.fit, Unscored):
            yield f"  {one.name:<14}{paint('not fitted', 'yellow')}: {clean(one.fit.reason, limit=300)}"
            continue
        fit = one.fit.value
        yield f"  {one.name:<14}{_cells(fit.weights)}   {_compared(one.comparison, paint)}"
        if isinstance(one.comparison, Scored):
            lows, highs = zip(*one.comparison.value.ranges, strict=True)
            spread = "".join(f"{f'{low:.2f}-{high:.2f}':>10}" for low, high in zip(lows, highs, strict=True))
            yield f"    over the folds{spread}"
        for remark in fit.remarks:
            yield f"    {clean(remark, limit=300)}"
        unexplained = [name for name in fit.shrunk if not any(name in remark for remark in fit.remarks)]
        if unexplained:
            yield f"    {', '.join(unexplained)} shrank to zero: the others say what it says"
    yield from _advice(found)


def _compared(found: Outcome[Comparison | DrawComparison], paint: Paint) -> str:
    if isinstance(found, Unscored):
        return f"not tested: {clean(found.reason, limit=200)}"
    one = found.value
    said = f"{one.error:.3f} ({one.default_error:.3f})"
    if isinstance(one, Comparison):
        said += f", {one.concordance:.0%} ({one.default_concordance:.0%})"
    else:
        said += " nats a draw"
    if one.better is None:
        return f"{said}, no interval"
    assert isinstance(one.interval, Scored)  # noqa: S101  # better is None without one
    word = "better" if one.better else "worse" if one.interval.value[1] < 0 else "no clear difference"
    return f"{said}, {paint(word, 'green' if one.better else 'yellow')}"


def _advice(found: Sequence[Calibration]) -> Iterator[str]:
    better = [
        one
        for one in found
        if isinstance(one.fit, Scored) and isinstance(one.comparison, Scored) and one.comparison.value.better
    ]
    if not better:
        yield "no method does clearly better than the weights in force on what it was not fitted to: keep them"
        return
    for one in better:
        assert isinstance(one.fit, Scored)  # noqa: S101  # better holds no other
        listed = ", ".join(map(str, rounded(one.fit.value.weights)))
        yield f"to use those of {one.name}, in ludic.toml:"
        yield f"    weights = [{listed}]"
        yield f'    calibration = "{one.name}: say on what, and when"'
