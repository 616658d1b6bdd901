"""The four statistics of a multivariate analysis of variance, with their F and their limits."""

import numpy as np
import pandas as pd
from scipy import special

from verulam.statistics._core.checks import Vector
from verulam.statistics._core.distributions import Fisher

STATISTICS = {
    "wilks": "Wilks' lambda",
    "pillai": "Pillai's trace",
    "hotelling-lawley": "Hotelling-Lawley trace",
    "roy": "Roy's greatest root",
}


def rao_power(size: int, effect: int) -> float:
    """Return the root of Wilks' lambda that Rao's F is a function of."""
    spread = size**2 + effect**2 - 5
    return float(np.sqrt(((size * effect) ** 2 - 4) / spread)) if spread > 0 else 1.0


def critical_value(
    table: pd.DataFrame, statistic: str, size: int, groups: int, alpha: float
) -> float:
    """Return the value of a statistic whose F is the critical one."""
    row = table.loc[STATISTICS[statistic]].to_numpy()
    value, numerator, denominator, ratio = (float(number) for number in row[:4])
    limit = float(Fisher(numerator, denominator).isf(alpha))
    odds = limit * numerator / denominator
    if statistic == "wilks":
        return float((1 + odds) ** -rao_power(size, groups - 1))
    if statistic == "pillai":
        return float(min(size, groups - 1) * odds / (1 + odds))
    # The F of the other two is proportional to them.
    return float(limit * value / ratio) if ratio > 0 else np.nan


def four_statistics(values: Vector, size: int, groups: int, rows: int) -> pd.DataFrame:
    """Return the four statistics with their F approximations, from the eigenvalues.

    Rao's F for Wilks, Pillai's own, Hotelling and Lawley's after McKeon, and the bound for Roy.
    """
    effect, error = groups - 1, rows - groups
    axes, product = min(size, effect), size * effect
    wilks, trace = float(np.prod(1 / (1 + values))), float(values.sum())
    pillai = float((values / (1 + values)).sum())
    power = rao_power(size, effect)
    root = wilks ** (1 / power)
    below = (error - (size - effect + 1) / 2) * power - (product - 2) / 2
    first, second = (abs(size - effect) - 1) / 2, (error - size - 1) / 2
    outer = axes * (2 * first + axes + 1), axes * (2 * second + axes + 1)
    if second > 0:
        whole = (size + 2 * second) * (effect + 2 * second)
        part = 2 * (2 * second + 1) * (second - 1)
        lawley = float(product), 4 + (product + 2) * part / (whole - part)
        lawley_f = lawley[1] / product * trace * 2 * second / (lawley[1] - 2)
    else:
        lawley = float(outer[0]), axes * (axes * second + 1)
        lawley_f = lawley[1] / lawley[0] / axes * trace
    wider = max(size, effect)
    table = pd.DataFrame(
        [
            [wilks, product, below, (1 - root) / root * below / product],
            [pillai, *outer, outer[1] / outer[0] * pillai / (axes - pillai)],
            [trace, *lawley, lawley_f],
            [
                values[0],
                wider,
                error - wider + effect,
                (error - wider + effect) / wider * values[0],
            ],
        ],
        index=pd.Index(list(STATISTICS.values()), name="statistic"),
        columns=["value", "numerator", "denominator", "F"],
    )
    table["p_value"] = special.fdtrc(table["numerator"], table["denominator"], table["F"])
    return table
