"""What replication is for: the experimental error, and the difference that it lets one see."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.statistics import t_power

#: Chance, usual in planning, that the detectable difference is shown where it is there.
POWER = 0.8


@dataclass(frozen=True)
class ExperimentalError:
    """How much results vary from replication to replication.

    Attributes
    ----------
    splits
        Replications: splits that all contestants share.
    contestants
        How many were compared.
    of_splits
        Standard deviation between splits, which blocking takes out.
    of_run
        Standard deviation of one result that neither contestant nor split explains.
    of_difference
        Standard error of the difference of two means, allowing for splits that share rows.
    detectable
        Smallest difference of two means that a paired test finds four times out of five.
    removed
        Share of the variation within contestants that blocking takes out.
    """

    splits: int
    contestants: int
    of_splits: float
    of_run: float
    of_difference: float
    detectable: float
    removed: float


def experimental_error(
    table: pd.DataFrame, *, overlap: float = 0.0, alpha: float = 0.05
) -> ExperimentalError:
    r"""Estimate the experimental error from replications.

    Parameters
    ----------
    table
        Scores: a row per split, a column per contestant; incomplete splits are left out.
    overlap
        Rows tested over rows learnt from, where splits share rows; 0 where they do not.
    alpha
        Level of the paired test.

    Notes
    -----
    With :math:`n` splits as blocks, the mean square :math:`s^2` of what contestants and splits do
    not explain estimates the variance of a result (Alpaydin 19.4, 19.12). The difference of two
    means has variance :math:`2 s^2 (1/n + n_2/n_1)`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": [0.1, 0.3, 0.2, 0.4], "b": [0.2, 0.4, 0.3, 0.4]})
    >>> error = experimental_error(table)
    >>> round(error.of_run, 4), round(error.of_splits, 3), round(error.removed, 2)
    (0.0354, 0.108, 0.9)
    """
    complete = table.dropna()
    splits, contestants = complete.shape
    if splits < 2 or contestants < 2:
        raise DataError(
            f"{splits} splits of {contestants} contestants: at least 2 of each are needed."
        )
    values = complete.to_numpy(dtype=np.float64)
    rows, columns = values.mean(axis=1, keepdims=True), values.mean(axis=0)
    freedom = (splits - 1) * (contestants - 1)
    residual = float(((values - rows - columns + values.mean()) ** 2).sum())
    between = contestants * float(((rows - values.mean()) ** 2).sum())
    error = residual / freedom
    # The component of variance of the splits: a mean square between splits expects the error and
    # as many times the component as there are contestants. Chance may leave it below zero.
    blocks = max(0.0, (between / (splits - 1) - error) / contestants)
    factor = 1.0 / splits + overlap
    within = blocks + error
    return ExperimentalError(
        splits,
        contestants,
        float(np.sqrt(blocks)),
        float(np.sqrt(error)),
        float(np.sqrt(2.0 * error * factor)),
        _detectable(float(np.sqrt(2.0 * error)), splits, overlap, alpha),
        blocks / within if within > 0 else 0.0,
    )


def _detectable(spread: float, splits: int, overlap: float, alpha: float) -> float:
    """Return the difference at which the paired test has the wanted power."""
    # Overlap inflates the variance of a mean difference, which shrinks the effect in its units.
    scale = np.sqrt(1.0 + splits * overlap)

    def power(effect: float) -> float:
        return float(t_power(effect / scale, splits, alpha=alpha))

    # Power grows with the effect: a bracket first, then bisection.
    low, high = 0.0, 1.0
    while power(high) < POWER:
        low, high = high, 2.0 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return high * spread
