"""Graph kernels: by definition, invariance to the order of nodes, limits of diffusion."""

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

from verulam.base import DataError
from verulam.kernel import (
    DiffusionKernel,
    LabelledGraph,
    RandomWalkKernel,
    ShortestPathKernel,
    WeisfeilerLehmanKernel,
    as_graph,
    gram_report,
)

CHAIN = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
STAR = np.array([[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]])
RING = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
LABELLED = LabelledGraph(CHAIN, ("a", "b", "b", "a"))
GRAPHS = [CHAIN, STAR, RING, LABELLED]
KERNELS = [ShortestPathKernel(), WeisfeilerLehmanKernel(2), RandomWalkKernel(0.05)]


@pytest.mark.parametrize("kernel", KERNELS)
def test_gram_matrix_is_one(kernel):
    assert gram_report(kernel(GRAPHS))


@pytest.mark.parametrize("kernel", KERNELS)
def test_order_of_nodes_does_not_matter(kernel):
    order = [2, 0, 3, 1]
    labels = tuple(LABELLED.labels[i] for i in order)
    moved = LabelledGraph(CHAIN[np.ix_(order, order)], labels)
    assert_allclose(kernel([moved], GRAPHS), kernel([LABELLED], GRAPHS))


def test_shortest_paths_counted_by_hand():
    """The chain has paths of length 1, 2, 3: three, two, one; the star three and three."""
    assert ShortestPathKernel()([CHAIN], [STAR]) == 3 * 3 + 2 * 3
    assert ShortestPathKernel()([CHAIN], [CHAIN]) == 9 + 4 + 1
    # With labels: a-b twice, b-b once; a-b at two steps twice; a-a at three steps.
    assert ShortestPathKernel()([LABELLED], [LABELLED]) == 4 + 1 + 4 + 1


def test_neighbourhoods_counted_by_hand():
    """After one round chain nodes are ends (2) or inner (2); ring nodes are all inner."""
    assert WeisfeilerLehmanKernel(0)([CHAIN], [RING]) == 16
    assert WeisfeilerLehmanKernel(1)([CHAIN], [RING]) == 16 + 2 * 4
    assert WeisfeilerLehmanKernel(1)([CHAIN], [STAR]) == 16 + 2 * 3


def test_random_walks_are_a_sum_over_lengths():
    decay = 0.07
    common, power = np.kron(CHAIN, STAR), np.eye(16)
    total = 0.0
    for length in range(60):
        total += decay**length * power.sum()
        power = power @ common
    assert_allclose(RandomWalkKernel(decay)([CHAIN], [STAR]), total / 16)


def test_walks_that_grow_without_end():
    with pytest.raises(DataError, match=r"must be below 0\.25"):
        RandomWalkKernel(0.3)([RING], [RING])


def test_no_label_in_common():
    other = LabelledGraph(CHAIN, ("x",) * 4)
    assert RandomWalkKernel()([LABELLED], [other]) == 0
    assert ShortestPathKernel()([LABELLED], [other]) == 0


def test_networkx_graphs():
    graph = nx.path_graph(4)
    assert_allclose(as_graph(graph).adjacency, CHAIN)
    nx.set_node_attributes(graph, dict(enumerate("abba")), "label")
    assert ShortestPathKernel()([graph], [LABELLED]) == 10


def test_diffusion_is_the_exponential_of_the_laplacian():
    laplacian = np.diag(CHAIN.sum(axis=0)) - CHAIN
    gram = DiffusionKernel(CHAIN, spread=0.7)(range(4))
    assert_allclose(gram, expm(-0.7 * laplacian), atol=1e-12)
    assert gram_report(gram)


def test_diffusion_spreads_from_the_identity_to_all():
    assert_allclose(DiffusionKernel(CHAIN, 1e-9)(range(4)), np.eye(4), atol=1e-8)
    assert_allclose(DiffusionKernel(CHAIN, 100.0)(range(4)), 0.25, atol=1e-6)


def test_more_and_shorter_paths_make_nodes_alike():
    similarity = DiffusionKernel(CHAIN, 0.5)([0], range(4))[0]
    assert (np.diff(similarity) < 0).all()
    # Opposite nodes of the ring are two steps apart by two paths, in the chain by one.
    assert DiffusionKernel(RING, 0.2)([0], [2]) > DiffusionKernel(CHAIN, 0.2)([0], [2])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: as_graph([[0, 1], [0, 0]]), "square and symmetric"),
        (lambda: as_graph(LabelledGraph(CHAIN, ("a",))), "one for each of the 4 nodes; got 1"),
        (lambda: DiffusionKernel(CHAIN)([4]), "from 0 to 3"),
        (lambda: DiffusionKernel(CHAIN, 0.0), "spread must be a finite number above 0"),
        (lambda: WeisfeilerLehmanKernel(-1), "n_rounds must not be negative"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(DataError, match=message):
        make()
