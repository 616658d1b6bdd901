"""Gates: how much each declared expert counts depends on the row."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from sklearn.cluster import KMeans

from verulam.base import (
    RANDOM_STATE,
    DataError,
    HasMethods,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    checked_fit_with_parts,
    clone,
    spawn_seeds,
)
from verulam.ensemble._fusion.analysis import variance_analysis
from verulam.ensemble._members.base import (
    REPEATED_ROWS,
    EnsembleClassifier,
    EnsembleRegressor,
    example_classifiers,
    example_regressors,
    unit_rows,
)
from verulam.ensemble._members.members import (
    FloatArray,
    Member,
    MemberOutputs,
    cross_outputs,
    fit_member,
    fit_members,
    fold_numbers,
    outputs_of,
    prepared_members,
    takes_weights,
    weight_argument,
)
from verulam.ensemble._members.tables import prepared_member
from verulam.numerics import log_softmax, softmax

#: Pull of the gate's weights towards 0, which keeps them finite where regions are separable.
RIDGE = 1e-3
#: A step of expectation-maximisation need not find the best gate, only a better one.
LIMITS: Any = {"maxiter": 30}

_SHARED: dict[str, Any] = {
    "estimators": [list, tuple, None],
    "gate": [HasMethods(["fit", "predict_proba"]), None],
    "training": [StrOptions({"gate", "joint"})],
    "gate_inputs": [StrOptions({"columns", "outputs"})],
    "hard": ["boolean"],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "folds": [Interval(Integral, 2, None, closed="left")],
    "random_state": RANDOM_STATE,
}


class Regions(Transformer):
    """Responsibilities of experts for clusters of the rows, where joint training begins."""

    def __init__(self, n_experts: int, seed: int) -> None:
        self.n_experts = n_experts
        self.seed = seed

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: Any = None) -> Self:
        """Divide the rows by k-means, every column with deviation 1."""
        inputs = np.asarray(X, dtype=np.float64)
        spread = _moments(inputs, sample_weight)[1]
        self.spread_ = np.where(spread > 0, spread, 1.0)
        count = min(self.n_experts, len(np.unique(inputs, axis=0)))
        clusters = KMeans(count, n_init=4, random_state=self.seed)
        self.clusters_ = clusters.fit(inputs / self.spread_, sample_weight=sample_weight)
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return responsibilities that sum to 1, most of them one expert's."""
        clusters = self.clusters_.predict(np.asarray(X, dtype=np.float64) / self.spread_)
        shares = np.full((len(clusters), self.n_experts), 0.1 / self.n_experts)
        shares[np.arange(len(clusters)), clusters] += 0.9
        return shares


class SoftmaxGate(Transformer):
    """Weights of experts as the softmax of linear functions of the inputs."""

    def fit(self, X: ArrayLike, y: FloatArray, sample_weight: Any = None) -> Self:
        """Maximise the sum of responsibilities times logarithms of the weights."""
        inputs = np.asarray(X, dtype=np.float64)
        self.centre_, spread = _moments(inputs, sample_weight)
        self.spread_ = np.where(spread > 0, spread, 1.0)
        design = self._design(inputs)
        n_rows, n_experts = y.shape
        counts = np.ones(n_rows) if sample_weight is None else sample_weight
        shares = (counts / counts.sum())[:, None]

        def loss(flat: FloatArray) -> tuple[float, FloatArray]:
            weights = flat.reshape(design.shape[1], n_experts)
            logarithms = log_softmax(design @ weights, axis=1)
            slope = design.T @ (shares * (np.exp(logarithms) - y)) + RIDGE * weights
            value = -np.sum(shares * y * logarithms) + 0.5 * RIDGE * np.sum(weights**2)
            return float(value), slope.ravel()

        start = getattr(self, "weights_", np.zeros((design.shape[1], n_experts)))
        result: Any = minimize(
            loss, np.asarray(start).ravel(), jac=True, method="L-BFGS-B", options=LIMITS
        )
        self.weights_ = result.x.reshape(design.shape[1], n_experts)
        return self

    def _design(self, inputs: FloatArray) -> FloatArray:
        scaled = (inputs - self.centre_) / self.spread_
        return np.column_stack([np.ones(len(inputs)), scaled])

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the weight of each expert, which sum to 1."""
        return softmax(self._design(np.asarray(X, dtype=np.float64)) @ self.weights_, axis=1)


class LearnedGate(Transformer):
    """Weights of experts as the probabilities of a classifier of the rows by expert."""

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: ArrayLike, y: FloatArray, sample_weight: Any = None) -> Self:
        """Teach the classifier: each row once for each expert, weighted by responsibility."""
        inputs = np.asarray(X, dtype=np.float64)
        n_rows, n_experts = y.shape
        self.n_experts_ = n_experts
        rows = np.repeat(np.arange(n_rows), n_experts)
        counts = np.ones(n_rows) if sample_weight is None else sample_weight
        self.classifier_ = clone(self.classifier).fit(
            inputs[rows],
            np.tile(np.arange(n_experts), n_rows),
            sample_weight=((y + 1e-12) * counts[:, None]).ravel(),
        )
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the weight of each expert, which sum to 1."""
        weights = np.zeros((len(np.asarray(X)), self.n_experts_))
        weights[:, self.classifier_.classes_] = self.classifier_.predict_proba(X)
        return weights


def _moments(inputs: FloatArray, sample_weight: Any) -> tuple[FloatArray, FloatArray]:
    """Return means and deviations of the columns."""
    means = np.average(inputs, axis=0, weights=sample_weight)
    squares = np.average((inputs - means) ** 2, axis=0, weights=sample_weight)
    return means, np.sqrt(squares)


class _Gated:
    """What gated classifiers and regressors share: the training by expectation-maximisation."""

    gate: Any
    training: str
    gate_inputs: str
    hard: bool
    max_iter: int
    tol: float
    folds: int
    random_state: Seed
    estimators_: list[Member]
    _deviation: float

    def _compares_rows(self) -> bool:
        # Gates and first regions take numbers.
        return True

    def _likelihoods(
        self,
        outputs: MemberOutputs,
        targets: NDArray[Any],
        responsibilities: FloatArray,
        counts: FloatArray | None,
    ) -> FloatArray:
        """Return how probable each expert makes each target, of shape (n_rows, n_experts)."""
        raise NotImplementedError

    def _train(
        self, members: list[Member], table: Any, targets: NDArray[Any], codes: NDArray[Any] | None,
        classes: NDArray[Any] | None, counts: FloatArray | None,
    ) -> None:  # fmt: skip
        seeds = spawn_seeds(self.random_state, 2)
        joint = self.training == "joint"
        deaf = [name for name, learner in members if not takes_weights(learner)]
        if joint and deaf:
            raise DataError(
                f"training='joint' needs experts whose fit takes sample_weight, and that of "
                f"{deaf[0]!r} does not; take training='gate'."
            )
        if joint:
            # Experts that begin alike would stay alike, so they begin in regions of their own.
            regions = prepared_member(Regions(len(members), seeds[0]), table)
            shares = regions.fit(table, **weight_argument(regions, counts)).transform(table)
            outputs = self._taught(members, table, targets, classes, shares, counts)
        else:
            numbers = fold_numbers(codes, len(targets), self.folds, seeds[0])
            outputs = cross_outputs(members, table, targets, numbers, classes, weights=counts)
            shares = np.full((len(targets), len(members)), 1.0 / len(members))
        base = SoftmaxGate() if self.gate is None else LearnedGate(self.gate)
        inputs = table if self.gate_inputs == "columns" else outputs.features
        self.gate_ = prepared_member(base, inputs)
        trace: list[tuple[float, ...]] = []
        weights = responsibilities = shares
        for _ in range(self.max_iter):
            products = weights * self._likelihoods(outputs, targets, responsibilities, counts)
            totals = products.sum(axis=1, keepdims=True)
            responsibilities = products / np.maximum(totals, 1e-300)
            parts = variance_analysis(outputs, targets, sample_weight=counts)
            logarithms = np.log(np.maximum(totals[:, 0], 1e-300))
            objective = float(logarithms.sum() if counts is None else logarithms @ counts)
            trace.append((objective, parts.bias, parts.variance_part, parts.covariance_part))
            if len(trace) > 1 and trace[-1][0] - trace[-2][0] <= self.tol * abs(trace[-1][0]):
                break
            if joint:
                outputs = self._taught(members, table, targets, classes, responsibilities, counts)
            inputs = table if self.gate_inputs == "columns" else outputs.features
            self.gate_.fit(inputs, responsibilities, **weight_argument(self.gate_, counts))
            weights = self.gate_.transform(inputs)
        else:
            self.gate_.fit(inputs, responsibilities, **weight_argument(self.gate_, counts))
        self.n_iter_ = len(trace)
        columns = np.array(trace).T
        self.log_likelihoods_, self.biases_, self.variances_, self.covariances_ = columns
        if not joint:
            self.estimators_ = fit_members(members, table, targets, counts)

    def _taught(
        self, members: list[Member], table: Any, targets: NDArray[Any],
        classes: NDArray[Any] | None, shares: FloatArray, counts: FloatArray | None,
    ) -> MemberOutputs:  # fmt: skip
        """Teach each expert with the rows that it is responsible for, and let all speak."""
        # No row is left out altogether, so that no expert is left without a class.
        parts = (shares.T + 1e-6) * (1.0 if counts is None else counts)
        self.estimators_ = [
            (name, fit_member((name, clone(learner)), table, targets, part))
            for (name, learner), part in zip(members, parts, strict=True)
        ]
        return outputs_of(self.estimators_, table, classes)

    def _mixed(self, table: Any, outputs: MemberOutputs) -> FloatArray:
        inputs = table if self.gate_inputs == "columns" else outputs.features
        weights = self.gate_.transform(inputs)
        if self.hard:
            weights = (np.arange(weights.shape[1]) == weights.argmax(axis=1)[:, None]).astype(float)
        return np.einsum("tj,jtk->tk", weights, outputs.values)


class GatedClassifier(_Gated, EnsembleClassifier):
    r"""Weigh declared experts by where a row lies.

    Parameters
    ----------
    estimators
        The experts: classifiers, or pairs of name and classifier; None takes naive Bayes, a tree
        and nearest neighbours.
    gate
        Classifier whose probabilities are the weights, with `sample_weight`; None for the softmax
        of linear functions.
    training
        "gate" teaches the experts once, each with all rows, and the gate on what they say about
        held-out rows; "joint" teaches gate and experts by turns, each expert with the rows that it
        is responsible for, so that they compete.
    gate_inputs
        Whether the gate looks at the "columns" of the table, of all views together, or at the
        "outputs" of the experts.
    hard
        Whether the expert with the largest weight answers alone.
    max_iter
        Most steps of expectation-maximisation.
    tol
        Training ends where the log-likelihood rises by less than this share.
    folds
        Folds in which experts speak about rows that they were not taught with.
    random_state
        Seed of folds and first responsibilities, and of experts that have none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    estimators_ : list of tuple
        Name and learner of each expert.
    gate_ : learner
        The gate.
    n_iter_ : int
        Steps of expectation-maximisation.
    log_likelihoods_ : ndarray
        Log-likelihood at each step.
    biases_, variances_, covariances_ : ndarray
        Bias of the mean of the experts, and what their variances and covariances add to its
        variance, at each step.
    evaluations_ : float
        Experts that a prediction asks; 1 if hard.

    Notes
    -----
    .. math:: y = \sum_j w_j(x)\, d_j(x), \qquad
              w_j(x) = \frac{\exp v_j^T x}{\sum_k \exp v_k^T x}

    with the likelihood :math:`\prod_t \sum_j w_j(x^t)\, p_j(r^t \mid x^t)` maximised by EM.
    Experts that compete become local and their errors negatively correlated. Mixtures whose experts
    are built in are in chapter 12. See Alpaydin 17.8 (17.7; fig. 17.3) and Bartkowiak 7.6.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.ensemble import GatedClassifier
    >>> from verulam.linear import LogisticDiscriminant
    >>> random = np.random.default_rng(0)
    >>> X = random.uniform(-1, 1, size=(300, 2)) * [3, 1]
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> experts = [LogisticDiscriminant(alpha=0.1), LogisticDiscriminant(alpha=0.1)]
    >>> gated = GatedClassifier(experts, training="joint", random_state=0).fit(X, y)
    >>> bool(gated.score(X, y) > LogisticDiscriminant().fit(X, y).score(X, y) + 0.2)
    True
    """

    _skipped_checks: ClassVar[dict[str, str]] = REPEATED_ROWS
    _parameter_constraints: ClassVar[dict[str, Any]] = _SHARED

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(example_classifiers(), folds=2, max_iter=2)]

    def __init__(
        self,
        estimators: list[Any] | None = None,
        *,
        gate: Any = None,
        training: str = "gate",
        gate_inputs: str = "columns",
        hard: bool = False,
        max_iter: int = 50,
        tol: float = 1e-5,
        folds: int = 5,
        random_state: Seed = None,
    ) -> None:
        self.estimators = estimators
        self.gate = gate
        self.training = training
        self.gate_inputs = gate_inputs
        self.hard = hard
        self.max_iter = max_iter
        self.tol = tol
        self.folds = folds
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Teach experts and gate.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, codes, weights = self._read_weighted(X, y, sample_weight)
        seed = spawn_seeds(self.random_state, 3)[2]
        members = prepared_members(self._members(), table, seed, weights)
        self._train(members, table, self.classes_[codes], codes, self.classes_, weights)
        self.evaluations_ = 1.0 if self.hard else float(len(members))
        return self

    def _likelihoods(
        self,
        outputs: MemberOutputs,
        targets: NDArray[Any],
        responsibilities: FloatArray,
        counts: FloatArray | None,
    ) -> FloatArray:
        places = np.searchsorted(self.classes_, targets)
        votes = np.take_along_axis(outputs.values, places[None, :, None], axis=2)[:, :, 0]
        return np.maximum(votes.T, 1e-6)

    def gate_weights(self, X: Any) -> FloatArray:
        """Return the weight of each expert in each row."""
        table = self._checked(X)
        if self.gate_inputs == "columns":
            return self.gate_.transform(table)
        return self.gate_.transform(outputs_of(self.estimators_, table, self.classes_).features)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the weighted sum of the experts' probabilities."""
        table = self._checked(X)
        outputs = outputs_of(self.estimators_, table, self.classes_)
        return unit_rows(self._mixed(table, outputs))


class GatedRegressor(_Gated, EnsembleRegressor):
    r"""Weigh declared regressors by where a row lies.

    Parameters
    ----------
    estimators
        The experts: regressors, or pairs of name and regressor; None takes least squares, a tree
        and a nearest-neighbour smoother.
    gate
        Classifier whose probabilities are the weights, with `sample_weight`; None for the softmax
        of linear functions.
    training
        "gate" teaches the experts once, each with all rows, and the gate on what they say about
        held-out rows; "joint" teaches gate and experts by turns, each expert with the rows that it
        is responsible for, so that they compete.
    gate_inputs
        Whether the gate looks at the "columns" of the table, of all views together, or at the
        "outputs" of the experts.
    hard
        Whether the expert with the largest weight answers alone.
    max_iter
        Most steps of expectation-maximisation.
    tol
        Training ends where the log-likelihood rises by less than this share.
    folds
        Folds in which experts speak about rows that they were not taught with.
    random_state
        Seed of folds and first responsibilities, and of experts that have none.

    Attributes
    ----------
    estimators_ : list of tuple
        Name and learner of each expert.
    gate_ : learner
        The gate.
    n_iter_ : int
        Steps of expectation-maximisation.
    log_likelihoods_ : ndarray
        Log-likelihood at each step, of Gaussian errors of one variance.
    biases_, variances_, covariances_ : ndarray
        Bias of the mean of the experts, and what their variances and covariances add to its
        variance, at each step.
    evaluations_ : float
        Experts that a prediction asks; 1 if hard.

    Notes
    -----
    See Alpaydin 17.8 (17.7) and Bartkowiak 7.6.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.ensemble import GatedRegressor
    >>> from verulam.parametric import LeastSquares
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> y = np.abs(X[:, 0])
    >>> gated = GatedRegressor([LeastSquares(), LeastSquares()], training="joint", random_state=0)
    >>> round(gated.fit(X, y).score(X, y), 2), bool(gated.covariances_[-1] < 0)
    (1.0, True)
    """

    _skipped_checks: ClassVar[dict[str, str]] = REPEATED_ROWS
    _parameter_constraints: ClassVar[dict[str, Any]] = _SHARED

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(example_regressors(), folds=2, max_iter=2)]

    def __init__(
        self,
        estimators: list[Any] | None = None,
        *,
        gate: Any = None,
        training: str = "gate",
        gate_inputs: str = "columns",
        hard: bool = False,
        max_iter: int = 50,
        tol: float = 1e-5,
        folds: int = 5,
        random_state: Seed = None,
    ) -> None:
        self.estimators = estimators
        self.gate = gate
        self.training = training
        self.gate_inputs = gate_inputs
        self.hard = hard
        self.max_iter = max_iter
        self.tol = tol
        self.folds = folds
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Teach experts and gate.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, targets, weights = self._read_weighted(X, y, sample_weight)
        seed = spawn_seeds(self.random_state, 3)[2]
        members = prepared_members(self._members(), table, seed, weights)
        self._floor = 1e-6 * (float(_moments(targets, weights)[1]) ** 2 or 1.0)
        self._train(members, table, targets, None, None, weights)
        self.evaluations_ = 1.0 if self.hard else float(len(members))
        return self

    def _likelihoods(
        self,
        outputs: MemberOutputs,
        targets: NDArray[Any],
        responsibilities: FloatArray,
        counts: FloatArray | None,
    ) -> FloatArray:
        squares = (outputs.values[:, :, 0] - targets).T ** 2
        means = (responsibilities * squares).sum(axis=1)
        variance = max(float(np.average(means, weights=counts)), self._floor)
        return np.exp(-0.5 * squares / variance) / np.sqrt(2.0 * np.pi * variance) + 1e-300

    def gate_weights(self, X: Any) -> FloatArray:
        """Return the weight of each expert in each row."""
        table = self._checked(X)
        if self.gate_inputs == "columns":
            return self.gate_.transform(table)
        return self.gate_.transform(outputs_of(self.estimators_, table, None).features)

    def predict(self, X: Any) -> FloatArray:
        """Return the weighted sum of the experts' predictions."""
        table = self._checked(X)
        return self._mixed(table, outputs_of(self.estimators_, table, None))[:, 0]
