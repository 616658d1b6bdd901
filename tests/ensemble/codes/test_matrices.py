"""Code matrices: the printed ones, distances, and the search for better ones."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.ensemble import CodeReport, code_report, optimise_code, output_code
from verulam.ensemble._codes.matrices import check_code

PAIRWISE = [[1, 1, 1, 0, 0, 0], [-1, 0, 0, 1, 1, 0], [0, -1, 0, -1, 0, 1], [0, 0, -1, 0, -1, -1]]
EXHAUSTIVE = [
    [-1, -1, -1, -1, -1, -1, -1],
    [-1, -1, -1, 1, 1, 1, 1],
    [-1, 1, 1, -1, -1, 1, 1],
    [1, -1, 1, -1, 1, -1, 1],
]


def test_the_printed_matrices():
    assert output_code(4, "one_vs_all").tolist() == (2 * np.eye(4) - 1).tolist()
    assert output_code(4, "one_vs_one").tolist() == PAIRWISE
    assert output_code(4, "exhaustive").tolist() == EXHAUSTIVE


def test_their_distances():
    one_vs_all = code_report(output_code(4, "one_vs_all"))
    assert isinstance(one_vs_all, CodeReport)
    assert one_vs_all.row_distance == 2
    assert one_vs_all.correctable == 0
    full = code_report(EXHAUSTIVE)
    assert (full.row_distances[~np.eye(4, dtype=bool)] == 4).all()
    assert full.correctable == 1
    assert full.column_distance == 1
    # A place where one class takes no part counts one half: five of six in a pair of rows.
    assert code_report(PAIRWISE).row_distance == 3.5


@pytest.mark.parametrize("n_classes", [3, 4, 6, 9])
def test_sizes_and_no_column_twice(n_classes):
    assert output_code(n_classes, "exhaustive").shape == (n_classes, 2 ** (n_classes - 1) - 1)
    assert output_code(n_classes, "one_vs_one").shape == (
        n_classes,
        n_classes * (n_classes - 1) // 2,
    )
    dichotomies = 2 ** (n_classes - 1) - 1
    # Each class is on one side, the other or aside; no side is empty, and sides may change names.
    with_zeros = (3**n_classes - 2 * 2**n_classes + 1) // 2
    columns = {
        "exhaustive": dichotomies,
        "random": min(int(np.ceil(10 * np.log2(n_classes))), dichotomies),
        "ternary": min(int(np.ceil(15 * np.log2(n_classes))), with_zeros),
        "optimised": min(int(np.ceil(10 * np.log2(n_classes))), dichotomies),
    }
    for kind, count in columns.items():
        codes = output_code(n_classes, kind, random_state=1)
        assert codes.shape == (n_classes, count)
        assert (kind == "ternary") == (codes == 0).any()
        same = np.abs(codes.T @ codes)
        np.fill_diagonal(same, 0)
        sizes = np.abs(codes).sum(axis=0)
        assert (same < np.maximum.outer(sizes, sizes)).all(), kind
        assert ((codes > 0).any(axis=0) & (codes < 0).any(axis=0)).all()
        assert check_code(codes, n_classes) is not None
    assert (output_code(6, "ternary", random_state=0) == 0).any()


def test_two_classes_need_one_column_and_seeds_hold():
    assert output_code(2, "exhaustive").tolist() == [[-1.0], [1.0]]
    first, second = (output_code(7, "random", n_columns=12, random_state=4) for _ in range(2))
    assert np.array_equal(first, second)
    assert first.shape == (7, 12)


def test_optimised_codes_are_at_least_as_good_as_random_ones():
    for n_classes, n_columns in ((6, 8), (8, 12), (10, 15)):
        best = code_report(optimise_code(n_classes, n_columns, random_state=0))
        for seed in range(3):
            drawn = output_code(n_classes, "random", n_columns=n_columns, random_state=seed)
            assert best.row_distance >= code_report(drawn).row_distance
        assert best.column_distance >= 1
    assert optimise_code(4, 7).tolist() == EXHAUSTIVE
    # As few columns as can tell four classes apart: codes differ in one of them at least.
    shortest = output_code(4, "random", n_columns=2, random_state=0)
    assert code_report(shortest).row_distance == 1


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((1,), {}, "two classes or more"),
        ((4, "dense"), {}, "kind='dense'"),
        ((20, "exhaustive"), {}, "524,287 dichotomies"),
        ((8, "random"), {"n_columns": 2}, "need between 3 columns"),
        ((3, "random"), {"n_columns": 4}, "and 3, which are all"),
        ((3, "ternary"), {"n_columns": 7}, "and 6, which are all"),
    ],
)
def test_codes_that_cannot_be(arguments, options, message):
    with pytest.raises(DataError, match=message):
        output_code(*arguments, **options)


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([[1, -1], [1, -1], [-1, 1]], "classes 0 and 1 .* are equal"),
        ([[1, 0], [-1, 1], [0, -1]], "classes 0 and 2 .* are equal"),
        ([[1, 1], [1, -1], [1, 0]], "both sides"),
        ([[1, -1], [-1, 1]], "each of the 3 classes"),
        ([[2, 0], [0, 2], [1, 1]], "entries -1, 0 and"),
    ],
)
def test_matrices_that_cannot_tell_classes_apart(codes, message):
    with pytest.raises(DataError, match=message):
        check_code(codes, 3)


def test_wrong_numbers_of_columns_and_entries():
    with pytest.raises(DataError, match="between 3 columns and 127"):
        optimise_code(8, 2)
    with pytest.raises(DataError, match="entries -1, 0 and 1"):
        code_report([[2.0]])
