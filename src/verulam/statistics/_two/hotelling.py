"""Hotelling's paired T2 test: two learners by several measures at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError, Seed, generator
from verulam.statistics._core.checks import Vector, checked_level, numbers, too_few
from verulam.statistics._core.distributions import Fisher, Student
from verulam.statistics._core.hypotheses import paired_hypotheses
from verulam.statistics._core.multiple_comparisons import adjust_p_values
from verulam.statistics._core.result import Assumption, EffectSize, TestResult
from verulam.statistics._core.tails import symmetric_p_values, upper_tail
from verulam.statistics._two.paired_tests import SAME_SPLITS, t_statistics

# Directions whose share of the variance is below this are taken for exact dependence.
SINGULAR_SHARE = 1e-10
# With the observed signs 10,000 arrangements.
FLIPS = 9999
# Of so few rows all 2^13 = 8,192 arrangements of signs are fewer than that.
LARGEST_EXACT_FLIPS = 13


@dataclass(frozen=True, eq=False)
class Subspace:
    """Directions in which data vary, and whether their mean lies in them."""

    basis: Vector
    holds_mean: bool


@dataclass(frozen=True, eq=False)
class Scaled:
    """Measures in units of their own spread, and these units."""

    values: Vector
    units: Vector

    def raw(self, directions: Vector) -> Vector:
        """Return directions of the scaled measures as combinations of those that were given."""
        return (directions.T / self.units).T


def in_own_units(values: Vector, *, about_zero: bool = False) -> Scaled:
    """Return columns divided by their spread; those that vary by rounding alone are constant.

    Bytes beside error rates would otherwise hide the latter: what varies less than a part of the
    largest variance counts as exact dependence.

    Parameters
    ----------
    values
        Measures in columns.
    about_zero
        Take their sizes for their spread, which random signs do not change.
    """
    largest = np.abs(values).max(axis=0)
    spread = np.ptp(values, axis=0)
    flat = spread <= 1e-12 * largest
    units = np.where(flat | about_zero, largest, spread)
    units[units == 0] = 1.0
    return Scaled(np.where(flat, values.mean(axis=0), values) / units, units)


def varying_subspace(values: Vector, mean: Vector) -> Subspace:
    """Return an orthonormal basis of the directions in which rows vary about `mean`."""
    centred = values - mean
    _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    if sizes[0] <= 1e-12 * max(float(np.abs(values).max()), 1e-300):
        raise DataError("No measure varies over the splits: with zero variance T2 is undefined.")
    # Measures that are functions of one another span fewer directions than there are measures; T2
    # is defined on those in which the splits vary.
    basis = directions[sizes**2 > SINGULAR_SHARE * sizes[0] ** 2].T
    outside = mean - basis @ (basis.T @ mean)
    scale = max(float(np.abs(mean).max()), float(sizes[0]) / np.sqrt(len(values)))
    return Subspace(basis, bool(np.abs(outside).max() <= 1e-8 * scale))


def hotelling_statistics(differences: Vector) -> Vector:
    """Return T2 of samples whose rows and columns are the last two axes."""
    count = differences.shape[-2]
    mean = differences.mean(axis=-2)
    centred = differences - mean[..., None, :]
    covariance = np.swapaxes(centred, -1, -2) @ centred / (count - 1)
    # One solution of a linear system instead of an inverse: faster, and it loses fewer digits.
    solved = np.linalg.solve(covariance, mean[..., None])[..., 0]
    return count * (mean * solved).sum(axis=-1)


def measure_table(values: ArrayLike, name: str) -> Vector:
    """Return a checked table with one row per split and one column per measure."""
    table = numbers(values, name)
    if table.ndim == 1:
        table = table[:, np.newaxis]
    if table.ndim != 2:
        raise DataError(f"{name} must have splits in rows and measures in columns.")
    return table


def hotelling_test(
    first: ArrayLike,
    second: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    alpha: float = 0.05,
    random_state: Seed = 0,
) -> TestResult:
    r"""Compare two learners by several measures at once, on the same splits.

    Parameters
    ----------
    first, second
        Measures of either learner: one row per split, one column per measure, such as tp-rate
        and fp-rate, or the four counts of the confusion table.
    names
        Names of the measures; those of a DataFrame are taken from it.
    alpha
        Level of significance.
    random_state
        Seed of the random signs that are needed when there are more measures than splits.

    Notes
    -----
    :math:`T^2 = K\, m^T S^{-1} m`, and :math:`(K - p) T^2 / (p (K - 1)) \sim F_{p, K-p}` (Alpaydin
    19.14.1 (19.27)). The direction :math:`w = S^{-1} m` (19.28) is the combination of measures
    in which the learners differ most. ``table`` holds the t tests of the single measures, adjusted
    after Holm.

    Measures that depend on one another, as four counts with fixed sums do, are replaced by the
    directions in which they vary, which loses nothing. With fewer splits than such directions,
    the second moments are shrunk and the p-value is that of random signs.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import hotelling_test
    >>> rng = np.random.default_rng(0)
    >>> first, second = rng.normal(size=(2, 10, 2)) / 50 + [[[0.8, 0.2]], [[0.83, 0.2]]]
    >>> result = hotelling_test(first, second, names=["tp-rate", "fp-rate"])
    >>> print(result.headline())
    T2(2, 9) = 18.09, p = 0.0122
    """
    checked_level(alpha)
    if names is None and isinstance(first, pd.DataFrame):
        names = [str(column) for column in first.columns]
    one, other = measure_table(first, "first"), measure_table(second, "second")
    if one.shape != other.shape:
        raise DataError(f"first has shape {one.shape} and second {other.shape}: must be equal.")
    count, measures = one.shape
    if count < 2:
        raise too_few(count, "Each of both", 2, "splits")
    labels = list(names) if names is not None else [f"measure {k + 1}" for k in range(measures)]
    if len(labels) != measures:
        raise DataError(f"names has {len(labels)} entries for {measures} measures.")
    differences = one - other
    scaled = in_own_units(differences)
    space = varying_subspace(scaled.values, scaled.values.mean(axis=0))
    size = space.basis.shape[1]
    # As many directions as splits allow may hide more, unless they are all that there are.
    if space.holds_mean and (count > size + 1 or (count > size and size == measures)):
        result = exact_hotelling(scaled.values, space.basis, labels, alpha)
    else:
        scaled = in_own_units(differences, about_zero=True)
        result = shrunken_hotelling(scaled.values, labels, alpha, random_state)
    direction = pd.Series(scaled.raw(result.details["direction"].to_numpy()), labels)
    return replace(
        result,
        table=single_measures(differences, labels, alpha),
        details={**result.details, "direction": direction},
    )


def exact_hotelling(
    differences: Vector, basis: Vector, labels: list[str], alpha: float
) -> TestResult:
    """Return Hotelling's test in the directions of `basis`."""
    count, size = len(differences), basis.shape[1]
    reduced = differences @ basis
    mean = reduced.mean(axis=0)
    covariance = np.atleast_2d(np.cov(reduced, rowvar=False))
    statistic = float(hotelling_statistics(reduced))
    # T2 over this factor follows F with size and count - size degrees of freedom.
    factor = size * (count - 1) / (count - size)
    tail = upper_tail(statistic / factor, Fisher(size, count - size), alpha)
    caveats = ["training parts of cross-validation overlap, so that splits are not independent"]
    if size < differences.shape[1]:
        caveats.append(
            f"the {differences.shape[1]} measures depend on one another and vary in {size} "
            "directions only, in which they were compared"
        )
    return TestResult(
        name="Hotelling's paired T2 test",
        **paired_hypotheses("mean vector", "two-sided"),
        statistic=statistic,
        statistic_name="T2",
        p_value=tail.p_value,
        alpha=alpha,
        critical_value=tail.critical_value * factor,
        degrees_of_freedom=(size, count - 1),
        tail="greater",
        effect_size=EffectSize("Mahalanobis distance", float(np.sqrt(statistic / count))),
        assumptions=(Assumption("differences are jointly normal"), SAME_SPLITS),
        caveats=tuple(caveats),
        details={
            "F": statistic / factor,
            "direction": pd.Series(basis @ np.linalg.solve(covariance, mean), labels),
        },
        source="Alpaydin 19.14.1 (19.27), (19.28)",
    )


def shrunken_hotelling(
    differences: Vector, labels: list[str], alpha: float, random_state: Seed
) -> TestResult:
    """Return a test by random signs with shrunken second moments."""
    from sklearn.covariance import ledoit_wolf

    count = len(differences)
    moments, _ = ledoit_wolf(differences, assume_centered=True)
    # With L L^T the inverse of the moments, T2 is n times the squared length of the mean row times
    # L.
    half = np.linalg.cholesky(np.linalg.inv(moments))
    scaled = differences @ half
    # Random signs do not change the second moments, so only the mean has to be computed anew.
    if count <= LARGEST_EXACT_FLIPS:
        # The bits of 0 to 2^n - 1 are all sign vectors; number 0, all plus, is the observed one.
        signs = 1.0 - 2.0 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)
    else:
        drawn = generator(random_state).integers(0, 2, size=(FLIPS, count))
        signs = np.vstack([np.ones(count), 1.0 - 2.0 * drawn])
    sizes = ((signs @ scaled / count) ** 2).sum(axis=1) * count
    statistic = float(sizes[0])
    return TestResult(
        name="Hotelling's paired test, shrunken, by random signs",
        **paired_hypotheses("mean vector", "two-sided"),
        statistic=statistic,
        statistic_name="T2",
        p_value=float(np.mean(sizes >= statistic * (1 - 1e-12))),
        alpha=alpha,
        tail="greater",
        effect_size=EffectSize("shrunken distance", float(np.sqrt(statistic / count))),
        assumptions=(Assumption("differences are symmetric about their mean"), SAME_SPLITS),
        caveats=(
            f"{count} splits cannot estimate the covariance of {differences.shape[1]} measures",
            "the covariance was shrunk towards the identity, and T2 has no exact distribution",
        ),
        details={
            "direction": pd.Series(np.linalg.solve(moments, differences.mean(axis=0)), labels)
        },
        source="Alpaydin 19.14.1, regularised",
    )


def single_measures(differences: Vector, labels: list[str], alpha: float) -> pd.DataFrame:
    """Return paired t tests of every measure, constant ones undefined."""
    varying = np.ptp(differences, axis=0) > 1e-12 * np.abs(differences).max(axis=0)
    t = np.full(len(labels), np.nan)
    t[varying] = t_statistics(differences[:, varying].T)
    raw = np.ones(len(labels))
    freedom = Student(len(differences) - 1)
    raw[varying] = symmetric_p_values(t[varying], freedom, "two-sided")
    adjusted = adjust_p_values(raw)
    return pd.DataFrame(
        {
            "mean_difference": differences.mean(axis=0),
            "t": t,
            "p_value": raw,
            "adjusted_p": adjusted,
            "reject": adjusted < alpha,
        },
        index=pd.Index(labels, name="measure"),
    )
