"""Balanced Winnow: multiplicative updates of two positive weight vectors."""

from itertools import islice
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from verulam.base import RANDOM_STATE, DataError, Interval, Seed, StrOptions, generator
from verulam.linear._training.perceptrons import ITERATIONS, RECORD
from verulam.linear._training.single_sample import MOST_STEPS, orders, shuffled_once
from verulam.linear._training.single_sample_loops import winnow_pass
from verulam.linear._training.trainer import LinearTrainer
from verulam.linear._training.two_class_problem import Problem, Training

#: Largest change of a weight's logarithm in one correction, with an automatic factor.
_LARGEST_STEP = 0.2
#: Beyond this logarithm a weight is no longer a number.
_LARGEST_LOGARITHM = 700.0


class BalancedWinnow(LinearTrainer):
    r"""Multiply two positive weight vectors, whose difference is the discriminant.

    Parameters
    ----------
    factor
        Base :math:`\alpha > 1` of the corrections; "auto" takes :math:`e^{0.2/m}` with :math:`m`
        the largest size of an input, so that one correction changes no weight by more than a
        fifth or so.
    update
        "both" multiplies one vector and divides the other in every correction; "one" multiplies
        only that of the row's own class, as the notes have it, which needs more corrections.
    max_iter
        Most passes over the rows.
    shuffle
        Whether each pass has a new random order.
    record
        "passes" or "steps" keeps the weights on the way in `trajectory_`.
    random_state
        Seed of the orders.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Sorted class labels; the plane is positive for the second.
    coef_ : ndarray of shape (1, n_features)
        Weights :math:`a^+ - a^-`.
    intercept_ : ndarray of shape (1,)
        Bias.
    n_iter_ : int
        Passes over the rows.
    converged_ : bool
        Whether a whole pass needed no correction.
    trajectory_ : Trajectory or None
        Weights, criterion and errors on the way.

    Notes
    -----
    .. math:: a_j^{\pm} \leftarrow \alpha^{\pm z_i x_{ij}} a_j^{\pm}
              \quad\text{where } z_i (a^+ - a^-)^T x_i \le 0

    or, with "one", :math:`a_j^{+} \leftarrow \alpha^{x_{ij}} a_j^{+}` for a row of the second
    class and :math:`a_j^{-} \leftarrow \alpha^{x_{ij}} a_j^{-}` for one of the first.
    The number of corrections grows with the logarithm of the number of irrelevant inputs, where
    the perceptron's grows with the number itself. An all-zero row moves the bias only. See
    Bartkowiak 5.5.

    Examples
    --------
    >>> from verulam.linear import BalancedWinnow
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> either = BalancedWinnow(random_state=0).fit(corners, [0, 1, 1, 1])
    >>> either.predict(corners).tolist()
    [0, 1, 1, 1]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "factor": [Interval(Real, 1, None, closed="neither"), StrOptions({"auto"})],
        "update": [StrOptions({"both", "one"})],
        "max_iter": ITERATIONS,
        "shuffle": ["boolean"],
        "record": RECORD,
        "random_state": RANDOM_STATE,
    }
    _accepts_sparse = False

    def __init__(
        self,
        *,
        factor: float | str = "auto",
        update: str = "both",
        max_iter: int = 1000,
        shuffle: bool = True,
        record: str | None = None,
        random_state: Seed = None,
    ) -> None:
        self.factor = factor
        self.update = update
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.record = record
        self.random_state = random_state

    def _train(self, problem: Problem) -> Training:
        # A weight changes by factor ** input, so the factor must suit the largest input.
        largest = max(float(np.abs(problem.inputs).max()), 1.0)
        factor = np.exp(_LARGEST_STEP / largest) if self.factor == "auto" else float(self.factor)
        random = generator(self.random_state) if self.shuffle else None
        both = self.update == "both"
        return train_winnow(problem, factor, self.max_iter, random, self.record, both=both)


def train_winnow(
    problem: Problem,
    factor: float,
    max_iter: int,
    random: np.random.Generator | None,
    record: str | None,
    *,
    both: bool = True,
) -> Training:
    """Take multiplicative passes until one needs no correction; see `train_online`.

    With `both` every correction changes the weights of both classes.
    """
    n_weights = problem.size[1]
    positive, negative = np.zeros(n_weights), np.zeros(n_weights)
    history = np.empty((MOST_STEPS if record == "steps" else 0, n_weights))
    path = [np.zeros((1, n_weights))]
    corrections, n_iter, filled = 1, 0, 0
    problem = shuffled_once(problem, random)
    for order in islice(orders(problem, random), max_iter):
        n_iter += 1
        state = (positive, negative, np.empty(n_weights))
        corrections = winnow_pass(
            problem.inputs, problem.signs, order, *state, factor, both, history[filled:]
        )
        # The loops work in logarithms, so that only the weights themselves can overflow.
        if max(positive.max(), negative.max()) > _LARGEST_LOGARITHM:
            raise DataError(
                f"factor={factor:.4g} makes the weights grow without bound; scale the inputs to "
                "[-1, 1], or choose a factor nearer to one."
            )
        if record == "steps":
            filled = min(filled + corrections, len(history))
        elif record == "passes":
            path.append((np.exp(positive) - np.exp(negative))[None, :])
        if not corrections:
            break
    path.append(history[:filled])
    points = np.concatenate(path) if record else np.empty((0, n_weights))
    weights = np.exp(positive) - np.exp(negative)
    return Training(weights, n_iter, corrections == 0, np.arange(len(points)), points)
