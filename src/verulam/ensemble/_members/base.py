"""What all ensembles share: reading the data, default members, answers from combined votes."""

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags, check_consistent_length

from verulam.base import (
    Classifier,
    DataError,
    MetaEstimatorMixin,
    Regressor,
    check_is_fitted,
    check_weights,
    encode_classes,
    is_classifier,
    is_regressor,
    numeric_targets,
)
from verulam.ensemble._members.members import (
    FloatArray,
    Member,
    named_members,
    takes_weights,
)
from verulam.ensemble._members.tables import (
    complete_medians,
    read_table,
    take_rows,
    takes_gaps,
    without_new_gaps,
)
from verulam.nonparametric import KNeighborsClassifier, NeighbourSmoother
from verulam.parametric import LeastSquares, NaiveBayes
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor


def default_classifiers() -> list[Member]:
    """Return classifiers of three kinds, which err in different ways."""
    return [
        ("naive_bayes", NaiveBayes()),
        ("tree", DecisionTreeClassifier(min_samples_leaf=3)),
        ("neighbours", make_pipeline(StandardScaler(), KNeighborsClassifier())),
    ]


def default_regressors() -> list[Member]:
    """Return regressors of three kinds, which err in different ways."""
    return [
        ("linear", LeastSquares()),
        ("tree", DecisionTreeRegressor(min_samples_leaf=5)),
        ("neighbours", make_pipeline(StandardScaler(), NeighbourSmoother())),
    ]


def example_classifiers() -> list[Any]:
    """Return classifiers that take weights of rows, and none of them by a number of rows."""
    return [NaiveBayes(), DecisionTreeClassifier(max_depth=4)]


def example_regressors() -> list[Any]:
    """Return regressors that take weights of rows, and none of them by a number of rows."""
    return [LeastSquares(), DecisionTreeRegressor(max_depth=4)]


#: A check of the common suite that does not apply, with its reason.
REPEATED_ROWS = {
    "check_sample_weight_equivalence_on_dense_data": (
        "rows are shared out at random, and copies of a row may part where a weight does not"
    )
}
#: What is known of the data before a single member is taught.
_READ = frozenset({"classes_", "n_features_in_", "feature_names_in_"})


class _NamedParts:
    """Parameters of members under their names, as in ``tree__max_depth``."""

    estimators: Any

    def __sklearn_is_fitted__(self) -> bool:
        learned = {name for name in vars(self) if name.endswith("_") and not name.startswith("_")}
        members = getattr(self, "estimators_", None)
        return bool(learned - _READ) and (members is None or len(members) > 0)

    def _forget(self) -> None:
        """Remove what an earlier fit left, so that a fit that fails leaves nothing to answer."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            if not name.startswith("_"):
                delattr(self, name)

    def _check_parts(self, task: str) -> None:
        """Refuse learners of the other kind, where others than `estimators` are given."""
        suits = is_classifier if task == "classification" else is_regressor
        for name in ("estimator", "final_estimator"):
            part = getattr(self, name, None)
            if part is not None and not isinstance(part, str) and not suits(part):
                raise DataError(f"{name}: {type(part).__name__} cannot do {task}.")

    def _takes_weights(self) -> bool:
        """Tell whether all learners that this one is made of take weights of rows."""
        return all(map(takes_weights, self._learners("estimator", "final_estimator", "gate")))

    def _learners(self, *names: str) -> list[Any]:
        """Return the learners that are parameters of these names, and the members."""
        parts = [getattr(self, name, None) for name in names]
        learners = [part for part in parts if part is not None and not isinstance(part, str)]
        if not hasattr(self, "estimator"):
            learners += [learner for _, learner in self._members()]
        return learners

    def _compares_rows(self) -> bool:
        """Tell whether rows are compared with those of training, whatever the members take."""
        return False

    def _remember_medians(self, table: Any) -> None:
        """Store what stands in gaps that were not there in training, if somebody needs it."""
        needs = self._compares_rows() or not all(map(takes_gaps, self._learners("estimator")))
        self._medians = complete_medians(table) if needs else None

    def _checked(self, X: Any) -> Any:
        """Return the rows as members take them."""
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        medians = getattr(self, "_medians", None)
        return table if medians is None else without_new_gaps(table, medians)

    def _members(self) -> list[Member]:
        raise NotImplementedError

    def _check_names(self, members: list[Member]) -> list[Member]:
        """Refuse names of members that are parameters of the ensemble as well."""
        parameters = super().get_params(deep=False)  # type: ignore[misc]
        for name, _ in members:
            if self.estimators is not None and name in parameters:
                raise DataError(
                    f"estimators: {name!r} is a parameter of {type(self).__name__}; call the "
                    "member something else."
                )
        return members

    def _pairs(self) -> Iterator[Member]:
        for item in self.estimators or ():
            if isinstance(item, tuple | list) and len(item) == 2 and hasattr(item[1], "get_params"):
                yield item[0], item[1]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; those of named members too if `deep`."""
        parameters = super().get_params(deep=False)  # type: ignore[misc]
        if deep and isinstance(parameters.get("estimators"), list | tuple):
            for name, learner in self._pairs():
                parameters[name] = learner
                for part, value in learner.get_params(deep=True).items():
                    parameters[f"{name}__{part}"] = value
        return parameters

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, also those of named members, and members by name."""
        if "estimators" in parameters:
            self.estimators = parameters.pop("estimators")
        if isinstance(getattr(self, "estimators", None), list | tuple):
            names = {name for name, _ in self._pairs()}
            replaced = {name: parameters.pop(name) for name in names & set(parameters)}
            if replaced:
                self.estimators = [
                    (item[0], replaced.get(item[0], item[1])) if isinstance(item, tuple) else item
                    for item in self.estimators
                ]
        return super().set_params(**parameters)  # type: ignore[misc]


class EnsembleClassifier(_NamedParts, MetaEstimatorMixin, Classifier):
    """A classifier made of others: it prepares the table for each of them by itself."""

    _skipped_checks: ClassVar[dict[str, str]] = {}
    _passes_by_chance = frozenset(REPEATED_ROWS)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _members(self) -> list[Member]:
        members = named_members(self.estimators, "classification", default_classifiers)
        return self._check_names(members)

    def _read(self, X: Any, y: ArrayLike) -> tuple[Any, NDArray[np.intp]]:
        """Return the table and the class codes, and remember columns and classes."""
        self._forget()
        self._check_parts("classification")
        table = read_table(self, X)
        codes, classes = encode_classes(self, y)
        check_consistent_length(table, codes)
        if len(classes) < 2:
            raise DataError(f"y has only one class ({classes[0]}); two or more are needed.")
        self.classes_ = classes
        self._remember_medians(table)
        return table, codes

    def _read_weighted(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Any, NDArray[np.intp], FloatArray | None]:
        """Return table, class codes and weights of the rows that weigh anything."""
        table, codes = self._read(X, y)
        weights, used = positive_weights(sample_weight, table)
        if weights is None or len(used) == len(codes):
            return table, codes, weights
        table = take_rows(table, used)
        self._remember_medians(table)
        # Rows without weight bring no classes either.
        present, codes = np.unique(codes[used], return_inverse=True)
        self.classes_ = self.classes_[present]
        if len(present) < 2:
            raise DataError(
                f"sample_weight leaves y only one class ({self.classes_[0]}); two or more are "
                "needed."
            )
        return table, codes, weights

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the combined vote for each class; those of a row sum to 1."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest combined vote."""
        winners = self.predict_proba(X).argmax(axis=1)
        return self.classes_[winners]


class EnsembleRegressor(_NamedParts, MetaEstimatorMixin, Regressor):
    """A regressor made of others: it prepares the table for each of them by itself."""

    _skipped_checks: ClassVar[dict[str, str]] = {}
    _passes_by_chance = frozenset(REPEATED_ROWS)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _members(self) -> list[Member]:
        members = named_members(self.estimators, "regression", default_regressors)
        return self._check_names(members)

    def _read(self, X: Any, y: ArrayLike) -> tuple[Any, NDArray[np.float64]]:
        """Return the table and the targets, and remember the columns."""
        self._forget()
        self._check_parts("regression")
        table = read_table(self, X)
        targets = numeric_targets(self, y)
        check_consistent_length(table, targets)
        self._remember_medians(table)
        return table, targets

    def _read_weighted(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Any, FloatArray, FloatArray | None]:
        """Return table, targets and weights of the rows that weigh anything."""
        table, targets = self._read(X, y)
        weights, used = positive_weights(sample_weight, table)
        if weights is None or len(used) == len(targets):
            return table, targets, weights
        table = take_rows(table, used)
        self._remember_medians(table)
        return table, targets[used], weights


def positive_weights(
    sample_weight: ArrayLike | None, table: Any
) -> tuple[FloatArray | None, NDArray[np.intp]]:
    """Return the weights above 0, if there are weights, and the rows that have them."""
    weights = check_weights(sample_weight, table)
    if weights is None:
        return None, np.arange(len(table))
    used = np.flatnonzero(weights > 0)
    if not len(used):
        raise DataError("sample_weight is zero for every row; at least one must be positive.")
    return weights[used], used


def unit_rows(votes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return votes that sum to 1 in each row; where there are none, all classes get as much."""
    totals = votes.sum(axis=1, keepdims=True)
    shares = np.divide(votes, totals, out=np.zeros_like(votes), where=totals > 0)
    return np.where(totals > 0, shares, 1.0 / votes.shape[1])
