"""Effects of a two-level design that was run once: which of them are more than chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from verulam.base import DataError, unknown_name
from verulam.design._factors import Factor, coded_settings

#: Fewer effects than this tell nothing of their spread.
FEWEST_EFFECTS = 3
#: What Lenth's method calls an effect, from none to sure.
CHANCE, POSSIBLE, ACTIVE = "chance", "possibly active", "active"


@dataclass(frozen=True, eq=False)
class LenthAnalysis:
    """Effects judged by their own spread.

    Attributes
    ----------
    table
        A row per effect, the largest first: the effect, its ratio to the pseudo standard error,
        the p-value of that as a t statistic, and the verdict: "active" beyond the simultaneous
        margin, "possibly active" beyond the margin of a single effect, else "chance".
    pseudo_standard_error
        Of an effect, from those that are small.
    degrees_of_freedom
        A third of the number of effects.
    margin_of_error
        What a single effect without influence exceeds with the probability alpha.
    simultaneous_margin
        What any of the effects exceeds with the probability alpha, if none has influence.
    alpha
        That probability.
    """

    table: pd.DataFrame
    pseudo_standard_error: float
    degrees_of_freedom: float
    margin_of_error: float
    simultaneous_margin: float
    alpha: float

    def effects(self, verdict: str) -> list[str]:
        """Return the names of the effects with a verdict, the largest first.

        Parameters
        ----------
        verdict
            "active", "possibly active" or "chance".
        """
        if verdict not in (ACTIVE, POSSIBLE, CHANCE):
            raise unknown_name("verdict", verdict, (ACTIVE, POSSIBLE, CHANCE))
        return [str(name) for name in self.table.index[self.table["verdict"] == verdict]]


def lenth_method(effects: pd.Series | Mapping[str, float], alpha: float = 0.05) -> LenthAnalysis:
    r"""Judge the effects of an unreplicated design by Lenth's pseudo standard error.

    Parameters
    ----------
    effects
        All independent effects of the design, such as `two_level_effects` returns.
    alpha
        Probability of calling an effect active that is none.

    Notes
    -----
    Without replication there is no experimental error (Alpaydin 19.4); but where few factors
    matter, most effects are chance, and tell its size. Lenth (1989), for :math:`m` effects
    :math:`c_i`:

    .. math::

        s_0 = 1.5 \operatorname{median} |c_i|, \qquad
        PSE = 1.5 \operatorname{median}_{|c_i| < 2.5 s_0} |c_i|

    The margin of error is :math:`t_{1 - \alpha/2}\, PSE` with :math:`m / 3` degrees of freedom,
    the simultaneous margin :math:`t_{\gamma}\, PSE` with
    :math:`\gamma = (1 + (1 - \alpha)^{1/m}) / 2`.

    Examples
    --------
    >>> effects = {"A": 21.6, "B": 3.1, "C": 9.9, "AB": 0.1, "AC": -18.1, "BC": 2.4, "ABC": 1.9}
    >>> judged = lenth_method(effects)
    >>> round(judged.pseudo_standard_error, 3), round(judged.margin_of_error, 2)
    (3.6, 13.55)
    >>> judged.effects("possibly active"), judged.effects("active")
    (['A', 'AC'], [])
    """
    sizes = _checked_effects(effects)
    if not 0 < alpha < 1:
        raise DataError(f"alpha: {alpha!r}; expected a number between 0 and 1.")
    absolute = sizes.abs().to_numpy()
    first = 1.5 * float(np.median(absolute))
    # Real effects, which would blow up the error, are left out of the second median.
    small = absolute[absolute < 2.5 * first]
    error = 1.5 * float(np.median(small)) if len(small) else 0.0
    freedom = len(absolute) / 3
    single = float(special.stdtrit(freedom, 1 - alpha / 2)) * error
    together = (1 + (1 - alpha) ** (1 / len(absolute))) / 2
    every = float(special.stdtrit(freedom, together)) * error
    ordered = sizes.reindex(sizes.abs().sort_values(ascending=False, kind="stable").index)
    ratio = ordered / error if error > 0 else np.sign(ordered) * np.inf
    size = ordered.abs().to_numpy()
    table = pd.DataFrame(
        {
            "effect": ordered,
            "ratio": ratio,
            "p_value": 2 * special.stdtr(freedom, -np.abs(ratio.to_numpy())),
            "verdict": np.where(size > every, ACTIVE, np.where(size > single, POSSIBLE, CHANCE)),
        }
    ).rename_axis("source")
    return LenthAnalysis(table, error, freedom, single, every, alpha)


def two_level_effects(
    settings: pd.DataFrame, response: ArrayLike, factors: Sequence[Factor] | None = None
) -> pd.Series:
    """Return every effect that a two-level design can tell, from one response per setting.

    Parameters
    ----------
    settings
        One row per run, one column per factor: all combinations of two levels, or a regular
        fraction of them.
    response
        What was measured in each run.
    factors
        Which level is low and which is high; None takes the smaller number as low, of other
        levels the one that comes first.

    Notes
    -----
    An effect is the mean response where the product of the coded factors is +1, less the mean
    where it is -1 (Alpaydin 19.3): :math:`n - 1` of them for :math:`n` runs. Of effects that a
    fraction cannot tell apart, the first one of the lowest order names all.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"k": [1, 9, 1, 9], "p": [1, 1, 2, 2]})
    >>> two_level_effects(runs, [10.0, 14.0, 11.0, 19.0]).to_dict()
    {'k': 6.0, 'p': 3.0, 'k x p': 2.0}
    """
    known = _two_levels(settings) if factors is None else list(factors)
    codes = coded_settings(settings, known).to_numpy()
    observed = np.asarray(response, dtype=np.float64)
    if observed.shape != (len(codes),) or not np.isfinite(observed).all():
        raise DataError(f"response: expected {len(codes)} numbers, one for each run, none missing.")
    _check_regular(codes, known)
    columns = _contrasts(codes, [factor.name for factor in known])
    half = len(codes) / 2
    effects = {name: float(column @ observed) / half for name, column in columns.items()}
    return pd.Series(effects, name="effect").rename_axis("source")


def _checked_effects(effects: pd.Series | Mapping[str, float]) -> pd.Series:
    sizes = pd.Series(effects, dtype=np.float64)
    if len(sizes) < FEWEST_EFFECTS or not np.isfinite(sizes).all():
        raise DataError(
            f"effects: expected at least {FEWEST_EFFECTS} numbers, none missing; got {len(sizes)} "
            "entries."
        )
    return sizes


def _two_levels(settings: pd.DataFrame) -> list[Factor]:
    factors = []
    for name in settings.columns:
        levels: list[Any] = list(dict.fromkeys(settings[name].tolist()))
        if pd.api.types.is_numeric_dtype(settings[name].dtype):
            levels = sorted(levels)
        if len(levels) != 2:
            raise DataError(f"settings: {str(name)!r} has {len(levels)} levels; expected two.")
        factors.append(Factor(str(name), levels))
    return factors


def _check_regular(codes: np.ndarray, factors: Sequence[Factor]) -> None:
    """Refuse codes that are no regular fraction, each setting once."""
    n_runs = len(codes)
    if not (np.abs(codes) == 1).all():
        raise DataError("settings: a run is between the levels of its factors; expected two.")
    if len(np.unique(codes, axis=0)) < n_runs:
        raise DataError(
            "settings: a setting is there twice; effects with replication are those of "
            "factor_effects."
        )
    balanced = not codes.sum(axis=0).any()
    if n_runs & (n_runs - 1) or not balanced or np.linalg.matrix_rank(codes) < len(factors):
        raise DataError(
            f"settings: the {n_runs} runs are no full factorial and no regular fraction of two "
            "levels; factor_effects adjusts effects for one another."
        )


def _contrasts(codes: np.ndarray, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return a column of signs for every effect that is told from all before it."""
    n_runs = len(codes)
    columns: dict[str, np.ndarray] = {}
    for order in range(1, len(names) + 1):
        for places in combinations(range(len(names)), order):
            if len(columns) == n_runs - 1:
                return columns
            column = codes[:, list(places)].prod(axis=1)
            shared = np.abs([column.sum(), *(other @ column for other in columns.values())])
            if (shared == n_runs).any():
                continue
            if shared.any():
                raise DataError(
                    "settings: the runs are no regular fraction of two levels: effects overlap in "
                    "part; factor_effects adjusts effects for one another."
                )
            columns[" x ".join(names[place] for place in places)] = column
    return columns
