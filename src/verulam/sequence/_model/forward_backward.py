"""The forward and backward variables themselves, in logarithms and scaled."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.numerics import log_sum_exp
from verulam.sequence._model.transitions import (
    AnyTransitions,
    Transitions,
    VaryingTransitions,
    check_distribution,
)
from verulam.sequence._recursions.viterbi_loops import log_forward_backward


@dataclass(frozen=True)
class ForwardBackward:
    r"""Forward and backward variables of one sequence, and the posteriors that they give.

    Attributes
    ----------
    log_alpha, log_beta : ndarray of shape (n_steps, n_states)
        :math:`\ln \alpha_t(i) = \ln P(O_1 \ldots O_t, q_t = i)` and
        :math:`\ln \beta_t(i) = \ln P(O_{t+1} \ldots O_T \mid q_t = i)`.
    alpha, beta : ndarray of shape (n_steps, n_states)
        The same without logarithms; zero where a sequence is too long for that.
    scales : ndarray of shape (n_steps,)
        :math:`c_t`, with :math:`\ln P(O) = -\sum_t \ln c_t`.
    scaled_alpha : ndarray of shape (n_steps, n_states)
        :math:`\alpha_t(i) \prod_{s \le t} c_s`; each row adds up to one.
    scaled_beta : ndarray of shape (n_steps, n_states)
        :math:`\beta_t(i) \prod_{s \ge t} c_s`; its rows do not add up to one.
    gamma : ndarray of shape (n_steps, n_states)
        :math:`\gamma_t(i) = P(q_t = i \mid O)`.
    xi : ndarray of shape (n_steps - 1, n_states, n_states) or None
        :math:`\xi_t(i, j) = P(q_t = i, q_{t+1} = j \mid O)`, where it was asked for.
    log_likelihood : float
        :math:`\ln P(O)`.
    """

    log_alpha: np.ndarray
    log_beta: np.ndarray
    xi: np.ndarray | None = None

    @property
    def alpha(self) -> np.ndarray:
        """Return the forward variables without logarithms."""
        return np.exp(self.log_alpha)

    @property
    def beta(self) -> np.ndarray:
        """Return the backward variables without logarithms."""
        return np.exp(self.log_beta)

    @property
    def log_likelihood(self) -> float:
        """Return the logarithm of the sum of the last forward variables."""
        return float(self._log_sums[-1])

    @property
    def scales(self) -> np.ndarray:
        """Return the factor of each step."""
        return np.exp(-np.diff(self._log_sums, prepend=0.0))

    @property
    def scaled_alpha(self) -> np.ndarray:
        """Return the forward variables times the factors of the steps so far."""
        return np.exp(self.log_alpha - self._log_sums[:, None])

    @property
    def scaled_beta(self) -> np.ndarray:
        """Return the backward variables times the factors of this step and those after it."""
        before = np.append(0.0, self._log_sums[:-1])
        return np.exp(self.log_beta + (before - self.log_likelihood)[:, None])

    @property
    def gamma(self) -> np.ndarray:
        """Return the probability of each state at each step."""
        products = self.log_alpha + self.log_beta
        return np.exp(products - log_sum_exp(products, axis=1)[:, None])

    @property
    def _log_sums(self) -> np.ndarray:
        return log_sum_exp(self.log_alpha, axis=1)


def forward_backward(
    logarithms: ArrayLike, initial: ArrayLike, transitions: AnyTransitions, *, pairs: bool = False
) -> ForwardBackward:
    r"""Return the forward and backward variables of one sequence.

    Parameters
    ----------
    logarithms
        Logarithm of each state's emission :math:`b_j(O_t)`, one row per step.
    initial
        Probability of each state at the first step.
    transitions
        Probabilities of the transitions.
    pairs
        Whether to compute :math:`\xi` as well, a matrix per transition.

    Notes
    -----
    .. math:: \alpha_1(i) = \pi_i b_i(O_1), \qquad
              \alpha_{t+1}(j) = \Bigl[\sum_i \alpha_t(i) a_{ij}\Bigr] b_j(O_{t+1}), \qquad
              \beta_T(i) = 1, \qquad
              \beta_t(i) = \sum_j a_{ij} b_j(O_{t+1}) \beta_{t+1}(j)

    (Alpaydin 15.5, 15.14-15.20), so that :math:`\sum_i \alpha_t(i) \beta_t(i) = P(O)` at every
    step. They are computed in logarithms, which costs several times as much as
    `smooth_states`.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import Transitions, forward_backward
    >>> moves = Transitions.from_matrix([[0.7, 0.3], [0.4, 0.6]])
    >>> both = forward_backward(np.log([[0.9, 0.2], [0.1, 0.6]]), [0.5, 0.5], moves)
    >>> both.alpha.round(4)
    array([[0.45  , 0.1   ],
           [0.0355, 0.117 ]])
    >>> both.beta
    array([[0.25, 0.4 ],
           [1.  , 1.  ]])
    >>> (both.alpha * both.beta).sum(axis=1).round(4)
    array([0.1525, 0.1525])
    """
    table = np.ascontiguousarray(logarithms, dtype=np.float64)
    n_states = transitions.n_states
    if table.ndim != 2 or table.shape[1] != n_states or not len(table):
        raise DataError(
            f"logarithms has shape {table.shape}; expected one row per step, at least one, and "
            f"{n_states} columns."
        )
    if isinstance(transitions, VaryingTransitions) and len(transitions.matrices) != len(table):
        raise DataError(
            f"transitions has {len(transitions.matrices)} matrices, but logarithms has "
            f"{len(table)} steps; expected one for each."
        )
    shares = check_distribution(initial, "initial", (n_states,))
    with np.errstate(divide="ignore"):
        log_initial = np.log(shares)
    log_alpha, log_beta = log_forward_backward(table, 0, log_initial, *transitions.log_layouts)
    dead = np.flatnonzero(np.isneginf(log_alpha).all(axis=1))
    if len(dead):
        raise DataError(
            f"The sequence is impossible from step {dead[0]} (counted from 0) on: no state that "
            "can be reached by then shows what was observed."
        )
    variables = ForwardBackward(log_alpha, log_beta)
    if not pairs:
        return variables
    with np.errstate(divide="ignore"):
        moves = np.log(
            transitions.matrix if isinstance(transitions, Transitions) else transitions.matrices[1:]
        )
    ahead = (table + log_beta)[1:, None, :] - variables.log_likelihood
    xi = np.exp(log_alpha[:-1, :, None] + moves + ahead)
    return ForwardBackward(log_alpha, log_beta, xi)
