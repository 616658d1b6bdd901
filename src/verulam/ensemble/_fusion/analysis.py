"""Why combining helps: bias, variance and covariance of members, weights, correlation."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    COLLECTION,
    NUMBERS,
    SEED,
    VECTOR,
    WHOLE,
    DataError,
    Seed,
    array_of_numbers,
    checked_arguments,
    generator,
)
from verulam.ensemble._members.members import (
    OUTPUT_NUMBERS,
    WEIGHTS,
    MemberOutputs,
)
from verulam.numerics import softmax

FloatArray = NDArray[np.float64]
LIKELIHOODS = array_of_numbers(words="a vector of finite numbers", empty=True)


def member_errors(outputs: MemberOutputs | ArrayLike, targets: ArrayLike) -> FloatArray:
    """Return output minus target of each member, of shape (n_members, n_numbers).

    Classes are compared as 0 and 1 for each of them.
    """
    if isinstance(outputs, MemberOutputs):
        values, classes = outputs.values, outputs.classes
    else:
        values, classes = np.asarray(outputs, dtype=np.float64), None
    if values.ndim < 2 or not values.size:
        raise DataError(
            "outputs must have the shape (members, rows) or (members, rows, classes), with one "
            f"member and one row or more; got {values.shape}."
        )
    truth: NDArray = np.asarray(targets)
    if classes is not None:
        places = pd.Index(classes).get_indexer(pd.Index(truth))
        if (places < 0).any():
            raise DataError(f"targets hold labels other than the classes {list(classes)}.")
        truth = np.eye(len(classes))[places]
    values = values.reshape(len(values), -1)
    truth = np.asarray(truth, dtype=np.float64).ravel()
    if values.shape[1] != len(truth):
        raise DataError(
            f"targets have {len(truth)} numbers where the outputs have {values.shape[1]}."
        )
    return values - truth


@dataclass(frozen=True, eq=False)
class VarianceAnalysis:
    """The parts of an averaging ensemble's squared error.

    Attributes
    ----------
    biases : ndarray of shape (n_members,)
        Mean error of each member.
    covariances : ndarray of shape (n_members, n_members)
        Covariances of their errors, divided by the number of rows.
    names
        Names of the members.
    """

    biases: FloatArray
    covariances: FloatArray
    names: tuple[str, ...]

    @property
    def bias(self) -> float:
        """Bias of the average, which is the average bias."""
        return float(self.biases.mean())

    @property
    def variance_part(self) -> float:
        """What the variances of the members add to that of the average."""
        return float(np.trace(self.covariances) / len(self.biases) ** 2)

    @property
    def covariance_part(self) -> float:
        """What their covariances add; negative where they err in opposite ways."""
        total = self.covariances.sum() / len(self.biases) ** 2
        return float(total - self.variance_part)

    @property
    def variance(self) -> float:
        """Variance of the average."""
        return self.variance_part + self.covariance_part

    @property
    def mean_squared_error(self) -> float:
        """Mean squared error of the average."""
        return self.bias**2 + self.variance

    def to_frame(self) -> pd.DataFrame:
        """Return bias, variance and mean covariance with the others of each member."""
        variances = np.diag(self.covariances)
        others = max(len(self.biases) - 1, 1)
        return pd.DataFrame(
            {
                "bias": self.biases,
                "variance": variances,
                "covariance": (self.covariances.sum(axis=1) - variances) / others,
            },
            index=list(self.names),
        )


def row_counts(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray:
    """Return how often each row counts; refuse what are no weights of rows."""
    if sample_weight is None:
        return np.ones(n_rows)
    counts = np.asarray(sample_weight, dtype=np.float64)
    if counts.shape != (n_rows,) or not (counts >= 0).all() or not 0 < counts.sum() < np.inf:
        raise DataError(
            f"sample_weight must be {n_rows} finite numbers of 0 or more, one for each row and "
            "not all 0."
        )
    return counts


def shares_of_errors(counts: FloatArray, errors: FloatArray) -> FloatArray:
    """Return shares of the numbers in `member_errors` that sum to 1, by the counts of rows."""
    shares = np.repeat(counts, errors.shape[1] // len(counts))
    return shares / shares.sum()


@checked_arguments(outputs=OUTPUT_NUMBERS, names=COLLECTION, sample_weight=WEIGHTS)
def variance_analysis(
    outputs: MemberOutputs | ArrayLike,
    targets: ArrayLike,
    names: Sequence[str] = (),
    *,
    sample_weight: ArrayLike | None = None,
) -> VarianceAnalysis:
    r"""Divide the squared error of an average into bias, variance and covariance.

    Parameters
    ----------
    outputs
        What the members said: `MemberOutputs`, or an array (n_members, n_rows).
    targets
        What was true.
    names
        Names of the members, where the outputs do not have them.
    sample_weight
        How often each row counts; None for once each.

    Notes
    -----
    .. math:: \mathrm{Var}(y) = \frac{1}{L^2} \Bigl[ \sum_j \mathrm{Var}(d_j)
              + 2 \sum_j \sum_{i<j} \mathrm{Cov}(d_j, d_i) \Bigr]

    With independent members of equal variance it is :math:`\mathrm{Var}(d) / L`, and the bias
    does not change. The course notes count each pair twice; :math:`i < j` is right. See Alpaydin
    17.4 (17.4-17.5) and SIT1305 V.

    Examples
    --------
    >>> from verulam.ensemble import variance_analysis
    >>> parts = variance_analysis([[1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]], [0.0] * 4)
    >>> parts.variance_part, parts.covariance_part, parts.mean_squared_error
    (0.5, 0.0, 0.5)
    """
    errors = member_errors(outputs, targets)
    given_names = outputs.names if isinstance(outputs, MemberOutputs) else tuple(names)
    labels = given_names or tuple(f"member {number + 1}" for number in range(len(errors)))
    shares = shares_of_errors(row_counts(sample_weight, len(np.asarray(targets))), errors)
    biases = errors.mean(axis=1) if sample_weight is None else errors @ shares
    centred = errors - biases[:, None]
    return VarianceAnalysis(biases, (centred * shares) @ centred.T, labels)


@dataclass(frozen=True, eq=False)
class CommitteeErrors:
    """Squared errors of a committee on the same rows.

    Attributes
    ----------
    single : ndarray of shape (n_members,)
        Mean squared error of each member.
    average
        Their mean, :math:`E_{AV}`.
    committee
        That of the mean output, :math:`E_{COM}`.
    weighted
        That of the best weighted sum, :math:`E_{GEN}`.
    weights : ndarray of shape (n_members,)
        Its weights, which sum to 1.
    """

    single: FloatArray
    average: float
    committee: float
    weighted: float
    weights: FloatArray


@checked_arguments(outputs=OUTPUT_NUMBERS)
def committee_errors(outputs: MemberOutputs | ArrayLike, targets: ArrayLike) -> CommitteeErrors:
    r"""Compare single members, their average and their best weighted sum.

    Parameters
    ----------
    outputs
        What the members said: `MemberOutputs`, or an array (n_members, n_rows).
    targets
        What was true.

    Notes
    -----
    .. math:: E_{GEN} \le E_{COM} \le E_{AV}, \qquad
              E_{COM} = E_{AV} / L \text{ where errors are uncorrelated with mean 0}

    The second is Cauchy's inequality. The best weights are :math:`\alpha \propto C^{-1} 1` with
    the matrix :math:`C` of mean products of errors (Bishop 1995); they may be negative. See
    Bartkowiak 7.3.

    Examples
    --------
    >>> from verulam.ensemble import committee_errors
    >>> errors = committee_errors([[1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]], [0.0] * 4)
    >>> errors.average, errors.committee
    (1.0, 0.5)
    """
    errors = member_errors(outputs, targets)
    products = errors @ errors.T / errors.shape[1]
    weights = covariance_weights(products)
    return CommitteeErrors(
        np.diag(products).copy(),
        float(np.trace(products) / len(errors)),
        float(products.mean()),
        float(weights @ products @ weights),
        weights,
    )


@checked_arguments(products=NUMBERS)
def covariance_weights(products: ArrayLike) -> FloatArray:
    r"""Return the weights of least squared error, :math:`C^{-1} 1 / (1^T C^{-1} 1)`.

    Parameters
    ----------
    products
        Mean products of the members' errors, a symmetric matrix.

    Notes
    -----
    Where members repeat each other, :math:`C` is singular, and of all best weights those of least
    length are returned. See Bartkowiak 7.3.

    Examples
    --------
    >>> from verulam.ensemble import covariance_weights
    >>> covariance_weights([[1.0, 0.0], [0.0, 3.0]])
    array([0.75, 0.25])
    """
    matrix = np.asarray(products, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"products must be a square matrix; got shape {matrix.shape}.")
    n_members = len(matrix)
    even = np.full(n_members, 1.0 / n_members)
    # Least squares over the plane where weights sum to 1, as a step from equal weights.
    plane = np.linalg.svd(np.ones((1, n_members)))[2][1:].T
    scale = np.trace(matrix) / n_members
    if not scale > 0 or n_members == 1:
        return even
    values, vectors = np.linalg.eigh(plane.T @ matrix @ plane / scale)
    # Directions in which nothing changes are left alone; the scale says what nothing is.
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > 1e-10)
    step = vectors @ (inverse * (vectors.T @ (plane.T @ matrix @ even / scale)))
    return even - plane @ step


@checked_arguments(log_likelihoods=LIKELIHOODS, prior=WEIGHTS, complexity=NUMBERS)
def model_posterior(
    log_likelihoods: ArrayLike, *, prior: ArrayLike | None = None, complexity: ArrayLike = 0.0
) -> FloatArray:
    r"""Return the probability of each model given the data.

    Parameters
    ----------
    log_likelihoods
        Log-likelihood of the data under each model, best of rows that it was not taught with.
    prior
        Prior probability of each model; None for equal ones.
    complexity
        Penalty of each model in the logarithm of its prior, such as its number of parameters:
        simpler models get more.

    Notes
    -----
    .. math:: P(C_i \mid x) = \sum_j P(C_i \mid x, M_j)\, P(M_j \mid X), \qquad
              P(M_j \mid X) \propto p(X \mid M_j)\, P(M_j)

    Equal likelihoods and priors make it a simple vote. See Alpaydin 17.4 (17.3) and SIT1305 V.

    Examples
    --------
    >>> from verulam.ensemble import model_posterior
    >>> model_posterior([0.0, 0.0], complexity=[1.0, 3.0]).round(4)
    array([0.8808, 0.1192])
    """
    logarithms = np.asarray(log_likelihoods, dtype=np.float64)
    if logarithms.ndim != 1 or not len(logarithms) or np.isnan(logarithms).any():
        raise DataError("log_likelihoods must be one number or more, one for each model.")
    if prior is not None:
        beliefs = np.asarray(prior, dtype=np.float64)
        if beliefs.shape != logarithms.shape or (beliefs < 0).any() or not beliefs.sum() > 0:
            raise DataError(
                f"prior must be {len(logarithms)} numbers of 0 or more, not all of them 0."
            )
        with np.errstate(divide="ignore"):
            logarithms = logarithms + np.log(beliefs)
    return softmax(logarithms - np.asarray(complexity, dtype=np.float64))


@checked_arguments(posterior=VECTOR, count=WHOLE, random_state=SEED)
def sample_models(posterior: ArrayLike, count: int, random_state: Seed = None) -> FloatArray:
    """Draw models by their probability, and return the share of each among those drawn.

    Parameters
    ----------
    posterior
        Probability of each model.
    count
        How many are drawn.
    random_state
        Seed.

    Notes
    -----
    Where models are too many to average over, a sample of probable ones stands for them. See
    Alpaydin 17.4.

    Examples
    --------
    >>> from verulam.ensemble import sample_models
    >>> sample_models([0.0, 1.0, 0.0], 10)
    array([0., 1., 0.])
    """
    chances = np.asarray(posterior, dtype=np.float64)
    if (chances < 0).any() or not abs(chances.sum() - 1.0) < 1e-8:
        raise DataError("posterior must be probabilities that sum to 1.")
    if count < 1:
        raise DataError(f"count={count}: draw one model or more.")
    return generator(random_state).multinomial(count, chances / chances.sum()) / count


@checked_arguments(correlations=NUMBERS)
def effective_members(correlations: ArrayLike) -> float:
    r"""Return how many independent learners correlated ones are worth.

    Parameters
    ----------
    correlations
        Correlation matrix of their errors.

    Notes
    -----
    .. math:: L' = \frac{L}{1 + (L - 1) \bar\rho}

    because an average of :math:`L` outputs with mean correlation :math:`\bar\rho` has the variance
    of one of :math:`L'` independent outputs (Jacobs 1995). See Alpaydin 17.10.2.

    Examples
    --------
    >>> from verulam.ensemble import effective_members
    >>> effective_members([[1.0, 0.5, 0.5], [0.5, 1.0, 0.5], [0.5, 0.5, 1.0]])
    1.5
    """
    matrix = np.asarray(correlations, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"correlations must be a square matrix; got shape {matrix.shape}.")
    mean = float(matrix.mean())
    # Opposite errors can cancel altogether, and are worth any number of independent ones.
    return 1.0 / mean if mean > 0 else float("inf")
