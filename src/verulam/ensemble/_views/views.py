"""Several views of the same rows: late, early and intermediate integration, shared factors."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import make_pipeline

from verulam.base import (
    RANDOM_STATE,
    DataError,
    HasMethods,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    check_weights,
    checked_fit,
    checked_fit_with_parts,
    validate_data,
)
from verulam.ensemble._members.base import EnsembleClassifier
from verulam.ensemble._members.members import (
    FloatArray,
    check_weighted,
    class_outputs,
    fit_member,
    seeded,
)
from verulam.ensemble._members.tables import (
    ColumnSubset,
    column_positions,
    prepared_member,
)
from verulam.ensemble._stacking.stacking import StackingClassifier
from verulam.ensemble._voting.voting import VotingClassifier
from verulam.kernel import Gaussian, MultipleKernelClassifier
from verulam.parametric import NaiveBayes

INTEGRATIONS = ("late", "early", "intermediate", "latent")
#: Share of a view's variance that is added to it, so that dependent columns do no harm.
RIDGE = 1e-6


class SharedFactors(Transformer):
    r"""Find factors that several views of the same rows have in common.

    Parameters
    ----------
    views
        Lists of columns, names or positions; None for two halves of the columns.
    n_components
        Number of factors.

    Attributes
    ----------
    views_ : list of ndarray
        Positions of the columns of each view.
    correlations_ : ndarray of shape (n_components,)
        Mean squared correlation of each factor with the views, 1 where all views have it.
    weights_ : list of ndarray
        For each view the weights of its columns in the factors.

    Notes
    -----
    Factors :math:`Z` with :math:`Z^T Z = I` that the views predict best together,

    .. math:: \min_{Z, W_v} \sum_v \| Z - X_v W_v \|^2

    which for two views are their canonical correlations (Kettenring 1971). Factors that generate
    all views at once are found again from any of them; Chen et al. (2012), whom the text cites, ask
    moreover for a large margin between the classes. See Alpaydin 17.12.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.ensemble import SharedFactors
    >>> random = np.random.default_rng(0)
    >>> factor, noise = random.normal(size=(200, 1)), random.normal(size=(200, 4))
    >>> X = np.hstack([factor + 0.1 * noise[:, :1], noise[:, 1:2], -factor, noise[:, 2:]])
    >>> shared = SharedFactors([[0, 1], [2, 3, 4]]).fit(X)
    >>> shared.correlations_.round(2)
    array([1.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "views": [list, tuple, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, views: list[Any] | None = None, *, n_components: int = 1) -> None:
        self.views = views
        self.n_components = n_components

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the factors.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        inputs = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        table = X if hasattr(X, "columns") else inputs
        self.views_ = read_views(self.views, table)
        weights = check_weights(sample_weight, inputs)
        counts = np.ones(len(inputs)) if weights is None else weights
        if not counts.any():
            raise DataError("sample_weight is zero for every row; at least one must be positive.")
        self._centre = np.average(inputs, axis=0, weights=counts)
        spread = np.sqrt(np.average((inputs - self._centre) ** 2, axis=0, weights=counts))
        self._spread = np.where(spread > 0, spread, 1.0)
        # Squares of the rows are added up as often as each counts.
        scaled = (inputs - self._centre) / self._spread * np.sqrt(counts)[:, None]
        count = min(self.n_components, *(len(view) for view in self.views_), len(inputs) - 1)
        bases, makers = [], []
        for view in self.views_:
            left, lengths, right = np.linalg.svd(scaled[:, view], full_matrices=False)
            present = lengths > 1e-10 * max(lengths.max(), 1.0)
            left, lengths, right = left[:, present], lengths[present], right[present]
            shrink = lengths / np.sqrt(lengths**2 + RIDGE * counts.sum())
            bases.append(left * shrink)
            makers.append((right.T / lengths) * shrink**2 @ left.T)
        factors, lengths, _ = np.linalg.svd(np.hstack(bases), full_matrices=False)
        factors = factors[:, :count] * np.sqrt(counts.sum())
        self.correlations_ = lengths[:count] ** 2 / len(self.views_)
        self.weights_ = [maker @ factors for maker in makers]
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the mean of what the views say about each factor."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, reset=False)
        scaled = (inputs - self._centre) / self._spread
        parts = [
            scaled[:, view] @ weights
            for view, weights in zip(self.views_, self.weights_, strict=True)
        ]
        return np.mean(parts, axis=0)


def read_views(views: Any, table: Any) -> list[NDArray[np.intp]]:
    """Return the positions of the columns of each view."""
    n_columns = table.shape[1]
    if views is None:
        half = (n_columns + 1) // 2
        parts = [np.arange(half), np.arange(half, n_columns)]
        return [part for part in parts if len(part)]
    lists = list(views.values()) if isinstance(views, Mapping) else list(views)
    if not lists:
        raise DataError("views is empty: name the columns of one view or more.")
    return [column_positions(view, table) for view in lists]


class MultiViewClassifier(EnsembleClassifier):
    r"""Classify by several views of the same rows, integrated late, early or in between.

    Parameters
    ----------
    views
        Columns of each view: a dictionary of names or positions, or a list of lists; None for two
        halves of the columns.
    estimator
        Classifier of a view, or of all columns, or of the shared factors; None takes naive Bayes.
        Intermediate integration has its own machine.
    integration
        "late" combines a classifier for each view; "early" puts all columns side by side for one;
        "intermediate" trains a support-vector machine on a weighted sum of a Gaussian kernel for
        each view; "latent" classifies by the factors that the views share.
    combiner
        How late integration combines: "sum", "product", "median", "min", "max", "plurality" or
        "stacking".
    n_components
        Factors of latent integration.
    random_state
        Seed of folds, and of learners that have none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    views_ : list of ndarray
        Positions of the columns of each view.
    model_ : learner
        What answers.
    evaluations_ : float
        Learners that a prediction asks.

    Notes
    -----
    Separate learners of separate sources err separately, and are usually better than one on all
    columns side by side (Noble 2004). See Alpaydin 17.2, 17.12 and 13.8; SIT1305 V.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import MultiViewClassifier
    >>> iris = dataset("iris")
    >>> views = {"sepal": ["sepal_length_cm", "sepal_width_cm"],
    ...          "petal": ["petal_length_cm", "petal_width_cm"]}
    >>> for integration in ("late", "early", "intermediate", "latent"):
    ...     machine = MultiViewClassifier(views, integration=integration)
    ...     print(integration, round(machine.fit(iris.inputs, iris.target_values).score(
    ...         iris.inputs, iris.target_values), 2))
    late 0.96
    early 0.96
    intermediate 0.98
    latent 0.83
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "views": [dict, list, tuple, None],
        "estimator": [HasMethods(["fit", "predict"]), None],
        "integration": [StrOptions(set(INTEGRATIONS))],
        "combiner": [
            StrOptions({"sum", "product", "median", "min", "max", "plurality", "stacking"})
        ],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": RANDOM_STATE,
    }
    estimators = None

    def __init__(
        self,
        views: Mapping[str, Any] | list[Any] | None = None,
        estimator: Any = None,
        *,
        integration: str = "late",
        combiner: str = "sum",
        n_components: int = 1,
        random_state: Seed = None,
    ) -> None:
        self.views = views
        self.estimator = estimator
        self.integration = integration
        self.combiner = combiner
        self.n_components = n_components
        self.random_state = random_state

    def _compares_rows(self) -> bool:
        return self.integration in ("intermediate", "latent")

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Teach a learner for each view, or one for all.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, codes, weights = self._read_weighted(X, y, sample_weight)
        self.views_ = read_views(self.views, table)
        names = list(self.views) if isinstance(self.views, Mapping) else []
        names = names or [f"view {number + 1}" for number in range(len(self.views_))]
        base = NaiveBayes() if self.estimator is None else self.estimator
        seed = self.random_state
        late = [
            (name, make_pipeline(ColumnSubset(view), base))
            for name, view in zip(names, self.views_, strict=True)
        ]
        model: Any
        if self.integration == "late" and self.combiner == "stacking":
            model = StackingClassifier(late, random_state=seed)
        elif self.integration == "late":
            model = VotingClassifier(late, rule=self.combiner, random_state=seed)
        elif self.integration == "early":
            model = prepared_member(base, table)
        elif self.integration == "intermediate":
            kernels = [Gaussian().on_columns(view.tolist()) for view in self.views_]
            model = self._of_numbers(MultipleKernelClassifier(kernels), table)
        else:
            positions = [view.tolist() for view in self.views_]
            factors = SharedFactors(positions, n_components=self.n_components)
            model = self._of_numbers(make_pipeline(factors, base), table)
        if isinstance(seed, int):
            model = seeded(model, seed)
        if weights is not None:
            part = model if self.integration == "intermediate" else base
            check_weighted([("estimator", part)])
        self.model_ = fit_member((self.integration, model), table, self.classes_[codes], weights)
        self.evaluations_ = float(len(self.views_)) if self.integration == "late" else 1.0
        return self

    def _of_numbers(self, model: Any, table: Any) -> Any:
        """Return a learner that takes the table's columns at their positions."""
        array = table.to_numpy() if hasattr(table, "to_numpy") else table
        if array.dtype.kind not in "iuf" or np.isnan(array).any():
            raise DataError(
                f"integration={self.integration!r} takes complete columns of numbers; encode and "
                "impute the table first, or take 'late' or 'early'."
            )
        return model

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of each class, or whole votes where the machine has none."""
        table = self._checked(X)
        return class_outputs(self.model_, table, self.classes_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        table = self._checked(X)
        return np.asarray(self.model_.predict(table))
