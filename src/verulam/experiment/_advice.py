"""What it would take to know more, in words."""

import numpy as np
import pandas as pd

from verulam.experiment._contestants import Responses
from verulam.experiment._power_advice import (
    data_sets_for_ranks,
    data_sets_needed,
    rows_needed,
    splits_needed,
)
from verulam.experiment._verdict import Verdict, order_of_all

#: Beyond so many times the rows, the number itself says nothing.
MOST_TIMES = 1000


def _to_settle(verdict: Verdict, means: pd.Series, chosen: str, *, greater: bool) -> str | None:
    """Return the contestant that ought to be told from the best, if there is any."""
    if chosen != verdict.best:
        return chosen
    rivals = means[[name for name in verdict.group if name != verdict.best]]
    if rivals.empty:
        return None
    return str(rivals.idxmax() if greater else rivals.idxmin())


def advice_on_splits(responses: Responses, verdict: Verdict, alpha: float) -> str:
    """Return how many more splits or rows would tell the best from the recommended contestant.

    Parameters
    ----------
    responses
        The scores.
    verdict
        What the tests say on a data set.
    alpha
        Level of significance.
    """
    table = responses.by_split(verdict.scope)
    chosen = order_of_all(verdict, verdict.names)[0]
    greater = responses.measure.greater_is_better
    rival = _to_settle(verdict, table.mean(), chosen, greater=greater)
    if rival is None:
        return ""
    shared = table[[verdict.best, rival]].dropna()
    differences = (shared[verdict.best] - shared[rival]).to_numpy()
    pair = f"{verdict.best} from {rival}"
    if len(differences) < 2:
        return f"To tell {pair}, measure on more splits, such as 10-fold cross-validation."
    if np.allclose(differences, 0.0, atol=1e-12):
        return f"No number of splits would tell {pair}: their scores are the same on each."
    spread, level = differences.std(ddof=1), alpha / max(len(verdict.pairs), 1)
    if spread <= 1e-12 * abs(differences.mean()):
        return f"To tell {pair}, whose difference was the same on each split, draw more splits."
    effect = float(differences.mean() / spread)
    if abs(effect) < 1e-9:
        return f"No number of splits would tell {pair}: their means are the same."
    share = responses.test_shares[verdict.scope]
    needed = splits_needed(effect, share, alpha=level)
    size = f"if the difference stays at {abs(differences.mean()):.2g}"
    if needed is not None:
        more = max(1, needed - len(differences))
        return f"To tell {pair} with power 0.8, {size}: about {more} more splits."
    factor = rows_needed(effect, len(differences), share, alpha=level)
    return (
        f"More splits of the same rows would not tell {pair}, {size}: for power 0.8 "
        f"{_times_text(factor)} times as many rows are needed."
    )


def _times_text(factor: float) -> str:
    """Return a factor in two figures; of those that nobody can afford, only that they are."""
    if factor > MOST_TIMES:
        return f"more than {MOST_TIMES:,}"
    return f"about {factor:.2g}" if factor < 100 else f"about {round(factor, -1):.0f}"


def advice_over_data(
    responses: Responses, verdict: Verdict, alpha: float, *, chosen: str | None = None
) -> str:
    """Return how many more data sets would tell the best from the recommended contestant.

    Parameters
    ----------
    responses
        The scores.
    verdict
        What the tests say over all data sets.
    alpha
        Level of significance.
    chosen
        The recommended contestant; None takes the simplest that none beats.
    """
    table = responses.by_data()[list(verdict.names)].dropna()
    greater = responses.measure.greater_is_better
    ranks = table.rank(axis=1, ascending=not greater)
    chosen = chosen or order_of_all(verdict, verdict.names)[0]
    rival = _to_settle(verdict, ranks.mean(), chosen, greater=False)
    if rival is None:
        return ""
    pair = f"{verdict.best} from {rival}"
    if len(verdict.names) == 2:
        needed = data_sets_needed((table[verdict.best] - table[rival]).to_numpy(), alpha=alpha)
    else:
        gap = float(ranks[rival].mean() - ranks[verdict.best].mean())
        needed = data_sets_for_ranks(gap, len(verdict.names), alpha=alpha / len(verdict.pairs))
    if needed is None:
        return f"No reasonable number of data sets would tell {pair}."
    more = max(1, needed - len(table))
    return f"To tell {pair} with power 0.8, if they keep differing so: about {more} more data sets."
