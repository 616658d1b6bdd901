r"""Priors of the weights: clusters that they are drawn to, and how strong decay should be."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from verulam.base import NONE, POSITIVE, VECTOR, DataError, checked_arguments
from verulam.neural._network.curvature import hessian_product
from verulam.neural._network.layout import Layout
from verulam.neural._network.network import TRAINING_ERROR, Network, TrainingError
from verulam.numerics import softmax

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SoftSharing:
    r"""Penalty that groups weights: minus the log-likelihood of a mixture of Gaussians.

    .. math::
        -\lambda \sum_i \log \sum_{j=1}^M \alpha_j \, N(w_i;\, m_j, s_j^2)

    Attributes
    ----------
    n_components
        Groups :math:`M`. Their shares, means and deviations are learned along with the weights.
    alpha
        The :math:`\lambda`, beside the error summed over all training rows.
    floor
        Least deviation, or a group of one weight would shrink for ever.
    learn
        Whether the groups change; else they stay as they start, standard normal for one group.

    Notes
    -----
    See Alpaydin 11.10, eq. 11.39 (Nowlan and Hinton, 1992). With responsibilities
    :math:`\pi_j(w)` the penalty pulls a weight by :math:`-\lambda \sum_j \pi_j(w)(w - m_j)/s_j^2`
    and a mean by :math:`\lambda \sum_i \pi_j(w_i)(w_i - m_j)/s_j^2`. One group that stays at zero
    is weight decay. Biases are free. The learned groups stand behind the network's weights in the
    vector that is trained: see `groups`.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import MLPRegressor, SoftSharing
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> net = MLPRegressor(
    ...     1, activation="identity", solver="lbfgs", alpha=0, tol=1e-3, random_state=0,
    ...     penalties=[SoftSharing(2, alpha=0.5)],
    ... ).fit(X, X @ [1.0, 1.0, -1.0, -1.0])
    >>> bool(np.ptp(np.abs(net.coefs_[0])) < 0.05)
    True
    """

    n_components: int = 2
    alpha: float = 1.0
    floor: float = 0.01
    learn: bool = True

    def __post_init__(self) -> None:
        count = self.n_components
        if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 1:
            raise DataError(
                f"SoftSharing: n_components must be a whole number of at least 1; got {count!r}."
            )
        if not (np.isfinite(self.alpha) and self.alpha >= 0 and self.floor > 0):
            raise DataError(
                "SoftSharing: alpha must be a number of at least 0 and floor positive; got "
                f"{self.alpha!r} and {self.floor!r}."
            )

    @property
    def n_parameters(self) -> int:
        """Means, logarithms of deviations and logits of shares."""
        return 3 * int(self.n_components)

    def check(self, network: Network) -> None:
        """Raise where the penalty does not fit a network: it fits all."""

    def parts(self, n_rows: int) -> list["SoftSharing"]:
        """Return the term itself: it is over weights, not rows."""
        return [self]

    def start(self, theta: NDArray[np.floating], layout: Layout) -> Array:
        """Return groups spread over two standard deviations, or one that is standard normal."""
        count = int(self.n_components)
        means = np.linspace(-1.0, 1.0, count) if count > 1 else np.zeros(1)
        return np.concatenate([means, np.full(count, -np.log(count)), np.zeros(count)])

    def groups(self, extra: Array) -> tuple[Array, Array, Array]:
        """Return the shares, means and deviations that the learned parameters stand for.

        Parameters
        ----------
        extra
            The parameters, as they stand behind the weights of the network.
        """
        means, widths, logits = np.split(np.asarray(extra, dtype=np.float64), 3)
        return softmax(logits[None], axis=1)[0], means, self.floor + np.exp(widths)

    def value_and_gradient(
        self, network: Network, theta: Array, extra: Array
    ) -> tuple[float, Array, Array]:
        """Return the penalty, and its gradients by weights and by groups."""
        layout = network.layout
        present = layout.is_weight & layout.mask if len(layout.mask) else layout.is_weight
        weights = theta[present]
        shares, means, deviations = self.groups(extra)
        scaled = (weights[:, None] - means) / deviations
        logs = np.log(shares) - np.log(deviations) - 0.5 * np.log(2 * np.pi) - 0.5 * scaled**2
        totals = logsumexp(logs, axis=1)
        # Which group a weight belongs to, as in EM: each pulls by its share of the probability.
        belongs = np.exp(logs - totals[:, None])
        pull = belongs * scaled / deviations
        slopes = np.zeros_like(theta)
        slopes[present] = self.alpha * pull.sum(axis=1)
        by_group = np.zeros_like(extra)
        if self.learn:
            by_deviation = (belongs * (1.0 - scaled**2)).sum(axis=0) / deviations
            by_group = self.alpha * np.concatenate(
                [
                    -pull.sum(axis=0),
                    # By the logarithm of what is above the floor, and by logits of a softmax.
                    by_deviation * (deviations - self.floor),
                    len(weights) * shares - belongs.sum(axis=0),
                ]
            )
        return -self.alpha * float(totals.sum()), slopes, by_group


@dataclass(frozen=True)
class Evidence:
    """What the data say of the strength of weight decay, by MacKay's approximation.

    Attributes
    ----------
    log_evidence
        Logarithm of the probability of the targets, with all weights integrated out.
    effective_parameters
        Weights and biases that the data determine, of all that there are.
    alpha
        The decay that the evidence asks for next: `alpha` of the perceptrons.
    noise
        Variance of the targets about the outputs; 1 for classes, which need none.
    """

    log_evidence: float
    effective_parameters: float
    alpha: float
    noise: float


@checked_arguments(error=TRAINING_ERROR, theta=VECTOR, noise=POSITIVE | NONE)
def evidence(
    error: TrainingError, theta: NDArray[np.floating], noise: float | None = None
) -> Evidence:
    r"""Return the evidence for the weight decay of a trained network.

    Parameters
    ----------
    error
        The training error, with `alpha` above zero.
    theta
        Weights at its minimum.
    noise
        Variance of numbers about the outputs; None estimates it from the residuals.

    Notes
    -----
    Weight decay is a prior :math:`N(0, \sigma^2/\alpha)` of the weights (Alpaydin 11.34-11.38,
    whose :math:`\lambda` is :math:`\alpha/2` where the noise :math:`\sigma^2` is one). About the
    most probable weights the posterior is taken as Gaussian with precision
    :math:`A = (H + \alpha I)/\sigma^2`, where :math:`H` is the Hessian of the summed error with
    eigenvalues :math:`\lambda_i` (MacKay, 1992). Then

    .. math::
        \gamma = \sum_i \frac{\lambda_i}{\lambda_i + \alpha}, \qquad
        \alpha' = \frac{\gamma \sigma^2}{\sum_i w_i^2}, \qquad
        \sigma'^2 = \frac{\sum_t (r^t - y^t)^2}{N - \gamma} .

    Parameters without decay, such as biases, have a flat prior, and the evidence is known up to
    its constant.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import Network, TrainingError, evidence, layout_of
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> network = Network(layout_of((3, 1)))  # no hidden layer: linear regression
    >>> y = X @ [[1.0], [0.0], [0.0]] + np.random.default_rng(1).normal(size=(50, 1))
    >>> error = TrainingError(network, X, y, alpha=1.0)
    >>> theta = np.append(np.linalg.solve(X.T @ X + np.eye(3), X.T @ y), 0.0)
    >>> bool(0 < evidence(error, theta).effective_parameters < 4)
    True
    """
    if not error.alpha > 0:
        raise DataError("error: alpha must be positive; without decay there is no prior to weigh.")
    point: Array = np.asarray(theta, dtype=np.float64)
    layout = error.network.layout
    if point.shape != (layout.n_parameters,) or len(layout.groups) or error.penalties:
        raise DataError(
            f"theta: expected the {layout.n_parameters} weights of a network without ties or "
            f"penalties; got the shape {point.shape}."
        )
    present = layout.mask if len(layout.mask) else np.ones(len(point), dtype=bool)
    decayed = (error.decay > 0)[present]
    bends, directions = np.linalg.eigh(_hessian(error, point, present))
    if not bends[0] > 0:
        raise DataError("theta is no minimum of the error: train on, with a smaller tol.")
    n_decayed, n_free = int(decayed.sum()), int((~decayed).sum())
    # alpha times the trace of the posterior's covariance: what the prior alone determines.
    by_prior = error.alpha * float(((directions[decayed] ** 2) / bends).sum())
    determined = n_decayed - by_prior
    squares = float((point[present][decayed] ** 2).sum())
    misfit, n_numbers = error.mean_error(point) * error.mass, error.mass * layout.sizes[-1]
    by_class = error.network.output in ("softmax", "binary")
    if by_class:
        noise = 1.0
    elif noise is None:
        noise = 2.0 * misfit / (n_numbers - determined - n_free)
        if not (np.isfinite(noise) and noise > 0):
            raise DataError("noise: too few rows are left to estimate it; give the variance.")
    log_evidence = (
        -(misfit + 0.5 * error.alpha * squares) / noise
        - 0.5 * float(np.log(bends / noise).sum())
        + 0.5 * n_decayed * np.log(error.alpha / noise)
        + 0.5 * n_free * np.log(2 * np.pi)
    )
    if not by_class:
        log_evidence -= 0.5 * n_numbers * np.log(2 * np.pi * noise)
    suggested = determined * noise / squares if squares > 0 else error.alpha
    return Evidence(float(log_evidence), determined + n_free, float(suggested), float(noise))


def _hessian(error: TrainingError, theta: Array, present: NDArray[np.bool_]) -> Array:
    """Return the Hessian of the summed error with its decay, of the weights that there are."""
    places = np.flatnonzero(present)
    rows, direction = [], np.zeros_like(theta)
    for place in places:
        direction[place] = 1.0
        rows.append(hessian_product(error, theta, direction)[places])
        direction[place] = 0.0
    matrix = np.array(rows) * error.mass
    return 0.5 * (matrix + matrix.T)
