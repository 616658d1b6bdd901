"""Truth tables."""

import pytest

from verulam.base import UnknownNameError
from verulam.data import parity, truth_table


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("and", [0, 0, 0, 1]),
        ("or", [0, 1, 1, 1]),
        ("nand", [1, 1, 1, 0]),
        ("nor", [1, 0, 0, 0]),
        ("xor", [0, 1, 1, 0]),
        ("not", [1, 1, 0, 0]),
        ("majority", [0, 0, 0, 1]),
    ],
)
def test_two_inputs(function, expected):
    data = truth_table(function)
    assert data.inputs.to_numpy().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert data.target_values.tolist() == expected
    assert data.task == "classification"


def test_parity():
    data = parity(4)
    assert data.n_rows == 16
    assert (data.inputs.sum(axis=1) % 2 == data.target_values.astype(int)).all()
    rows = data.table.set_index(data.input_names)["y"]
    # Shifting the bits round leaves the parity alone.
    assert rows[0, 1, 0, 1] == rows[1, 0, 1, 0]


def test_bad_arguments():
    with pytest.raises(UnknownNameError, match=r"Unknown Boolean function 'xnor'\. Nearest: xor"):
        truth_table("xnor")
    with pytest.raises(ValueError, match="n_inputs=21"):
        parity(21)
