"""Minimum-risk decisions: the least expected loss on top of any probabilistic classifier."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import get_tags

from verulam.base import (
    Classifier,
    HasMethods,
    MetaEstimatorMixin,
    available_if,
    check_is_fitted,
    check_weights,
    checked_fit_with_parts,
    column_or_1d,
)
from verulam.decision._bayes import PerClass, check_priors, normalise
from verulam.decision._discriminants import (
    ActionInterval,
    action_intervals,
    discriminants,
    log_odds,
)
from verulam.decision._loss import Loss, loss_table
from verulam.decision._wrappers import (
    adopt_features,
    class_positions,
    fitted_clone,
    hit_rate,
    refuse_single_class,
    weighted_mean,
)


def has_two_classes(learner: Any) -> bool:
    """Say whether a fitted learner distinguishes two classes."""
    return len(getattr(learner, "classes_", ())) == 2


class MinimumRisk(MetaEstimatorMixin, Classifier):
    r"""Choose the action of least expected loss, given any classifier's probabilities.

    Parameters
    ----------
    estimator
        Classifier with `predict_proba`. One that is already fitted is used as it is when wrapped
        in `sklearn.frozen.FrozenEstimator`.
    loss
        Loss :math:`\lambda_{ik}` of each action (row) for each class (column, in the order of
        `classes_`). There may be more actions than classes. A pandas table or a dictionary
        ``{action: {class: loss}}`` brings its own names. None is the 0/1 loss.
    actions
        Names of the rows of `loss`, where they are not the classes and loss has no names.
    reject_cost
        Loss :math:`\lambda` of withholding the decision: one number, or one per class (a list
        in class order, or a dictionary). Between 0 and the largest loss.
    reject_label
        What `predict` answers where the decision is withheld. With numeric classes a number
        keeps the answers numeric.
    priors
        Class probabilities where decisions will be made, if they differ from those in
        training: the posteriors are corrected without fitting again.
    training_priors
        Class probabilities that the classifier has learned. None takes those it states
        (`class_prior_` or `priors_`), or else the shares of the classes in training.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    actions_ : ndarray of shape (n_actions,)
        What `predict` may answer, the reject action last.
    loss_table_ : LossTable
        The loss of each action, rejection included.
    training_priors_ : ndarray of shape (n_classes,)
        Priors that the posteriors contain.

    Notes
    -----
    .. math:: R(\alpha_i \mid x) = \sum_k \lambda_{ik} P(C_k \mid x)

    With the 0/1 loss the most probable class is chosen; with a reject cost
    :math:`\lambda`, only if its probability exceeds :math:`1 - \lambda`
    (SIT1305 II; Bartkowiak 2.1). With :math:`\lambda > 1 - 1/K` nothing is rejected.

    Examples
    --------
    Calling an ill person healthy costs ten times a false alarm; a second test costs half of one:

    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from verulam.decision import MinimumRisk
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["healthy", "healthy", "ill", "ill"]
    >>> loss = {
    ...     "send home": {"healthy": 0, "ill": 10},
    ...     "treat": {"healthy": 1, "ill": 0},
    ...     "test again": {"healthy": 0.5, "ill": 0.5},
    ... }
    >>> doctor = MinimumRisk(GaussianNB(), loss).fit(X, y)
    >>> doctor.predict([[0.0], [1.3], [2.0]])
    array(['send home', 'test again', 'treat'], dtype='<U10')
    >>> [f"{piece.action} from {piece.low:.2f}" for piece in doctor.thresholds()]
    ['send home from 0.00', 'test again from 0.05', 'treat from 0.50']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict_proba"])],
        "loss": ["array-like", dict, None],
        "actions": ["array-like", None],
        "reject_cost": ["array-like", float, int, dict, None],
        "reject_label": "no_validation",
        "priors": ["array-like", dict, None],
        "training_priors": ["array-like", dict, None],
    }

    def __init__(
        self,
        estimator: Any,
        loss: Loss | None = None,
        *,
        actions: Sequence[Any] | None = None,
        reject_cost: float | PerClass | None = None,
        reject_label: Any = "reject",
        priors: PerClass | None = None,
        training_priors: PerClass | None = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.actions = actions
        self.reject_cost = reject_cost
        self.reject_label = reject_label
        self.priors = priors
        self.training_priors = training_priors

    @classmethod
    def _example_learners(cls) -> list[Self]:
        from sklearn.linear_model import LogisticRegression

        plain = LogisticRegression()
        return [cls(plain), cls(plain, reject_cost=0.9, reject_label=-99)]

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier and check losses and priors against its classes."""
        self.estimator_ = fitted_clone(self.estimator, X, y, sample_weight)
        self.classes_ = self.estimator_.classes_
        refuse_single_class(self.classes_)
        self.loss_table_ = loss_table(
            self.classes_,
            self.loss,
            actions=self.actions,
            reject_cost=self.reject_cost,
            reject_label=self.reject_label,
        )
        self.actions_ = self.loss_table_.actions
        self.training_priors_ = self._learned_priors(y, sample_weight)
        if self.priors is not None:
            check_priors(self.priors, self.classes_)
        adopt_features(self, self.estimator_)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the action of least risk for each row: a class, another action, or rejection."""
        best = self._best(X)
        return self.actions_[best]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the classifier's probabilities, corrected for the priors if there are any."""
        check_is_fitted(self)
        probabilities = self.estimator_.predict_proba(X)
        if self.priors is None:
            return probabilities
        priors = check_priors(self.priors, self.classes_)
        return change_priors(probabilities, self.training_priors_, priors)

    def expected_risk(self, X: Any) -> NDArray[np.float64]:
        """Return the expected loss of each action (column) for each row."""
        return -self.discriminants(X, "risk")

    def discriminants(self, X: Any, kind: str = "risk") -> NDArray[np.float64]:
        """Return functions whose largest value names the decision.

        The `kind` is "risk" (its negative, per action), or "posterior" or "log posterior" (per
        class); under the 0/1 loss all choose alike.
        """
        probabilities = self.predict_proba(X)
        return discriminants(probabilities, kind, self.loss_table_)

    @available_if(has_two_classes)
    def log_odds(self, X: Any) -> NDArray[np.float64]:
        """Return log P(first class) - log P(second class) for each row."""
        return log_odds(self.predict_proba(X))

    @available_if(has_two_classes)
    def thresholds(self) -> tuple[ActionInterval, ...]:
        """Return the probabilities of the second class for which each action is best."""
        return action_intervals(self.loss_table_)

    def mean_loss(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the average loss of the decisions where the true classes are `y`."""
        losses = self.loss_table_.matrix[self._best(X), class_positions(y, self.classes_)]
        return weighted_mean(losses, sample_weight)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of rows that get their true class; a rejection is no hit."""
        return hit_rate(self.predict(X), y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags

    def _best(self, X: Any) -> NDArray[np.intp]:
        probabilities = self.predict_proba(X)
        return self.loss_table_.best(probabilities)

    def _learned_priors(self, y: ArrayLike, sample_weight: ArrayLike | None) -> NDArray[np.float64]:
        if self.training_priors is not None:
            return check_priors(self.training_priors, self.classes_, "training_priors")
        for name in ("class_prior_", "priors_"):
            if (stated := getattr(self.estimator_, name, None)) is not None:
                return np.asarray(stated, dtype=np.float64)
        column = column_or_1d(y)
        counts = np.bincount(
            class_positions(column, self.classes_),
            weights=check_weights(sample_weight, column),
            minlength=len(self.classes_),
        )
        return counts / counts.sum()


def change_priors(
    probabilities: NDArray[np.float64], old: NDArray[np.float64], new: NDArray[np.float64]
) -> NDArray[np.float64]:
    r"""Return posteriors under new priors, :math:`P'(C_k|x) \propto P(C_k|x) P'_k / P_k`."""
    with np.errstate(divide="ignore"):
        # A class that was never seen has posterior zero, which no new prior can raise.
        shift = np.where(old > 0, np.log(new) - np.log(np.where(old > 0, old, 1.0)), -np.inf)
        return normalise(np.log(probabilities) + shift)
