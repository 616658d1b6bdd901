"""Discriminative training of class models: maximum conditional likelihood by gradient ascent."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.numerics import log_softmax, softmax
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._emissions.categorical import CategoricalEmission
from verulam.sequence._emissions.gaussian import GaussianEmission
from verulam.sequence._model.expectation import expected_sums
from verulam.sequence._model.inference import filter_states
from verulam.sequence._model.parameters import HMMParameters
from verulam.sequence._model.transitions import Transitions

#: A step that had to be halved below this gains nothing that counts.
SMALLEST_STEP = 1e-8


@dataclass(frozen=True)
class Sharpened:
    """Models after discriminative training.

    Attributes
    ----------
    models
        One model per class.
    curve
        Mean log-posterior of the right class, before and after each step.
    """

    models: list[HMMParameters]
    curve: list[float]


@dataclass(frozen=True)
class Gradient:
    """Derivatives of a log-likelihood by the logits and the Gaussian's means and log-deviations."""

    initial: np.ndarray
    transitions: np.ndarray
    emission: tuple[np.ndarray, ...]

    def __add__(self, other: "Gradient") -> "Gradient":
        return Gradient(
            self.initial + other.initial,
            self.transitions + other.transitions,
            tuple(a + b for a, b in zip(self.emission, other.emission, strict=True)),
        )

    def scaled(self, factor: float) -> "Gradient":
        """Return the gradient times a factor."""
        return Gradient(
            factor * self.initial,
            factor * self.transitions,
            tuple(factor * part for part in self.emission),
        )


def log_likelihood_gradient(model: HMMParameters, sequences: Sequences) -> Gradient:
    r"""Return the gradient of the log-likelihood of some sequences.

    Parameters
    ----------
    model
        A model with categorical or diagonal Gaussian emissions.
    sequences
        The sequences, encoded.

    Notes
    -----
    By Fisher's identity it is the expectation of the complete-data gradient: by the logit of
    :math:`a_{ij}`, :math:`\sum_t \xi_t(i,j) - a_{ij} \sum_t \gamma_t(i)`, and so for the rest.
    """
    sums = expected_sums(model, sequences)
    moves: Transitions = model.transitions
    counts = sums.transitions.sums
    totals = np.bincount(moves.sources, counts, minlength=model.n_states)
    return Gradient(
        sums.firsts - len(sequences) * model.initial,
        counts - totals[moves.sources] * moves.weights,
        _emission_gradient(model, sums.emission),
    )


def _emission_gradient(model: HMMParameters, sums: Any) -> tuple[np.ndarray, ...]:
    emission, parameters = model.parts.emission, model.emission
    if isinstance(emission, CategoricalEmission):
        counts = np.zeros_like(parameters.probabilities)
        counts[:, : len(sums.counts)] = sums.counts.T
        return (counts - counts.sum(axis=1, keepdims=True) * parameters.probabilities,)
    deviations = parameters.means - parameters.origin
    first = sums.sums - sums.weight * deviations
    second = sums.squares - 2 * deviations * sums.sums + sums.weight * deviations**2
    by_mean = first / parameters.covariances
    return by_mean, second / parameters.covariances - sums.weight


def moved(model: HMMParameters, gradient: Gradient, step: float) -> HMMParameters:
    """Return the model a step along the gradient; probabilities stay probabilities."""
    moves: Transitions = model.transitions
    # A step in the logits multiplies probabilities, which are normalised afterwards.
    factors = np.exp(np.clip(step * gradient.transitions, -50, 50))
    weights = moves.normalised(moves.weights * factors)
    initial = model.initial * np.exp(np.clip(step * gradient.initial, -50, 50))
    parameters = model.emission
    if isinstance(model.parts.emission, CategoricalEmission):
        shares = parameters.probabilities * np.exp(np.clip(step * gradient.emission[0], -50, 50))
        new = replace(parameters, probabilities=shares / shares.sum(axis=1, keepdims=True))
    else:
        # Scaled by the variances, so that the step has the units of the means.
        means = parameters.means + step * gradient.emission[0] * parameters.covariances
        factor = np.exp(np.clip(step * gradient.emission[1], -1.0, 1.0))
        floor = getattr(model.parts.emission, "variance_floor", 0.0) * parameters.spread
        new = replace(
            parameters, means=means, covariances=np.maximum(parameters.covariances * factor, floor)
        )
    return replace(
        model,
        initial=initial / initial.sum(),
        transitions=moves.with_weights(weights),
        emission=new,
    )


def sharpen(
    models: list[HMMParameters],
    read: list[Sequences],
    codes: np.ndarray,
    log_priors: np.ndarray,
    n_steps: int,
    learning_rate: float,
) -> Sharpened:
    r"""Raise the mean log-posterior of the right classes by gradient ascent.

    Parameters
    ----------
    models
        One model per class.
    read
        All sequences, encoded for each model.
    codes
        Class of each sequence.
    log_priors
        Logarithms of the class priors.
    n_steps
        Most steps; fewer where none raises the posteriors any more.
    learning_rate
        Size of the first step; it is halved until the posteriors rise, and grows again.

    Notes
    -----
    :math:`\partial \ln P(c \mid O) / \partial \theta_k = (1(c = k) - P(k \mid O))\,
    \partial \ln P(O \mid \lambda_k) / \partial \theta_k` (Alpaydin 15.10).
    """
    for model in models:
        _check_supported(model)
    joint = _joint(models, read, log_priors)
    curve = [_mean_log_posterior(joint, codes)]
    step = learning_rate
    for _ in range(n_steps):
        # d ln P(c | O) / d theta_k is the gradient of model k's log-likelihood times this excess.
        excess = (np.arange(len(models)) == codes[:, None]) - softmax(joint, axis=1)
        gradients = [
            _weighted_gradient(model, sequences, excess[:, k] / len(codes))
            for k, (model, sequences) in enumerate(zip(models, read, strict=True))
        ]
        while step > SMALLEST_STEP:
            trial = [
                moved(model, gradient, step)
                for model, gradient in zip(models, gradients, strict=True)
            ]
            trial_joint = _joint(trial, read, log_priors)
            value = _mean_log_posterior(trial_joint, codes)
            if value > curve[-1]:
                break
            step /= 2
        else:
            break
        models, joint = trial, trial_joint
        curve.append(value)
        # Backtracking halves the step; without growth it could only ever shrink.
        step *= 1.5
    return Sharpened(models, curve)


def _check_supported(model: HMMParameters) -> None:
    emission = model.parts.emission
    diagonal = isinstance(emission, GaussianEmission) and emission.covariance == "diagonal"
    if (
        not (diagonal or isinstance(emission, CategoricalEmission))
        or model.parts.shared is not None
    ):
        raise DataError(
            "Discriminative training is for categorical and diagonal Gaussian emissions that "
            f"states do not share; this model has {type(emission).__name__}."
        )


def _weighted_gradient(model: HMMParameters, sequences: Sequences, weights: np.ndarray) -> Gradient:
    parts = [
        log_likelihood_gradient(model, sequences[s : s + 1]).scaled(float(weight))
        for s, weight in enumerate(weights)
        if abs(weight) > 1e-12
    ]
    if not parts:
        return log_likelihood_gradient(model, sequences[:1]).scaled(0.0)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _joint(
    models: list[HMMParameters], read: list[Sequences], log_priors: np.ndarray
) -> np.ndarray:
    columns = [
        filter_states(
            model.emissions(sequences), sequences.starts, model.initial, model.moves(sequences)
        ).log_likelihoods
        for model, sequences in zip(models, read, strict=True)
    ]
    return np.column_stack(columns) + log_priors


def _mean_log_posterior(joint: np.ndarray, codes: np.ndarray) -> float:
    return float(log_softmax(joint, axis=1)[np.arange(len(codes)), codes].mean())
