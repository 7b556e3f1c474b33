"""Whether the verdicts depend on any other number of a policy: beyond LudicMetrics §5.4, which perturbs the LPI weights alone.

Perturbed are the weights of LPI and of PCV (each group renormalised to its sum), τ, both thresholds, the density of a
thematic hole, and the saturation rule: what a further event of a band counts, how many count in full, and whether the
strongest do or those told first (§3.5 says "every event past the second" and not by which order).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from ludic_deepeval.errors import DataError
from ludic_deepeval.stats.inputs import Floats, share
from ludic_deepeval.stats.variance import SobolIndices, sobol_indices
from ludic_deepeval.studies.corpus import Bools, Corpus, Ints

FACTORS: Final = (
    "weights.rtn", "weights.mv", "weights.ucr", "weights.th",
    "tau.1", "tau.2", "tau.3",
    "pcv_weights.i", "pcv_weights.g", "pcv_weights.v", "pcv_weights.d",
    "density", "lpi_gate", "pcv_gate",
    "further_share", "full_events", "order",
)  # fmt: skip
OUTPUTS: Final = ("lpi", "pcv", "gate")
_CHUNK: Final = 256
_SLACK: Final = 1e-9


class Policies(NamedTuple):
    """Many policies, one a column. Gates are factors of what each ledger's profile asks."""

    weights: Floats
    tau: Floats
    pcv_weights: Floats
    density: Floats
    lpi_gate: Floats
    pcv_gate: Floats
    further_share: Floats
    full_events: Ints
    told: Bools

    def only(self, where: Ints) -> "Policies":
        """Return some of the columns."""
        return Policies(
            weights=self.weights[:, where],
            tau=self.tau[:, where],
            pcv_weights=self.pcv_weights[:, where],
            density=self.density[where],
            lpi_gate=self.lpi_gate[where],
            pcv_gate=self.pcv_gate[where],
            further_share=self.further_share[where],
            full_events=self.full_events[where],
            told=self.told[where],
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyStability:
    """What perturbing everything at once did.

    Attributes:
        spread: Each number was multiplied by 1 ± spread at most.
        draws: Policies that were tried.
        ledgers: How many were scored.
        lpi: The mean share of ledgers whose LPI is on the other side of its threshold than under the default policy.
        pcv: The same of PCV.
        gate: The same of the whole gate.
        quadrant: The mean share whose quadrant of the LPI × PCV plane is another.
        never: The share of ledgers whose quadrant no policy changed.
        moved: For each ledger the share of policies that changed its quadrant.
        seed: Of the draws.
    """

    spread: float
    draws: int
    ledgers: int
    lpi: float
    pcv: float
    gate: float
    quadrant: float
    never: float
    moved: tuple[float, ...]
    seed: int


def policy_stability(
    corpus: Corpus, *, spread: float = 0.20, draws: int = 2_000, seed: int = 0
) -> PolicyStability:
    """Perturb every number of the policy at once and count which verdicts change.

    Args:
        corpus: Scored ledgers.
        spread: How far each number goes, as a share of it, above 0 and below 1; one, two or three events count in full.
        draws: Policies to try.
        seed: The same seed gives the same policies.
    """
    share(spread, "sensitivity", "spread")
    if draws < 1:
        raise DataError("sensitivity", f"{draws} draws", allowed="at least 1")
    inputs = np.random.default_rng(seed).random((len(FACTORS), draws))
    changed = np.zeros(3, dtype=np.int64)
    moved = np.zeros(len(corpus), dtype=np.int64)
    for _, plays, presses in verdicts(corpus, policies(corpus, inputs, spread)):
        other_lpi, other_pcv = plays != corpus.plays[:, None], presses != corpus.presses[:, None]
        other_gate = (plays & presses) != corpus.passes[:, None]
        changed += [np.count_nonzero(other) for other in (other_lpi, other_pcv, other_gate)]
        moved += np.count_nonzero(other_lpi | other_pcv, axis=1)
    all_told = draws * len(corpus)
    lpi, pcv, gate = (changed / all_told).tolist()
    return PolicyStability(
        spread=spread,
        draws=draws,
        ledgers=len(corpus),
        lpi=lpi,
        pcv=pcv,
        gate=gate,
        quadrant=float(moved.sum() / all_told),
        never=float((moved == 0).mean()),
        moved=tuple((moved / draws).tolist()),
        seed=seed,
    )


def policy_sobol(
    corpus: Corpus, *, spread: float = 0.20, n: int = 1024, seed: int = 0, resamples: int = 0
) -> dict[str, SobolIndices | None]:
    """Split the variance of the share of ledgers that pass LPI, PCV and the gate between the numbers of a policy.

    Args:
        corpus: Scored ledgers.
        spread: As in `policy_stability`.
        n: Base samples, a power of two; every ledger is scored under n × 19 policies.
        seed: Of the sample.
        resamples: Of the bootstrap intervals; 0 makes none.

    Returns:
        For `lpi`, `pcv` and `gate` the indices of `FACTORS`, or None: no policy moves a ledger, and there is no variance to split.
    """
    share(spread, "sensitivity", "spread")
    kept: dict[str, Floats] = {}

    def passing(name: str, inputs: Floats) -> Floats:
        if not kept:  # the three samples are one and the same
            for output in OUTPUTS:
                kept[output] = np.empty(inputs.shape[1])
            for where, plays, presses in verdicts(corpus, policies(corpus, inputs, spread)):
                for output, found in zip(OUTPUTS, (plays, presses, plays & presses), strict=True):
                    kept[output][where] = found.mean(axis=0)
        return kept[name][None]

    found: dict[str, SobolIndices | None] = {}
    for name in OUTPUTS:
        try:
            found[name] = sobol_indices(
                lambda inputs, name=name: passing(name, inputs),  # type: ignore[misc]  # bound now, not later
                [(0.0, 1.0)] * len(FACTORS),
                names=FACTORS,
                n=n,
                seed=seed,
                resamples=resamples,
            )[0]
        except DataError:
            if name not in kept or np.ptp(kept[name]) > 0:  # wrong arguments, and no lack of variance
                raise
            found[name] = None
    return found


def policies(corpus: Corpus, inputs: Floats, spread: float) -> Policies:
    """Return the policies that numbers in [0, 1) stand for, `FACTORS` × samples; one half of all is the default."""
    default = corpus.policy
    factor = 1 + spread * (2 * inputs - 1)

    def near(values: Any, rows: slice) -> Floats:
        return np.asarray([float(value) for value in values])[:, None] * factor[rows]

    weights = near(default.weights, slice(0, 4))
    pcv_weights = near(default.pcv_weights, slice(7, 11))
    levels = np.array([max(default.full_events - 1, 0), default.full_events, default.full_events + 1])
    return Policies(
        weights=weights / weights.sum(axis=0),
        tau=np.minimum(near(default.tau, slice(4, 7)), 1.0),  # a policy allows no more
        pcv_weights=pcv_weights
        * float(sum(default.pcv_weights))
        / np.maximum(pcv_weights.sum(axis=0), _SLACK),
        density=np.minimum(float(default.density) * factor[11], 1.0),
        lpi_gate=factor[12],
        pcv_gate=factor[13],
        further_share=np.minimum(float(default.further_share) * factor[14], 1.0),
        full_events=levels[np.minimum((inputs[15] * 3).astype(int), 2)],
        told=inputs[16] >= 0.5,
    )


def verdicts(corpus: Corpus, tried: Policies) -> Iterator[tuple[Ints, Bools, Bools]]:
    """Yield, some policies at a time, which they are, and ledgers × policies whether LPI and whether PCV passes."""
    for full in np.unique(tried.full_events):
        for told in (False, True):
            chosen = np.flatnonzero((tried.full_events == full) & (tried.told == told))
            rule = _Saturation(corpus, int(full), told=told) if len(chosen) else None
            for start in range(0, len(chosen), _CHUNK):
                where = chosen[start : start + _CHUNK]
                some = tried.only(where)
                least_lpi = corpus.lpi_least[:, None] * some.lpi_gate - _SLACK
                least_pcv = corpus.pcv_least[:, None] * some.pcv_gate - _SLACK
                assert rule is not None  # noqa: S101  # there are policies, so there is one
                yield where, lpi_under(corpus, some) >= least_lpi, rule.pcv(some) >= least_pcv


def lpi_under(corpus: Corpus, tried: Policies) -> Floats:
    """LPI of each ledger under each policy (Eq 1 to 4 and 11)."""
    policy = corpus.policy
    node, cap = float(policy.node_share), float(policy.reactivity_cap)
    nodes = node * np.minimum(corpus.active, policy.active_cap) / policy.active_cap
    rtn = nodes[:, None] + (1 - node) * np.minimum(corpus.tiers @ tried.tau, cap) / cap
    holes = _by_owner(
        (corpus.densities[:, None] <= tried.density + _SLACK).astype(float), corpus.mystery_owner, len(corpus)
    )
    peak = policy.hole_peak
    th = np.where(holes <= peak, holes / peak, np.maximum(0.0, 1 - float(policy.hole_decay) * (holes - peak)))
    _, mv, ucr, _ = corpus.components.T
    w = tried.weights
    return np.asarray(w[0] * rtn + w[1] * mv[:, None] + w[2] * ucr[:, None] + w[3] * th)


class _Saturation:
    """PCV under one form of the saturation rule; only bands with more events than count in full need a look."""

    def __init__(self, corpus: Corpus, full: int, *, told: bool) -> None:
        self._ledgers = len(corpus)
        dims, owner = corpus.dimensions, corpus.event_owner
        self._sums = _by_owner(dims, owner, self._ledgers)
        bands = (dims[:, 1] // corpus.policy.band_width).astype(np.int64)
        order = np.lexsort((np.arange(len(dims)), bands, owner))  # by ledger, band, and as told
        keys = np.stack([owner[order], bands[order]])
        begins = (
            np.flatnonzero(np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))) if len(dims) else order
        )
        sizes = np.diff(np.append(begins, len(dims)))
        crowded = sizes > full
        begins, sizes = begins[crowded], sizes[crowded]
        widest = int(sizes.max()) if len(sizes) else 0
        # Bands × places in them, filled up with an event of no strength.
        places = np.arange(widest)
        members = np.where(places < sizes[:, None], begins[:, None] + places, len(dims))
        self._dims = np.vstack([dims[order], np.zeros(4)])[members]
        self._owner = owner[order][begins] if len(begins) else np.empty(0, dtype=np.int64)
        self._full, self._told = full, told

    def pcv(self, tried: Policies) -> Floats:
        """PCV of each ledger under each policy (Eq 7)."""
        total: Floats = self._sums @ tried.pcv_weights
        if not len(self._owner):
            return total
        strength = self._dims @ tried.pcv_weights  # bands × places × policies
        if not self._told:
            strength = -np.sort(-strength, axis=1)
        further = strength[:, self._full :].sum(axis=1)
        return np.asarray(total - (1 - tried.further_share) * _by_owner(further, self._owner, self._ledgers))


def _by_owner(values: Floats, owner: Ints, owners: int) -> Floats:
    """Sum rows that belong together; owners are ascending, and may have none."""
    out = np.zeros((owners, values.shape[1]))
    if len(owner):
        begins = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
        out[owner[begins]] = np.add.reduceat(values, begins, axis=0)
    return out
