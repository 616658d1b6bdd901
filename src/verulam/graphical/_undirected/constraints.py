"""Constraint networks: units that support or exclude each other, and what they settle in."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from verulam.base import DataError, Seed, generator
from verulam.graphical._undirected.markov_field import MarkovField

#: Units up to which all states are looked at.
MOST_UNITS = 20


@dataclass(frozen=True, eq=False)
class Mode:
    """A state of all units that no change of a single one improves.

    Attributes
    ----------
    states
        0 or 1 of each unit.
    goodness
        Sum of the links between active units, and of their biases.
    """

    states: Mapping[str, int]
    goodness: float

    @property
    def active(self) -> tuple[str, ...]:
        """The units that are on."""
        return tuple(name for name, state in self.states.items() if state)


class ConstraintNetwork:
    r"""Units that are on or off, with exciting (positive) and inhibiting (negative) links.

    Parameters
    ----------
    links
        Weight of each pair of units.
    bias
        What a unit adds by being on: a number for all, or a dictionary.

    Attributes
    ----------
    units : tuple of str
        Names of the units.
    field : MarkovField
        The same network as a field of pairwise potentials.

    Notes
    -----
    :math:`p(x) \propto \exp(\sum_{i < j} w_{ij} x_i x_j + \sum_i b_i x_i)`: Alpaydin, exercise
    14.6, figure 14.15.

    Examples
    --------
    >>> from verulam.graphical import ConstraintNetwork
    >>> network = ConstraintNetwork({("duck", "beak"): 2, ("duck", "rabbit"): -4}, bias=0.5)
    >>> network.modes()[0].active
    ('duck', 'beak')
    """

    def __init__(
        self, links: Mapping[tuple[str, str], float], bias: float | Mapping[str, float] = 0.0
    ) -> None:
        if not isinstance(links, Mapping) or not links:
            raise DataError("links: expected a dictionary from pairs of units to weights.")
        units: dict[str, None] = {}
        for pair, weight in links.items():
            if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] == pair[1]:
                raise DataError(f"links: expected pairs of two units, and one is {pair!r}.")
            if not np.isfinite(weight):
                raise DataError(f"links: the weight of {pair!r} is {weight!r}.")
            units.update(dict.fromkeys(pair))
        self.links = dict(links)
        self.units = tuple(units)
        biases = bias if isinstance(bias, Mapping) else dict.fromkeys(units, bias)
        for name in biases:
            if name not in units:
                raise DataError(f"bias: there is no unit {name!r}.")
        self.bias = {name: float(biases.get(name, 0.0)) for name in units}

    @cached_property
    def field(self) -> MarkovField:
        """The network as a Markov field."""
        edges = {pair: [[1.0, 1.0], [1.0, np.exp(w)]] for pair, w in self.links.items()}
        nodes = {name: [1.0, np.exp(b)] for name, b in self.bias.items()}
        return MarkovField.pairwise(dict.fromkeys(self.units, (0, 1)), edges, nodes)

    @cached_property
    def _weights(self) -> np.ndarray:
        weights = np.zeros((len(self.units), len(self.units)))
        for (first, second), weight in self.links.items():
            i, j = self.units.index(first), self.units.index(second)
            weights[i, j] += weight
            weights[j, i] += weight
        return weights

    def goodness(self, states: Mapping[str, int]) -> float:
        """Return the sum of the links between active units, and of their biases.

        Parameters
        ----------
        states
            0 or 1 of each unit; those left out are off.
        """
        active = np.array([float(bool(states.get(name, 0))) for name in self.units])
        bias = np.array(list(self.bias.values()))
        return float(active @ self._weights @ active / 2 + bias @ active)

    def settle(self, start: Mapping[str, int] | None = None, *, random_state: Seed = None) -> Mode:
        """Switch units, one at a time and in random order, until none wants to change.

        Parameters
        ----------
        start
            States to start from; at random unless they are given.
        random_state
            Seed of the start and of the order.
        """
        random = generator(random_state)
        states = random.integers(0, 2, size=len(self.units)).astype(float)
        for name, state in (start or {}).items():
            if name not in self.units:
                raise DataError(f"start: there is no unit {name!r}.")
            states[self.units.index(name)] = float(bool(state))
        bias = np.array(list(self.bias.values()))
        changed = True
        while changed:  # the goodness rises with each change, so this ends
            changed = False
            for k in random.permutation(len(self.units)):
                wish = float(self._weights[k] @ states + bias[k] > 0)
                if wish != states[k]:
                    states[k], changed = wish, True
        return self._mode(states)

    def modes(self) -> list[Mode]:
        """Return all states that no change of a single unit improves, the best first."""
        if len(self.units) > MOST_UNITS:
            raise DataError(
                f"There are {len(self.units)} units, and all states of at most {MOST_UNITS} are "
                "looked at; settle from several starts instead."
            )
        states = np.array(list(product((0.0, 1.0), repeat=len(self.units))))
        bias = np.array(list(self.bias.values()))
        pulls = states @ self._weights + bias
        gains = np.where(states == 1, -pulls, pulls)  # what switching each unit would add
        stable = states[(gains <= 0).all(axis=1)]
        modes = [self._mode(state) for state in stable]
        return sorted(modes, key=lambda mode: -mode.goodness)

    def _mode(self, states: np.ndarray) -> Mode:
        named = {name: int(state) for name, state in zip(self.units, states, strict=True)}
        return Mode(named, self.goodness(named))


def necker_cube(excitation: float = 1.0, inhibition: float = -2.0) -> ConstraintNetwork:
    """Return the network of the Necker cube, whose corners can be seen in two ways.

    Parameters
    ----------
    excitation
        Weight between neighbouring corners of the same cube.
    inhibition
        Weight between the two ways to see one corner, and between two corners that would be the
        same one of a cube.

    Notes
    -----
    Sixteen units: each of the eight corners of the drawing as a corner of the cube seen from above
    (``A``) or from below (``B``). Alpaydin, exercise 14.6 and figure 14.15.

    Examples
    --------
    >>> from verulam.graphical import necker_cube
    >>> best = necker_cube().modes()[:2]
    >>> [sorted({name[0] for name in mode.active}) for mode in best]
    [['B'], ['A']]
    """
    corners = list(product("LR", "DU", "FB"))  # left or right, down or up, front or back
    links: dict[tuple[str, str], float] = {}

    def unit(kind: str, corner: Any) -> str:
        return kind + "".join(corner)

    for kind in "AB":
        for first in corners:
            for second in corners:
                differ = sum(a != b for a, b in zip(first, second, strict=True))
                if differ == 1 and first < second:
                    links[unit(kind, first), unit(kind, second)] = excitation
    for corner in corners:
        # In the drawing the front face of one cube is the back face of the other.
        turned = (*corner[:2], "B" if corner[2] == "F" else "F")
        links[unit("A", corner), unit("B", turned)] = inhibition
        links[unit("A", corner), unit("B", corner)] = inhibition
    return ConstraintNetwork(links)
