"""Objects described by how similar they are to the training objects."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from verulam.base import (
    RANDOM_STATE,
    DataError,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit,
    generator,
    validate_data,
)
from verulam.nonparametric._neighbours.dissimilarity_index import (
    as_queries,
    compare_objects,
    objects_of,
)


class SimilarityRepresentation(Transformer):
    r"""Map each row to its similarities to the stored rows.

    Parameters
    ----------
    similarity
        "linear", the inner product; "cosine"; "gaussian", :math:`e^{-\|x - x^t\|^2 / 2h^2}`;
        "distance", the negative Euclidean distance; or a function of two rows, or of two objects,
        such as strings, where `X` is a list of those.
    bandwidth
        The width :math:`h` of "gaussian".
    n_landmarks
        How many rows are stored, drawn at random; None for all.
    random_state
        Seed of the draw.

    Attributes
    ----------
    landmarks_ : ndarray of shape (n_landmarks, n_features)
        The stored rows :math:`x^t`; of shape (n_landmarks,) where they are objects.

    Notes
    -----
    .. math:: x \mapsto [s(x, x^1), \dots, s(x, x^N)]

    Any learner can follow: objects need no coordinates of their own, only similarities. Where
    :math:`s` is a Mercer kernel, the transformed training set is its Gram matrix. See Alpaydin
    8.6 and 13.7.

    Examples
    --------
    >>> from verulam.nonparametric import SimilarityRepresentation
    >>> SimilarityRepresentation(similarity="linear").fit_transform([[1.0, 0.0], [1.0, 2.0]])
    array([[1., 1.],
           [1., 5.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "similarity": [StrOptions({"linear", "cosine", "gaussian", "distance"}), callable],
        "bandwidth": [Interval(Real, 0, None, closed="neither")],
        "n_landmarks": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        *,
        similarity: str | Callable[[np.ndarray, np.ndarray], float] = "gaussian",
        bandwidth: float = 1.0,
        n_landmarks: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.similarity = similarity
        self.bandwidth = bandwidth
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Store the rows, or some of them."""
        inputs: Any = objects_of(X) if callable(self.similarity) else None
        if inputs is None:
            inputs = validate_data(self, X, dtype=np.float64, order="C")
        if self.n_landmarks is None:
            self.landmarks_ = inputs.copy()
            return self
        if self.n_landmarks > len(inputs):
            raise DataError(
                f"n_landmarks={self.n_landmarks} is larger than n_samples = {len(inputs)}."
            )
        chance = generator(self.random_state)
        rows = np.sort(chance.choice(len(inputs), self.n_landmarks, replace=False))
        self.landmarks_ = inputs[rows]
        return self

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the similarities of each row to the stored rows."""
        check_is_fitted(self)
        if callable(self.similarity) and self.landmarks_.ndim == 1:
            return compare_objects(self.similarity, as_queries(X), self.landmarks_)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        if callable(self.similarity):
            return cdist(inputs, self.landmarks_, self.similarity)
        if self.similarity == "linear":
            return inputs @ self.landmarks_.T
        if self.similarity == "cosine":
            lengths = np.outer(
                np.linalg.norm(inputs, axis=1), np.linalg.norm(self.landmarks_, axis=1)
            )
            return inputs @ self.landmarks_.T / np.where(lengths > 0, lengths, 1.0)
        if self.similarity == "distance":
            return -cdist(inputs, self.landmarks_)
        squares = cdist(inputs, self.landmarks_, "sqeuclidean")
        return np.exp(-0.5 * squares / self.bandwidth**2)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return a name for each similarity."""
        check_is_fitted(self)
        return np.array([f"similarity{row}" for row in range(len(self.landmarks_))], dtype=object)
