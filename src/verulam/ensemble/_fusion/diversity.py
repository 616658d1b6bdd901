"""Diversity: how differently members err, pair by pair and all together."""

from dataclasses import dataclass, fields

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    DataError,
    Kind,
    checked_arguments,
)
from verulam.ensemble._members.members import (
    OUTPUTS,
    TARGETS,
    MemberOutputs,
)

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Diversity:
    """Measures of diversity.

    Attributes
    ----------
    q, correlation, disagreement, double_fault, kappa : ndarray of shape (n_members, n_members)
        Yule's Q and the correlation of being right; the share of rows where one member alone is
        right; that where both are wrong; agreement of labels beyond chance.
    errors : ndarray of shape (n_members,)
        Error rate of each member.
    entropy
        0 where all members are right and wrong together, 1 where opinions are divided evenly.
    names
        Names of the members.
    """

    q: FloatArray
    correlation: FloatArray
    disagreement: FloatArray
    double_fault: FloatArray
    kappa: FloatArray
    errors: FloatArray
    entropy: float
    names: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return all pairwise measures, one row for each pair, and the pair's mean error."""
        pairs = [
            (first, second)
            for first in range(len(self.names))
            for second in range(first + 1, len(self.names))
        ]
        measures = [field.name for field in fields(self)][:5]
        columns = {name: [float(getattr(self, name)[pair]) for pair in pairs] for name in measures}
        columns["mean_error"] = [float(self.errors[list(pair)].mean()) for pair in pairs]
        index = pd.MultiIndex.from_tuples(
            [(self.names[first], self.names[second]) for first, second in pairs],
            names=["first", "second"],
        )
        return pd.DataFrame(columns, index=index)

    def mean(self) -> pd.Series:
        """Return the mean of each measure over all pairs, and the entropy."""
        means = self.to_frame().mean()
        means["entropy"] = self.entropy
        return means


ANSWERS = Kind("labels of members by rows", lambda value: np.ndim(np.asarray(value)) == 2)


@checked_arguments(labels=OUTPUTS | ANSWERS, targets=TARGETS)
def diversity(labels: MemberOutputs | ArrayLike, targets: ArrayLike) -> Diversity:
    r"""Measure how differently members err on the same rows.

    Parameters
    ----------
    labels
        What each member answered, of shape (n_members, n_rows), or `MemberOutputs`.
    targets
        What was true.

    Notes
    -----
    With :math:`N^{11}` rows that both of a pair get right, :math:`N^{00}` that both get wrong and
    :math:`N^{10}, N^{01}` that one gets right,

    .. math:: Q = \frac{N^{11} N^{00} - N^{01} N^{10}}{N^{11} N^{00} + N^{01} N^{10}}, \qquad
              E = \frac{1}{N} \sum_t \frac{\min(l_t, L - l_t)}{L - \lceil L/2 \rceil}

    where :math:`l_t` members are right in row :math:`t`. A measure that is undefined because
    nobody errs, or all do, is 1 for a pair that is always right together, and 0 otherwise. See
    Alpaydin 17.2 and 17.12; the measures are those of Kuncheva (2004).

    Examples
    --------
    >>> from verulam.ensemble import diversity
    >>> report = diversity([[0, 1, 1, 0], [0, 1, 0, 1]], [0, 1, 1, 1])
    >>> print(report.to_frame().round(3).to_string(index=False))
      q  correlation  disagreement  double_fault  kappa  mean_error
    -1.0       -0.333           0.5           0.0    0.0        0.25
    """
    names: tuple[str, ...] = ()
    if isinstance(labels, MemberOutputs):
        names, labels = labels.names, labels.labels
    answers, truth = np.asarray(labels), np.asarray(targets)
    if answers.ndim != 2 or answers.shape[1] != len(truth) or not answers.size:
        raise DataError(
            f"labels must have the shape (members, {len(truth)}), a row of answers for each "
            f"member; got {answers.shape}."
        )
    names = names or tuple(f"member {number + 1}" for number in range(len(answers)))
    # Products count rows for all pairs at once: who is right in row i, with whom in column j.
    right = (answers == truth).astype(np.float64)
    n_members, n_rows = right.shape
    both = right @ right.T / n_rows
    neither = (1 - right) @ (1 - right).T / n_rows
    first_alone = right @ (1 - right).T / n_rows
    alone = first_alone + first_alone.T
    cross = first_alone * first_alone.T
    same = np.where(alone == 0, 1.0, 0.0)
    spread = np.diag(both) * np.diag(neither)
    q = _ratio(both * neither - cross, both * neither + cross, same)
    correlation = _ratio(both * neither - cross, np.sqrt(np.outer(spread, spread)), same)
    count = right.sum(axis=0)
    most = n_members - int(np.ceil(n_members / 2))
    entropy = float(np.minimum(count, n_members - count).mean() / most) if most else 0.0
    return Diversity(
        q, correlation, alone, neither, _kappa(answers), 1.0 - right.mean(axis=1), entropy, names
    )


def _ratio(above: FloatArray, below: FloatArray, otherwise: FloatArray) -> FloatArray:
    return np.divide(above, below, out=otherwise.copy(), where=np.abs(below) > 1e-15)


def _kappa(answers: NDArray) -> FloatArray:
    """Return the agreement of answers beyond what their frequencies would give by chance."""
    classes, codes = np.unique(answers, return_inverse=True)
    votes = np.eye(len(classes))[codes.reshape(answers.shape)]
    n_rows = answers.shape[1]
    agreement = np.einsum("itk,jtk->ij", votes, votes, optimize=True) / n_rows
    shares = votes.mean(axis=1)
    chance = shares @ shares.T
    return _ratio(agreement - chance, 1.0 - chance, np.where(agreement == 1, 1.0, 0.0))
