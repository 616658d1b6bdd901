"""Discriminative training: gradients against finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.sequence import (
    CategoricalEmission,
    GaussianEmission,
    HiddenMarkovModel,
    PoissonEmission,
)
from verulam.sequence._learners.discriminative import (
    Gradient,
    log_likelihood_gradient,
    moved,
    sharpen,
)

SYMBOLS = [[0, 1, 1, 0, 2], [2, 0, 1]]
MODELS = {
    "symbols": HiddenMarkovModel.from_parameters(
        [0.3, 0.7],
        [[0.6, 0.4], [0.2, 0.8]],
        CategoricalEmission(probabilities=[[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]]),
    ),
    "numbers": HiddenMarkovModel.from_parameters(
        [0.3, 0.7],
        [[0.6, 0.4], [0.2, 0.8]],
        GaussianEmission(means=[[0.0], [1.5]], covariances=[[0.5], [1.2]]),
    ),
}


@pytest.mark.parametrize("kind", MODELS)
def test_gradient_matches_finite_differences(kind):
    learner = MODELS[kind]
    sequences = learner._read(SYMBOLS, None)
    model = learner.model_
    gradient = log_likelihood_gradient(model, sequences)

    def score(changed):
        return float(changed.smooth(sequences).log_likelihoods.sum())

    zero = gradient.scaled(0.0)
    parts = [("initial", None), ("transitions", None)]
    parts += [("emission", place) for place in range(len(gradient.emission))]
    for name, place in parts:
        analytic = getattr(gradient, name) if place is None else gradient.emission[place]
        for index in np.ndindex(analytic.shape):
            unit = np.zeros_like(analytic)
            unit[index] = 1.0
            if place is None:
                direction = Gradient(
                    **{**vars(zero), name: unit},
                )
            else:
                emission = list(zero.emission)
                emission[place] = unit
                direction = Gradient(zero.initial, zero.transitions, tuple(emission))
            step = 1e-6
            numeric = (
                score(moved(model, direction, step)) - score(moved(model, direction, -step))
            ) / (2 * step)
            expected = analytic[index]
            if place == 0 and kind == "numbers":
                expected = expected * model.emission.covariances[index]
            if place == 1:
                # The step moves the logarithm of the variance, not of the deviation.
                expected = expected / 2
            assert_allclose(numeric, expected, rtol=1e-5, atol=1e-6)


def test_other_emissions_are_refused():
    model = HiddenMarkovModel(1, PoissonEmission()).fit([1, 2, 3])
    sequences = model._read([[1, 2]], None)
    with pytest.raises(DataError, match="this model has PoissonEmission"):
        sharpen([model.model_], [sequences], np.array([0]), np.zeros(1), 1, 1.0)
