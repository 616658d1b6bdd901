"""Random orders of the rows, one for each pass, that memory can follow."""

from collections.abc import Iterator
from itertools import repeat

import numpy as np

from verulam.linear._training.two_class_problem import Problem

#: Tables below this size stay in a processor's cache, where any order is as good as another.
SMALL_TABLE_BYTES = 4_000_000
#: Rows of a block, which are read one after the other.
BLOCK = 64


def shuffled_once(problem: Problem, random: np.random.Generator | None) -> Problem:
    """Return the problem with its rows in random order, where passes will go by blocks.

    Parameters
    ----------
    problem
        The inequalities.
    random
        Draws the order; None keeps it.
    """
    if random is None or not _is_large(problem):
        return problem
    order = random.permutation(len(problem.signs))
    return problem.in_order(order)


def orders(problem: Problem, random: np.random.Generator | None) -> Iterator[np.ndarray]:
    """Yield the order of each pass.

    Small tables get a new permutation each time. The rows of large ones, shuffled once, are read
    by blocks in random order, whose borders fall elsewhere in each pass: reading single rows from
    all over the memory would take most of the time.

    Parameters
    ----------
    problem
        The inequalities, shuffled once where they are large.
    random
        Draws the orders; None gives the order of the rows.
    """
    n_rows = len(problem.signs)
    if random is None:
        yield from repeat(np.arange(n_rows))
    while True:
        assert random is not None
        yield _by_blocks(n_rows, random) if _is_large(problem) else random.permutation(n_rows)


def _by_blocks(n_rows: int, random: np.random.Generator) -> np.ndarray:
    border = int(random.integers(BLOCK))
    n_blocks = (n_rows - border) // BLOCK
    end = border + n_blocks * BLOCK
    blocks = np.arange(border, end).reshape(n_blocks, BLOCK)[random.permutation(n_blocks)]
    return np.concatenate([blocks.ravel(), np.arange(end, n_rows), np.arange(border)])


def _is_large(problem: Problem) -> bool:
    return not problem.sparse and problem.inputs.nbytes > SMALL_TABLE_BYTES
