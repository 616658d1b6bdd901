"""Kernels from a model of the data: generative kernels, Fisher kernels and Fisher scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.linalg

from verulam.base import DataError
from verulam.kernel._kernels.base import Kernel
from verulam.numerics import softmax

#: Eigenvalues of the information below this share of the largest count as none.
NEGLIGIBLE = 1e-12


def gaussian_mixture_scores(
    X: Any, weights: np.ndarray, means: np.ndarray, variances: np.ndarray
) -> np.ndarray:
    r"""Return the gradient of the log density of a Gaussian mixture at each row.

    Parameters
    ----------
    X
        Rows.
    weights : ndarray of shape (n_components,)
        Shares of the components.
    means, variances : ndarray of shape (n_components, n_features)
        Their means, and the variances of their columns.

    Notes
    -----
    Parameters are the components' log weights up to a constant, means and log variances, whose
    blocks stand side by side; with responsibilities :math:`\gamma_k`

    .. math:: \gamma_k - w_k, \qquad \gamma_k \frac{x - m_k}{s_k^2}, \qquad
              \frac{\gamma_k}{2} \left(\frac{(x - m_k)^2}{s_k^2} - 1\right)

    Examples
    --------
    One component about zero: the weight cannot change, the mean would move towards the row.

    >>> import numpy as np
    >>> from verulam.kernel import gaussian_mixture_scores
    >>> gaussian_mixture_scores([[2.0]], np.ones(1), np.zeros((1, 1)), np.ones((1, 1)))
    array([[0. , 2. , 1.5]])
    """
    rows = np.asarray(X, dtype=np.float64)
    gaps = rows[:, None] - means
    squares = gaps**2 / variances
    # In logarithms: far from all components every density would underflow.
    log_densities = np.log(weights) - 0.5 * (
        squares.sum(axis=2) + np.log(2 * np.pi * variances).sum(axis=1)
    )
    shares = softmax(log_densities, axis=1)
    by_mean = shares[:, :, None] * gaps / variances
    by_variance = 0.5 * shares[:, :, None] * (squares - 1.0)
    size = len(rows)
    # The gradient of the log density is a mean over components by their responsibilities.
    return np.hstack([shares - weights, by_mean.reshape(size, -1), by_variance.reshape(size, -1)])


def multinomial_scores(X: Any, probabilities: np.ndarray) -> np.ndarray:
    r"""Return the gradient of the log probability of counts under a multinomial at each row.

    Parameters
    ----------
    X
        Counts :math:`n_j`, one row per draw.
    probabilities : ndarray of shape (n_outcomes,)
        Probability :math:`p_j` of each outcome.

    Notes
    -----
    With respect to the log probabilities up to a constant: :math:`n_j - p_j \sum_l n_l`.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import multinomial_scores
    >>> multinomial_scores([[3, 1]], np.array([0.5, 0.5]))
    array([[ 1., -1.]])
    """
    counts = np.asarray(X, dtype=np.float64)
    return counts - counts.sum(axis=1, keepdims=True) * probabilities


def hidden_markov_scores(
    sequences: Sequence[Any], initial: np.ndarray, transitions: np.ndarray, emissions: np.ndarray
) -> np.ndarray:
    r"""Return the gradient of each sequence's log probability under a hidden Markov model.

    Parameters
    ----------
    sequences
        Sequences of observations, numbered from 0.
    initial : ndarray of shape (n_states,)
        Probabilities :math:`\pi_i` of the first state.
    transitions : ndarray of shape (n_states, n_states)
        Probabilities :math:`a_{ij}` of the next state.
    emissions : ndarray of shape (n_states, n_observations)
        Probabilities :math:`b_j(m)` of the observations.

    Notes
    -----
    With respect to the logarithms of the three tables, each row up to a constant: expected counts
    less those that the row would give, such as

    .. math:: E[n_j(m)] - b_j(m) \sum_l E[n_j(l)]

    so that a `FisherKernel` of them compares sequences of any length. See Alpaydin 13.7, 15.6.

    Examples
    --------
    One state: the sequence has an observation more of the first kind than expected.

    >>> import numpy as np
    >>> from verulam.kernel import hidden_markov_scores
    >>> hidden_markov_scores([[0, 0, 0, 1]], np.ones(1), np.ones((1, 1)), np.full((1, 2), 0.5))
    array([[ 0.,  0.,  1., -1.]])
    """
    tables = [np.asarray(table, dtype=np.float64) for table in (initial, transitions, emissions)]
    return np.array(
        [_hidden_markov_score(sequence, place, *tables) for place, sequence in enumerate(sequences)]
    )


def _hidden_markov_score(
    sequence: Any, place: int, initial: np.ndarray, transitions: np.ndarray, emissions: np.ndarray
) -> np.ndarray:
    observed = np.asarray(sequence, dtype=np.int64)
    if not len(observed) or observed.min() < 0 or observed.max() >= emissions.shape[1]:
        raise DataError(
            f"sequence {place} must have observations from 0 to {emissions.shape[1] - 1}."
        )
    likelihoods = emissions[:, observed].T
    # The forward-backward recursions, scaled at each step: long sequences would underflow.
    forward, backward = np.empty(likelihoods.shape), np.ones(likelihoods.shape)
    scales = np.empty(len(observed))
    for t in range(len(observed)):
        predicted = initial if t == 0 else forward[t - 1] @ transitions
        forward[t] = predicted * likelihoods[t]
        scales[t] = forward[t].sum()
        if scales[t] <= 0:
            raise DataError(f"sequence {place} is impossible under the model at step {t}.")
        forward[t] /= scales[t]
    for t in range(len(observed) - 1, 0, -1):
        backward[t - 1] = transitions @ (likelihoods[t] * backward[t]) / scales[t]
    states = forward * backward
    # Expected transitions from one state to another, summed over all steps by one product.
    ahead = likelihoods[1:] * backward[1:] / scales[1:, None]
    moves = transitions * (forward[:-1].T @ ahead)
    counts = np.zeros(emissions.shape)
    np.add.at(counts.T, observed, states)
    return np.concatenate(
        [
            states[0] - initial,
            (moves - moves.sum(axis=1, keepdims=True) * transitions).ravel(),
            (counts - counts.sum(axis=1, keepdims=True) * emissions).ravel(),
        ]
    )


@dataclass(frozen=True, eq=False)
class FisherKernel(Kernel):
    r"""Inputs that would change a model in the same way are alike.

    Attributes
    ----------
    scores
        Function of inputs that returns the gradient of each one's log density with respect to the
        model's parameters, one row per input: `gaussian_mixture_scores`, `multinomial_scores` or
        `hidden_markov_scores` with their parameters, or that of any model.
    information
        "empirical" measures gradients by their second moments on the training data, so that it
        does not matter how the model is parametrised; "identity" takes them as they are.
    objects
        Whether inputs are objects, such as sequences, and not rows of numbers.
    root : ndarray or None
        Matrix that gradients are multiplied with, filled in by `adapted`.

    Notes
    -----
    .. math:: K(x, y) = U_x^T I^{-1} U_y, \qquad U_x = \nabla_\theta \log p(x \mid \theta)

    See Alpaydin 13.7.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import FisherKernel, multinomial_scores
    >>> fair = np.full(2, 0.5)
    >>> kernel = FisherKernel(lambda X: multinomial_scores(X, fair), information="identity")
    >>> kernel([[3, 1], [1, 3]])
    array([[ 2., -2.],
           [-2.,  2.]])
    """

    scores: Callable[[Any], np.ndarray]
    information: str = "empirical"
    objects: bool = False
    root: np.ndarray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.information not in ("empirical", "identity"):
            raise DataError(
                f'information must be "empirical" or "identity"; got {self.information!r}.'
            )

    @property
    def takes(self) -> str:  # type: ignore[override] # the model decides
        """What the model describes."""
        return "objects" if self.objects else "rows"

    def adapted(self, X: Any) -> Kernel:
        if self.information == "identity":
            return self
        gradients = self._gradients(self.inputs(X))
        # The second moments of scores are an estimate of the Fisher information.
        information = gradients.T @ gradients / len(gradients)
        values, vectors = scipy.linalg.eigh(information)
        # Directions that no training input moves in, such as a common factor of all weights.
        informative = values > NEGLIGIBLE * max(float(values.max(initial=0.0)), 1e-300)
        return replace(self, root=vectors[:, informative] / np.sqrt(values[informative]))

    def _gradients(self, inputs: np.ndarray) -> np.ndarray:
        gradients = np.asarray(self.scores(inputs), dtype=np.float64)
        if gradients.ndim != 2 or len(gradients) != len(inputs):
            raise DataError(
                f"scores must return one row for each of the {len(inputs)} inputs; got shape "
                f"{gradients.shape}."
            )
        return gradients

    def features(self, X: Any) -> np.ndarray:
        """Return the gradients as the information measures them: the space of this kernel."""
        gradients = self._gradients(self.inputs(X))
        if self.information == "identity":
            return gradients
        if self.root is None:
            raise DataError(
                "the empirical information needs the training data: call adapted(X) first, or "
                "give the kernel to a learner, which does."
            )
        return gradients @ self.root

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return self.features(left) @ self.features(right).T

    def diagonal(self, X: Any) -> np.ndarray:
        return (self.features(X) ** 2).sum(axis=1)


@dataclass(frozen=True, eq=False)
class GenerativeKernel(Kernel):
    r"""Inputs that a model is likely to produce are alike.

    Attributes
    ----------
    log_density
        Function of inputs that returns the logarithm of each one's density, as `score_samples` of
        a fitted density does.
    objects
        Whether inputs are objects, such as sequences, and not rows of numbers.
    offset
        Subtracted from the logarithms, so that small densities do not vanish: `adapted` fills in
        the largest of the training data.

    Notes
    -----
    .. math:: K(x, y) = p(x)\, p(y)

    of rank one; sums over models, such as those of classes, have more. See Alpaydin 13.7.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import GenerativeKernel
    >>> kernel = GenerativeKernel(lambda X: -0.5 * X[:, 0] ** 2)
    >>> kernel([[0.0]], [[0.0], [1.0], [2.0]]).round(3)
    array([[1.   , 0.607, 0.135]])
    """

    log_density: Callable[[Any], np.ndarray]
    objects: bool = False
    offset: float = 0.0

    @property
    def takes(self) -> str:  # type: ignore[override] # the model decides
        """What the model describes."""
        return "objects" if self.objects else "rows"

    def adapted(self, X: Any) -> Kernel:
        return replace(self, offset=float(np.max(self.log_density(self.inputs(X)))))

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        first, second = (
            np.asarray(self.log_density(inputs), dtype=np.float64) - self.offset
            for inputs in (left, right)
        )
        return np.exp(first[:, None] + second)
