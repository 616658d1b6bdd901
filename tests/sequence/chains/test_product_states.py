"""Several chains as one: products, sums and their limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.sequence import ChainInitial, ChainTransitions, chain_posteriors, split_states
from verulam.sequence._chains.product_states import chain_sizes

RANDOM = np.random.default_rng(0)


def random_tables(sizes, parents):
    return tuple(
        RANDOM.dirichlet(np.ones(sizes[chain]), [sizes[parent] for parent in looks])
        for chain, looks in enumerate(parents)
    )


@pytest.mark.parametrize(
    "parents", [[(0,), (1,), (2,)], [(0, 1, 2)] * 3, [(0,), (0, 1), (1,)], [(1,), (), (0, 2)]]
)
def test_matrix_is_the_product_of_the_tables(parents):
    sizes = (2, 3, 2)
    tables = random_tables(sizes, parents)
    part = ChainTransitions(sizes, parents, tables)
    moves = part.start(12, RANDOM)
    states = split_states(np.arange(12), sizes)
    for i, before in enumerate(states):
        for j, after in enumerate(states):
            expected = np.prod(
                [tables[k][(*before[list(looks)], after[k])] for k, looks in enumerate(parents)]
            )
            assert_allclose(moves.matrix[i, j], expected)


def test_transitions_as_often_as_the_tables_say_give_the_tables_back():
    tables = random_tables((2, 3), [(0,), (1,)])
    part = ChainTransitions((2, 3), tables=tables)
    moves = part.start(6, RANDOM)
    again = part.updated_tables(moves, moves.weights * RANDOM.random(6)[moves.sources])
    for new, old in zip(again, tables, strict=True):
        assert_allclose(new, old)


def test_expected_transitions_are_counted_chain_by_chain():
    part = ChainTransitions((2, 2), "all")
    moves = part.start(4, RANDOM)
    sums = RANDOM.random(len(moves.weights))
    whole = np.zeros((4, 4))
    whole[moves.sources, moves.targets] = sums
    first, second = part.updated_tables(moves, sums)
    one = whole[:, :2].sum(axis=1) / whole.sum(axis=1)
    assert_allclose(first.reshape(4, 2)[:, 0], one)
    assert_allclose(second.reshape(4, 2)[:, 0], whole[:, ::2].sum(axis=1) / whole.sum(axis=1))


def test_initial_probabilities_stay_a_product():
    sums = RANDOM.random(6)
    probabilities = ChainInitial(sizes=(2, 3)).update(np.full(6, 1 / 6), sums).reshape(2, 3)
    table = sums.reshape(2, 3) / sums.sum()
    assert_allclose(probabilities, np.outer(table.sum(axis=1), table.sum(axis=0)))
    held = ChainInitial(fixed=True, sizes=(2, 3)).update(np.full(6, 1 / 6), sums)
    assert_allclose(held, 1 / 6)


def test_posteriors_of_chains_are_sums():
    rows = RANDOM.dirichlet(np.ones(6), 4)
    first, second = chain_posteriors(rows, (2, 3))
    assert_allclose(first, rows.reshape(4, 2, 3).sum(axis=2))
    assert_allclose(second, rows.reshape(4, 2, 3).sum(axis=1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ChainTransitions((2, 0)).n_states, "expected the number of states of each chain"),
        (lambda: ChainTransitions((9,) * 5).n_states, "59049 combined states"),
        (lambda: ChainTransitions((2, 2), "some").looks_back, "'some'; expected None, 'all'"),
        (lambda: ChainTransitions((2, 2), [(0,), (2,)]).looks_back, "each of the 2 chains"),
        (
            lambda: ChainTransitions((2,), tables=([[0.5, 0.6], [0, 1]],)).first_tables(),
            "row 0 of table 0 of ChainTransitions sums to 1.1",
        ),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(DataError, match=message):
        make()


@pytest.mark.parametrize("sizes", ["ab", (2.5, 2), (0, 2), ()])
def test_sizes_are_whole_numbers(sizes):
    with pytest.raises(DataError, match="expected the number of states of each chain"):
        chain_sizes(sizes)
