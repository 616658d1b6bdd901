"""Kernel density for categories (Aitchison and Aitken): windows over Hamming's distance."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import (
    DataError,
    Density,
    Interval,
    Seed,
    as_frame,
    check_is_fitted,
    check_weights,
    checked_fit,
    encode_table,
    generator,
    read_schema,
    validate_data,
)
from verulam.nonparametric._tuning import NUMBERS_AT_ONCE
from verulam.numerics import log_sum_exp


class HammingDensity(Density):
    r"""Estimate the probability of rows of categories by windows around the stored rows.

    Parameters
    ----------
    smoothing
        Share :math:`\lambda` of a window that is spread over the other values of a column. Near
        0 leaves the relative frequencies of whole rows.

    Attributes
    ----------
    categories_ : list of ndarray
        Values of each column, in order.
    codes_ : ndarray of shape (n_samples, n_features)
        The stored rows, whose weight is above 0, as positions in `categories_`.
    weights_ : ndarray of shape (n_samples,)
        Share of each row; they sum to 1.

    Notes
    -----
    .. math:: \hat P(x) = \frac1N \sum_t \prod_j (1 - \lambda)^{[x_j = x_j^t]}
              \left(\frac{\lambda}{c_j - 1}\right)^{[x_j \ne x_j^t]}

    with :math:`c_j` values in column :math:`j`: where all columns have the same number, a window
    depends on Hamming's distance, the number of columns that differ, alone. Probabilities of all
    possible rows sum to one; a value that was never stored differs from all. See Alpaydin 8.6
    (8.22), SIT1305 III.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import HammingDensity
    >>> density = HammingDensity(smoothing=0.1).fit([[0, 0], [0, 1], [0, 0], [1, 1]])
    >>> np.exp(density.score_samples([[0, 0], [1, 0]]))
    array([0.43, 0.07])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "smoothing": [Interval(Real, 0, 0.5, closed="neither")],
    }

    def __init__(self, *, smoothing: float = 0.1) -> None:
        self.smoothing = smoothing

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Store the rows; `sample_weight` says how often each counts."""
        self._check(X, reset=True)
        frame = as_frame(X)
        weights = check_weights(sample_weight, np.empty((len(frame), 1)))
        counts = np.ones(len(frame)) if weights is None else weights
        frame, counts = frame.loc[counts > 0], counts[counts > 0]
        if not len(frame):
            raise DataError("sample_weight: all weights are zero; at least one must be above.")
        self._schema = read_schema(frame, list(frame.columns))
        self.categories_ = [np.asarray(values) for values in self._schema.categories]
        self.codes_ = encode_table(frame, self._schema).codes
        self.weights_ = counts / counts.sum()
        return self

    def _check(self, X: Any, reset: bool) -> None:
        """Check shape, names and gaps; values may be of any type that can be compared."""
        if isinstance(X, pd.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if len(X) == 0:
                raise DataError("Found array with 0 sample(s): X has no rows.")
        else:
            X = validate_data(self, X, dtype=None, reset=reset)
        if as_frame(X).isna().to_numpy().any():
            raise DataError("X contains NaN: missing values; give them a category of their own.")
        entries = np.asarray(X, dtype=object).flat
        if any(isinstance(value, dict | list | set) for value in entries):
            raise TypeError("X: the argument must be a table of strings or numbers.")

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-probability of each row."""
        check_is_fitted(self)
        self._check(X, reset=False)
        codes = encode_table(as_frame(X), self._schema, unseen="missing").codes
        stay, leave = self._log_factors()
        block_rows = max(1, NUMBERS_AT_ONCE // len(self.codes_))
        result = np.empty(len(codes))
        log_weights = np.log(self.weights_)
        for start in range(0, len(codes), block_rows):
            queries = codes[start : start + block_rows]
            # As if all columns differed; each that agrees then adds what it gains.
            logs = np.tile(leave.sum() + log_weights, (len(queries), 1))
            for column, gain in enumerate(stay - leave):
                logs += gain * (queries[:, column, None] == self.codes_[:, column])
            result[start : start + block_rows] = log_sum_exp(logs, axis=1)
        return result

    def _log_factors(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what a column adds to the logarithm of a window where values agree and differ."""
        others = np.array([len(values) - 1 for values in self.categories_])
        stay = np.where(others > 0, np.log1p(-self.smoothing), 0.0)
        return stay, np.log(self.smoothing / np.maximum(others, 1))

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw rows of categories."""
        check_is_fitted(self)
        chance = generator(random_state)
        rows = chance.choice(len(self.codes_), size=n_samples, p=self.weights_)
        codes = self.codes_[rows]
        columns = []
        for column, values in enumerate(self.categories_):
            if len(values) > 1:
                # A step of 1 to c - 1 around the values reaches each of the others alike.
                moved = chance.random(n_samples) < self.smoothing
                steps = chance.integers(1, len(values), size=n_samples)
                codes[moved, column] = (codes[moved, column] + steps[moved]) % len(values)
            columns.append(values[codes[:, column]])
        return np.column_stack(columns)
