"""Classes with Gaussian densities: a source of data whose best possible error is known."""

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, ndtr, softmax
from scipy.stats import norm

from verulam.data._dataset import Dataset
from verulam.data._generators.generator_helpers import Seed, class_labels, generator

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BayesError:
    """The error of the best possible rule.

    Attributes
    ----------
    value
        Probability that the most probable class is wrong.
    standard_error
        Of `value`; 0 where it was integrated.
    method
        ``"exact"`` in one dimension, ``"quadrature"`` in two, else ``"Monte Carlo"``.
    """

    value: float
    standard_error: float
    method: Literal["exact", "quadrature", "Monte Carlo"]


@dataclass(frozen=True)
class GaussianClasses:
    r"""The truth behind a sample: a prior and a Gaussian density per class.

    Attributes
    ----------
    means : ndarray of shape (n_classes, n_features)
        Mean :math:`\mu_i` of each class.
    covariances : ndarray of shape (n_classes, n_features, n_features)
        Covariance :math:`\Sigma_i` of each class.
    priors : ndarray of shape (n_classes,)
        Probability :math:`P(C_i)` of each class.

    Notes
    -----
    .. math:: e_B = 1 - \int \max_i P(C_i)\, p(x \mid C_i)\, dx

    is the error of the Bayes rule, below which no learner can get (Bartkowiak 2.2).

    Examples
    --------
    Two unit normals at a distance of 2 cannot be told apart better than this:

    >>> from verulam.data import GaussianClasses
    >>> truth = GaussianClasses.of([0.0, 2.0], 1.0)
    >>> round(truth.bayes_error().value, 6)
    0.158655
    >>> truth.posterior([[1.0]])
    array([[0.5, 0.5]])
    """

    means: Floats
    covariances: Floats
    priors: Floats

    @classmethod
    def of(
        cls, means: ArrayLike, covariances: ArrayLike = 1.0, priors: ArrayLike | None = None
    ) -> "GaussianClasses":
        """Return the classes with these parameters.

        Parameters
        ----------
        means
            One row per class; one number per class for one input.
        covariances
            One matrix per class, one matrix or one variance for all, or one variance per class.
        priors
            Probabilities of the classes; equal if not given.
        """
        centres = np.asarray(means, dtype=float)
        centres = centres[:, None] if centres.ndim == 1 else centres
        if centres.ndim != 2 or len(centres) < 2:
            raise ValueError(f"means has shape {centres.shape}; expected a row for each class.")
        n_classes, n_features = centres.shape
        spreads = _covariance_matrices(np.asarray(covariances, dtype=float), n_classes, n_features)
        shares = np.full(n_classes, 1 / n_classes) if priors is None else np.asarray(priors, float)
        if shares.shape != (n_classes,) or (shares < 0).any() or not np.isclose(shares.sum(), 1):
            raise ValueError(
                f"priors={shares.tolist()}; expected {n_classes} probabilities that add up to 1."
            )
        return cls(centres, spreads, shares)

    @property
    def n_features(self) -> int:
        """The number of inputs."""
        return self.means.shape[1]

    def log_joint(self, X: ArrayLike) -> Floats:
        """Return the log of prior times density, one column per class."""
        points = np.asarray(X, dtype=float).reshape(-1, self.n_features)
        return np.stack(
            [
                log_prior + _log_density(points, mean, covariance)
                for log_prior, mean, covariance in zip(
                    _log(self.priors), self.means, self.covariances, strict=True
                )
            ],
            axis=1,
        )

    def density(self, X: ArrayLike) -> Floats:
        """Return the density of the inputs, whatever their class."""
        return np.exp(logsumexp(self.log_joint(X), axis=1))

    def posterior(self, X: ArrayLike) -> Floats:
        """Return the probability of each class given the inputs."""
        return softmax(self.log_joint(X), axis=1)

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the number of the most probable class: the Bayes rule."""
        return self.log_joint(X).argmax(axis=1)

    def bayes_error(self, *, n_samples: int = 200_000, random_state: Seed = 0) -> BayesError:
        """Return the smallest error that any rule can have.

        Parameters
        ----------
        n_samples
            Points to draw in three dimensions and more.
        random_state
            Seed for those.
        """
        if self.n_features == 1:
            deviations = np.sqrt(self.covariances[:, 0, 0])
            right = envelope_mass(self.priors[None], self.means[:, 0][None], deviations)[0]
            return BayesError(float(1 - right), 0.0, "exact")
        if self.n_features == 2:
            return BayesError(1 - self._right_in_the_plane(), 0.0, "quadrature")
        points = self._draw(n_samples, generator(random_state))[0]
        # The mean of the doubt of the best rule has less variance than the share of its actual
        # errors.
        doubts = 1 - self.posterior(points).max(axis=1)
        spread = doubts.std() / np.sqrt(n_samples)
        return BayesError(float(doubts.mean()), float(spread), "Monte Carlo")

    def sample(self, n: int, *, random_state: Seed = None, name: str = "gaussian") -> Dataset:
        """Return `n` rows, the class of each drawn from the priors."""
        points, classes = self._draw(n, generator(random_state))
        return Dataset.from_arrays(
            points, class_labels(classes), target_name="class", task="classification", name=name
        )

    def _draw(self, n: int, random: np.random.Generator) -> tuple[Floats, NDArray[np.int64]]:
        classes = random.choice(len(self.priors), size=n, p=self.priors)
        roots = np.linalg.cholesky(self.covariances)
        noise = random.standard_normal((n, self.n_features))
        return self.means[classes] + np.einsum("nij,nj->ni", roots[classes], noise), classes

    def _right_in_the_plane(self) -> float:
        """Integrate over the first input; over the second, given the first, it is exact."""
        across = np.sqrt(self.covariances[:, 0, 0])
        slopes = self.covariances[:, 0, 1] / self.covariances[:, 0, 0]
        deviations = np.sqrt(self.covariances[:, 1, 1] - slopes * self.covariances[:, 0, 1])
        nodes, weights = quadrature_nodes(self.means[:, 0], across)
        first = nodes[:, None]
        heights = self.priors * norm.pdf(first, self.means[:, 0], across)
        centres = self.means[:, 1] + slopes * (first - self.means[:, 0])
        return float(weights @ envelope_mass(heights, centres, deviations))


def gaussian_classes(
    means: ArrayLike = ((0.0, 0.0), (2.0, 1.0)),
    covariances: ArrayLike = 1.0,
    priors: ArrayLike | None = None,
    n: int = 200,
    *,
    random_state: Seed = None,
) -> Dataset:
    """Return a sample from classes with Gaussian densities.

    :class:`GaussianClasses` has the posterior and the smallest possible error of the same classes.

    Parameters
    ----------
    means, covariances, priors
        As for :meth:`GaussianClasses.of`.
    n
        Number of rows.
    random_state
        Seed.
    """
    return GaussianClasses.of(means, covariances, priors).sample(n, random_state=random_state)


def _covariance_matrices(covariances: Floats, n_classes: int, n_features: int) -> Floats:
    shape = (n_classes, n_features, n_features)
    if covariances.ndim == 0:
        matrices = np.broadcast_to(covariances * np.eye(n_features), shape)
    elif covariances.shape == (n_classes,):
        matrices = covariances[:, None, None] * np.eye(n_features)
    elif covariances.shape in {shape, shape[1:]}:
        matrices = np.broadcast_to(covariances, shape)
    else:
        raise ValueError(
            f"covariances has shape {covariances.shape}; expected a variance, {n_classes} "
            f"variances, or one or {n_classes} matrices of {n_features} by {n_features}."
        )
    symmetric = np.allclose(matrices, matrices.transpose(0, 2, 1))
    if not symmetric or (np.linalg.eigvalsh(matrices) <= 0).any():
        raise ValueError("covariances must be symmetric and positive definite.")
    return np.array(matrices)


def _log_density(points: Floats, mean: Floats, covariance: Floats) -> Floats:
    root = np.linalg.cholesky(covariance)
    # The Cholesky factor whitens, and its diagonal has the determinant.
    scaled = np.linalg.solve(root, (points - mean).T)
    log_volume = np.log(np.diag(root)).sum() + len(mean) / 2 * np.log(2 * np.pi)
    return -0.5 * (scaled**2).sum(axis=0) - log_volume


def _log(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(values)


def envelope_mass(heights: Floats, means: Floats, deviations: Floats) -> Floats:
    """Return the integral of the largest of several weighted normal densities, for each row.

    It is exact: between two neighbouring crossings one density is the largest throughout, and its
    mass there is a difference of two values of the normal distribution function.

    Parameters
    ----------
    heights, means : ndarray of shape (n_rows, n_densities)
        Weight and mean of each density.
    deviations : ndarray of shape (n_densities,)
        Standard deviations.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        # Logarithms: far from the means the densities themselves underflow to zero and cannot be
        # compared.
        logs = np.log(heights / deviations)
        pairs = list(combinations(range(len(deviations)), 2))
        roots = [_crossings(logs, means, deviations, one, other) for one, other in pairs]
    cuts = np.sort(np.concatenate(roots, axis=1), axis=1)
    ends = np.full((len(heights), 1), np.inf)
    edges = np.concatenate([-ends, cuts, ends], axis=1)
    # A point inside of each interval: beyond the outermost cuts any point will do.
    finite = np.where(np.isfinite(cuts), cuts, means.mean(axis=1, keepdims=True))
    low = np.minimum(finite, means.min(axis=1, keepdims=True)).min(axis=1, keepdims=True)
    high = np.maximum(finite, means.max(axis=1, keepdims=True)).max(axis=1, keepdims=True)
    inner = np.clip(edges, low - 1, high + 1)
    points = ((inner[:, :-1] + inner[:, 1:]) / 2)[:, :, None]
    scaled = (points - means[:, None, :]) / deviations
    largest = (logs[:, None, :] - scaled**2 / 2).argmax(axis=2)
    centres = np.take_along_axis(means, largest, axis=1)
    spreads = deviations[largest]
    masses = ndtr((edges[:, 1:] - centres) / spreads) - ndtr((edges[:, :-1] - centres) / spreads)
    return (np.take_along_axis(heights, largest, axis=1) * masses).sum(axis=1)


def quadrature_nodes(centres: Floats, deviations: Floats) -> tuple[Floats, Floats]:
    """Return nodes and weights of composite Gauss-Legendre over all that has any mass."""
    low = (centres - 9 * deviations).min()
    high = (centres + 9 * deviations).max()
    # Eight panels per smallest deviation: the envelope has kinks, across which no rule of high
    # order helps.
    n_panels = int(np.clip(8 * (high - low) / deviations.min(), 200, 4000))
    nodes, weights = np.polynomial.legendre.leggauss(5)
    edges = np.linspace(low, high, n_panels + 1)
    half = (edges[1] - edges[0]) / 2
    middles = (edges[:-1] + edges[1:]) / 2
    return (middles[:, None] + half * nodes).ravel(), np.tile(half * weights, n_panels)


def _crossings(logs: Floats, means: Floats, deviations: Floats, one: int, other: int) -> Floats:
    """Return where two weighted densities are equal: up to two points per row, else infinity."""
    precision, other_precision = deviations[[one, other]] ** -2.0
    mean, other_mean = means[:, one], means[:, other]
    square = (other_precision - precision) / 2
    linear = precision * mean - other_precision * other_mean
    constant = logs[:, one] - logs[:, other]
    constant = constant - (precision * mean**2 - other_precision * other_mean**2) / 2
    # Equal deviations: the quadratic term vanishes, and there is one crossing at the most.
    if abs(square) < 1e-12 * precision:
        roots = [-constant / linear, np.full(len(mean), np.inf)]
    else:
        # The form of the quadratic formula that does not subtract nearly equal numbers.
        root = np.sqrt(linear**2 - 4 * square * constant)
        half = -(linear + np.copysign(root, linear)) / 2
        roots = [half / square, constant / half]
    crossings = np.stack(roots, axis=1)
    return np.where(np.isfinite(crossings), crossings, np.inf)
