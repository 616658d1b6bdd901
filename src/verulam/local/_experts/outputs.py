"""Experts by what they predict: numbers, or classes."""

from typing import Any

import numpy as np

from verulam.base import DataError, check_is_fitted, encode_classes
from verulam.local._experts.learner import ExpertsLearner
from verulam.local._experts.parts import HiddenExperts, LinearExperts
from verulam.local._radial.mixing import softmax_rows
from verulam.local._radial.objective import ConstantExperts
from verulam.local._radial.placing import numbers_of
from verulam.local._radial.training import ClassTargets, NumberTargets
from verulam.local._radial.units import FloatArray


class NumberExperts(NumberTargets, ExpertsLearner):
    """Experts that predict numbers."""

    def _as_predicted(self, outputs: FloatArray) -> FloatArray:
        return outputs * self._target_scale + self._target_origin

    def _truth(self, y: Any) -> FloatArray:
        numbers = numbers_of(y, "y")
        return numbers.reshape(len(numbers), -1)

    def _expert_planes(self) -> tuple[FloatArray, FloatArray]:
        """Return slopes and intercepts: columns, experts, targets."""
        slopes, intercepts = self._planes(linear_table(self))
        n_units, n_outputs = self.model_.gate.n_units, self.model_.n_outputs
        slopes = slopes.reshape(-1, n_units, n_outputs) * self._target_scale
        intercepts = intercepts.reshape(n_units, n_outputs) * self._target_scale
        return slopes, intercepts + self._target_origin

    @property
    def coef_(self) -> FloatArray:
        """Slopes of the experts: experts by columns, of several targets with one more axis."""
        slopes, _ = self._expert_planes()
        return slopes[:, :, 0].T if self._single else slopes.transpose(1, 2, 0)

    @property
    def intercept_(self) -> FloatArray:
        """Intercepts of the experts, of several targets in columns."""
        _, intercepts = self._expert_planes()
        return intercepts[:, 0] if self._single else intercepts

    @property
    def noise_(self) -> Any:
        """Standard deviation of the targets around a competing expert."""
        check_is_fitted(self)
        if not self.model_.competitive:
            raise AttributeError("noise_ is there where experts compete (combination).")
        numbers = np.exp(self.parameters_[-1]) * self._target_scale
        return float(numbers[0]) if self._single else numbers


class ClassExperts(ClassTargets, ExpertsLearner):
    """Experts that tell classes apart."""

    #: Classes have no noise.
    noise_scale = "learned"

    def _as_predicted(self, outputs: FloatArray) -> FloatArray:
        return softmax_rows(outputs)

    def _truth(self, y: Any) -> FloatArray:
        codes, labels = encode_classes(self, y)
        places = np.searchsorted(self.classes_, labels)
        known = places < len(self.classes_)
        known[known] = self.classes_[places[known]] == labels[known]
        if not known.all():
            raise DataError(
                f"y has the label {labels[~known].tolist()[0]!r}, which is none of the classes "
                f"{self.classes_.tolist()}."
            )
        return np.eye(len(self.classes_))[places[codes]]

    @property
    def coef_(self) -> FloatArray:
        """Slopes of the experts: experts, classes, columns."""
        slopes, _ = self._planes(linear_table(self))
        n_units, n_outputs = self.model_.gate.n_units, self.model_.n_outputs
        return slopes.reshape(-1, n_units, n_outputs).transpose(1, 2, 0)

    @property
    def intercept_(self) -> FloatArray:
        """Intercepts of the experts, experts by classes."""
        _, intercepts = self._planes(linear_table(self))
        return intercepts.reshape(self.model_.gate.n_units, self.model_.n_outputs)


def linear_table(learner: ExpertsLearner) -> FloatArray:
    """Return the weights of experts that are linear, or of a few directions: columns by outputs."""
    check_is_fitted(learner)
    experts, model = learner.model_.experts, learner.model_
    theta = model.split(learner.parameters_)[1]
    if isinstance(experts, LinearExperts):
        return experts.table(theta)
    if isinstance(experts, ConstantExperts):
        return np.vstack([theta, np.zeros((model.n_inputs, len(theta)))])
    if isinstance(experts, HiddenExperts) and experts.activation == "identity":
        first, second, intercepts = experts.split(theta)
        by_expert = first.reshape(-1, experts.n_units, experts.n_hidden)
        table = np.einsum("jhq,hqk->jhk", by_expert, second)
        table[0] += intercepts[:, 0]
        return table.reshape(len(table), -1)
    raise AttributeError("coef_ and intercept_ are there for linear experts (hidden_units=0).")
