"""Generalised vector quantisation: prototypes, and what columns count, by descent on one cost."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from scipy.special import expit

from verulam.base import (
    RANDOM_STATE,
    Interval,
    Seed,
    StrOptions,
    check_is_fitted,
    checked_fit,
    map_rows,
    one_blas_thread,
    validate_data,
)
from verulam.local._prototypes.classical import PrototypeClassifier
from verulam.local._prototypes.quantisation_loops import (
    add_rivals,
    nearest_rivals,
    squares_to,
)


class RivalCost:
    """The cost of prototypes and relevances as a function of one flat vector.

    Parameters
    ----------
    X
        Rows.
    codes
        Their classes.
    classes
        Classes of the prototypes.
    relevances
        None, "columns" or "matrix".
    gain
        Steepness of the logistic function.
    """

    def __init__(
        self,
        X: np.ndarray,
        codes: np.ndarray,
        classes: np.ndarray,
        relevances: str | None,
        gain: float,
    ) -> None:
        self.X, self.codes, self.classes = X, codes, classes
        self.relevances, self.gain = relevances, gain
        self.shape = (len(classes), X.shape[1])
        self._places = np.empty((2, len(X)), dtype=np.int64)
        self._squares = np.empty((2, len(X)))

    def pack(self, prototypes: np.ndarray) -> np.ndarray:
        """Return the vector of these prototypes, with columns that count alike."""
        d = self.shape[1]
        start = {None: np.empty(0), "columns": np.ones(d), "matrix": np.eye(d).ravel()}
        return np.concatenate([prototypes.ravel(), start[self.relevances]])

    def unpack(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the prototypes, and the factors of the columns or the matrix."""
        size = self.shape[0] * self.shape[1]
        prototypes = theta[:size].reshape(self.shape)
        if self.relevances is None:
            return prototypes, None
        factors = theta[size:]
        return prototypes, factors.reshape(-1, self.shape[1]) if self.relevances == "matrix" else (
            factors
        )

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the mean cost of a row and its gradient."""
        prototypes, factors = self.unpack(theta)
        Z, V = (self._measured(part, factors) for part in (self.X, prototypes))
        right, wrong = self._places
        nearest_rivals(
            Z @ V.T, 0.5 * np.einsum("pj,pj->p", V, V), self.codes, self.classes, right, wrong
        )
        for places, squares in zip(self._places, self._squares, strict=True):
            squares_to(Z, V, places, squares)
        near, far = self._squares
        total = np.maximum(near + far, np.finfo(float).tiny)
        cost = expit(self.gain * (near - far) / total)
        # Shares first: the square of a distance that is nearly zero would be zero.
        slope = 2.0 * self.gain * cost * (1.0 - cost) / len(Z)
        by_near, by_far = slope * (far / total) / total, -slope * (near / total) / total
        return float(cost.mean()), self._gradient(prototypes, factors, by_near, by_far)

    @staticmethod
    def _measured(part: np.ndarray, factors: np.ndarray | None) -> np.ndarray:
        if factors is None:
            return part
        return part * factors if factors.ndim == 1 else part @ factors.T

    def _gradient(
        self,
        prototypes: np.ndarray,
        factors: np.ndarray | None,
        by_near: np.ndarray,
        by_far: np.ndarray,
    ) -> np.ndarray:
        """Return the gradient from the derivatives of the cost by the two squared distances."""
        # The distance is |F(x - w)|^2: by w it changes by -2 F'F (x - w), by F by 2 F times the
        # product of x - w with itself.
        pulls, column_squares = np.zeros(self.shape), np.zeros(self.shape[1])
        for places, weights in zip(self._places, (by_near, by_far), strict=True):
            add_rivals(self.X, prototypes, places, weights, pulls, column_squares)
        if factors is None:
            return -2.0 * pulls.ravel()
        if factors.ndim == 1:
            return np.concatenate(
                [(-2.0 * pulls * factors**2).ravel(), 2.0 * factors * column_squares]
            )
        scatter = np.zeros((self.shape[1], self.shape[1]))
        for places, weights in zip(self._places, (by_near, by_far), strict=True):
            steps = self.X - prototypes[places]
            scatter += steps.T @ (weights[:, None] * steps)
        by_prototypes = -2.0 * pulls @ (factors.T @ factors)
        return np.concatenate([by_prototypes.ravel(), (2.0 * factors @ scatter).ravel()])


class GeneralisedVectorQuantisation(PrototypeClassifier):
    r"""Classify by the nearest prototype, all of which descend one cost together.

    Parameters
    ----------
    n_prototypes
        Prototypes of each class.
    relevances
        What is learned of the distance: None for Euclid's, "columns" for a weight of each column,
        "matrix" for weights of all pairs of them.
    gain
        Steepness of the logistic function: large values count errors, small ones margins.
    init
        Where prototypes start: "k-means" of each class, or "random" rows.
    max_iter
        Most iterations of the descent.
    tol
        Largest entry of the gradient at which it ends.
    random_state
        Seed of the start.

    Attributes
    ----------
    prototypes_ : ndarray of shape (n_prototypes_total, n_features)
        The prototypes.
    prototype_classes_ : ndarray
        Their classes.
    relevances_ : ndarray of shape (n_features,)
        Weight of each column in the squared distance; the sum is 1.
    transformation_ : ndarray of shape (n_features, n_features)
        Matrix :math:`\Omega` of the distance, with :math:`\operatorname{tr} \Omega^T\Omega = 1`.
    cost_curve_ : list of float
        Mean cost of a row before each iteration.
    start_error_ : float
        Share of the training rows that the start puts into a wrong class.
    classes_ : ndarray
        The classes.
    n_iter_ : int
        Iterations made.

    Notes
    -----
    .. math:: E = \sum_t f\left(\frac{d_+^t - d_-^t}{d_+^t + d_-^t}\right), \qquad
              d(x, m) = \|\Omega\,(x - m)\|^2

    where :math:`d_+` is the squared distance from the nearest prototype of the row's class,
    :math:`d_-` from the nearest of any other and :math:`f` the logistic function
    [sato1996]_. With a weight for each column it is relevance learning [hammer2002]_, with a matrix
    matrix learning [schneider2009]_. All rows are used at once, by L-BFGS. It extends the rule of
    Alpaydin 12.7.

    .. [sato1996] A. Sato and K. Yamada, "Generalized learning vector quantization", Advances in
       Neural Information Processing Systems 8, 423-429, 1996.
    .. [hammer2002] B. Hammer and T. Villmann, "Generalized relevance learning vector
       quantization", Neural Networks 15, 1059-1068, 2002.
    .. [schneider2009] P. Schneider, M. Biehl and B. Hammer, "Adaptive relevance matrices in
       learning vector quantization", Neural Computation 21, 3532-3561, 2009.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.local import GeneralisedVectorQuantisation
    >>> iris = dataset("iris")
    >>> X, y = iris.inputs, iris.target_values
    >>> learner = GeneralisedVectorQuantisation(relevances="columns", random_state=0).fit(X, y)
    >>> round(learner.score(X, y), 2)
    0.97
    >>> learner.relevances_.argmax()
    np.int64(3)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_prototypes": [Interval(Integral, 1, None, closed="left")],
        "relevances": [None, StrOptions({"columns", "matrix"})],
        "gain": [Interval(Real, 0, None, closed="neither")],
        "init": [StrOptions({"k-means", "random"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_prototypes: int = 1,
        *,
        relevances: str | None = None,
        gain: float = 5.0,
        init: str = "k-means",
        max_iter: int = 50,
        tol: float = 1e-6,
        random_state: Seed = None,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.relevances = relevances
        self.gain = gain
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["GeneralisedVectorQuantisation"]:
        return [cls(2), cls(2, relevances="columns"), cls(relevances="matrix", init="random")]

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from rows and their classes.

        Parameters
        ----------
        X
            Rows.
        y
            Classes.
        """
        rows, codes, prototypes = self._begin(X, y)
        del self._random
        # Measured from the middle and in one scale, products lose no digits and steps fit.
        self._middle = rows.mean(axis=0)
        spread = float(np.sqrt(rows.var(axis=0).mean())) or 1.0
        inputs = (rows - self._middle) / spread
        cost = RivalCost(inputs, codes, self._prototype_codes, self.relevances, float(self.gain))
        theta = cost.pack((prototypes - self._middle) / spread)
        self.transformation_ = np.eye(rows.shape[1])
        self.prototypes_ = prototypes
        self.start_error_ = float(np.mean(self._prototype_codes[self._nearest(rows)] != codes))
        self.cost_curve_ = [cost(theta)[0]]

        def record(intermediate_result: Any) -> None:
            self.cost_curve_.append(float(intermediate_result.fun))

        # Products this small take longer on several threads than on one.
        with one_blas_thread():
            result = minimize(
                cost, theta, jac=True, method="L-BFGS-B", callback=record,
                options={"maxiter": self.max_iter, "gtol": self.tol, "ftol": 1e-10},
            )  # fmt: skip
        self.n_iter_ = max(1, int(result.nit))
        units, factors = cost.unpack(result.x)
        self.prototypes_ = self._middle + spread * units
        self._keep_factors(factors)
        return self

    def _keep_factors(self, factors: np.ndarray | None) -> None:
        if factors is None:
            factors = np.ones(self.n_features_in_)
        matrix = np.diag(factors) if factors.ndim == 1 else factors
        self.transformation_ = matrix / np.sqrt(np.square(matrix).sum())
        self.relevances_ = np.square(self.transformation_).sum(axis=0)

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        return self._distances(rows).argmin(axis=1)

    def _distances(self, rows: np.ndarray) -> np.ndarray:
        omega, middle = self.transformation_.T, self._middle
        units = (self.prototypes_ - middle) @ omega

        def squares(part: np.ndarray) -> np.ndarray:
            return cdist((part - middle) @ omega, units, "sqeuclidean")

        return map_rows(squares, rows, (len(rows), len(units)))

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        r"""Return :math:`(d_- - d_+)/(d_- + d_+)` for each class, from -1 to 1.

        :math:`d_+` is the squared distance from the class's nearest prototype and :math:`d_-` from
        the nearest other. Of two classes the second alone is returned.

        Parameters
        ----------
        X
            Rows.
        """
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        squares = self._distances(rows)
        scores = np.empty((len(rows), len(self.classes_)))
        for code in range(len(self.classes_)):
            same = self._prototype_codes == code
            near, far = squares[:, same].min(axis=1), squares[:, ~same].min(axis=1)
            scores[:, code] = (far - near) / np.maximum(near + far, np.finfo(float).tiny)
        return scores[:, 1] if len(self.classes_) == 2 else scores
