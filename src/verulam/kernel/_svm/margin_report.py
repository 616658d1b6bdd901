"""Where instances stand: about a margin or a tube, and before training, near the other class."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.neighbors import NearestNeighbors

from verulam.base import DataError


@dataclass(frozen=True, eq=False)
class InstanceReport:
    r"""How each instance stands to a machine.

    Attributes
    ----------
    cases : ndarray of shape (n_samples,)
        Name of the case of each instance.
    slack : ndarray of shape (n_samples,)
        Slack :math:`\xi^t`: what is lacking of the margin, or the distance outside the tube.
    values : ndarray of shape (n_samples,)
        Signed output :math:`r^t g(x^t)`, or the residual.
    soft_error
        Sum of the slacks.
    n_with_slack
        Instances with slack.
    n_wrong
        Instances on the wrong side (:math:`\xi^t > 1`), or outside the tube.
    """

    cases: np.ndarray
    slack: np.ndarray
    values: np.ndarray
    soft_error: float
    n_with_slack: int
    n_wrong: int

    def counts(self) -> dict[str, int]:
        """Return how many instances are in each case."""
        names, numbers = np.unique(self.cases, return_counts=True)
        return dict(zip(names.tolist(), numbers.tolist(), strict=True))

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each instance."""
        return pd.DataFrame({"case": self.cases, "slack": self.slack, "value": self.values})


def margin_report(signed_outputs: np.ndarray, tol: float) -> InstanceReport:
    r"""Say of each instance whether it is safe, on the margin, inside it, or wrong.

    Parameters
    ----------
    signed_outputs
        :math:`r^t g(x^t)`.
    tol
        How far from one still counts as on the margin.

    Notes
    -----
    The slack is :math:`\xi^t = \max(0, 1 - r^t g(x^t))`; an instance is wrong where it is above
    one. See Alpaydin 13.3 (13.9)-(13.16) and Bartkowiak 5.10.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import margin_report
    >>> margin_report(np.array([1.5, 1.0, 0.4, -0.2]), 1e-3).cases.tolist()
    ['safe', 'on margin', 'inside margin', 'wrong']
    """
    slack = np.maximum(0.0, 1.0 - signed_outputs)
    on_margin = np.abs(1.0 - signed_outputs) <= tol
    slack[on_margin] = 0.0
    cases = np.select(
        [on_margin, signed_outputs > 1.0, slack <= 1.0],
        ["on margin", "safe", "inside margin"],
        "wrong",
    )
    return InstanceReport(
        cases,
        slack,
        signed_outputs,
        float(slack.sum()),
        int((slack > 0).sum()),
        int((slack > 1).sum()),
    )


def tube_report(residuals: np.ndarray, epsilon: float, tol: float) -> InstanceReport:
    r"""Say of each instance whether it is in the tube, on its wall, or outside.

    Parameters
    ----------
    residuals
        :math:`r^t - f(x^t)`.
    epsilon
        Half the width of the tube.
    tol
        How far from the wall still counts as on it.

    Notes
    -----
    The slack is :math:`\max(0, |r^t - f(x^t)| - \epsilon)`. See Alpaydin 13.10 (13.43)-(13.51).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import tube_report
    >>> tube_report(np.array([0.1, -0.5, 0.8]), epsilon=0.5, tol=1e-3).cases.tolist()
    ['in tube', 'on tube', 'outside']
    """
    excess = np.abs(residuals) - epsilon
    on_tube = np.abs(excess) <= tol
    slack = np.where(on_tube, 0.0, np.maximum(0.0, excess))
    cases = np.select([on_tube, excess < 0], ["on tube", "in tube"], "outside")
    outside = int((slack > 0).sum())
    return InstanceReport(cases, slack, residuals, float(slack.sum()), outside, outside)


def near_boundary(X: ArrayLike, y: ArrayLike, n_neighbors: int = 11) -> np.ndarray:
    """Return a mask of the rows with another class among their nearest neighbours.

    A row that is deep inside its class is hardly ever a support vector; a machine trained on the
    others has nearly the same boundary for less work (Alpaydin 13.2 and exercise 1).

    Parameters
    ----------
    X
        Rows.
    y
        Class of each row.
    n_neighbors
        Neighbours to look at.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import near_boundary
    >>> line = np.arange(20.0)[:, None]
    >>> np.flatnonzero(near_boundary(line, line[:, 0] > 9.5, n_neighbors=4))
    array([ 8,  9, 10, 11])
    """
    labels = np.asarray(y)
    rows = np.asarray(X, dtype=np.float64)
    if not 1 <= n_neighbors < len(rows):
        raise DataError(
            f"n_neighbors must be from 1 to {len(rows) - 1}, the number of other rows; got "
            f"{n_neighbors}."
        )
    neighbours = (
        NearestNeighbors(n_neighbors=n_neighbors).fit(rows).kneighbors(return_distance=False)
    )
    return np.asarray((labels[neighbours] != labels[:, None]).any(axis=1))
