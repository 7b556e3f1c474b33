"""The frame of every page that is written: one file that loads nothing, runs only its own script and says so in its policy."""

from base64 import b64encode
from hashlib import sha256

from ludic_deepeval.report.page.markup import Attribute, Html, el


def document(
    title: str, style: Html, *parts: str, script: Html | None = None, lang: str = "en", **data: Attribute
) -> str:
    """Return a whole HTML document, the same for the same parts.

    Args:
        title: The document's title.
        style: Its stylesheet.
        parts: What stands in the body, escaped unless it is markup.
        script: Its script, if it has one.
        lang: The language of its words.
        data: Attributes of the body, which the script reads.
    """
    runs = "" if script is None else f" script-src '{_hash(script)}';"
    policy = f"default-src 'none'; style-src '{_hash(style)}';{runs} base-uri 'none'; form-action 'none'"
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
    body = el("body", *parts, *(() if script is None else (el("script", script),)), **data)
    return f"<!doctype html>\n{el('html', head, body, lang=lang)}\n"


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}"
