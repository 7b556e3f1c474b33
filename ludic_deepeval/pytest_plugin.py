"""The pytest plugin: fixtures for stories, and linear `deepeval test run`.

Registered by the one entry point `ludic`. Nothing here imports DeepEval until a fixture that needs it is used.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ludic_deepeval.linear_runs import pytest_sessionstart as pytest_sessionstart  # noqa: PLC0414  # a hook, re-exported

if TYPE_CHECKING:
    from deepeval.test_case import LLMTestCase  # noqa: TID251  # for the type alone

    from ludic_deepeval.bible import Bible
    from ludic_deepeval.policy import Policy

_OPTION = "ludic_backstories"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare where the backstories are."""
    parser.addini(
        _OPTION,
        "Files or folders of backstories, from the root.",
        type="args",
        default=["test_cases/backstories"],
    )


@cache
def _stories(root: Path, places: tuple[str, ...]) -> tuple[Path, ...]:
    from ludic_deepeval.sources import find_stories  # noqa: PLC0415  # pytest starts faster without

    return tuple(find_stories([root / place for place in places if (root / place).exists()]))


def _found(config: pytest.Config) -> tuple[Path, ...]:
    return _stories(config.rootpath, tuple(config.getini(_OPTION)))


@pytest.fixture(scope="session")
def bible(pytestconfig: pytest.Config) -> "Callable[[str], Bible]":
    """Load a Story Bible by name: `bible("faerun")` reads `bible/faerun` of the root folder."""
    from ludic_deepeval.bible import load_bible, resolve_bible  # noqa: PLC0415

    return lambda name: load_bible(resolve_bible(name, pytestconfig.rootpath, "the fixture bible"))


@pytest.fixture(scope="session")
def policy(pytestconfig: pytest.Config) -> "Policy":
    """The policy of the root folder's `ludic.toml` or `pyproject.toml`, else the paper's."""
    from ludic_deepeval.settings import find_policy  # noqa: PLC0415

    return find_policy(pytestconfig.rootpath)[0]


@pytest.fixture(scope="session")
def backstory_cases(pytestconfig: pytest.Config) -> "list[LLMTestCase]":
    """A DeepEval test case for every backstory under the ini option `ludic_backstories`."""
    from ludic_deepeval.metrics import backstory_case as make  # noqa: PLC0415

    return [make(path) for path in _found(pytestconfig)]


@pytest.fixture
def backstory_case(request: pytest.FixtureRequest) -> "LLMTestCase":
    """The test case of one backstory; a test that asks for it runs once for each."""
    from ludic_deepeval.metrics import backstory_case as make  # noqa: PLC0415

    return make(request.param)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `backstory_case` once for every story."""
    if "backstory_case" in metafunc.fixturenames:
        paths = _found(metafunc.config)
        metafunc.parametrize(
            "backstory_case",
            paths,
            ids=[path.name if "#" in path.name else path.stem for path in paths],
            indirect=True,
        )
