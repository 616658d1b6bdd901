"""Bayes' rule as methods: from joint log-likelihoods to classes and probabilities."""

from typing import Any

import numpy as np

from verulam.base import map_rows
from verulam.numerics._special import normalise_rows
from verulam.numerics._special_loops import largest_column


class PosteriorMixin:
    """Mixin: a classifier that defines `_joint_log_likelihood`, up to a constant of each row."""

    classes_: np.ndarray

    def _joint_log_likelihood(self, X: Any) -> np.ndarray:
        """Return the logarithm of prior times likelihood of each class."""
        raise NotImplementedError(f"{type(self).__name__} must define _joint_log_likelihood.")

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row."""
        joint = self._joint_log_likelihood(X)
        return self.classes_[map_rows(largest_column, joint, (len(joint),), np.intp, light=True)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the posterior probability of each class."""
        return normalise_rows(self._joint_log_likelihood(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the posterior probabilities."""
        joint = self._joint_log_likelihood(X)
        return joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
