"""The page that Streamlit runs: TruLens's dashboard as it is, but for its icon, which every browser would fetch from the web."""

from typing import Any

import streamlit
from trulens.dashboard.main import main  # noqa: TID251  # this module is an adapter

_KEPT = getattr(streamlit.set_page_config, "kept", streamlit.set_page_config)


def without_icon(**options: Any) -> None:
    """Set up the page without an icon from elsewhere."""
    _KEPT(**{name: value for name, value in options.items() if name != "page_icon"})


without_icon.kept = _KEPT  # type: ignore[attr-defined]  # the page is run anew for every click
streamlit.set_page_config = without_icon  # type: ignore[assignment]  # whatever it is given it passes on
main()
