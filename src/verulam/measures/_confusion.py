"""Confusion tables, the four counts of two classes, and retrieval as sets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.measures._checks import coded_labels, positive_code, ratio, weights


@dataclass(frozen=True)
class TwoClassCounts:
    """The four outcomes of a two-class problem and the rates made from them.

    Parameters
    ----------
    tp, fn, fp, tn
        True positives, false negatives, false positives and true negatives. Arrays hold
        several problems at once, as for one class against the rest.

    Notes
    -----
    A rate whose denominator is zero is NaN (Alpaydin 19.7, Tables 19.1 and 19.2).

    Examples
    --------
    >>> from verulam.measures import TwoClassCounts
    >>> counts = TwoClassCounts(tp=40, fn=10, fp=5, tn=45)
    >>> counts.p, counts.predicted_p, counts.total
    (50, 45, 100)
    >>> counts.rates().round(3)
    error          0.150
    accuracy       0.850
    tp_rate        0.800
    fp_rate        0.100
    precision      0.889
    specificity    0.900
    dtype: float64
    """

    tp: Any
    fn: Any
    fp: Any
    tn: Any

    @property
    def p(self) -> Any:
        """Number of positives."""
        return self.tp + self.fn

    @property
    def n(self) -> Any:
        """Number of negatives."""
        return self.fp + self.tn

    @property
    def predicted_p(self) -> Any:
        """Number predicted positive, p' in the text."""
        return self.tp + self.fp

    @property
    def predicted_n(self) -> Any:
        """Number predicted negative, n' in the text."""
        return self.fn + self.tn

    @property
    def total(self) -> Any:
        """Number of instances."""
        return self.p + self.n

    def pooled(self) -> "TwoClassCounts":
        """Return the sums over several problems, for micro averages."""
        return TwoClassCounts(*(float(np.sum(x)) for x in (self.tp, self.fn, self.fp, self.tn)))

    def rates(self) -> pd.Series:
        """Return the rates of Table 19.2; undefined ones are NaN."""
        pairs = {
            "error": (self.fp + self.fn, self.total),
            "accuracy": (self.tp + self.tn, self.total),
            "tp_rate": (self.tp, self.p),
            "fp_rate": (self.fp, self.n),
            "precision": (self.tp, self.predicted_p),
            "specificity": (self.tn, self.n),
        }
        return pd.Series({name: ratio(*pair, name, np.nan)[()] for name, pair in pairs.items()})


@dataclass(frozen=True, eq=False)
class Confusion:
    """Counts of true against predicted classes.

    Parameters
    ----------
    matrix
        Counts or summed weights: true classes in rows, predicted classes in columns.

    Examples
    --------
    >>> from verulam.measures import confusion
    >>> table = confusion(["cat", "cat", "dog", "dog", "owl"], ["cat", "dog", "dog", "cat", "cat"])
    >>> table.with_margins()
    predicted  cat  dog  owl  total
    true
    cat          1    1    0      2
    dog          1    1    0      2
    owl          1    0    0      1
    total        3    2    0      5
    >>> table.most_confused(1)
      true predicted  count  share_of_true
    0  cat       dog      1            0.5
    """

    matrix: pd.DataFrame

    @property
    def labels(self) -> list[Any]:
        """The classes, in the order of rows and columns."""
        return list(self.matrix.index)

    @property
    def total(self) -> float:
        """Number of instances, or sum of their weights."""
        return self.matrix.to_numpy().sum()

    @property
    def true_totals(self) -> pd.Series:
        """Row sums: how often each class occurs."""
        return self.matrix.sum(axis=1)

    @property
    def predicted_totals(self) -> pd.Series:
        """Column sums: how often each class is predicted."""
        return self.matrix.sum(axis=0)

    def with_margins(self) -> pd.DataFrame:
        """Return the table with row, column and grand totals."""
        table = self.matrix.copy()
        # Classes may be numbers: as objects they can stand beside the word.
        table.columns = pd.Index([*self.labels, "total"][:-1], dtype=object, name="predicted")
        table["total"] = self.true_totals.to_numpy()
        table.index = pd.Index(self.labels, dtype=object, name="true")
        table.loc["total"] = [*self.predicted_totals, self.total]
        return table

    def counts(self) -> TwoClassCounts:
        """Return one class against the rest for every class, as arrays in label order."""
        return one_against_rest(self.matrix.to_numpy())

    def one_vs_rest(self, label: Any) -> TwoClassCounts:
        """Return the two-class problem that separates `label` from the others."""
        position = positive_code(np.asarray(self.labels), label)
        every = self.counts()
        return TwoClassCounts(
            *(counts[position].item() for counts in (every.tp, every.fn, every.fp, every.tn))
        )

    def two_class(self, positive: Any = None) -> TwoClassCounts:
        """Return the two-class view; without `positive`, the last of two labels is positive."""
        labels = np.asarray(self.labels)
        return self.one_vs_rest(labels[positive_code(labels, positive)])

    def most_confused(self, count: int = 3) -> pd.DataFrame:
        """Return the `count` largest cells off the diagonal, most frequent first."""
        cells = self.matrix.to_numpy()
        rows, columns = np.nonzero(cells * ~np.eye(len(cells), dtype=bool))
        order = np.argsort(-cells[rows, columns], kind="stable")[:count]
        rows, columns = rows[order], columns[order]
        labels = np.asarray(self.labels)
        return pd.DataFrame(
            {
                "true": labels[rows],
                "predicted": labels[columns],
                "count": cells[rows, columns],
                "share_of_true": cells[rows, columns] / cells.sum(axis=1)[rows],
            }
        )

    def rates(self) -> pd.DataFrame:
        """Return the rates of each class against the rest, one row per class."""
        return pd.DataFrame({label: self.one_vs_rest(label).rates() for label in self.labels}).T


def confusion(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Confusion:
    """Count true against predicted classes (Alpaydin 19.7).

    Parameters
    ----------
    y_true
        True class of each instance.
    y_pred
        Predicted class of each instance.
    labels
        Classes and their order; the sorted classes that occur when not given.
    sample_weight
        Weight of each instance; the table then holds sums of weights.
    """
    coded = coded_labels(y_true, y_pred, labels)
    row_weights = None if sample_weight is None else weights(sample_weight, len(coded.true))
    cells = count_table(coded.true, coded.predicted, len(coded.labels), row_weights)
    index = pd.Index(coded.labels, name="true")
    return Confusion(pd.DataFrame(cells, index=index, columns=index.rename("predicted")))


def count_table(
    true: NDArray[np.intp],
    predicted: NDArray[np.intp],
    classes: int,
    sample_weight: NDArray[np.float64] | None = None,
) -> NDArray[Any]:
    """Return the square table of coded true against coded predicted classes."""
    # The two codes as one number: a two-dimensional count by one pass.
    flat = np.bincount(true * classes + predicted, sample_weight, minlength=classes * classes)
    return flat.reshape(classes, classes)


def one_against_rest(cells: NDArray[Any]) -> TwoClassCounts:
    """Return the counts of each class against the rest, as arrays."""
    tp = np.diag(cells)
    fn, fp = cells.sum(axis=1) - tp, cells.sum(axis=0) - tp
    return TwoClassCounts(tp=tp, fn=fn, fp=fp, tn=cells.sum() - tp - fn - fp)


@dataclass(frozen=True)
class Retrieval:
    """What a query should have found and what it found, as sets.

    Parameters
    ----------
    relevant
        Records that answer the query.
    retrieved
        Records that were returned.

    Notes
    -----
    Precision is the share of the retrieved records that are relevant, recall the share of the
    relevant ones that are retrieved (Alpaydin 19.7, Figure 19.4). An empty denominator gives NaN.

    Examples
    --------
    >>> from verulam.measures import retrieval
    >>> found = retrieval(relevant={1, 2, 3, 4}, retrieved={3, 4, 5})
    >>> sorted(found.hits), sorted(found.missed), sorted(found.false_alarms)
    ([3, 4], [1, 2], [5])
    >>> found.precision, found.recall
    (0.666..., 0.5)
    """

    relevant: frozenset[Any]
    retrieved: frozenset[Any]

    @property
    def hits(self) -> frozenset[Any]:
        """Relevant records that were retrieved (true positives)."""
        return self.relevant & self.retrieved

    @property
    def missed(self) -> frozenset[Any]:
        """Relevant records that were not retrieved (false negatives)."""
        return self.relevant - self.retrieved

    @property
    def false_alarms(self) -> frozenset[Any]:
        """Retrieved records that are not relevant (false positives)."""
        return self.retrieved - self.relevant

    @property
    def precision(self) -> float:
        """Share of the retrieved records that are relevant."""
        return float(ratio(len(self.hits), len(self.retrieved), "precision", np.nan))

    @property
    def recall(self) -> float:
        """Share of the relevant records that were retrieved."""
        return float(ratio(len(self.hits), len(self.relevant), "recall", np.nan))

    def counts(self, database_size: int) -> TwoClassCounts:
        """Return the four counts in a database of `database_size` records."""
        seen = len(self.relevant | self.retrieved)
        if database_size < seen:
            raise DataError(
                f"database_size is {database_size}, but {seen} different records were named."
            )
        return TwoClassCounts(
            len(self.hits), len(self.missed), len(self.false_alarms), database_size - seen
        )


def retrieval(relevant: Iterable[Any], retrieved: Iterable[Any]) -> Retrieval:
    """Compare the set of `relevant` records with the set of `retrieved` ones."""
    return Retrieval(frozenset(relevant), frozenset(retrieved))
