"""Networks that several tests ask."""

from pathlib import Path

import numpy as np
import pytest

from verulam.graphical import BayesianNetwork, Table, read_bif

DATA = Path(__file__).parent / "data"
TWO = ("no", "yes")


def random_network(seed, n_nodes=6, max_parents=3, *, polytree=False):
    """Return a network with random arcs, numbers of states and tables."""
    random = np.random.default_rng(seed)
    names = [f"x{k}" for k in range(n_nodes)]
    states = {name: tuple("abcd"[: random.integers(2, 5)]) for name in names}
    part = {name: name for name in names}  # which connected part a node is in
    conditionals = {}
    for place, name in enumerate(names):
        count = int(random.integers(0, min(place, max_parents) + 1))
        parents = [names[k] for k in random.permutation(place)[:count]]
        if polytree:
            taken = set()
            single = []
            for parent in parents:
                if part[parent] not in taken:
                    taken.add(part[parent])
                    single.append(parent)
            parents = single
            for other in names:
                if part[other] in taken:
                    part[other] = name
        shape = [len(states[node]) for node in (*parents, name)]
        table = random.dirichlet(np.ones(shape[-1]), size=shape[:-1])
        conditionals[name] = Table(states[name], table, tuple(parents))
    return BayesianNetwork(conditionals)


def random_evidence(network, seed, n_observed=2):
    random = np.random.default_rng(seed)
    names = random.permutation(network.nodes)[:n_observed]
    return {str(name): random.choice(network.states[name]).item() for name in names}


@pytest.fixture(scope="session")
def make_network():
    return random_network


@pytest.fixture(scope="session")
def make_evidence():
    return random_evidence


@pytest.fixture(scope="session")
def alarm():
    return read_bif(DATA / "alarm.bif")


@pytest.fixture(scope="session")
def insurance():
    return read_bif(DATA / "insurance.bif")


@pytest.fixture(scope="session")
def five_nodes():
    """Return the network of the course notes: A -> C -> E, A -> D <- B."""
    return BayesianNetwork(
        {
            "A": Table(TWO, [0.7, 0.3]),
            "B": Table(TWO, [0.4, 0.6]),
            "C": Table(TWO, [[0.6, 0.4], [0.2, 0.8]], ("A",)),
            "D": Table(TWO, [[[0.8, 0.2], [0.9, 0.1]], [[0.2, 0.8], [0.3, 0.7]]], ("A", "B")),
            "E": Table(TWO, [[0.8, 0.2], [0.3, 0.7]], ("C",)),
        }
    )
