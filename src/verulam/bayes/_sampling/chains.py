"""What samplers return: draws of every chain, how many they are worth, and whether they agree."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError, unknown_name, warn_caller

#: Chains agree where R-hat is at most this (Vehtari et al. 2021).
LARGEST_R_HAT = 1.01


@dataclass(frozen=True, eq=False)
class Chains:
    r"""Draws of one or more quantities by several chains.

    Attributes
    ----------
    draws : mapping of str to ndarray of shape (n_chains, n_draws, ...)
        Draws of each quantity, in the order in which each chain made them.
    acceptance : ndarray of shape (n_chains,) or None
        Share of the proposals that each chain accepted; None where nothing was proposed.

    Notes
    -----
    `r_hat` compares the spread between chains with that within them, of the ranks of all draws and
    of their distances from the median, each chain cut in half; it is near 1 where the chains have
    forgotten their starts. `effective_size` is

    .. math:: \frac{m n}{1 + 2 \sum_{k \ge 1} \rho_k}

    with autocorrelations summed as long as their pairs stay positive (Geyer 1992), of ranks as in
    Vehtari et al. (2021).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import Chains
    >>> rng = np.random.default_rng(0)
    >>> chains = Chains({"mean": rng.normal(3.0, 0.1, size=(4, 500))})
    >>> chains.converged, round(chains.mean("mean"), 2)
    (True, 3.0)
    """

    draws: Mapping[str, np.ndarray]
    acceptance: np.ndarray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.draws, Mapping) or not self.draws:
            raise DataError("draws must be a mapping from names to arrays, with one name or more.")
        arrays = {name: np.asarray(values, dtype=np.float64) for name, values in self.draws.items()}
        shapes = {values.shape[:2] for values in arrays.values()}
        if len(shapes) > 1 or any(values.ndim < 2 for values in arrays.values()):
            raise DataError(
                "draws must be arrays of shape (n_chains, n_draws, ...), the same two numbers for "
                f"all names; got {', '.join(f'{name} {a.shape}' for name, a in arrays.items())}."
            )
        object.__setattr__(self, "draws", arrays)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the quantities."""
        return tuple(self.draws)

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return int(next(iter(self.draws.values())).shape[0])

    @property
    def n_draws(self) -> int:
        """Number of draws of each chain."""
        return int(next(iter(self.draws.values())).shape[1])

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the draws of one quantity by all chains, one after another."""
        values = self._of(name)
        return values.reshape(-1, *values.shape[2:])

    def mean(self, name: str) -> Any:
        """Return the mean of a quantity: its expected value under the posterior."""
        return _plain(self[name].mean(axis=0))

    def std(self, name: str) -> Any:
        """Return the standard deviation of a quantity under the posterior."""
        return _plain(self[name].std(axis=0))

    def interval(self, name: str, level: float = 0.95) -> tuple[Any, Any]:
        """Return the ends between which the middle share `level` of the draws lies."""
        check_level(level)
        ends = np.quantile(self[name], [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
        return _plain(ends[0]), _plain(ends[1])

    def r_hat(self, name: str) -> Any:
        """Return how far the chains are from agreeing on a quantity; 1 where they do."""
        return _plain(_each(r_hat, self._of(name)))

    def effective_size(self, name: str) -> Any:
        """Return how many independent draws tell as much of a quantity as these do."""
        return _plain(_each(effective_size, self._of(name)))

    @property
    def converged(self) -> bool:
        """Whether R-hat is at most 1.01 for every quantity."""
        return self.largest_r_hat <= LARGEST_R_HAT

    @property
    def largest_r_hat(self) -> float:
        """The largest R-hat of all quantities."""
        return max(float(np.max(self.r_hat(name))) for name in self.draws)

    def warn_unless_converged(
        self, remedy: str = "Draw more, start nearer to the bulk, or change the proposals."
    ) -> None:
        """Warn where chains disagree, and name the quantity that they disagree on most.

        Parameters
        ----------
        remedy
            Sentence that says what to do about it.
        """
        worst = max(self.draws, key=lambda name: float(np.max(self.r_hat(name))))
        value = float(np.max(self.r_hat(worst)))
        if value > LARGEST_R_HAT:
            warn_caller(
                f"the chains have not converged: R-hat of {worst!r} is {value:.3f}, above "
                f"{LARGEST_R_HAT}. {remedy}",
                ConvergenceWarning,
            )

    def summary(self, level: float = 0.95) -> pd.DataFrame:
        """Return a table with a row for every number that was drawn.

        Parameters
        ----------
        level
            Share of the draws that lies between the columns ``lower`` and ``upper``.
        """
        check_level(level)
        rows = {}
        for name, values in self.draws.items():
            for place in np.ndindex(values.shape[2:]):
                one = values[(slice(None), slice(None), *place)]
                label = name + (str(list(place)) if place else "")
                lower, upper = np.quantile(one, [0.5 - 0.5 * level, 0.5 + 0.5 * level])
                size = effective_size(one)
                rows[label] = {
                    "mean": one.mean(),
                    "std": one.std(),
                    "lower": lower,
                    "upper": upper,
                    "error_of_mean": one.std() / np.sqrt(size),
                    "effective_size": size,
                    "r_hat": r_hat(one),
                }
        return pd.DataFrame.from_dict(rows, orient="index")

    def to_arviz(self) -> Any:
        """Return the draws in ArviZ's format, where that library is installed."""
        try:
            arviz = import_module("arviz")
        except ImportError:
            raise ImportError(
                "to_arviz needs the library ArviZ, which is not installed; pip install arviz."
            ) from None
        groups = {"posterior": dict(self.draws)}
        # Since version 1 groups come in one mapping, before that as arguments of their own; older
        # versions take the mapping of groups for one of variables.
        if int(str(arviz.__version__).partition(".")[0]) >= 1:
            return arviz.from_dict(groups)
        return arviz.from_dict(**groups)

    def _of(self, name: str) -> np.ndarray:
        if name not in self.draws:
            raise unknown_name("quantity", str(name), self.draws)
        return self.draws[name]


def r_hat(draws: np.ndarray) -> float:
    """Return the rank-normalised split R-hat of draws of one number, a row for each chain."""
    halves = _halves(draws)
    if halves.shape[1] < 2:
        return np.inf
    folded = np.abs(halves - np.median(halves))
    # Ranks notice chains that differ in place, folded ranks those that differ in spread.
    return max(_spread_ratio(_normal_scores(values)) for values in (halves, folded))


def effective_size(draws: np.ndarray) -> float:
    """Return the effective number of draws of one number, a row for each chain."""
    halves = _halves(draws)
    n_chains, n_draws = halves.shape
    if n_draws < 4 or np.ptp(halves) == 0.0:
        return float(draws.size) if np.ptp(draws) == 0.0 else 1.0
    scores = _normal_scores(halves)
    covariances = _autocovariances(scores)
    within = covariances[:, 0].mean() * n_draws / (n_draws - 1)
    pooled = within * (n_draws - 1) / n_draws + scores.mean(axis=1).var(ddof=1)
    correlations = 1.0 - (within - covariances.mean(axis=0) * n_draws / (n_draws - 1)) / pooled
    correlations[0] = 1.0
    pairs = correlations[: n_draws // 2 * 2].reshape(-1, 2).sum(axis=1)
    # Sums of neighbours fall and stay positive for a reversible chain: what does not is noise.
    end = int(np.argmax(pairs < 0.0)) if (pairs < 0.0).any() else len(pairs)
    time = -1.0 + 2.0 * np.minimum.accumulate(pairs[:end]).sum()
    size = n_chains * n_draws
    return float(size / max(time, 1.0 / np.log10(size)))


def check_level(level: float) -> None:
    """Refuse a share of probability that is not between 0 and 1."""
    if not isinstance(level, int | float | np.number) or not 0.0 < level < 1.0:
        raise DataError(f"level must be a number between 0 and 1; got {level!r}.")


def _halves(draws: np.ndarray) -> np.ndarray:
    """Return the first and the second half of every chain as chains."""
    length = draws.shape[1] // 2
    return np.concatenate([draws[:, :length], draws[:, draws.shape[1] - length :]])


def _normal_scores(draws: np.ndarray) -> np.ndarray:
    ranks = rankdata(draws).reshape(draws.shape)
    return np.asarray(ndtri((ranks - 0.375) / (draws.size + 0.25)))


def _spread_ratio(draws: np.ndarray) -> float:
    n_draws = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean()
    between = draws.mean(axis=1).var(ddof=1)
    if within == 0.0:
        # Chains that never move agree only if all stand in one place.
        return 1.0 if between == 0.0 else np.inf
    return float(np.sqrt((n_draws - 1) / n_draws + between / within))


def _autocovariances(draws: np.ndarray) -> np.ndarray:
    """Return the autocovariance of every chain at every lag, by a product of transforms."""
    n_draws = draws.shape[1]
    length = next_fast_len(2 * n_draws, real=True)
    transform = rfft(draws - draws.mean(axis=1, keepdims=True), length, axis=1)
    products = irfft(transform * transform.conj(), length, axis=1)
    return np.asarray(products[:, :n_draws] / n_draws)


def _each(function: Any, draws: np.ndarray) -> np.ndarray:
    """Return a function of the draws of every number of a quantity."""
    result = np.empty(draws.shape[2:])
    for place in np.ndindex(result.shape):
        result[place] = function(draws[(slice(None), slice(None), *place)])
    return result


def _plain(values: Any) -> Any:
    return float(values) if np.ndim(values) == 0 else values
