"""The front matter of a file that has no place for one: `FILE.about.yaml` beside it."""

from pathlib import Path

from ludic_deepeval.errors import InputError
from ludic_deepeval.files import decode, load_yaml, read_bytes
from ludic_deepeval.ledger import load_model
from ludic_deepeval.sources.markdown import FrontMatter


def about(path: Path) -> FrontMatter:
    """Return what stands in `FILE.about.yaml`, if there is one, with the keys of front matter.

    Raises:
        InputError: It cannot be read, or holds something else.
    """
    beside = path.with_name(f"{path.name}.about.yaml")
    if not beside.is_file():
        return FrontMatter()
    data = load_yaml(decode(read_bytes(beside), beside), beside)
    if data is None:
        return FrontMatter()
    if not isinstance(data, dict):
        raise InputError(
            beside, "is no mapping", allowed="the keys of front matter, such as bible: or background_log:"
        )
    return load_model(FrontMatter, data, beside)
