"""Arc emission: what is shown depends on the transition, not on the state."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.sequence._chains.structured_transitions import (
    StructuredModel,
    StructuredPart,
    StructuredTransitions,
    shares,
)
from verulam.sequence._learners.hidden_markov import HiddenMarkovModel
from verulam.sequence._model.emission import Emission
from verulam.sequence._model.parameters import InitialProbabilities
from verulam.sequence._model.transitions import check_distribution


@dataclass(frozen=True)
class ArcTransitions(StructuredPart):
    r"""A chain as seen from its arcs: after the arc from i to j comes one from j to k.

    Parameters
    ----------
    matrix
        Transition matrix between states to start from; its zeros stay zero.
    fixed
        Whether to hold it.

    Notes
    -----
    With :math:`N` states there are :math:`N^2` arcs, and
    :math:`P((j, k) \mid (i, j)) = a_{jk}` for all :math:`i` (Alpaydin, exercise 15.5).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import ArcTransitions
    >>> ArcTransitions([[0.9, 0.1], [0.2, 0.8]]).start(4, np.random.default_rng(0)).matrix
    array([[0.9, 0.1, 0. , 0. ],
           [0. , 0. , 0.2, 0.8],
           [0.9, 0.1, 0. , 0. ],
           [0. , 0. , 0.2, 0.8]])
    """

    matrix: Any
    fixed: bool = False

    @property
    def n_states(self) -> int:
        """Number of arcs."""
        return len(self.matrix) ** 2

    def first_tables(self) -> tuple[np.ndarray, ...]:
        """Return the matrix, checked."""
        size = len(self.matrix)
        return (check_distribution(self.matrix, "matrix of ArcTransitions", (size, size)),)

    def assembled(self, tables: tuple[np.ndarray, ...]) -> StructuredTransitions:
        """Return the transitions between arcs."""
        size = len(tables[0])
        whole = np.zeros((size, size, size, size))
        for j in range(size):
            whole[:, j, j] = tables[0][j]
        return StructuredTransitions.from_tables(whole.reshape(size**2, size**2), tables)

    def updated_tables(
        self, parameters: StructuredTransitions, sums: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return the shares of the expected transitions between states."""
        old = parameters.tables[0]
        if self.fixed:
            return (old,)
        counts = np.zeros_like(old)
        np.add.at(counts, np.divmod(parameters.targets, len(old)), sums)
        return (shares(counts, old),)

    def occupied(self, visits: np.ndarray) -> np.ndarray:
        """Return the expected steps that leave each state."""
        return visits.reshape(len(self.matrix), -1).sum(axis=1)

    def n_parameters(self, parameters: StructuredTransitions) -> int:
        """Return the number of free probabilities."""
        used = parameters.tables[0] > 0
        return 0 if self.fixed else int(used.sum() - len(used))


def arc_model(
    initial: Any, transitions: Any, emission: Emission, **options: Any
) -> HiddenMarkovModel:
    r"""Return a model whose arcs show something, as one whose states are the arcs.

    Parameters
    ----------
    initial
        Probability of each first state.
    transitions
        Transition matrix between states.
    emission
        What arcs show; the arc from i to j is number ``i * n_states + j``.
    options
        Further arguments of `HiddenMarkovModel`.

    Notes
    -----
    :math:`P(O) = \sum_Q \pi_{q_1} \prod_t a_{q_t q_{t+1}} b_{q_t q_{t+1}}(O_t)` (Alpaydin,
    exercise 15.5). When the model is fitted, the first arc has probabilities of its own, which
    start from :math:`\pi_i a_{ij}`.

    Examples
    --------
    >>> from verulam.sequence import CategoricalEmission, arc_model
    >>> coins = CategoricalEmission(probabilities=[[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0.1, 0.9]])
    >>> model = arc_model([1.0, 0.0], [[0.7, 0.3], [0.3, 0.7]], coins, max_iter=500)
    >>> model.fit([0, 0, 0, 1, 1, 1, 0, 0, 1, 1]).transitions_.shape
    (4, 4)
    """
    part = ArcTransitions(transitions)
    size = len(part.matrix)
    matrix = part.first_tables()[0]
    first = check_distribution(initial, "initial", (size,))
    if "shared_emissions" in options and len(options["shared_emissions"]) != size**2:
        raise DataError(f"shared_emissions needs one number per arc: {size**2}.")
    settings = {"initial": InitialProbabilities((first[:, None] * matrix).ravel()), **options}
    return StructuredModel(size**2, emission, transitions=part, **settings)
