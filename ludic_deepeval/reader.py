"""A Notary as the reader of submissions: strangers' texts, so what one of them may cost is bounded."""

from typing import Final

from ludic_deepeval.errors import InputError
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.llm.client import ChatModel
from ludic_deepeval.llm.loop import run
from ludic_deepeval.notary import PART, Settings, extract
from ludic_deepeval.submission import Reader
from ludic_deepeval.text import Prose

MOST: Final = PART  # characters: what one call reads


def reader_of(model: ChatModel, settings: Settings | None = None) -> Reader:
    """Have a model read texts that come without a ledger: one call each, and one more where quotes were not found.

    What it says is bound to the text anew by whoever judges, like a ledger that a platform sent along.

    Args:
        model: Who reads.
        settings: How it is asked.
    """

    def read(text: str) -> FactLedger:
        if len(text) > MOST:
            raise InputError("text", f"{len(text):,} characters", allowed=f"at most {MOST:,} for a model")
        found = run(extract(Prose(text, "text", front_matter=False), model, settings))
        if gap := found.lock.too_little_grounded:
            raise InputError("the model's reading", gap.reason)
        return found.lock.ledger

    return read
