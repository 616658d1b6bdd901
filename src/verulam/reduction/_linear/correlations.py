"""Canonical correlations: directions along which two tables of the same rows go together."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags

from verulam.base import (
    Chunk,
    DataError,
    DataWarning,
    Interval,
    OnePass,
    Transformer,
    check_is_fitted,
    check_weights,
    validate_data,
    warn_caller,
)
from verulam.numerics import PooledMoments, column_signs
from verulam.reduction._linear.moments import (
    NEGLIGIBLE,
    covariance,
    table_moments,
)

#: Correlations that differ from 1 by less are 1 but for rounding.
ROUNDING = 1e-6


@dataclass(frozen=True)
class CorrelationParameters:
    """The fitted parameters, named as the attributes of the learner."""

    correlations: np.ndarray
    components: np.ndarray
    target_components: np.ndarray
    mean: np.ndarray
    target_mean: np.ndarray
    n_components: int


class CanonicalCorrelations(ClassNamePrefixFeaturesOutMixin, OnePass, Transformer):
    r"""Directions in two tables whose projections correlate most.

    Parameters
    ----------
    n_components
        Number of pairs of directions; None for as many as the narrower table allows.
    alpha
        Variance added in every direction, as a share of a table's mean variance; above 0 it makes
        many columns with few rows possible.

    Attributes
    ----------
    correlations_ : ndarray of shape (n_components_,)
        Canonical correlations :math:`\rho_j`, the largest first.
    components_ : ndarray of shape (n_components_, n_features)
        Directions :math:`u_j` in `X`; projections have variance one.
    target_components_ : ndarray of shape (n_components_, n_target_columns)
        Directions :math:`v_j` in `y`.
    mean_, target_mean_ : ndarray
        Column means of both tables.
    n_components_ : int
        Number of pairs.
    statistics_ : PooledMoments
        Sums over both tables side by side, to which `partial_fit` adds.

    Notes
    -----
    .. math:: \rho_1 = \max_{u, v} \frac{u^T \Sigma_{xy} v}
              {\sqrt{u^T \Sigma_{xx} u \; v^T \Sigma_{yy} v}}

    The pairs are singular vectors of :math:`\Sigma_{xx}^{-1/2} \Sigma_{xy} \Sigma_{yy}^{-1/2}`
    [hotelling1936]_. With the classes as columns of zeros and ones this is canonical
    discrimination, see `DiscriminantProjection`. The sign of a pair makes the largest entry of
    :math:`u_j` positive. The kernel's version is Alpaydin 13.14.

    .. [hotelling1936] H. Hotelling, "Relations between two sets of variates", Biometrika 28,
       321-377, 1936.

    Examples
    --------
    How a state's poverty, schools and homes go with its crimes:

    >>> from verulam.data import dataset
    >>> from verulam.reduction import CanonicalCorrelations
    >>> table = dataset("state_crime")
    >>> crimes = table.inputs[["violent"]].assign(murder=table.target_values)
    >>> homes = table.inputs[["poverty", "hs_grad", "single"]]
    >>> CanonicalCorrelations().fit(homes, crimes).correlations_.round(2)
    array([0.9 , 0.34])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "alpha": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, n_components: int | None = None, *, alpha: float = 0.0) -> None:
        self.n_components = n_components
        self.alpha = alpha

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        return tags

    def _prepare(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Chunk:
        inputs = self._check_inputs(X, reset)
        if y is None:
            raise DataError(
                "requires y to be passed, but the target y is None: y is the second table."
            )
        second = _second_table(y)
        if len(second) != len(inputs):
            raise DataError(
                "Found input variables with inconsistent numbers of samples: "
                f"X has {len(inputs)} rows and y has {len(second)}."
            )
        # Side by side the moments of both tables and those between them are one sum.
        return Chunk(np.hstack([inputs, second]), weights=check_weights(sample_weight, inputs))

    def _statistics(self, chunk: Chunk, parameters: None) -> PooledMoments:
        return table_moments(chunk)

    def _update(self, statistics: PooledMoments) -> CorrelationParameters:
        both = covariance(statistics)
        width = self.n_features_in_
        first, cross, second = (
            both.matrix[:width, :width],
            both.matrix[:width, width:],
            both.matrix[width:, width:],
        )
        whitened = _whitening(first, self.alpha, "X"), _whitening(second, self.alpha, "y")
        left, correlations, right = np.linalg.svd(
            whitened[0].T @ cross @ whitened[1], full_matrices=False
        )
        most = len(correlations)
        self._warn_of_few_rows(both.weight, correlations, *map(np.shape, whitened))
        count = most if self.n_components is None else self.n_components
        if count > most:
            raise DataError(
                f"n_components={count}: there are at most {most} pairs, as many as the narrower "
                f"table has independent columns (X has n_features={width}, y {len(second)})."
            )
        components = whitened[0] @ left[:, :count]
        # The sign of a pair is free; both tables get the same one.
        signs = column_signs(components)
        return CorrelationParameters(
            correlations=np.minimum(correlations[:count], 1.0),
            components=(components * signs).T,
            target_components=(whitened[1] @ right[:count].T * signs).T,
            mean=both.mean[:width],
            target_mean=both.mean[width:],
            n_components=count,
        )

    def _warn_of_few_rows(
        self, n_rows: float, correlations: np.ndarray, *shapes: tuple[int, ...]
    ) -> None:
        """Warn where the two tables must have directions in common, whatever their values."""
        columns, ranks = zip(*shapes, strict=True)
        certain = int(min(sum(ranks) - (n_rows - 1), *ranks))
        # Weights below 1 make the rows look fewer than they are.
        if certain > 0 and self.alpha == 0.0 and correlations[certain - 1] > 1.0 - ROUNDING:
            warn_caller(
                f"{certain} of the canonical correlations are 1 whatever the values: {n_rows:g} "
                f"rows are too few for {columns[0]} columns of X and {columns[1]} of y. "
                f"Take more than {sum(columns)} rows, fewer columns, or alpha above 0.",
                DataWarning,
            )

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the projections of the first table."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return (inputs - self.mean_) @ self.components_.T

    def transform_target(self, y: ArrayLike) -> np.ndarray:
        """Return the projections of the second table."""
        check_is_fitted(self)
        second = _second_table(y)
        if second.shape[1] != len(self.target_mean_):
            raise DataError(
                f"y must have {len(self.target_mean_)} columns, as in training; it has "
                f"{second.shape[1]}."
            )
        return (second - self.target_mean_) @ self.target_components_.T


def _second_table(y: Any) -> np.ndarray:
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            "y: the second table must hold numbers; put an encoder such as "
            "sklearn.preprocessing.OneHotEncoder in front of words."
        ) from error
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2:
        raise DataError(f"y: expected a column or a table; got shape {values.shape}.")
    if not np.isfinite(values).all():
        raise DataError("Input y contains NaN or infinity; leave such rows out.")
    return values


def _whitening(matrix: np.ndarray, alpha: float, name: str) -> np.ndarray:
    """Return directions of unit variance that span the columns, dependent ones left out."""
    size = len(matrix)
    variances, axes = scipy.linalg.eigh(matrix + alpha * np.trace(matrix) / size * np.eye(size))
    present = variances > NEGLIGIBLE * size * max(float(variances[-1]), 0.0)
    if not present.any():
        raise DataError(f"{name} does not vary: there is nothing to correlate.")
    return axes[:, present] / np.sqrt(variances[present])
