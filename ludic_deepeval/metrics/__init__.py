"""The scores as DeepEval metrics: every backstory is an assertion.

A metric finds its ledger in `test_case.metadata["ledger"]` (a `FactLedger`, a mapping, or the path of a ledger or
lockfile), else in the lockfile under `lockfiles` whose hash is that of `actual_output`, else by the `notary` that it was
given. Those of a stress test find their session in `test_case.metadata["session"]`, else ask the models that they were given.
When a metric cannot measure it sets `error` and fails; it never scores 0 for want of a measurement.

The only package here that imports DeepEval's metrics.
"""

from ludic_deepeval.lookup import find_lockfile
from ludic_deepeval.metrics.backstory import (
    LudicPotentialIndexMetric,
    PlayabilityGateMetric,
    PotentialConflictValueMetric,
    StoryExpectationMetric,
    TemporalConsistencyMetric,
    backstory_case,
)
from ludic_deepeval.metrics.base import LedgerMetric, Measured, NotaryCall
from ludic_deepeval.metrics.session import AdaptationEffortMetric, BranchingDiversityMetric, session_case

__all__ = [
    "AdaptationEffortMetric",
    "BranchingDiversityMetric",
    "LedgerMetric",
    "LudicPotentialIndexMetric",
    "Measured",
    "NotaryCall",
    "PlayabilityGateMetric",
    "PotentialConflictValueMetric",
    "StoryExpectationMetric",
    "TemporalConsistencyMetric",
    "backstory_case",
    "find_lockfile",
    "session_case",
]
