r"""Outputs of units mixed into one: in cooperation or in competition, with all slopes.

Units that cooperate add up to one output, which the error judges. Units that compete each stand
for the target alone, and the likelihood of their mixture judges them (Alpaydin 12.5, 12.6, 12.8).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verulam.local._radial.gates import LOG_TWO_PI, log_normalised, row_maxima, row_sums
from verulam.local._radial.units import FloatArray


@dataclass(frozen=True, eq=False)
class Targets:
    """What is to be predicted.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_outputs)
        Numbers, or classes as rows of zeros and a one.
    classes
        Whether they are classes.
    """

    values: FloatArray
    classes: bool

    def at(self, rows: NDArray[np.intp]) -> "Targets":
        """Return the targets of some rows."""
        return Targets(self.values[rows], self.classes)


@dataclass(frozen=True, eq=False)
class Mixed:
    """An error of every row, and its slopes.

    Attributes
    ----------
    errors : ndarray of shape (n_rows,)
        Half the squared error, or minus the log-likelihood.
    by_log_share : ndarray of shape (n_rows, n_units)
        Slopes by the logarithms of the shares.
    by_output : ndarray of shape (n_rows, n_units, n_outputs) or (1, n_units, n_outputs)
        Slopes by the outputs of the units; summed over the rows where outputs are constants.
    by_sum : ndarray of shape (n_rows, n_outputs)
        Slopes by what is added to the mixed output.
    by_log_noise
        Slope by the logarithm of the standard deviation of the noise.
    """

    errors: FloatArray
    by_log_share: FloatArray
    by_output: FloatArray
    by_sum: FloatArray
    by_log_noise: float = 0.0


def mixed_outputs(shares: FloatArray, outputs: FloatArray) -> FloatArray:
    r"""Return :math:`\sum_h g_h o_h`, rows by outputs; outputs may be the same for all rows."""
    if len(outputs) == 1 and len(shares) != 1:
        return shares @ outputs[0]
    if outputs.shape[2] == 1:
        return np.einsum("nh,nh->n", shares, outputs[:, :, 0])[:, None]
    return np.matmul(shares[:, None, :], outputs)[:, 0, :]


def softmax_rows(sums: FloatArray) -> FloatArray:
    """Return the softmax of the last axis."""
    exponentials = np.exp(sums - sums.max(axis=-1, keepdims=True))
    exponentials /= exponentials.sum(axis=-1, keepdims=True)
    return exponentials


def cooperate(
    log_shares: FloatArray,
    outputs: FloatArray,
    addition: FloatArray | None,
    targets: Targets,
    weights: FloatArray | None,
) -> Mixed:
    r"""Return the error of the mixed output :math:`y = \sum_h g_h o_h + a`, with slopes.

    Parameters
    ----------
    log_shares
        Logarithms of the shares :math:`g_h`.
    outputs
        Outputs :math:`o_h` of the units.
    addition
        What is added to the sum, or None.
    targets, weights
        What is to be predicted, and weights of the rows.
    """
    shares = np.exp(log_shares)
    sums = mixed_outputs(shares, outputs)
    if addition is not None:
        sums = sums + addition
    if targets.classes:
        logarithms = log_normalised(sums)
        slopes = np.exp(logarithms) - targets.values
        errors = -np.einsum("nk,nk->n", targets.values, logarithms)
    else:
        slopes = sums - targets.values
        errors = 0.5 * np.einsum("nk,nk->n", slopes, slopes)
    if weights is not None:
        slopes *= weights[:, None]
        errors *= weights
    # One table of outputs for all rows makes both sums products of matrices.
    if len(outputs) == 1 and len(shares) != 1:
        by_share = slopes @ outputs[0].T
        by_output = (shares.T @ slopes)[None]
    else:
        by_share = np.einsum("nhk,nk->nh", outputs, slopes)
        by_output = shares[:, :, None] * slopes[:, None, :]
    return Mixed(errors, shares * by_share, by_output, slopes)


def log_likelihoods(
    outputs: FloatArray, targets: Targets, noise: float
) -> tuple[FloatArray, FloatArray]:
    """Return the log-likelihood of every target by every unit, and its slopes by the outputs."""
    values = targets.values[:, None, :]
    if targets.classes:
        shifted = outputs - outputs.max(axis=2, keepdims=True)
        logarithms = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
        if len(outputs) == 1:
            likelihoods = targets.values @ logarithms[0].T
        else:
            likelihoods = np.einsum("nk,nhk->nh", targets.values, logarithms)
        return likelihoods, values - np.exp(logarithms)
    residuals = (values - outputs) / noise
    if residuals.shape[2] == 1:  # a product is much quicker than a sum over one number
        halves = 0.5 * residuals[:, :, 0] * residuals[:, :, 0]
    else:
        halves = 0.5 * np.einsum("nhk,nhk->nh", residuals, residuals)
    residuals /= noise
    return -halves - _log_constant(values.shape[2], noise), residuals


def _log_constant(n_outputs: int, noise: float) -> float:
    """Return the logarithm of the normalising constant of a spherical Gaussian."""
    return n_outputs * (np.log(noise) + 0.5 * LOG_TWO_PI)


def compete(
    log_shares: FloatArray,
    outputs: FloatArray,
    targets: Targets,
    weights: FloatArray | None,
    noise: float,
) -> Mixed:
    r"""Return minus :math:`\ln \sum_h g_h\, p(r \mid h, x)`, with slopes.

    The slopes by the logarithms of the shares are minus the posteriors :math:`f_h` of the units
    (12.34, 12.40), so that a gate moves by :math:`f_h - g_h`.

    Parameters
    ----------
    log_shares
        Logarithms of the shares :math:`g_h`.
    outputs
        Outputs of the units: means of Gaussians, or logits of classes.
    targets, weights
        What is to be predicted, and weights of the rows.
    noise
        Standard deviation of numbers around the output of their unit.
    """
    likelihoods, by_likelihood = log_likelihoods(outputs, targets, noise)
    posteriors, errors = posteriors_of(log_shares + likelihoods)
    if weights is not None:
        posteriors = posteriors * weights[:, None]
        errors = errors * weights
    by_output = by_likelihood
    by_output *= -posteriors[:, :, None]
    if len(outputs) == 1:
        by_output = by_output.sum(axis=0, keepdims=True)
    by_log_noise = 0.0
    if not targets.classes:
        # The squared residuals are in the likelihoods.
        n_outputs = targets.values.shape[1]
        constant = n_outputs + 2.0 * _log_constant(n_outputs, noise)
        by_log_noise = 2.0 * float(np.vdot(posteriors, likelihoods)) + constant * float(
            posteriors.sum()
        )
    return Mixed(errors, -posteriors, by_output, np.zeros((0, 0)), by_log_noise)


def posteriors_of(joint: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return shares in proportion to exponentials, and minus the logarithm of their sum."""
    largest = row_maxima(joint)
    posteriors = np.exp(joint - largest)
    totals = row_sums(posteriors)
    posteriors /= totals
    return posteriors, -(largest + np.log(totals))[:, 0]
