"""Stores of trials that nobody ran: figures drawn from known distributions, to see what the analysis makes of them.

Every line says `simulated` of who gave its answers.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ludic_deepeval.studies.design import Design, load_design
from ludic_deepeval.studies.plan import TrialKey
from ludic_deepeval.studies.rows import Data
from ludic_deepeval.studies.store import Line

ROOT = Path(__file__).parents[1]
STUDY_2 = ROOT / "examples" / "paper-study-2.toml"

# Table 10's differences as §5.5 prints them, and the ungated means that §5.2 does.
PAPER = {"4B": 0.034, "8B": 0.075, "14B": -0.059, "Opus": 0.007, "Llama": -0.06}
UNGATED = {"4B": 0.30, "8B": 0.215, "14B": 0.264, "Opus": 0.288, "Llama": 0.25}
NOTHING = dict.fromkeys(PAPER, 0.0)


def study(path: Path = STUDY_2) -> Design:
    return load_design(path).design


def simulated(
    design: Design,
    effects: Mapping[str, float],
    *,
    seed: int,
    spread: float = 0.14,
    narrowing: Mapping[str, float] | float = 0.0,
    base: Mapping[str, float] | None = None,
) -> list[Line]:
    """Lines of a study of gate × generator: E_a moves by the generator's effect where there is a gate."""
    rng = np.random.default_rng(seed)
    lines = []
    noise = iter(rng.standard_normal((len(design.seeds) * len(design.cells), 3)))
    shares = iter(rng.beta(5, 2.5, size=(len(design.seeds) * len(design.cells), 4)))
    for at in design.seeds:
        for cell in design.cells:
            one, other, third = next(noise)
            generator, gated = cell["generator"], cell["gate"] == "gated"
            narrow = narrowing if isinstance(narrowing, float) else narrowing.get(generator, 0.0)
            e_a = (base or UNGATED).get(generator, 0.25) + gated * effects.get(generator, 0.0)
            lines.append(
                line(
                    TrialKey(cell, at),
                    e_a=e_a + spread * one,
                    div=0.93 - gated * narrow + 0.03 * other,
                    parts=next(shares),
                    pcv=max(0, 160 + 40 * gated + 35 * third),
                    rewrites=(at + len(lines)) % 4 if gated else 0,
                )
            )
    return lines


def line(key: TrialKey, *, e_a: float, div: float, parts: Any, pcv: float, rewrites: int) -> Line:
    e_a = min(max(float(e_a), 0.0), 1.0)
    emitted = 36
    invented = round(e_a * emitted)
    lpi = float(np.dot(parts, (0.4, 0.3, 0.2, 0.1)))
    gated, passed = key.cell["gate"] == "gated", bool(lpi >= 0.7 and pcv >= 150)
    measures = {
        "e_a": e_a,
        "invented_of_all": invented / (emitted + 1),
        "reused": emitted - invented,
        "invented": invented,
        "ambiguous": 1,
        "div_alpha": min(float(div), 1.0),
        "div_by_item": min(float(div), 1.0) - 0.05,
        "clusters": 3,
        "lpi": lpi,
        "pcv": float(pcv),
        **dict(zip(("rtn", "mv", "ucr", "th"), map(float, parts), strict=True)),
    }
    cost = {"calls": 3, "prompt_tokens": 3000, "completion_tokens": 900}
    return {
        "version": 1,
        "trial": key.id,
        "cell": dict(key.cell),
        "seed": key.seed,
        "measures": measures,
        "gate": {
            "gated": gated,
            "passed": passed,
            "converged": passed if gated else None,
            "rewrites": rewrites,
        },
        "consistency": {"score": 1},
        "cascade": {"found": gated and not passed and rewrites == 3} if rewrites else None,
        "quiet": {"found": False} if rewrites else None,
        "producers": {"architect": {"kind": "simulated"}},
        "cost": dict.fromkeys(("generate", "extract", "outline", "label"), cost),
        "unscored": [],
        "times": {
            "finished": "2026-01-01T00:00:00+00:00",
            "seconds": {
                "generate": 10.0 * (1 + rewrites),
                "extract": 20.0 * (1 + rewrites),
                "score": 0.001,
                "outline": 15.0,
                "label": 8.0,
            },
        },
    }


def data_of(design: Design, lines: list[Line]) -> Data:
    return Data.of(design, enumerate(lines, start=1))
