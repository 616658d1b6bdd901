"""A partially observable process as a dynamic influence diagram: chance, decision, utility."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.reinforcement._checks import check_count, check_distribution, check_type
from verulam.reinforcement._partial.process import PartiallyObservableProcess

#: Histories of actions and observations that are looked at one by one.
MOST_HISTORIES = 2_000_000


@dataclass(frozen=True, eq=False)
class DiagramNode:
    """A node of an influence diagram.

    Attributes
    ----------
    name
        Such as "state 1".
    kind
        "chance", "decision" or "utility".
    parents
        Names of the nodes that it depends on, or that are known when a decision is made.
    table
        Probabilities or utilities by the parents' values; None for a decision.
    """

    name: str
    kind: str
    parents: tuple[str, ...]
    table: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class InfluenceDiagram:
    """A process unrolled over some steps.

    Attributes
    ----------
    nodes
        Nodes in an order in which parents come first.
    process
        What was unrolled.
    horizon
        Number of decisions.
    """

    nodes: tuple[DiagramNode, ...]
    process: PartiallyObservableProcess
    horizon: int

    def expected_utility(self, belief: ArrayLike | None = None) -> float:
        """Return the largest expected utility, by summing out chance and maximising decisions.

        Parameters
        ----------
        belief
            Distribution of the first state; None for that of the process.
        """
        start = self.process.start if belief is None else belief
        return self._best(check_distribution("belief", start, self.process.n_states), self.horizon)

    def _best(self, joint: NDArray[np.float64], steps: int) -> float:
        # `joint` is the probability of the state together with all that was done and seen so far:
        # summing over observations outside of the maximum is what "known when deciding" means.
        if not steps:
            return 0.0
        process = self.process
        worth = joint @ process.rewards
        for action in np.flatnonzero(~process.ending):
            parts = np.einsum("s,ost->ot", joint, process.joint[action])
            future = sum(self._best(part, steps - 1) for part in parts if part.any())
            worth[action] += process.discount * future
        return float(worth.max())


def influence_diagram(process: PartiallyObservableProcess, horizon: int) -> InfluenceDiagram:
    """Return a process as a dynamic influence diagram over some decisions.

    Parameters
    ----------
    process
        The process.
    horizon
        Number of decisions.

    Notes
    -----
    Each decision knows all earlier decisions and observations. Its largest expected utility is the
    value that `solve_exactly` finds with as many steps to go. See Alpaydin 18.7.1 and 14.8.

    Examples
    --------
    >>> from verulam.reinforcement import influence_diagram, solve_exactly, tiger
    >>> diagram = influence_diagram(tiger(), 2)
    >>> [node.name for node in diagram.nodes if node.kind == "decision"]
    ['decision 1', 'decision 2']
    >>> exact = solve_exactly(tiger(), 2)[1].value([0.5, 0.5])
    >>> round(diagram.expected_utility(), 6), round(exact, 6)
    (28.5, 28.5)
    """
    check_type("process", process, PartiallyObservableProcess)
    check_count("horizon", horizon)
    histories = float(process.n_actions * process.n_observations) ** (horizon - 1)
    if histories > MOST_HISTORIES:
        raise DataError(
            f"horizon is {horizon}, which has {histories:.3g} histories; at most "
            f"{MOST_HISTORIES:,} are unrolled. Take solve_exactly."
        )
    nodes: list[DiagramNode] = [DiagramNode("state 1", "chance", (), process.start)]
    known: tuple[str, ...] = ()
    moves: Any = process.transitions.transpose(1, 0, 2)
    for step in range(1, horizon + 1):
        state, decision = f"state {step}", f"decision {step}"
        nodes.append(DiagramNode(decision, "decision", known, None))
        worth = process.discount ** (step - 1) * process.rewards
        nodes.append(DiagramNode(f"utility {step}", "utility", (state, decision), worth))
        if step < horizon:
            following, seen = f"state {step + 1}", f"observation {step + 1}"
            nodes.append(DiagramNode(following, "chance", (state, decision), moves))
            shares = process.observation_shares
            nodes.append(DiagramNode(seen, "chance", (decision, following), shares))
            known = (*known, decision, seen)
    return InfluenceDiagram(tuple(nodes), process, horizon)
