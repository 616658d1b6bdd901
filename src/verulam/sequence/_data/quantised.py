"""Vector quantisation: rows of numbers become symbols of a codebook."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.cluster import KMeans

from verulam.base import (
    RANDOM_STATE,
    Interval,
    Seed,
    Transformer,
    check_is_fitted,
    checked_fit,
    generator,
    validate_data,
)
from verulam.sequence._data.sequences import (
    Sequences,
    is_list_of_arrays,
    named_table,
    read_sequences,
)


class VectorQuantiser(Transformer):
    r"""Replace each row by the number of the nearest reference vector, found by k-means.

    Parameters
    ----------
    n_symbols
        Reference vectors in the codebook.
    n_init
        Starts of k-means.
    random_state
        Seed of the starts.

    Attributes
    ----------
    codebook_ : ndarray of shape (n_symbols, n_features)
        The reference vectors.

    Notes
    -----
    In a pipeline before a model with `CategoricalEmission` it makes a discrete model of
    continuous observations (Alpaydin 15.8). Sequences are a list of arrays, as in the models; a
    list of lists is a table, as in other transformers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from verulam.sequence import CategoricalEmission, HiddenMarkovModel, VectorQuantiser
    >>> X = np.repeat([[0.0], [5.0], [9.0]], 20, axis=0)
    >>> model = HiddenMarkovModel(2, CategoricalEmission(prior=0.1), random_state=0)
    >>> pipeline = make_pipeline(VectorQuantiser(3, random_state=0), model).fit(X)
    >>> len(pipeline.predict(X))
    60
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_symbols": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(self, n_symbols: int = 8, *, n_init: int = 3, random_state: Seed = None) -> None:
        self.n_symbols = n_symbols
        self.n_init = n_init
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    @checked_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the codebook of a table, or of a list of sequences."""
        rows = self._rows(X, True)[0]
        n_symbols = min(self.n_symbols, len(np.unique(rows, axis=0)))
        seed = int(generator(self.random_state).integers(2**31 - 1))
        kmeans = KMeans(n_symbols, n_init=self.n_init, random_state=seed).fit(rows)
        self.codebook_ = kmeans.cluster_centers_
        return self

    def transform(self, X: Any) -> Any:
        """Return the number of the nearest reference vector, one column; a list for a list."""
        check_is_fitted(self)
        rows, sequences = self._rows(X, False)
        squares = (rows**2).sum(axis=1, keepdims=True) - 2 * rows @ self.codebook_.T
        symbols = (squares + (self.codebook_**2).sum(axis=1)).argmin(axis=1)[:, None]
        return symbols if sequences is None else sequences.give_back(symbols)

    def _rows(self, X: Any, reset: bool) -> tuple[np.ndarray, Sequences | None]:
        """Return checked rows, and the sequences that they belong to where X is a list of them."""
        sequences = None
        if is_list_of_arrays(X):
            sequences = read_sequences(X)
            X = named_table(X, sequences.values)
        return validate_data(self, X, reset=reset, dtype=np.float64), sequences

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the name of the one column."""
        return np.array(["symbol"], dtype=object)
