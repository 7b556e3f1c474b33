"""Weights by a one-factor model (§7, route iii): do the four dimensions measure one thing, and how well does each?

The four are taken as indicators of one latent ludic potential; a confirmatory model with one factor is the exploratory one with
one factor, fitted by maximum likelihood (statsmodels). It needs no target. Loadings are standardised.
"""

import warnings
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from statsmodels.multivariate.factor import Factor

from ludic_deepeval.errors import DataError
from ludic_deepeval.studies.weights import NAMES, Fit, Floats, Observations

NO_LOADING: Final = 0.10
"""A loading below this counts as none: the dimension has shrunk to zero."""
_HEYWOOD: Final = 0.005
_LEAST: Final = 3


@dataclass(frozen=True)
class OneFactor:
    """A one-factor model.

    Attributes:
        loadings: Standardised, from −1 to 1, their sum at least 0.
        uniqueness: What the factor leaves of each variance, from 0 to 1.
        chi2: N · F_ML, the misfit; lower is better.
        df: p (p − 3) / 2; 0 with three indicators, which any one-factor model fits.
        p_value: That one factor is enough; None with df 0.
        cfi: Comparative fit index, 0 to 1; higher is better, .95 is usual.
        tli: Tucker and Lewis's index; higher is better; None with df 0.
        rmsea: Root mean square error of approximation, at least 0; lower is better, .06 is usual; None with df 0.
        srmr: Standardised root mean square residual, at least 0; lower is better, .08 is usual.
        unrelated: The p-value that the indicators do not correlate at all (N · −ln|R|): where it is not small there is no
            factor to measure.
        n: Observations.
    """

    loadings: tuple[float, ...]
    uniqueness: tuple[float, ...]
    chi2: float
    df: int
    p_value: float | None
    cfi: float
    tli: float | None
    rmsea: float | None
    srmr: float
    unrelated: float
    n: int


def one_factor(values: ArrayLike) -> OneFactor:
    """Fit a one-factor model by maximum likelihood.

    F_ML = ln|Σ| + tr(R Σ⁻¹) − ln|R| − p with Σ = λλᵀ + Ψ, over the correlation matrix R.

    Args:
        values: Observations × indicators.

    Raises:
        DataError: Fewer than three indicators or ten observations, an indicator that does not vary or repeats others, or a
            model that cannot be fitted.
    """
    x = np.array(values, dtype=float)
    n, p = x.shape
    if p < _LEAST or n < 10:
        raise DataError("one_factor", f"{n} observations of {p} indicators", allowed="at least 10 of 3")
    if (np.ptp(x, axis=0) < 1e-12).any():
        raise DataError("one_factor", "an indicator does not vary")
    r = np.corrcoef(x.T)
    if np.linalg.eigvalsh(r)[0] < 1e-8:
        raise DataError("one_factor", "an indicator repeats the others")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the optimiser says of its steps; the result is checked below
        found = Factor(corr=r, n_factor=1, method="ml", nobs=n).fit()
    loadings = np.asarray(found.loadings, dtype=float)[:, 0]
    if not np.isfinite(loadings).all():
        raise DataError("one_factor", "no one-factor model can be fitted")
    loadings = loadings if loadings.sum() >= 0 else -loadings
    unique = np.clip(1 - loadings**2, 1e-9, 1.0)
    return _measured(r, loadings, unique, n)


def _measured(r: Floats, loadings: Floats, unique: Floats, n: int) -> OneFactor:
    p = len(r)
    sigma = np.outer(loadings, loadings) + np.diag(unique)
    _, log_r = np.linalg.slogdet(r)
    _, log_sigma = np.linalg.slogdet(sigma)
    chi2 = max(0.0, n * float(log_sigma + np.trace(np.linalg.solve(sigma, r)) - log_r - p))
    base, base_df, df = -n * float(log_r), p * (p - 1) // 2, p * (p - 3) // 2
    over, base_over = max(chi2 - df, 0.0), max(base - base_df, chi2 - df, 0.0)
    residual = (r - sigma)[np.tril_indices(p)]
    tli = None
    if df and base > base_df:
        tli = float((base / base_df - chi2 / df) / (base / base_df - 1))
    return OneFactor(
        loadings=tuple(loadings.tolist()),
        uniqueness=tuple(unique.tolist()),
        chi2=chi2,
        df=df,
        p_value=float(stats.chi2.sf(chi2, df)) if df else None,
        cfi=1 - over / base_over if base_over > 0 else 1.0,
        tli=tli,
        rmsea=float(np.sqrt(over / (df * n))) if df else None,
        srmr=float(np.sqrt((residual**2).mean())),
        unrelated=float(stats.chi2.sf(base, base_df)),
        n=n,
    )


def fit_factor(observations: Observations) -> Fit:
    """Return weights in proportion to the loadings; a dimension that does not load, or does not vary, weighs nothing.

    Raises:
        DataError: Fewer than three dimensions vary, or no model can be fitted, or no dimension loads.
    """
    x = observations.components
    varying = [at for at in range(len(NAMES)) if np.ptp(x[:, at]) > 1e-12]
    still = [name for at, name in enumerate(NAMES) if at not in varying]
    if len(varying) < _LEAST:
        raise DataError(
            "one_factor", f"{', '.join(still)} do not vary", allowed="at least three dimensions that do"
        )
    model = one_factor(x[:, varying])
    raw = np.zeros(len(NAMES))
    raw[varying] = [one if one >= NO_LOADING else 0.0 for one in model.loadings]
    if raw.sum() == 0:
        raise DataError("one_factor", "no dimension loads on one factor")
    names = [NAMES[at] for at in varying]
    loads = dict(zip(names, model.loadings, strict=True))
    remarks = [f"{name} does not vary in these stories" for name in still]
    remarks += [
        f"{name} does not load on the factor ({one:.2f})" for name, one in loads.items() if one < NO_LOADING
    ]
    remarks += [
        f"{name} is the factor itself (Heywood case): the loadings are not to be trusted"
        for name, one in zip(names, model.uniqueness, strict=True)
        if one <= _HEYWOOD
    ]
    if model.unrelated > 0.05:
        remarks.append("the dimensions do not correlate: there is no one factor to weigh them by")
    if model.p_value is not None and model.p_value <= 0.05:
        remarks.append("one factor is not enough for the dimensions")
    details = {
        "loadings": loads,
        **{
            name: getattr(model, name)
            for name in ("chi2", "df", "p_value", "cfi", "tli", "rmsea", "srmr", "unrelated")
        },
    }
    return Fit("one-factor model", tuple((raw / raw.sum()).tolist()), details, tuple(remarks))
