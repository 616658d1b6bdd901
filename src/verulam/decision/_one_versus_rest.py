"""One-versus-rest classification, and no decision where the hypotheses disagree."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import get_tags

from verulam.base import (
    Classifier,
    DataError,
    HasMethods,
    MetaEstimatorMixin,
    check_classification_targets,
    check_is_fitted,
    checked_fit_with_parts,
    validate_data,
)
from verulam.decision._loss import as_labels
from verulam.decision._wrappers import (
    adopt_features,
    fitted_clone,
    hit_rate,
    refuse_single_class,
)


class OneVersusRestReject(MetaEstimatorMixin, Classifier):
    r"""Learn each class against the rest; reject where none or several claim the input.

    Parameters
    ----------
    estimator
        Classifier of the two-class problems.
    reject_label
        What `predict` answers where not exactly one hypothesis fires. With numeric classes a
        number keeps the answers numeric.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    hypotheses_ : list of estimators
        The fitted hypothesis of each class, in the order of `classes_`.

    Notes
    -----
    Hypothesis :math:`h_i` is taught 1 for the instances of class :math:`C_i` and 0 for all
    others (SIT1305 I). Where exactly one fires, the answer is that of scikit-learn's
    `OneVsRestClassifier`; that one breaks ties by score instead of rejecting.

    Examples
    --------
    Stumps claim half-lines. The hypothesis of "b" cannot claim the middle alone, so that
    nobody claims it:

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from verulam.decision import OneVersusRestReject
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> stumps = OneVersusRestReject(DecisionTreeClassifier(max_depth=1), reject_label="?")
    >>> stumps.fit(X, list("aaabccc")).predict([[0.0], [3.0], [6.0]])
    array(['a', '?', 'c'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "reject_label": "no_validation",
    }

    def __init__(self, estimator: Any, *, reject_label: Any = "reject") -> None:
        self.estimator = estimator
        self.reject_label = reject_label

    @classmethod
    def _example_learners(cls) -> list[Self]:
        from sklearn.linear_model import LogisticRegression

        return [cls(LogisticRegression(), reject_label=-99)]

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit one hypothesis per class."""
        y = validate_data(self, X="no_validation", y=y)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        refuse_single_class(self.classes_)
        if self.reject_label in self.classes_.tolist():
            raise DataError(
                f"reject_label={self.reject_label!r} is one of the classes: choose another name."
            )
        self.hypotheses_ = [
            fitted_clone(self.estimator, X, (y == label).astype(int), sample_weight)
            for label in self.classes_
        ]
        adopt_features(self, self.hypotheses_[0])
        return self

    def fires(self, X: Any) -> NDArray[np.bool_]:
        """Return which hypothesis (column) claims each row."""
        check_is_fitted(self)
        return np.column_stack([hypothesis.predict(X) == 1 for hypothesis in self.hypotheses_])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class whose hypothesis alone fires, or the reject label."""
        claims = self.fires(X)
        answers = as_labels([*self.classes_.tolist(), self.reject_label])
        # None claims the row, or several do: either way there is doubt.
        alone = claims.sum(axis=1) == 1
        return answers[np.where(alone, claims.argmax(axis=1), len(self.classes_))]

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of rows that get their true class; a rejection is no hit."""
        return hit_rate(self.predict(X), y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
