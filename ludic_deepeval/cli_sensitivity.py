"""`ludic sensitivity`: how far the verdicts on stories depend on the numbers that somebody chose."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludic_deepeval.errors import DataError, InputError
from ludic_deepeval.terminal import complain, print_json, progress, require_profile, say

if TYPE_CHECKING:
    from ludic_deepeval.report.as_sensitivity import Sensitivity
    from ludic_deepeval.studies.corpus import Corpus

_MOST_DRAWS = 1_000_000
_MOST_BASE = 1 << 16


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(sensitivity)


def sensitivity(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Stories, or folders of stories.")],
    spread: Annotated[
        float, typer.Option(help="How far off the numbers may be: 0.2 is ±20 %, which the verdict is about.")
    ] = 0.2,
    draws: Annotated[int, typer.Option(help="Weight vectors to try.")] = 20_000,
    base: Annotated[
        int, typer.Option("--sobol", metavar="N", help="Base samples of Sobol's analysis, a power of two.")
    ] = 4096,
    everything: Annotated[
        bool,
        typer.Option(
            "--everything", help="Perturb every number of the policy too, and not the LPI weights alone."
        ),
    ] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same figures.")] = 0,
    profile: Annotated[str | None, typer.Option(help="A profile that overrides the stories' own.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Perturb the weights behind LPI and count which stories change sides of the gate. Needs the extra `studies`."""
    require_profile(profile)
    _require(0 < spread < 1, "--spread", spread, "more than 0 and less than 1")
    _require(1 <= draws <= _MOST_DRAWS, "--draws", draws, f"1 to {_MOST_DRAWS:,}")
    _require(
        2 <= base <= _MOST_BASE and not base & (base - 1),
        "--sobol",
        base,
        f"a power of two up to {_MOST_BASE:,}",
    )
    _require(seed >= 0, "--seed", seed, "at least 0")
    try:
        import numpy as np  # noqa: F401  # asked for here, so that its lack is told before any story is read
        import scipy  # noqa: F401  # as above
    except ModuleNotFoundError as error:
        raise InputError(
            "ludic sensitivity", f"{error.name} is not installed", hint="pip install 'ludic-worth[studies]'"
        ) from None
    from ludic_deepeval.report.as_sensitivity import sensitivity_json, sensitivity_text

    corpus, errors = _corpus(paths, profile)
    found = _analysed(corpus, spread, draws=draws, base=base, seed=seed, everything=everything)
    if as_json:
        print_json(sensitivity_json(found))
    else:
        for line in sensitivity_text(found):
            say(line)
    for wrong in errors:
        complain(wrong)
    raise typer.Exit(2 if errors else 0 if found.at.robust else 1)


def _corpus(paths: list[Path], profile: str | None) -> "tuple[Corpus, list[InputError]]":
    from dataclasses import replace

    from ludic_deepeval.check import check_stories
    from ludic_deepeval.outcome import Scored
    from ludic_deepeval.studies.corpus import corpus_of

    result = check_stories(paths, profile=profile, progress=progress)
    cards = [
        (str(one.path), one.outcome.value.card) for one in result.stories if isinstance(one.outcome, Scored)
    ]
    unread = [
        (str(one.path), one.outcome.reason) for one in result.stories if not isinstance(one.outcome, Scored)
    ]
    if not cards:
        if result.errors:
            raise result.errors[0]
        raise InputError("ludic sensitivity", "no story that could be scored", hint="ludic check says why")
    corpus = corpus_of(cards)
    return replace(corpus, left_out=(*unread, *corpus.left_out)), list(result.errors)


def _analysed(
    corpus: "Corpus", spread: float, *, draws: int, base: int, seed: int, everything: bool
) -> "Sensitivity":
    from ludic_deepeval.report.as_sensitivity import Sensitivity
    from ludic_deepeval.studies.policies import policy_sobol, policy_stability
    from ludic_deepeval.studies.sensitivity import SWEEP, corpus_stability, weight_sobol

    sweep = [corpus_stability(corpus, spread=one, draws=draws, seed=seed) for one in sorted({*SWEEP, spread})]
    try:
        weights = weight_sobol(
            corpus.components,
            weights=corpus.weights,
            least=corpus.lpi_least,
            spread=spread,
            n=base,
            seed=seed,
            resamples=200,
        )
    except DataError:  # the arguments were looked at: no draw moves a story
        weights = None
    return Sensitivity(
        corpus=corpus,
        sweep=sweep,
        spread=spread,
        weights=weights,
        everything=policy_stability(corpus, spread=spread, draws=min(draws, 2_000), seed=seed)
        if everything
        else None,
        numbers=policy_sobol(corpus, spread=spread, n=min(base, 1024), seed=seed) if everything else None,
    )


def _require(holds: bool, option: str, found: object, allowed: str) -> None:
    if not holds:
        raise InputError(option, f"found {found}", allowed=allowed)
