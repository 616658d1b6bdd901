"""Linear discriminants learned row by row: one layer whitens, the next finds where means differ."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags

from verulam.base import (
    RANDOM_STATE,
    DataError,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit,
    encode_classes,
    generator,
    validate_data,
)
from verulam.local._competitive.competition_loops import hebbian_pass, whitening_pass
from verulam.local._competitive.hebbian import RULES
from verulam.numerics import Schedule, constant, search_then_converge

#: Least variance within classes, as a share of the largest, for columns brought to one scale.
LEAST_SHARE = 1e-10


class HebbianDiscriminants(ClassNamePrefixFeaturesOutMixin, Transformer):
    r"""Learn row by row where classes lie far apart for their spread.

    Parameters
    ----------
    n_components : int or None
        Number of directions; None for one less than there are classes, or all columns.
    learning_rate
        Step size: a number, a `verulam.numerics.Schedule`, or "decay" for 0.1 at first, falling to
        five divided by the number of rows seen.
    max_iter
        Passes over the rows, each in a new random order.
    random_state
        Seed of the first weights and of the orders.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions, with a variance of one within classes.
    whitening_ : ndarray of shape (n_features, n_features)
        Weights of the first layer.
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    means_ : ndarray of shape (n_classes, n_features)
        Means of the classes.
    mean_ : ndarray of shape (n_features,)
        Mean of all rows.
    n_iter_ : int
        Passes made.

    Notes
    -----
    The first layer sees how rows differ from the mean of their class, and makes its outputs
    :math:`z = W (x - m_c)` uncorrelated with variance one,

    .. math:: \Delta W = \eta\, \frac{(I - z z^T) W}{1 + \eta\, z^T z}

    (Cardoso and Laheld 1996); the second applies Oja's rule to what the first says of the class
    means, one direction after the other. Together they are the network of Mao and Jain (1995) for
    linear discriminants; Alpaydin 12.10. See `verulam.reduction.DiscriminantProjection` for the
    same directions from eigenvectors.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.local import HebbianDiscriminants
    >>> iris = dataset("iris")
    >>> learner = HebbianDiscriminants(1, random_state=0).fit(iris.inputs, iris.target_values)
    >>> learner.components_.round(1)
    array([[-0.8, -1.5,  2.2,  2.8]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "learning_rate": [
            StrOptions({"decay"}),
            Interval(Real, 0, 1, closed="right"),
            Schedule,
        ],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        learning_rate: Any = "decay",
        max_iter: int = 100,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from rows and their classes in several passes.

        Parameters
        ----------
        X
            Rows.
        y
            Classes.
        """
        rows = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        codes, self.classes_ = encode_classes(self, y)
        if len(codes) != len(rows):
            raise DataError(f"y has {len(codes)} labels for {len(rows)} rows of X.")
        if len(self.classes_) < 2:
            raise DataError(
                "HebbianDiscriminants: y needs at least two classes, and there is only one class: "
                f"{self.classes_[0]}."
            )
        most = min(len(self.classes_) - 1, rows.shape[1])
        count = most if self.n_components is None else int(self.n_components)
        if count > most:
            raise DataError(
                f"n_components={count}: {len(self.classes_)} classes in n_features="
                f"{rows.shape[1]} columns lie along {most} directions at most."
            )
        self.mean_ = rows.mean(axis=0)
        counts = np.bincount(codes)
        self.means_ = np.array([rows[codes == k].mean(axis=0) for k in range(len(counts))])
        random = generator(self.random_state)
        self.whitening_ = self._whiten(rows - self.means_[codes], random)
        seen = (self.means_ - self.mean_) @ self.whitening_.T
        directions = self._directions(seen[codes], count, random)
        components = directions @ self.whitening_
        # A direction and its opposite are the same.
        largest = np.abs(components).argmax(axis=1)
        signs = np.where(components[np.arange(count), largest] < 0, -1.0, 1.0)
        self.components_ = components * signs[:, None]
        self.n_iter_ = int(self.max_iter)
        return self

    def _whiten(self, deviations: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Return the weights that make deviations from class means uncorrelated, of variance 1."""
        spreads = deviations.std(axis=0)
        # Columns that never vary within a class count for nothing.
        used = np.flatnonzero(spreads > 1e-10 * np.abs(self.mean_).clip(1e-100))
        if not len(used):
            raise DataError("X does not vary within any class: every direction tells them apart.")
        Z = np.ascontiguousarray(deviations[:, used] / spreads[used])
        shares = np.linalg.eigvalsh(Z.T @ Z)
        if len(Z) <= len(used) or shares[0] < LEAST_SHARE * shares[-1]:
            raise DataError(
                "X: columns depend linearly on one another within classes; leave some out, or "
                "take fewer of their principal components."
            )
        weights = np.eye(len(used))
        outputs, seen = np.empty(len(used)), np.empty(len(used))
        for rates in self._rates(len(Z)):
            whitening_pass(Z, random.permutation(len(Z)), rates, weights, outputs, seen)
        self._refuse_infinite(weights)
        whitening = np.zeros((len(spreads), len(spreads)))
        whitening[np.ix_(used, used)] = weights / spreads[used]
        return whitening

    def _directions(self, seen: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
        """Return the directions in which rows vary most, each of what those before have left."""
        directions = np.zeros((count, seen.shape[1]))
        left = seen.copy()
        for direction in directions:
            variance = float(np.square(left).sum() / len(left))
            # What rounding leaves is no direction: class means lie along fewer.
            if variance <= 1e-20 * float(np.square(seen).sum() / len(seen)):
                break
            Z = left / np.sqrt(variance)
            weights = random.normal(size=(1, seen.shape[1]))
            weights /= np.sqrt(np.square(weights).sum())
            for rates in self._rates(len(Z)):
                hebbian_pass(
                    Z, random.permutation(len(Z)), rates, weights, RULES["oja"], np.empty(1)
                )
            self._refuse_infinite(weights)
            direction[:] = weights[0] / np.sqrt(np.square(weights).sum())
            left = left - np.outer(left @ direction, direction)
        return directions

    def _rates(self, n_rows: int) -> Any:
        """Yield the rates of each pass."""
        rate = self.learning_rate
        if isinstance(rate, str):
            rate = search_then_converge(0.1, 50.0)
        schedule = rate if isinstance(rate, Schedule) else constant(rate)
        for number in range(int(self.max_iter)):
            yield schedule.table(number * n_rows + 1, n_rows)

    def _refuse_infinite(self, weights: np.ndarray) -> None:
        if not np.isfinite(weights).all():
            raise DataError(
                f"learning_rate={self.learning_rate!r} made weights infinite; choose a smaller "
                "number."
            )

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the outputs of the second layer."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return (rows - self.mean_) @ self.components_.T
