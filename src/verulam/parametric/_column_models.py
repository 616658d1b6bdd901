"""Univariate class-conditional models of naive Bayes: sums, estimates and log-likelihoods."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from verulam.base import Chunk, DataError, EncodedTable, TableSchema, spread_rows
from verulam.numerics import DiagonalMoments, diagonal_moments, njit, overall_moments

LOG_TWO_PI = float(np.log(2.0 * np.pi))
#: Stands for the logarithm of 0 where infinities would cancel to NaN.
LOG_ZERO = -1e300


@dataclass(frozen=True)
class ColumnSums:
    """Sums over the rows of each class.

    Attributes
    ----------
    weight : ndarray of shape (n_classes,)
        Total weight of the rows.
    numbers
        Moments of the numeric columns.
    counts : tuple of ndarray of shape (n_classes, n_categories)
        Weight of each category, for each categorical column.
    schema
        The columns and the categories that the counts belong to.
    """

    weight: np.ndarray
    numbers: DiagonalMoments
    counts: tuple[np.ndarray, ...]
    schema: TableSchema

    def __add__(self, other: Self) -> "ColumnSums":
        schema = self.schema
        # Chunks may have met different categories, by name and not by code.
        if schema is not other.schema:
            schema = merge_schemas(schema, other.schema)
        pairs = zip(self._counts_under(schema), other._counts_under(schema), strict=True)
        return ColumnSums(
            self.weight + other.weight,
            self.numbers + other.numbers,
            tuple(first + second for first, second in pairs),
            schema,
        )

    def _counts_under(self, schema: TableSchema) -> tuple[np.ndarray, ...]:
        """Return the counts with room for the categories of a wider schema."""
        if schema is self.schema:
            return self.counts
        wider = []
        for name, counts in zip(self.schema.categorical, self.counts, strict=True):
            target = list(schema.categories_of(name))
            positions = np.array([target.index(label) for label in self.schema.categories_of(name)])
            padded = np.zeros((len(counts), len(target)))
            padded[:, positions.astype(int)] = counts
            wider.append(padded)
        return tuple(wider)

    def spread(self, positions: np.ndarray, n_classes: int) -> "ColumnSums":
        """Return the same sums among `n_classes` classes, the others empty."""
        return ColumnSums(
            spread_rows(self.weight, positions, n_classes),
            self.numbers.spread(positions, n_classes),
            tuple(spread_rows(counts, positions, n_classes) for counts in self.counts),
            self.schema,
        )


def merge_schemas(first: TableSchema, second: TableSchema) -> TableSchema:
    """Return a schema with the categories of both, those of the first in front."""
    merged: list[np.ndarray | None] = []
    pairs = zip(first.names, first.categories, second.categories, strict=True)
    for name, mine, theirs in pairs:
        if (mine is None) != (theirs is None):
            raise DataError(f"Column {name!r} is numeric in one chunk and categorical in another.")
        if mine is None or theirs is None or np.array_equal(mine, theirs):
            merged.append(mine)
        else:
            known = set(mine)
            new = [label for label in theirs if label not in known]
            merged.append(np.array([*mine, *new], dtype=object))
    return TableSchema(first.names, tuple(merged))


def sum_columns(chunk: Chunk) -> ColumnSums:
    """Return the sums of one chunk, whose inputs are an `EncodedTable`."""
    table: EncodedTable = chunk.inputs
    assert chunk.targets is not None
    assert chunk.classes is not None
    n_classes = len(chunk.classes)
    weights = np.ones(len(table)) if chunk.weights is None else chunk.weights
    first = first_positions(table.schema)
    counts = np.zeros((n_classes, first[-1]))
    # Loops that have nothing to do are not called, and so not compiled either.
    if table.codes.shape[1]:
        count_categories(table.codes, chunk.targets, weights, first, counts)
    return ColumnSums(
        np.bincount(chunk.targets, weights=weights, minlength=n_classes),
        diagonal_moments(table.numbers, chunk.targets, weights, n_classes),
        tuple(np.split(counts, first[1:-1], axis=1)) if table.codes.shape[1] else (),
        table.schema,
    )


def first_positions(schema: TableSchema) -> np.ndarray:
    """Return where each categorical column's categories start when all are laid end to end."""
    sizes = [len(schema.categories_of(name)) for name in schema.categorical]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@dataclass(frozen=True)
class GaussianColumns:
    """Independent Gaussians: means and variances of shape (n_classes, n_columns)."""

    positions: np.ndarray
    means: np.ndarray
    variances: np.ndarray

    def add_terms(self, joint: np.ndarray, table: EncodedTable) -> None:
        """Add the log-densities of the rows under each class."""
        if not len(self.positions):
            return
        inverse = 1.0 / self.variances
        constants = -0.5 * (LOG_TWO_PI + np.log(self.variances))
        add_gaussian_terms(joint, table.numbers, self.positions, self.means, inverse, constants)

    def alone(self, position: int) -> "GaussianColumns":
        """Return the model of one of the columns."""
        pick = slice(position, position + 1)
        return GaussianColumns(
            self.positions[pick], self.means[:, pick].copy(), self.variances[:, pick].copy()
        )


@dataclass(frozen=True)
class LinearColumns:
    """Columns whose log-likelihood is linear: ``constants + weights * number``."""

    positions: np.ndarray
    weights: np.ndarray
    constants: np.ndarray

    def add_terms(self, joint: np.ndarray, table: EncodedTable) -> None:
        """Add the log-probabilities of the rows under each class."""
        if len(self.positions):
            add_linear_terms(joint, table.numbers, self.positions, self.weights, self.constants)

    def alone(self, position: int) -> "LinearColumns":
        """Return the model of one of the columns."""
        pick = slice(position, position + 1)
        return LinearColumns(
            self.positions[pick], self.weights[:, pick].copy(), self.constants[:, pick].copy()
        )


@dataclass(frozen=True)
class CategoricalColumns:
    """Tables of log-probabilities, laid end to end along the second axis."""

    first: np.ndarray
    log_probabilities: np.ndarray

    def add_terms(self, joint: np.ndarray, table: EncodedTable) -> None:
        """Add the log-probabilities of the rows under each class."""
        if table.codes.shape[1]:
            add_category_terms(joint, table.codes, self.first, self.log_probabilities)


def gaussian_columns(
    positions: np.ndarray, moments: DiagonalMoments, variance_floor: float
) -> GaussianColumns:
    """Return means and maximum-likelihood variances, the latter with a floor.

    A class in which a column is always missing takes the column's overall mean and variance.
    The floor is a fraction of that overall variance, or of 1 for a constant column.
    """
    weight, mean = moments.weight[:, positions], moments.mean[:, positions]
    total = np.maximum(weight.sum(axis=0), np.finfo(float).tiny)
    overall_mean, between = overall_moments(weight, mean)
    overall = (moments.scatter[:, positions].sum(axis=0) + between) / total
    overall = np.where(overall > 0, overall, 1.0)
    present = weight > 0
    variances = np.divide(
        moments.scatter[:, positions], weight, out=np.tile(overall, (len(weight), 1)), where=present
    )
    return GaussianColumns(
        positions,
        np.where(present, mean, overall_mean),
        np.maximum(variances, variance_floor * overall),
    )


def bernoulli_columns(
    positions: np.ndarray, moments: DiagonalMoments, alpha: float
) -> LinearColumns:
    r"""Return :math:`x\ln p + (1-x)\ln(1-p)` with smoothed :math:`p`."""
    ones = moments.weight[:, positions] * moments.mean[:, positions]
    total = moments.weight[:, positions] + 2.0 * alpha
    zeros = np.clip(moments.weight[:, positions] - ones, 0.0, None)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_one, log_zero = np.log((ones + alpha) / total), np.log((zeros + alpha) / total)
    # Where one of the two is impossible the other's logarithm is 0, so a large finite value
    # keeps the linear form exact and still rules the class out.
    log_one, log_zero = (
        np.maximum(np.nan_to_num(values, nan=-np.log(2.0), neginf=LOG_ZERO), LOG_ZERO)
        for values in (log_one, log_zero)
    )
    return LinearColumns(positions, log_one - log_zero, log_zero)


def multinomial_columns(
    positions: np.ndarray, moments: DiagonalMoments, alpha: float
) -> LinearColumns:
    r"""Return :math:`\sum_j x_j \ln p_j` with smoothed shares :math:`p_j` of the counts."""
    sums = moments.weight[:, positions] * moments.mean[:, positions] + alpha
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.log(sums / sums.sum(axis=1, keepdims=True))
    # A class without any counts has no opinion.
    weights = np.where(np.isnan(weights), -np.log(max(1, len(positions))), weights)
    return LinearColumns(positions, weights, np.zeros_like(weights))


def categorical_columns(
    counts: Sequence[np.ndarray], first: np.ndarray, n_classes: int, alpha: float
) -> CategoricalColumns:
    r"""Return :math:`\ln\frac{n_{kv} + \alpha}{n_k + \alpha V}` for each column and category."""
    parts = []
    for column in counts:
        totals = column.sum(axis=1, keepdims=True) + alpha * column.shape[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            logarithms = np.log((column + alpha) / totals)
        # A class in which the column is always missing has no opinion.
        parts.append(np.where(np.isnan(logarithms), -np.log(column.shape[1]), logarithms))
    joined = np.concatenate(parts, axis=1) if parts else np.empty((n_classes, 0))
    return CategoricalColumns(first, np.ascontiguousarray(joined))


@njit(cache=True, nogil=True)
def count_categories(codes, classes, weights, first, counts):
    """Add up the weight of each class and category; column j's counts start at ``first[j]``."""
    for i in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            if codes[i, j] >= 0:
                counts[classes[i], first[j] + codes[i, j]] += weights[i]


@njit(cache=True, nogil=True)
def add_category_terms(joint, codes, first, log_probabilities):
    """Add the log-probabilities of each row's categories; missing ones (-1) add nothing."""
    for i in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            if codes[i, j] >= 0:
                for k in range(joint.shape[1]):
                    joint[i, k] += log_probabilities[k, first[j] + codes[i, j]]


@njit(cache=True, nogil=True)
def add_gaussian_terms(joint, numbers, columns, means, inverse_variances, constants):
    """Add the Gaussian log-densities of the numbers that are present."""
    for i in range(numbers.shape[0]):
        for k in range(joint.shape[1]):
            total = 0.0
            for position in range(columns.shape[0]):
                value = numbers[i, columns[position]]
                if not np.isnan(value):
                    deviation = value - means[k, position]
                    # A missing number drops its factor: the marginal of independent columns.
                    total += constants[k, position]
                    total -= 0.5 * inverse_variances[k, position] * deviation * deviation
            joint[i, k] += total


@njit(cache=True, nogil=True)
def add_linear_terms(joint, numbers, columns, weights, constants):
    """Add ``constant + weight * number`` for the numbers that are present."""
    for i in range(numbers.shape[0]):
        for k in range(joint.shape[1]):
            for position in range(columns.shape[0]):
                value = numbers[i, columns[position]]
                if not np.isnan(value):
                    joint[i, k] += constants[k, position]
                    # 0 * log(0) counts as 0: an absent word of probability 0 says nothing.
                    if value != 0.0:
                        joint[i, k] += weights[k, position] * value
