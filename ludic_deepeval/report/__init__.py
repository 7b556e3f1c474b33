"""Reports: findings out, nothing computed."""

from ludic_deepeval.report.as_json import check_json
from ludic_deepeval.report.as_text import check_text, score_text

__all__ = ["check_json", "check_text", "score_text"]
