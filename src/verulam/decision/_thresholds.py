"""Thresholds on the probability of a class that follow from losses."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.decision._loss import LossTable
from verulam.measures import loss_threshold

ROUNDING = 1e-12


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
    start, slope = table.matrix[:, 0], table.matrix[:, 1] - table.matrix[:, 0]
    gaps = np.subtract.outer(slope, slope)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = -np.subtract.outer(start, start) / gaps
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
