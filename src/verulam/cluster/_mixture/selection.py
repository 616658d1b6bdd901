"""How many components, and of which family: criteria over a grid of mixtures."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from verulam.base import (
    COLLECTION,
    SEED,
    TEXT,
    DataError,
    DataWarning,
    Seed,
    checked_arguments,
    spawn_seeds,
)
from verulam.cluster._mixture.components import COVARIANCE_TYPES
from verulam.cluster._mixture.gaussian_mixture import GaussianMixture

CRITERIA = ("bic", "aic", "icl")


@dataclass(frozen=True, eq=False)
class MixtureSelection:
    """Mixtures by number of components and family, and the best of them.

    Attributes
    ----------
    scores : DataFrame
        One row per mixture: n_components, covariance_type, log_likelihood, n_parameters, bic, aic,
        icl, singular.
    criterion
        What the best was chosen by.
    best
        The mixture with the least criterion among those that are not singular.
    """

    scores: pd.DataFrame
    criterion: str
    best: GaussianMixture

    def to_frame(self) -> pd.DataFrame:
        """Return the criterion with a row for each number of components, a column per family.

        Singular mixtures have no value: their likelihood has no bound but the floor.
        """
        scores = self.scores.assign(
            value=self.scores[self.criterion].where(~self.scores["singular"])
        )
        table = scores.set_index(["n_components", "covariance_type"])["value"].unstack()  # noqa: PD010 - one value each
        kinds = [kind for kind in COVARIANCE_TYPES if kind in table.columns]
        return table[kinds].rename_axis(columns=None)


@checked_arguments(
    n_components=COLLECTION, covariance_types=COLLECTION, criterion=TEXT, random_state=SEED
)
def select_mixture(
    X: ArrayLike,
    n_components: Iterable[int] = range(1, 10),
    covariance_types: Iterable[str] = COVARIANCE_TYPES,
    *,
    criterion: str = "bic",
    random_state: Seed = 0,
    **options: Any,
) -> MixtureSelection:
    """Fit mixtures of several sizes and families, and take the one with the least criterion.

    Parameters
    ----------
    X
        Rows.
    n_components
        Numbers of components to try.
    covariance_types
        Families to try.
    criterion
        "bic", "aic" or "icl".
    random_state
        Seed of the starts.
    **options
        Further arguments of `GaussianMixture`, such as `n_init`.

    Notes
    -----
    It does the work of R's mclust, whose table has the same numbers with a minus sign, for six of
    its families: EII, VII, EEI, VVI, EEE and VVV in the order of `COVARIANCE_TYPES`
    [scrucca2016]_. See Bartkowiak 6.

    References
    ----------
    .. [scrucca2016] L. Scrucca, M. Fop, T. B. Murphy and A. E. Raftery, "mclust 5: clustering,
       classification and density estimation using Gaussian finite mixture models", The R Journal
       8, 2016.

    Examples
    --------
    >>> from verulam.cluster import select_mixture
    >>> from verulam.data import dataset
    >>> X = dataset("iris").inputs
    >>> selection = select_mixture(X, range(1, 4), ("tied", "full"), n_init=2)
    >>> print(selection.to_frame().rename_axis(None).round(1))
        tied   full
    1  830.0  830.0
    2  688.1  574.0
    3  633.0  580.8
    """
    if criterion not in CRITERIA:
        raise DataError(f"criterion={criterion!r} is unknown; choose one of {', '.join(CRITERIA)}.")
    sizes, kinds = list(n_components), list(covariance_types)
    if not sizes or not kinds:
        raise DataError("n_components and covariance_types must each name one at least.")
    seeds = iter(spawn_seeds(random_state, len(sizes) * len(kinds)))
    mixtures, rows = [], []
    for size in sizes:
        for kind in kinds:
            mixture = GaussianMixture(
                size, covariance_type=kind, random_state=next(seeds), **options
            )
            with warnings.catch_warnings():
                # The table has a column for what these would tell.
                warnings.simplefilter("ignore", DataWarning)
                warnings.simplefilter("ignore", ConvergenceWarning)
                mixture.fit(X)
            mixtures.append(mixture)
            rows.append(
                {
                    "n_components": size,
                    "covariance_type": kind,
                    "log_likelihood": mixture.score(X),
                    "n_parameters": mixture.n_parameters_,
                    **{name: getattr(mixture, name)(X) for name in CRITERIA},
                    "singular": mixture.n_singular_ > 0,
                }
            )
    scores = pd.DataFrame(rows)
    usable = scores[criterion].where(~scores["singular"])
    if usable.isna().all():
        raise DataError(
            "All mixtures are singular; try fewer components, or simpler covariance_types."
        )
    return MixtureSelection(scores, criterion, mixtures[int(np.nanargmin(usable))])
