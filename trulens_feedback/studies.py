"""The trials of a study as `Recorded`, from the folder that `ludic study run` keeps. Pure: no TruLens.

A line of `trials.jsonl` holds what was measured under the frozen policy, so its figures are taken as they stand; what cannot
be a figure (NaN, out of its range) is an error that names the line.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.files import read_bytes
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.report.margin import count
from trulens_feedback.figures import DIVERSITY, EFFORT, Figure, Measure, policy_text, reading_measures
from trulens_feedback.recorded import Recorded, Step, short_name

SIDECAR: Final = "study.json"
TRIALS: Final = "trials.jsonl"
STUDIES: Final = "ludic study"
_MOST_SIDECAR: Final = 64 * 1024 * 1024
_MOST_LINE: Final = 64 * 1024 * 1024
_PARTS: Final = ("lpi", "rtn", "mv", "ucr", "th")


def study_records(folder: Path) -> Iterator[Recorded]:
    """Yield a record for each trial that is kept; a last line that a kill has torn is none.

    Raises:
        InputError: A line that is no trial, or figures that are none; names the line.
    """
    sidecar = _object(read_bytes(folder / SIDECAR, limit=_MOST_SIDECAR), folder / SIDECAR, "")
    frozen = sidecar.get("policy")
    policy = policy_text(Policy()) | {
        name: value
        for name, value in (frozen if isinstance(frozen, dict) else {}).items()
        if isinstance(value, str)
    }
    file = folder / TRIALS
    if not file.is_file():
        return
    with file.open("rb") as stream:
        number = 0
        while raw := stream.readline(_MOST_LINE + 1):
            number += 1
            where = f"line {number}"
            if len(raw) > _MOST_LINE:
                raise InputError(file, f"longer than {_MOST_LINE // 1024**2} MB", where=where)
            if not raw.endswith(b"\n") and not _whole(raw):
                return
            line = _object(raw, file, where)
            try:
                yield trial_of(line, policy, folder.name)
            except InputError as error:
                raise InputError(file, str(error), where=where) from None
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                what = clean(f"{type(error).__name__}: {error}", limit=160)
                raise InputError(file, f"no trial of a study ({what})", where=where) from None


def trial_of(line: Mapping[str, Any], policy: Mapping[str, str], study: str) -> Recorded:
    """The record of one line."""
    cell = ", ".join(f"{name} {value}" for name, value in line["cell"].items())
    kinds = {one.get("kind", "model") for one in (line.get("producers") or {}).values()} - {"model"}
    by = f" ({', '.join(sorted(kinds))}, no model)" if kinds else ""
    times = line.get("times") or {}
    seconds = [float(one) for one in (times.get("seconds") or {}).values()]
    failed = [one for one in line.get("unscored", []) if one.get("cause") == "model"]
    gate = line.get("gate") or {}
    return Recorded(
        app=short_name(f"{STUDIES} {study}"),
        version=short_name(f"{cell}{by}"),
        id=short_name(line["trial"]),
        asked=f"{cell}, seed {line['seed']}",
        said=line.get("prose") or "",
        figures=tuple(_figures(line, policy)),
        steps=tuple(_drafts(line)),
        notes={
            "ludic.kind": "study trial",
            "ludic.seed": line["seed"],
            "ludic.gated": bool(gate.get("gated", False)),
            "ludic.rewrites": gate.get("rewrites") or 0,
            "ludic.sha256": line.get("prose_sha256") or "",
            "ludic.failures": [name for name in ("cascade", "quiet") if (line.get(name) or {}).get("found")],
        },
        ended=_when(times.get("finished")),
        seconds=sum(seconds),
        failed=failed[0]["reason"] if failed and not line.get("prose") else "",
    )


def _figures(line: Mapping[str, Any], policy: Mapping[str, str]) -> Iterator[Figure]:
    values = line["measures"]
    named = reading_measures(policy)
    gate = line.get("gate") or {}
    rewrites = count(gate.get("rewrites") or 0, "rewrite", "rewrites")
    verdict = {True: "passes the gate", False: "below the gate", None: "not gated or not scored"}[
        gate.get("passed")
    ]
    parts = ", ".join(
        f"{name.upper()} {values[name]:.2f}" for name in _PARTS[1:] if values.get(name) is not None
    )
    for name in _PARTS:
        told = f"{verdict} after {rewrites}; {parts}." if name == "lpi" else f"{named[name].says}."
        yield Figure(named[name], _value(line, values.get(name), "score"), told)
    needed = Fraction(policy["pcv_gate"])
    raw = _value(line, values.get("pcv"), "score")
    if isinstance(raw, Scored):
        share = float(min(Fraction(1), Fraction(raw.value) / needed)) if needed else 1.0
        note = f"PCV {raw.value:g} ({float(needed):g} needed)."
        yield Figure(named["pcv"], Scored(share), note, {"pcv": raw.value, "needed": float(needed)})
    else:
        yield Figure(named["pcv"], raw, "")
    consistency = line.get("consistency")
    if consistency is not None:
        faults = consistency.get("faults") or []
        told = ", ".join(faults) if faults else "Nothing contradicts itself."
        yield Figure(named["consistency"], Scored(float(consistency["score"])), told)
    yield from _of_play(line, values)


def _of_play(line: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[Figure]:
    reused, invented, ambiguous = (values.get(name) or 0 for name in ("reused", "invented", "ambiguous"))
    note = f"{invented} of {reused + invented} people and threads had to be invented"
    note += f", {ambiguous} could not be told." if ambiguous else "."
    yield _optional(EFFORT, line, values.get("e_a"), "label", note)
    overlap = ", ".join(
        f"{what} overlap by {values[name]:.2f}"
        for what, name in (("people", "npc_overlap"), ("threads", "hook_overlap"))
        if values.get(name) is not None
    )
    yield _optional(DIVERSITY, line, values.get("div_alpha"), "outline", f"{overlap}." if overlap else "")


def _optional(measure: Measure, line: Mapping[str, Any], value: Any, stage: str, note: str) -> Figure:
    return Figure(measure, _value(line, value, stage), note)


def _value(line: Mapping[str, Any], value: Any, stage: str) -> Outcome[float]:
    """A number of a line, or why there is none: by what the line says of that stage, else of any."""
    if value is not None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError("measures", f"found {shown(value)}", allowed="a number or null")
        return Scored(float(value))
    told = line.get("unscored") or []
    why = next((one for one in told if one.get("stage") == stage), told[0] if told else None)
    if why is None:
        return Unscored("model", "the store does not say why")
    return Unscored(why["cause"], why["reason"])


def _drafts(line: Mapping[str, Any]) -> Iterator[Step]:
    for number, one in enumerate(line.get("drafts") or []):
        told = [f"{name.upper()} {one[name]}" for name in ("lpi", "pcv") if one.get(name)]
        yield Step("generate", {"draft": number}, one.get("prose_sha256") or "", kind="generation")
        yield Step(
            "gate",
            {"draft": number},
            one["decision"],
            notes={"ludic.gate.decision": one["decision"], "ludic.gate.reasons": told},
        )


def _when(text: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo else None


def _object(raw: bytes, file: Path, where: str) -> dict[str, Any]:
    try:
        found = json.loads(raw, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(file, "no JSON object, or a number that JSON does not have", where=where)
    return found


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _whole(raw: bytes) -> bool:
    try:
        return isinstance(json.loads(raw), dict)
    except (ValueError, RecursionError):
        return False
