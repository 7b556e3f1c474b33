"""Is a backstory playable, and does it contradict itself? LudicMetrics as pure functions over a Fact Ledger.

The public names load on first use, so that `import ludic_deepeval` costs next to nothing; none of them imports a
harness. The DeepEval metrics are in `ludic_deepeval.metrics`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ludic_deepeval.advice import Fix, apply_fix, cheapest_fixes
    from ludic_deepeval.bible import Bible, LinkageSupport, linkage_support, load_bible
    from ludic_deepeval.check import CheckResult, StoryResult, check_stories
    from ludic_deepeval.consistency import ConsistencyReport, check_consistency
    from ludic_deepeval.errors import InputError, LudicError, StaleError
    from ludic_deepeval.faults import Fault
    from ludic_deepeval.ledger import FactLedger, load_ledger
    from ludic_deepeval.lockfile import Lockfile, load_lockfile
    from ludic_deepeval.outcome import Outcome, Scored, Unscored
    from ludic_deepeval.policy import Policy
    from ludic_deepeval.reanchor import relock
    from ludic_deepeval.scoring import Gate, ScoreCard, score_ledger
    from ludic_deepeval.settings import find_policy
    from ludic_deepeval.sources import Story, read_story

_HOME = {
    "advice": ("Fix", "apply_fix", "cheapest_fixes"),
    "bible": ("Bible", "LinkageSupport", "linkage_support", "load_bible"),
    "check": ("CheckResult", "StoryResult", "check_stories"),
    "consistency": ("ConsistencyReport", "check_consistency"),
    "faults": ("Fault",),
    "errors": ("InputError", "LudicError", "StaleError"),
    "ledger": ("FactLedger", "load_ledger"),
    "lockfile": ("Lockfile", "load_lockfile"),
    "outcome": ("Outcome", "Scored", "Unscored"),
    "policy": ("Policy",),
    "settings": ("find_policy",),
    "reanchor": ("relock",),
    "scoring": ("Gate", "ScoreCard", "score_ledger"),
    "sources": ("Story", "read_story"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Bible",
    "CheckResult",
    "ConsistencyReport",
    "FactLedger",
    "Fault",
    "Fix",
    "Gate",
    "InputError",
    "LinkageSupport",
    "Lockfile",
    "LudicError",
    "Outcome",
    "Policy",
    "ScoreCard",
    "Scored",
    "StaleError",
    "Story",
    "StoryResult",
    "Unscored",
    "apply_fix",
    "cheapest_fixes",
    "check_consistency",
    "check_stories",
    "find_policy",
    "linkage_support",
    "load_bible",
    "load_ledger",
    "load_lockfile",
    "read_story",
    "relock",
    "score_ledger",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'ludic_deepeval' has no attribute '{name}'")
    value = getattr(import_module(f"ludic_deepeval.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
