"""The one place where HTML is put together: everything is escaped unless it is `Html` already."""

import re
from html import escape
from typing import Final, TypeAlias

from ludic_deepeval.errors import clean

Attribute: TypeAlias = str | int | bool | None
_VOID: Final = frozenset({"br", "col", "input", "meta"})
_UNSHOWABLE: Final = re.compile("[\x00\ud800-\udfff]")  # what HTML drops and UTF-8 cannot say
_LONGEST_LINE: Final = 4000


class Html(str):
    """Markup that may stand in the page as it is."""

    __slots__ = ()


def text(value: str) -> Html:
    """Return any text as text, with its line breaks."""
    if isinstance(value, Html):
        return value
    return Html(escape(_UNSHOWABLE.sub("�", value).replace("\r\n", "\n").replace("\r", "\n"), quote=True))


def line(value: object) -> Html:
    """Return any text as one line of text: no control characters, nothing that turns the writing direction."""
    return text(clean(" ".join(str(value).split()), limit=_LONGEST_LINE))


def join(*parts: str) -> Html:
    """Return parts one after the other."""
    return Html("".join(map(text, parts)))


def el(tag: str, /, *children: str, **attributes: Attribute) -> Html:
    """Return an element.

    Args:
        tag: Its name.
        children: Texts, which are escaped, and elements.
        attributes: `class_` is `class` and `data_i` is `data-i`. None and False leave one out, True gives it no value.
    """
    given = "".join(
        f" {_name(name)}" if value is True else f' {_name(name)}="{text(str(value))}"'
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    return Html(f"<{tag}{given}>" if tag in _VOID else f"<{tag}{given}>{join(*children)}</{tag}>")


def _name(name: str) -> str:
    return name.rstrip("_").replace("_", "-")
