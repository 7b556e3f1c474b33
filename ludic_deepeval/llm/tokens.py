"""How many tokens a text may have, without its model's tokenizer: a bound from above and one from below."""

from typing import Final

from ludic_deepeval.text import word_count

_PLAIN_CHARACTERS: Final = 3  # English prose has 4 to 4.5 to a token, JSON about 3
TEMPLATE: Final = 64  # what a chat template adds to a request
_OTHER_TOKENS: Final = 2  # a Chinese character is 0.6 to 1.5 tokens, or 2 for an English tokenizer


def most_tokens(*texts: str) -> int:
    """A number of tokens that texts are not expected to exceed: ASCII by three characters, the rest two each."""
    characters = sum(len(text) for text in texts)
    other = sum(_not_ascii(text) for text in texts)
    return -(-(characters - other) // _PLAIN_CHARACTERS) + other * _OTHER_TOKENS


def least_tokens(*texts: str) -> int:
    """A number of tokens that no tokenizer is expected to go below: nine tenths of the words.

    Tokenizers part words at white space, so a text has at least as many tokens as words; a CJK character counts as half a
    word. A server that says it read fewer has cut the text.
    """
    return int(0.9 * sum(word_count(text) for text in texts))


def _not_ascii(text: str) -> int:
    return 0 if text.isascii() else len(text) - len(text.encode("ascii", "ignore"))
