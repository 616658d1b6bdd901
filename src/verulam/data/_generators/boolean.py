"""Truth tables: every row of a Boolean function."""

from collections.abc import Callable
from itertools import product
from typing import Literal

import numpy as np

from verulam.base import unknown_name
from verulam.data._dataset import Dataset
from verulam.data._generators.generator_helpers import checked_count

BooleanName = Literal["and", "or", "nand", "nor", "xor", "not", "majority"]

_FUNCTIONS: dict[str, Callable[[tuple[bool, ...]], bool]] = {
    "and": all,
    "or": any,
    "nand": lambda row: not all(row),
    "nor": lambda row: not any(row),
    "xor": lambda row: sum(row) % 2 == 1,
    "not": lambda row: not row[0],
    "majority": lambda row: 2 * sum(row) > len(row),
}


def truth_table(function: BooleanName, n_inputs: int = 2) -> Dataset:
    """Return all rows of a Boolean function as numbers 0 and 1.

    Parameters
    ----------
    function
        Which function; ``not`` looks at the first input only.
    n_inputs
        Number of inputs, at most 20.

    Examples
    --------
    >>> from verulam.data import truth_table
    >>> truth_table("xor").table
       x1  x2  y
    0   0   0  0
    1   0   1  1
    2   1   0  1
    3   1   1  0
    """
    if function not in _FUNCTIONS:
        raise unknown_name("Boolean function", function, _FUNCTIONS)
    if checked_count(n_inputs, "n_inputs") > 20:
        raise ValueError(f"n_inputs={n_inputs}; more than 20 give over a million rows.")
    rows = list(product([False, True], repeat=n_inputs))
    return Dataset.from_arrays(
        np.array(rows, dtype=int),
        [int(_FUNCTIONS[function](row)) for row in rows],
        target_name="y",
        task="classification",
        name=f"{function}_{n_inputs}",
        source="Alpaydin 11.4 (Tables 11.1, 11.2)",
    )


def parity(n_inputs: int = 3) -> Dataset:
    """Return the rows of the parity function: 1 where an odd number of inputs is 1.

    Parameters
    ----------
    n_inputs
        Number of inputs, at most 20.
    """
    return truth_table("xor", n_inputs)
