"""The style and scripts of the forms, and the page that holds them: one file that loads nothing."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from ludic_deepeval.report.page.markup import Attribute, Html, el


def page(title: str, lang: str, scripts: tuple[str, ...], *parts: str, **data: Attribute) -> str:
    """Return a whole document whose Content-Security-Policy allows its own style and script and nothing else.

    Args:
        title: The document's title.
        lang: The language of its words.
        scripts: The names of the scripts here, in their order; they run as one.
        parts: What stands in the body, escaped unless it is markup.
        data: Attributes of the body, which the scripts read.
    """
    style, script = _own("form.css"), Html("\n".join(_own(name) for name in scripts))
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none';"
        " form-action 'none'"
    )
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="referrer", content="no-referrer"),
        el("title", title),
        el("style", style),
    )
    body = el("body", *parts, el("script", script), **data)
    return f"<!doctype html>\n{el('html', head, body, lang=lang)}\n"


@cache
def _own(name: str) -> Html:
    return Html((Path(__file__).parent / name).read_text(encoding="utf-8"))


def _hash(source: str) -> str:
    return f"sha256-{b64encode(sha256(source.encode('utf-8')).digest()).decode('ascii')}"
