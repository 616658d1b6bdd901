r"""Expectation-maximisation for units that compete: posteriors, then each part by itself."""

from collections.abc import Iterator

import numpy as np

from verulam.local._radial.gates import RadialGate
from verulam.local._radial.mixing import Targets, log_likelihoods, posteriors_of
from verulam.local._radial.objective import ConstantExperts, LocalModel
from verulam.local._radial.units import FloatArray, RadialUnits, UnitLayout

#: Least variance of units and of noise, as a share of that of the rows and of the targets.
LEAST_VARIANCE = 1e-6
#: Units with less weight than this share of a row stay where they are.
LEAST_MASS = 1e-8
#: Least probability of a class in a unit.
LEAST_PROBABILITY = 1e-9


def maximised_units(
    layout: UnitLayout, theta: FloatArray, X: FloatArray, posteriors: FloatArray, floor: float
) -> FloatArray:
    r"""Return the gate that maximises :math:`\sum_t \sum_h f_h \ln a_h \mathcal N(x; m_h, S_h)`.

    The printed (12.41, 12.42) take these means and covariances for a gate without normalising
    constants and priors, with which the likelihood may fall; with them, it is a joint density and
    never falls (Xu, Jordan and Hinton, 1995).

    Parameters
    ----------
    layout, theta
        The units, and the gate that units without rows fall back on.
    X, posteriors
        Rows, and the shares of the units in them, with the weights of the rows.
    floor
        Least variance.
    """
    units = layout.units(theta[: layout.n_parameters])
    mass = posteriors.sum(axis=0)
    alive = mass > LEAST_MASS
    safe = np.where(alive, mass, 1.0)
    centers = np.where(alive[:, None], (posteriors.T @ X) / safe[:, None], units.centers)
    covariances = units.covariances.copy()
    log_determinants = np.empty(layout.n_units)
    for unit in range(layout.n_units):
        if alive[unit]:
            deviations = X - centers[unit]
            covariances[unit] = _covariance(
                deviations, posteriors[:, unit] / mass[unit], layout.covariance_type, floor
            )
        log_determinants[unit] = _log_determinant(covariances[unit], layout)
    shares = np.maximum(mass / mass.sum(), 1e-300)
    flat = layout.flat(RadialUnits(centers, covariances, layout.covariance_type))
    return np.concatenate([flat, np.log(shares) - 0.5 * log_determinants])


def _covariance(
    deviations: FloatArray, shares: FloatArray, covariance_type: str, floor: float
) -> FloatArray:
    if covariance_type == "full":
        values, vectors = np.linalg.eigh(deviations.T @ (shares[:, None] * deviations))
        # Raising small eigenvalues to the floor is the best that the floor allows.
        return (vectors * np.maximum(values, floor)) @ vectors.T
    variances = np.einsum("n,nj,nj->j", shares, deviations, deviations)
    if covariance_type == "spherical":
        return np.maximum(variances.mean(), floor)
    return np.maximum(variances, floor)


def _log_determinant(covariance: FloatArray, layout: UnitLayout) -> float:
    if layout.covariance_type == "full":
        return float(np.linalg.slogdet(covariance)[1])
    if layout.covariance_type == "spherical":
        return float(layout.n_inputs * np.log(covariance))
    return float(np.log(covariance).sum())


def maximised_constants(
    experts: ConstantExperts, theta: FloatArray, targets: Targets, posteriors: FloatArray
) -> FloatArray:
    r"""Return means of the targets by unit (12.43), or logarithms of shares of their classes."""
    mass = posteriors.sum(axis=0)
    safe = np.where(mass > LEAST_MASS, mass, 1.0)[:, None]
    means = (posteriors.T @ targets.values) / safe
    if targets.classes:
        means = np.log(np.maximum(means, LEAST_PROBABILITY))
    before = theta.reshape(experts.n_units, experts.n_outputs)
    return np.where(mass[:, None] > LEAST_MASS, means, before).ravel()


def maximised_noise(outputs: FloatArray, targets: Targets, posteriors: FloatArray) -> float:
    """Return the logarithm of the standard deviation of numbers around their units."""
    residuals = targets.values[:, None, :] - outputs
    squares = np.einsum("nhk,nhk->nh", residuals, residuals)
    variance = float((posteriors * squares).sum() / posteriors.sum()) / targets.values.shape[1]
    return 0.5 * float(np.log(max(variance, LEAST_VARIANCE)))


def joint_of(model: LocalModel, theta: FloatArray, X: FloatArray, targets: Targets) -> FloatArray:
    """Return the logarithm of what each unit and each target have together, rows by units.

    With radial gates this is a density of rows and targets, with others of targets alone.
    """
    of_gate, of_experts, _, of_noise = model.split(theta)
    noise = float(np.exp(of_noise[0])) if len(of_noise) else 1.0
    outputs = model.experts.outputs(of_experts, X).values
    likelihoods, _ = log_likelihoods(outputs, targets, noise)
    if isinstance(model.gate, RadialGate):
        return model.gate.log_joint(of_gate, X) + likelihoods
    return model.gate.shares(of_gate, X).logarithms + likelihoods


class Maximiser:
    """Steps of expectation-maximisation for one model and one set of rows.

    Parameters
    ----------
    model
        A model whose units compete.
    X, targets, weights
        Rows, what is to be predicted for them, and their weights or None.
    alpha
        Strength of the penalty on weights, 0 for none.
    learns_noise
        Whether the noise of numbers is estimated too.
    """

    def __init__(
        self,
        model: LocalModel,
        X: FloatArray,
        targets: Targets,
        weights: FloatArray | None,
        alpha: float = 0.0,
        learns_noise: bool = True,
    ) -> None:
        self.model, self.X, self.targets, self.weights = model, X, targets, weights
        self.alpha, self.learns_noise = alpha, learns_noise
        self.floor = LEAST_VARIANCE * (float(X.var(axis=0).mean()) or 1.0)

    def posteriors(self, theta: FloatArray) -> tuple[FloatArray, float]:
        """Return the shares of the units given rows and targets, and the objective."""
        posteriors, errors = posteriors_of(joint_of(self.model, theta, self.X, self.targets))
        if self.weights is not None:
            posteriors = posteriors * self.weights[:, None]
            errors = errors * self.weights
        return posteriors, -float(errors.sum()) - self.penalty(theta)

    def penalty(self, theta: FloatArray) -> float:
        """Return the penalty on the parameters."""
        return 0.0

    def maximise(self, theta: FloatArray, posteriors: FloatArray) -> FloatArray:
        """Return the parameters that are best for such posteriors."""
        of_gate, of_experts, _, of_noise = self.model.split(theta)
        gate = self.maximise_gate(of_gate, posteriors)
        noise = float(np.exp(of_noise[0])) if len(of_noise) else 1.0
        experts = self.maximise_experts(of_experts, posteriors, noise)
        parts = [gate, experts]
        if len(of_noise) and not self.learns_noise:
            parts.append(of_noise)
        elif len(of_noise):
            outputs = self.model.experts.outputs(experts, self.X).values
            parts.append(np.array([maximised_noise(outputs, self.targets, posteriors)]))
        return np.concatenate(parts)

    def maximise_gate(self, theta: FloatArray, posteriors: FloatArray) -> FloatArray:
        """Return the best gate for such posteriors."""
        gate = self.model.gate
        assert isinstance(gate, RadialGate)
        return maximised_units(gate.layout, theta, self.X, posteriors, self.floor)

    def maximise_experts(
        self, theta: FloatArray, posteriors: FloatArray, noise: float
    ) -> FloatArray:
        """Return the best experts for such posteriors."""
        experts = self.model.experts
        assert isinstance(experts, ConstantExperts)
        return maximised_constants(experts, theta, self.targets, posteriors)

    def steps(
        self, theta: FloatArray, start: FloatArray, max_iter: int, tol: float
    ) -> Iterator[float]:
        """Change the parameters in place, and yield the objective after each step.

        Parameters
        ----------
        theta
            Parameters.
        start
            First posteriors.
        max_iter, tol
            Most steps, and the gain per row that is small enough.
        """
        mass = float(len(self.X) if self.weights is None else self.weights.sum())
        posteriors = start if self.weights is None else start * self.weights[:, None]
        before = -np.inf
        for _ in range(max_iter):
            theta[:] = self.maximise(theta, posteriors)
            posteriors, objective = self.posteriors(theta)
            yield objective
            if objective - before <= tol * mass:
                return
            before = objective
