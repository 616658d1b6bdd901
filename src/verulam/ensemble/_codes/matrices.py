"""Code matrices: generators, distances of rows and columns, and a search for better ones."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    NONE,
    SEED,
    TABLE,
    TEXT,
    WHOLE,
    DataError,
    Seed,
    checked_arguments,
    generator,
)

FloatArray = NDArray[np.float64]

#: Kinds of code, all of them matrices of classes (rows) and dichotomies (columns).
CODES = ("one_vs_all", "one_vs_one", "exhaustive", "random", "ternary", "optimised")
#: Classes of which all dichotomies can be listed: 2^14 - 1 of them.
MOST_CLASSES = 15
#: Draws of columns for a random code before it is given up.
MOST_DRAWS = 100
#: Random matrices of which the best is taken.
N_MATRICES = 50


@checked_arguments(n_classes=WHOLE, kind=TEXT, n_columns=WHOLE | NONE, random_state=SEED)
def output_code(
    n_classes: int, kind: str = "one_vs_all", *, n_columns: int | None = None,
    random_state: Seed = None,
) -> FloatArray:  # fmt: skip
    r"""Return a code matrix: one row for each class, one column for each two-class problem.

    Parameters
    ----------
    n_classes
        Number of classes, :math:`K`.
    kind
        "one_vs_all", :math:`K` columns; "one_vs_one", :math:`K (K - 1) / 2` with zeros for the
        classes that take no part; "exhaustive", all :math:`2^{K-1} - 1`; "random" columns of -1 and
        1; "ternary", random ones with zeros too; "optimised", as in `optimise_code`.
    n_columns
        Number of columns of the last three; None for :math:`\lceil 10 \log_2 K \rceil`, or
        :math:`\lceil 15 \log_2 K \rceil` if ternary, as far as there are so many.
    random_state
        Seed of the last three.

    Notes
    -----
    A column separates the classes of 1 from those of -1; its complement and a column of equal
    entries would add nothing, and none of either is made. See Alpaydin 17.5 and SIT1305 V; the
    numbers of random columns are those of Allwein, Schapire and Singer (2000).

    Examples
    --------
    >>> from verulam.ensemble import output_code
    >>> output_code(4, "exhaustive").astype(int)
    array([[-1, -1, -1, -1, -1, -1, -1],
           [-1, -1, -1,  1,  1,  1,  1],
           [-1,  1,  1, -1, -1,  1,  1],
           [ 1, -1,  1, -1,  1, -1,  1]])
    """
    if n_classes < 2:
        raise DataError(f"n_classes={n_classes}: a code needs two classes or more.")
    if kind not in CODES:
        raise DataError(f"kind={kind!r}: take one of {', '.join(CODES)}.")
    if n_classes == 2:
        return np.array([[-1.0], [1.0]])
    if kind == "one_vs_all":
        return 2.0 * np.eye(n_classes) - 1.0
    if kind == "one_vs_one":
        pairs = list(combinations(range(n_classes), 2))
        codes = np.zeros((n_classes, len(pairs)))
        for column, (first, second) in enumerate(pairs):
            codes[first, column], codes[second, column] = 1.0, -1.0
        return codes
    if kind == "exhaustive":
        return _all_dichotomies(n_classes)
    most = 2 ** (n_classes - 1) - 1
    if kind == "ternary":
        most = (3**n_classes - 2 ** (n_classes + 1) + 1) // 2
    usual = int(np.ceil((15 if kind == "ternary" else 10) * np.log2(n_classes)))
    count = min(usual, most) if n_columns is None else int(n_columns)
    least = int(np.ceil(np.log2(n_classes)))
    if not least <= count <= most:
        raise DataError(
            f"n_columns={count}: {n_classes} classes need between {least} columns, so that no two "
            f"have the same code, and {most}, which are all there are."
        )
    random = generator(random_state)
    if kind == "optimised":
        return optimise_code(n_classes, count, random_state=random)
    if kind == "random" and count == most:
        return _all_dichotomies(n_classes)
    return _random_code(n_classes, count, random, ternary=kind == "ternary")


def _all_dichotomies(n_classes: int) -> FloatArray:
    if n_classes > MOST_CLASSES:
        raise DataError(
            f"{n_classes} classes have {2 ** (n_classes - 1) - 1:,} dichotomies; an exhaustive "
            f"code is for up to {MOST_CLASSES} classes: take 'random' or 'optimised'."
        )
    # The first class is always -1, because a column and its complement are the same problem.
    numbers = np.arange(1, 2 ** (n_classes - 1))
    bits = (numbers[None, :] >> np.arange(n_classes - 2, -1, -1)[:, None]) & 1
    return np.vstack([-np.ones((1, len(numbers))), 2.0 * bits - 1.0])


def _random_code(
    n_classes: int, count: int, random: np.random.Generator, *, ternary: bool
) -> FloatArray:
    """Return the best of several random matrices, by the distance of rows."""
    best, score = None, -1.0
    for _ in range(N_MATRICES):
        codes = _draw_columns(n_classes, count, random, ternary=ternary)
        if codes is not None:
            distance = _row_distances(codes)
            least = float(distance[~np.eye(n_classes, dtype=bool)].min())
            if least > score:
                best, score = codes, least
    if best is None or score <= 0:
        raise DataError(
            f"n_columns={count}: no random code of {n_classes} classes was found in which all "
            "codes differ; take more columns, or another kind."
        )
    return best


def _draw_columns(
    n_classes: int, count: int, random: np.random.Generator, *, ternary: bool
) -> FloatArray | None:
    chances = [0.25, 0.5, 0.25] if ternary else [0.5, 0.0, 0.5]
    columns = np.empty((n_classes, 0))
    for _ in range(MOST_DRAWS):
        batch = random.choice([-1.0, 0.0, 1.0], size=(n_classes, 4 * count), p=chances)
        batch = batch[:, (batch.max(axis=0) > 0) & (batch.min(axis=0) < 0)]
        # A column and its complement are the same problem: the first entry that is not 0 is -1.
        first = np.take_along_axis(batch, (batch != 0).argmax(axis=0)[None], axis=0)
        columns = np.unique(np.hstack([columns, -first * batch]), axis=1)
        if columns.shape[1] >= count:
            return columns[:, random.permutation(columns.shape[1])[:count]]
    return None


def check_code(codes: Any, n_classes: int) -> FloatArray:
    """Return a matrix of codes after a check that it can tell all classes apart."""
    matrix = np.asarray(codes, dtype=np.float64)
    if matrix.ndim != 2 or len(matrix) != n_classes or not np.isin(matrix, (-1, 0, 1)).all():
        raise DataError(
            f"code: a matrix needs a row for each of the {n_classes} classes and entries -1, 0 and "
            f"1; got shape {matrix.shape}."
        )
    if not ((matrix > 0).any(axis=0) & (matrix < 0).any(axis=0)).all():
        raise DataError("code: every column needs classes on both sides, 1 and -1.")
    distances = _row_distances(matrix) + np.diag(np.full(n_classes, np.inf))
    if not distances.min() > 0:
        first, second = np.unravel_index(int(distances.argmin()), distances.shape)
        raise DataError(
            f"code: the rows of classes {min(first, second)} and {max(first, second)} (counted "
            "from 0) are equal wherever both take part, so that nothing tells them apart."
        )
    return matrix


def _row_distances(codes: FloatArray) -> FloatArray:
    r"""Return :math:`\sum_j (1 - w_{ij} w_{kj}) / 2`; a pair with a zero counts one half.

    Where two rows differ in zeros alone, no column was taught to tell them apart.
    """
    apart = ((1.0 - codes[:, None, :] * codes[None, :, :]) / 2.0).sum(axis=2)
    separated = ((codes[:, None, :] * codes[None, :, :]) < 0).any(axis=2)
    return np.where(separated, apart, 0.0)


@dataclass(frozen=True, eq=False)
class CodeReport:
    """Distances in a code matrix.

    Attributes
    ----------
    row_distances : ndarray of shape (n_classes, n_classes)
        Hamming distances between classes; a place where one has a zero counts one half.
    column_distances : ndarray of shape (n_columns, n_columns)
        The same between columns, or to the complement where that is nearer.
    """

    row_distances: FloatArray
    column_distances: FloatArray

    @property
    def row_distance(self) -> float:
        """Least distance between two classes."""
        return _least_other(self.row_distances)

    @property
    def column_distance(self) -> float:
        """Least distance between two columns, complements being the same."""
        return _least_other(self.column_distances)

    @property
    def correctable(self) -> int:
        r"""Mistaken columns that are put right in any case, :math:`\lfloor (d - 1) / 2 \rfloor`."""
        return max(int(np.floor((np.ceil(self.row_distance) - 1) / 2)), 0)


def _least_other(distances: FloatArray) -> float:
    if len(distances) < 2:
        return float("inf")
    return float(distances[~np.eye(len(distances), dtype=bool)].min())


@checked_arguments(codes=TABLE)
def code_report(codes: ArrayLike) -> CodeReport:
    r"""Say how far apart the classes and the columns of a code are.

    Parameters
    ----------
    codes
        Code matrix with entries -1, 0 and 1.

    Notes
    -----
    Distant rows correct more mistakes, :math:`\lfloor (d - 1) / 2 \rfloor` of them; distant columns
    make mistakes that are less alike. See Alpaydin 17.5.

    Examples
    --------
    >>> from verulam.ensemble import code_report, output_code
    >>> for kind in ("one_vs_all", "one_vs_one", "exhaustive"):
    ...     report = code_report(output_code(4, kind))
    ...     print(kind, report.row_distance, report.correctable)
    one_vs_all 2.0 0
    one_vs_one 3.5 1
    exhaustive 4.0 1
    """
    matrix = np.asarray(codes, dtype=np.float64)
    if matrix.ndim != 2 or not np.isin(matrix, (-1, 0, 1)).all():
        raise DataError("codes must be a matrix with entries -1, 0 and 1.")
    products = matrix[:, None, :] * matrix[None, :, :]
    columns = matrix.T[:, None, :] * matrix.T[None, :, :]
    apart = (1.0 - columns).sum(axis=2) / 2.0
    return CodeReport((1.0 - products).sum(axis=2) / 2.0, np.minimum(apart, len(matrix) - apart))


@checked_arguments(n_classes=WHOLE, n_columns=WHOLE, max_iter=WHOLE, random_state=SEED)
def optimise_code(
    n_classes: int, n_columns: int, *, max_iter: int = 1000, random_state: Seed = None
) -> FloatArray:
    """Search for columns that set classes, and columns, as far apart as possible.

    Parameters
    ----------
    n_classes
        Number of classes.
    n_columns
        Number of columns.
    max_iter
        Exchanges of a column that are tried.
    random_state
        Seed.

    Notes
    -----
    The best of several random matrices is improved by exchanging single columns: an exchange is
    taken where the least distance of rows grows, or the least distance of columns does and that of
    rows does not shrink, or both stay and fewer pairs of classes are as near. No column is
    constant, double or the complement of another. See Alpaydin 17.5.

    Examples
    --------
    >>> from verulam.ensemble import code_report, optimise_code, output_code
    >>> code_report(optimise_code(8, 12, random_state=0)).row_distance
    6.0
    """
    most = 2 ** (n_classes - 1) - 1
    least = int(np.ceil(np.log2(n_classes)))
    if not least <= n_columns <= most:
        raise DataError(
            f"n_columns={n_columns}: {n_classes} classes need between {least} columns and {most}."
        )
    random = generator(random_state)
    if n_columns == most:
        return _all_dichotomies(n_classes)
    codes = _random_code(n_classes, n_columns, random, ternary=False)
    score = _code_score(codes)
    for _ in range(max_iter):
        trial = codes.copy()
        column = int(random.integers(n_columns))
        if random.random() < 0.5:
            trial[int(random.integers(n_classes)), column] *= -1.0
        else:
            trial[:, column] = random.choice([-1.0, 1.0], size=n_classes)
        trial_score = _code_score(trial)
        if trial_score > score:
            codes, score = trial, trial_score
    return codes


def _code_score(codes: FloatArray) -> tuple[float, float, float]:
    """Return what is to be large, first things first; constant or double columns come last."""
    products, columns = codes @ codes.T, codes.T @ codes
    rows = (codes.shape[1] - products) / 2.0
    rows_apart = rows[np.triu_indices(len(codes), 1)]
    near = (len(codes) - np.abs(columns)) / 2.0
    columns_apart = near[np.triu_indices(codes.shape[1], 1)] if codes.shape[1] > 1 else rows_apart
    if columns_apart.min() == 0 or (np.abs(codes.sum(axis=0)) == len(codes)).any():
        return (-1.0, -1.0, -1.0)
    least = float(rows_apart.min())
    return least, float(columns_apart.min()), -float((rows_apart == least).sum())
