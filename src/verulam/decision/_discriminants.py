"""Discriminant functions, and the thresholds on a posterior that follow from losses."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError, unknown_name
from verulam.decision._loss import LossTable
from verulam.measures import loss_threshold

KINDS = ("risk", "posterior", "log posterior")
#: Crossings of two risks that differ by less are the same point.
ROUNDING = 1e-12


def discriminants(
    probabilities: NDArray[np.float64], kind: str, table: LossTable
) -> NDArray[np.float64]:
    """Return the discriminant functions that follow from class probabilities.

    Parameters
    ----------
    probabilities
        Posteriors, with the classes along the last axis.
    kind
        "risk" (minus the expected loss of each action), "posterior" or "log posterior".
    table
        The losses behind the risks.
    """
    if kind == "risk":
        return -table.risks(probabilities)
    if kind == "posterior":
        return probabilities
    if kind == "log posterior":
        with np.errstate(divide="ignore"):
            return np.log(probabilities)
    raise unknown_name("kind of discriminant", kind, KINDS)


def dichotomizer(values: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Return the one function that does the work of two: positive where the first is larger.

    Parameters
    ----------
    values
        Two discriminants, along the last axis.

    Notes
    -----
    .. math:: g(x) = g_1(x) - g_2(x)

    The first class is chosen where it is positive, the second otherwise (course notes,
    Discriminant functions). With more than two functions (a polychotomizer) the largest is.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.decision import dichotomizer
    >>> dichotomizer(np.array([[0.75, 0.25], [0.5, 0.5], [0.125, 0.875]]))
    array([ 0.5 ,  0.  , -0.75])
    """
    if values.shape[-1] != 2:
        raise DataError(
            f"A dichotomizer needs two discriminants, but there are {values.shape[-1]}."
        )
    return values[..., 0] - values[..., 1]


def log_odds(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Return the logarithm of the odds of the first of two classes.

    Parameters
    ----------
    probabilities
        Posteriors of two classes, along the last axis.

    Notes
    -----
    .. math:: \log \frac{P(C_1 \mid x)}{P(C_2 \mid x)}

    This is the dichotomizer of log posteriors (course notes, Discriminant functions): positive
    where the first class is the more probable, infinite where it is certain.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.decision import log_odds
    >>> log_odds(np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])).round(3)
    array([ 2.197,  0.   , -1.386])
    """
    with np.errstate(divide="ignore"):
        return dichotomizer(np.log(probabilities))


def threshold_from_losses(
    loss_fp: float, loss_fn: float, *, loss_tp: float = 0.0, loss_tn: float = 0.0
) -> float:
    r"""Return the probability of the positive class above which "positive" is the cheaper choice.

    Parameters
    ----------
    loss_fp
        Loss of a false positive.
    loss_fn
        Loss of a false negative.
    loss_tp
        Loss of a true positive.
    loss_tn
        Loss of a true negative.

    Notes
    -----
    .. math:: P(C_1 \mid x) > \frac{\lambda_{fp} - \lambda_{tn}}
              {(\lambda_{fp} - \lambda_{tn}) + (\lambda_{fn} - \lambda_{tp})}

    With losses :math:`\alpha` and 1 of the two errors this is :math:`\alpha / (1 + \alpha)`
    (Alpaydin 19.16, exercise 1).

    Examples
    --------
    Letting an impostor in is nine times as bad as turning a customer away:

    >>> threshold_from_losses(9, 1)
    0.9
    """
    return loss_threshold([[loss_tp, loss_fp], [loss_fn, loss_tn]])


@dataclass(frozen=True)
class ActionInterval:
    """The probabilities of the second of two classes for which one action is best."""

    action: Any
    low: float
    high: float


def action_intervals(table: LossTable) -> tuple[ActionInterval, ...]:
    """Return the thresholds between the actions of a two-class problem.

    The risk of each action is a straight line in the probability of the second class; the best
    action is the lowest line. Actions that are never best do not appear.

    Parameters
    ----------
    table
        Losses for two classes, from `loss_table`.

    Examples
    --------
    >>> from verulam.decision import action_intervals, loss_table
    >>> for piece in action_intervals(loss_table(["healthy", "ill"], reject_cost=0.2)):
    ...     print(f"{piece.action}: {piece.low:.1f} to {piece.high:.1f}")
    healthy: 0.0 to 0.2
    reject: 0.2 to 0.8
    ill: 0.8 to 1.0
    """
    if len(table.classes) != 2:
        raise DataError(
            f"Thresholds on one probability need two classes, but there are {len(table.classes)}."
        )
    intercepts, slopes = table.matrix[:, 0], table.matrix[:, 1] - table.matrix[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = -np.subtract.outer(intercepts, intercepts) / np.subtract.outer(slopes, slopes)
    # Several lines through one point give crossings that differ by rounding only.
    inside = np.unique(crossings[(crossings > ROUNDING) & (crossings < 1 - ROUNDING)])
    inside = inside[np.diff(inside, prepend=0.0) > ROUNDING]
    edges = np.concatenate([[0.0], inside, [1.0]])
    middles = (edges[1:] + edges[:-1]) / 2
    best = table.best(np.column_stack([1 - middles, middles]))
    firsts = np.flatnonzero(np.diff(best, prepend=-1))
    lasts = np.append(firsts[1:], len(best))
    names = table.actions.tolist()
    return tuple(
        ActionInterval(names[best[first]], float(edges[first]), float(edges[last]))
        for first, last in zip(firsts, lasts, strict=True)
    )
