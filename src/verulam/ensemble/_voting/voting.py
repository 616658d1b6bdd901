"""Voting of classifiers and regressors, with weights that are equal, known or estimated."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    RANDOM_STATE,
    TEXT,
    DataError,
    Interval,
    Seed,
    StrOptions,
    checked_arguments,
    checked_fit_with_parts,
    spawn_seeds,
)
from verulam.ensemble._fusion.analysis import (
    covariance_weights,
    member_errors,
    model_posterior,
    row_counts,
    shares_of_errors,
)
from verulam.ensemble._fusion.rules import RULES, SCALES, combine, score_scale
from verulam.ensemble._members.base import (
    EnsembleClassifier,
    EnsembleRegressor,
    example_classifiers,
    example_regressors,
    unit_rows,
)
from verulam.ensemble._members.members import (
    OUTPUTS,
    TARGETS,
    WEIGHTS,
    MemberOutputs,
    cross_outputs,
    fit_members,
    fold_numbers,
    outputs_of,
    prepared_members,
)

FloatArray = NDArray[np.float64]

#: Ways to find weights of members.
METHODS = ("accuracy", "log_odds", "covariance", "posterior")
_WEIGHTS = StrOptions(set(METHODS))
_SHARED: dict[str, Any] = {
    "estimators": [list, tuple, None],
    "weights": ["array-like", None],
    "folds": [Interval(Integral, 2, None, closed="left")],
    "random_state": RANDOM_STATE,
}


@checked_arguments(outputs=OUTPUTS, targets=TARGETS, method=TEXT, sample_weight=WEIGHTS)
def estimated_weights(
    outputs: MemberOutputs,
    targets: NDArray[Any],
    method: str,
    sample_weight: ArrayLike | None = None,
) -> FloatArray:
    r"""Return weights of members from what they said about rows that they were not taught with.

    Parameters
    ----------
    outputs
        What they said.
    targets
        What was true.
    method
        "accuracy", in proportion to the share of rows that a classifier gets right, or to the
        inverse of a regressor's squared error; "log_odds" of the accuracy, at least 0; "covariance"
        of the errors, which may give weights below 0; "posterior" probability of each model.
    sample_weight
        How often each row counts; None for once each.

    Notes
    -----
    Independent voters have the best plurality with weights :math:`\log (p_j / (1 - p_j))`. The
    likelihood of a regressor is that of Gaussian errors. See Alpaydin 17.4 (17.2-17.3) and
    Bartkowiak 7.3.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.ensemble import MemberOutputs, estimated_weights
    >>> said = MemberOutputs(np.array([[[1.0], [2.0]], [[1.5], [3.5]]]), ("near", "far"))
    >>> estimated_weights(said, np.array([1.1, 2.1]), "accuracy").round(3)
    array([0.991, 0.009])
    """
    if method not in METHODS:
        raise DataError(f"method={method!r}: take one of {', '.join(METHODS)}.")
    errors = member_errors(outputs, targets)
    rows = row_counts(sample_weight, len(targets))
    shares = shares_of_errors(rows, errors)
    if method == "covariance":
        return covariance_weights((errors * shares) @ errors.T)
    if outputs.classes is None:
        squares = np.maximum(errors**2 @ shares, 1e-300)
        if method == "posterior":
            return model_posterior(-0.5 * rows.sum() * np.log(squares))
        return (1.0 / squares) / (1.0 / squares).sum()
    places = np.searchsorted(outputs.classes, targets)
    if method == "posterior":
        vote = np.take_along_axis(outputs.values, places[None, :, None], axis=2)[:, :, 0]
        # A single row that a model held for impossible should not rule it out for ever.
        return model_posterior(np.log(np.clip(vote, 1e-6, None)) @ rows)
    accuracy = (outputs.values.argmax(axis=2) == places) @ rows / rows.sum()
    if method == "log_odds":
        n_rows = max(rows.sum(), 1.0)
        bounded = np.clip(accuracy, 0.5 / n_rows, 1.0 - 0.5 / n_rows)
        accuracy = np.maximum(np.log(bounded / (1.0 - bounded) * (len(outputs.classes) - 1)), 0.0)
    total = accuracy.sum()
    return accuracy / total if total > 0 else np.full(len(accuracy), 1.0 / len(accuracy))


class VotingClassifier(EnsembleClassifier):
    r"""Let several classifiers vote.

    Parameters
    ----------
    estimators
        Classifiers, or pairs of name and classifier; None takes naive Bayes, a
        tree and nearest neighbours. Each gets the table as it can use it.
    rule
        "sum" of the probabilities, "median", "min", "max", "product"; "plurality" of whole votes;
        or "majority", which refuses rows where no class has more than half of them.
    weights
        Weight of each member; or how they are found on rows that members were not taught with, as
        in `estimated_weights`: "accuracy", "log_odds", "covariance", "posterior".
    scaling
        Use scores of a `decision_function` instead of probabilities, on the scale "min_max", "z",
        "median" or "tanh"; None for probabilities.
    ties
        Which of several classes with equal votes wins: the "first" by label, or the one with the
        larger sum of "probabilities".
    reject_label
        What `predict` answers where there is no majority.
    folds
        Folds in which weights and scales are found.
    random_state
        Seed of the folds, and of members that have none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    estimators_ : list of tuple
        Name and fitted learner of each member.
    weights_ : ndarray of shape (n_members,)
        Weights, which sum to 1.
    evaluations_ : float
        Members that a prediction asks.

    Notes
    -----
    .. math:: y_i = \sum_j w_j d_{ji}, \quad w_j \ge 0, \; \sum_j w_j = 1

    See Alpaydin 17.4 (17.2; table 17.1).

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import VotingClassifier
    >>> titanic = dataset("titanic")
    >>> vote = VotingClassifier(weights="accuracy", random_state=0)
    >>> vote = vote.fit(titanic.inputs, titanic.target_values)
    >>> dict(zip([name for name, _ in vote.estimators_], vote.weights_.round(3).tolist()))
    {'naive_bayes': 0.324, 'tree': 0.341, 'neighbours': 0.334}
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_SHARED,
        "rule": [StrOptions({*RULES, "majority"})],
        "weights": [_WEIGHTS, "array-like", None],
        "scaling": [StrOptions(set(SCALES)), None],
        "ties": [StrOptions({"first", "probabilities"})],
        "reject_label": "no_validation",
    }

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(example_classifiers())]

    def __init__(
        self,
        estimators: list[Any] | None = None,
        *,
        rule: str = "sum",
        weights: ArrayLike | str | None = None,
        scaling: str | None = None,
        ties: str = "first",
        reject_label: Any = "reject",
        folds: int = 5,
        random_state: Seed = None,
    ) -> None:
        self.estimators = estimators
        self.rule = rule
        self.weights = weights
        self.scaling = scaling
        self.ties = ties
        self.reject_label = reject_label
        self.folds = folds
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Teach all members, and find weights and scales where they are asked for.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, codes, weights = self._read_weighted(X, y, sample_weight)
        labels = self.classes_[codes]
        seeds = spawn_seeds(self.random_state, 2)
        members = prepared_members(self._members(), table, seeds[1], weights)
        self.weights_ = np.full(len(members), 1.0 / len(members))
        if self.scaling is not None or isinstance(self.weights, str):
            numbers = fold_numbers(codes, len(codes), self.folds, seeds[0])
            kind = "probabilities" if self.scaling is None else "scores"
            outputs = cross_outputs(members, table, labels, numbers, self.classes_, kind, weights)
            self._find_scale(outputs, weights)
            if isinstance(self.weights, str):
                scaled = MemberOutputs(self._scaled(outputs), outputs.names, outputs.classes)
                self.weights_ = estimated_weights(scaled, labels, self.weights, weights)
        if self.weights is not None and not isinstance(self.weights, str):
            self.weights_ = _known_weights(self.weights, len(members))
        self.estimators_ = fit_members(members, table, labels, weights)
        self.evaluations_ = float(len(members))
        return self

    def _find_scale(self, outputs: MemberOutputs, weights: FloatArray | None) -> None:
        if self.scaling is not None:
            # One scale for all classes of a member, which are compared with one another.
            by_member = outputs.values.reshape(len(outputs.values), -1).T
            counts = None if weights is None else np.repeat(weights, outputs.values.shape[2])
            self._scale = score_scale(by_member, self.scaling, counts)

    def _scaled(self, outputs: MemberOutputs) -> FloatArray:
        if self.scaling is None:
            return outputs.values
        return self._scale.apply(outputs.values.transpose(1, 2, 0)).transpose(2, 0, 1)

    def member_outputs(self, X: Any) -> MemberOutputs:
        """Return what each member says about each row, on one scale."""
        table = self._checked(X)
        kind = "probabilities" if self.scaling is None else "scores"
        outputs = outputs_of(self.estimators_, table, self.classes_, kind)
        return MemberOutputs(self._scaled(outputs), outputs.names, outputs.classes)

    def votes(self, X: Any) -> FloatArray:
        """Return the combined vote for each class, as the rule gives it."""
        outputs = self.member_outputs(X)
        rule = "plurality" if self.rule == "majority" else self.rule
        weights = None if self.weights is None else self.weights_
        combined = combine(outputs, rule, weights=weights)
        if self.ties == "probabilities" and rule == "plurality":
            # Small enough to decide between equal numbers of votes and no others.
            combined = combined + 1e-9 * combine(outputs, "sum", normalise=True)
        return combined

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the combined votes, divided by their sum."""
        votes = self.votes(X)
        return unit_rows(np.maximum(votes, 0.0))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest vote, or the reject label without a majority."""
        votes = self.votes(X)
        labels = self.classes_[votes.argmax(axis=1)]
        if self.rule != "majority":
            return labels
        certain = votes.max(axis=1) > 0.5 + 1e-6
        # Labels of any type beside that of refused rows, whether there are such or not.
        return np.where(certain, labels.astype(object), self.reject_label)


def _known_weights(weights: Any, n_members: int) -> FloatArray:
    shares = np.asarray(weights, dtype=np.float64)
    if shares.shape != (n_members,) or not (shares >= 0).all() or not shares.sum() > 0:
        raise DataError(
            f"weights must be {n_members} numbers of 0 or more, one for each member and not all 0; "
            f"got {weights}."
        )
    return shares / shares.sum()


class VotingRegressor(EnsembleRegressor):
    r"""Average several regressors.

    Parameters
    ----------
    estimators
        Regressors, or pairs of name and regressor; None takes least squares, a tree and a
        nearest-neighbour smoother. Each gets the table as it can use it.
    rule
        "mean", or "median", which a few wild members do not move.
    weights
        Weight of each member; or how they are found on rows that members were not taught with, as
        in `estimated_weights`: "accuracy", "covariance", "posterior".
    folds
        Folds in which weights are found.
    random_state
        Seed of the folds, and of members that have none.

    Attributes
    ----------
    estimators_ : list of tuple
        Name and fitted learner of each member.
    weights_ : ndarray of shape (n_members,)
        Weights, which sum to 1.
    evaluations_ : float
        Members that a prediction asks.

    Notes
    -----
    See Alpaydin 17.4 and Bartkowiak 7.3.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import VotingRegressor
    >>> mpg = dataset("auto_mpg")
    >>> vote = VotingRegressor(weights="covariance", random_state=0)
    >>> vote.fit(mpg.inputs, mpg.target_values).weights_.round(2)
    array([0.2 , 0.28, 0.52])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_SHARED,
        "rule": [StrOptions({"mean", "median"})],
        "weights": [StrOptions({"accuracy", "covariance", "posterior"}), "array-like", None],
    }

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(example_regressors())]

    def __init__(
        self,
        estimators: list[Any] | None = None,
        *,
        rule: str = "mean",
        weights: ArrayLike | str | None = None,
        folds: int = 5,
        random_state: Seed = None,
    ) -> None:
        self.estimators = estimators
        self.rule = rule
        self.weights = weights
        self.folds = folds
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Teach all members, and find weights where they are asked for.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, targets, weights = self._read_weighted(X, y, sample_weight)
        seeds = spawn_seeds(self.random_state, 2)
        members = prepared_members(self._members(), table, seeds[1], weights)
        if isinstance(self.weights, str):
            if self.rule == "median" and self.weights == "covariance":
                raise DataError("weights='covariance' may be below 0; take rule='mean' with it.")
            numbers = fold_numbers(None, len(targets), self.folds, seeds[0])
            outputs = cross_outputs(members, table, targets, numbers, None, weights=weights)
            self.weights_ = estimated_weights(outputs, targets, self.weights, weights)
        elif self.weights is None:
            self.weights_ = np.full(len(members), 1.0 / len(members))
        else:
            self.weights_ = _known_weights(self.weights, len(members))
        self.estimators_ = fit_members(members, table, targets, weights)
        self.evaluations_ = float(len(members))
        return self

    def member_outputs(self, X: Any) -> MemberOutputs:
        """Return what each member says about each row."""
        table = self._checked(X)
        return outputs_of(self.estimators_, table, None)

    def predict(self, X: Any) -> FloatArray:
        """Return the combined number of each row."""
        rule = "sum" if self.rule == "mean" else "median"
        weights = None if self.weights is None else self.weights_
        return combine(self.member_outputs(X), rule, weights=weights)[:, 0]
