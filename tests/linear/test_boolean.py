"""Boolean functions: one unit, two layers, and pieces over a grid."""

import numpy as np
import pytest

from verulam.base import DataError, UnknownNameError
from verulam.linear import (
    BasisExpansion,
    CellApproximator,
    Perceptron,
    ThresholdNetwork,
    ThresholdUnit,
    boolean_inputs,
    build_approximator,
    is_separable,
    known_unit,
    network_for,
    separability,
    truth_table,
)
from verulam.numerics import sigmoid


@pytest.mark.parametrize("name", ["and", "or", "nand", "nor", "not"])
def test_units_written_by_hand_compute_their_table(name):
    outputs = truth_table(name)
    n_inputs = 1 if name == "not" else 2
    assert known_unit(name, n_inputs)(boolean_inputs(n_inputs)).tolist() == outputs.tolist()


@pytest.mark.parametrize("name", ["and", "or", "nand", "nor"])
def test_units_of_more_inputs(name):
    assert known_unit(name, 4)(boolean_inputs(4)).tolist() == truth_table(name, 4).tolist()


def test_a_unit_gives_zero_at_its_threshold():
    assert ThresholdUnit(np.array([1.0]), -1.0)([[0.5], [1.0], [1.5]]).tolist() == [0, 0, 1]


def test_fourteen_of_sixteen_functions_of_two_inputs_are_separable():
    tables = [[code >> row & 1 for row in range(4)] for code in range(16)]
    unable = [table for table in tables if not is_separable(table)]
    assert unable == [[0, 1, 1, 0], [1, 0, 0, 1]]


def test_all_functions_of_one_input_and_104_of_256_of_three_are_separable():
    assert all(is_separable([first, second]) for first in (0, 1) for second in (0, 1))
    tables = [[code >> row & 1 for row in range(8)] for code in range(256)]
    assert sum(map(is_separable, tables)) == 104


@pytest.mark.parametrize("n_inputs", [2, 3, 5])
def test_parity_needs_two_layers_with_a_unit_for_each_true_row(n_inputs):
    outputs = truth_table("parity", n_inputs)
    assert not is_separable(outputs)
    network = network_for(outputs)
    assert len(network.hidden_biases) == outputs.sum() == 2 ** (n_inputs - 1)
    assert network(boolean_inputs(n_inputs)).tolist() == outputs.tolist()


def test_every_function_of_three_inputs_has_its_network():
    rows = boolean_inputs(3)
    for code in range(256):
        outputs = [code >> row & 1 for row in range(8)]
        network = network_for(outputs)
        assert network(rows).tolist() == outputs
        assert (network.hidden(rows).sum(axis=1) == outputs).all()


def test_an_interval_is_a_parabola_or_two_lines_joined_by_or():
    """Exercise 10.9: the class between 2 and 4, its discriminant below zero there."""
    places = np.linspace(0.0, 6.0, 61)
    parabola = (places - 3.0) ** 2 - 1.0
    assert np.allclose(parabola[[20, 30, 40]], [0.0, -1.0, 0.0])
    assert sigmoid(parabola[30]) == pytest.approx(0.269, abs=5e-4)
    either = ThresholdUnit(np.array([1.0, 1.0]), -0.5)
    outside = ThresholdNetwork(np.array([[-1.0], [1.0]]), np.array([2.0, -4.0]), either)
    clear = np.abs(parabola) > 1e-9
    assert np.array_equal(outside(places[clear, None]), (parabola > 0)[clear])


def test_exclusive_or_with_the_product_as_auxiliary_input():
    rows, outputs = boolean_inputs(2), truth_table("xor")
    expanded = BasisExpansion().fit_transform(rows)
    assert Perceptron(random_state=0).fit(expanded, outputs).converged_


def test_bipolar_rows():
    assert boolean_inputs(2, bipolar=True).tolist() == [[-1, -1], [-1, 1], [1, -1], [1, 1]]


@pytest.mark.parametrize("linear", [False, True])
def test_the_error_falls_with_the_grid(linear):
    points = np.random.default_rng(0).uniform(0, 3, size=(500, 2))

    def wave(rows):
        return np.sin(rows[:, 0]) * np.cos(rows[:, 1])

    errors = [
        np.abs(
            build_approximator(wave, [(0, 3), (0, 3)], n_cells=cells, linear=linear)(points)
            - wave(points)
        ).max()
        for cells in (5, 10, 20, 40)
    ]
    order = 2.0 if linear else 1.0
    ratios = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (ratios > order - 0.4).all()


def test_exactly_one_cell_fires():
    built = build_approximator(np.sin, [(0.0, 3.0)], n_cells=7)
    rows = np.linspace(0, 3, 50)[:, None]
    fired = built.cells(rows)
    assert (fired.sum(axis=1) == 1).all()
    assert np.allclose(fired @ built.values, built(rows))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: truth_table("andd"), UnknownNameError, "and"),
        (lambda: truth_table("xor", 30), DataError, "from 1 to 20, for a table has 2"),
        (lambda: known_unit("xor"), UnknownNameError, "unit"),
        (lambda: is_separable([0, 1, 1]), DataError, "2, 4, 8"),
        (lambda: network_for([0, 2]), DataError, "zeros and ones"),
        (lambda: build_approximator(np.sin, [(0, 1)], n_cells=0), DataError, "at least 1"),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("n_inputs", [2, 3, 4])
def test_parity_is_proved_to_be_out_of_reach(n_inputs):
    """A mixture of true rows is a mixture of false ones, so no plane has them on two sides."""
    rows, outputs = boolean_inputs(n_inputs), truth_table("parity", n_inputs)
    answer = separability(rows, outputs)
    assert answer.separable is False
    shares = answer.certificate
    assert (shares >= 0).all()
    assert shares[outputs == 1].sum() == pytest.approx(1.0)
    assert shares[outputs == 0].sum() == pytest.approx(1.0)
    mixed = [shares[outputs == value] @ rows[outputs == value] for value in (0, 1)]
    assert np.allclose(*mixed)


def test_a_border_belongs_to_the_cell_below():
    steps = CellApproximator([np.array([0.0, 1.0, 2.0])], np.array([3.0, 5.0]), None)
    assert steps([[0.5], [1.0], [1.5], [9.0]]).tolist() == [3.0, 3.0, 5.0, 5.0]
    assert steps.cells([[1.0], [1.5]]).tolist() == [[1, 0], [0, 1]]
    tilted = CellApproximator(steps.edges, steps.values, np.array([[2.0], [0.0]]))
    assert tilted([[0.5], [1.0]]).tolist() == [3.0, 4.0]
