"""Column models: sums that add over different categories, and the compiled loops."""

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import Chunk, EncodedTable, TableSchema
from verulam.parametric import _column_models as loops
from verulam.parametric._column_models import (
    bernoulli_columns,
    gaussian_columns,
    merge_schemas,
    multinomial_columns,
    sum_columns,
)


def one_column(categories, codes, targets):
    schema = TableSchema(("c",), (np.array(categories, dtype=object),))
    codes = np.array(codes, dtype=np.int32)[:, None]
    table = EncodedTable(schema, np.empty((len(codes), 0)), codes)
    return Chunk(table, np.array(targets), None, np.array([0, 1]))


def test_counts_add_by_category_name():
    first = sum_columns(one_column(["x", "y"], [0, 1, 1, -1], [0, 0, 1, 1]))
    second = sum_columns(one_column(["z", "y"], [0, 1], [0, 1]))
    total = first + second
    assert list(total.schema.categories_of("c")) == ["x", "y", "z"]
    assert_array_equal(total.counts[0], [[1, 1, 1], [0, 2, 0]])
    assert_array_equal(total.weight, [3, 3])


def test_merged_schema_keeps_the_first_order():
    first = TableSchema(("a", "b"), (None, np.array(["q", "p"])))
    second = TableSchema(("a", "b"), (None, np.array(["p", "r"])))
    merged = merge_schemas(first, second)
    assert merged.categories[0] is None
    assert list(merged.categories_of("b")) == ["q", "p", "r"]


def test_certain_bernoulli_columns_rule_a_class_out():
    chunk = Chunk(
        EncodedTable(
            TableSchema(("f",), (None,)),
            np.array([[1.0], [1.0], [0.0], [1.0]]),
            np.empty((4, 0), dtype=np.int32),
        ),
        np.array([0, 0, 1, 1]),
        None,
        np.array([0, 1]),
    )
    moments = sum_columns(chunk).numbers
    model = bernoulli_columns(np.array([0]), moments, 0.0)
    result = np.zeros((4, 2))
    model.add_terms(result, chunk.inputs)
    assert_allclose(result[0], [0.0, np.log(0.5)])
    assert result[2, 0] < -1e299
    gaussian = gaussian_columns(np.array([0]), moments, 1e-9)
    assert_allclose(gaussian.means[:, 0], [1.0, 0.5])
    assert_allclose(multinomial_columns(np.array([0]), moments, 0.0).weights, [[0.0], [0.0]])


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_compiled_loops_equal_their_python_source():
    rng = np.random.default_rng(0)
    codes = rng.integers(-1, 3, size=(30, 2)).astype(np.int32)
    numbers = rng.normal(size=(30, 3))
    numbers[::4, 1] = np.nan
    classes, weights = rng.integers(2, size=30), rng.uniform(size=30)
    first = np.array([0, 3, 6])
    counted, plain = np.zeros((2, 6)), np.zeros((2, 6))
    loops.count_categories(codes, classes, weights, first, counted)
    loops.count_categories.py_func(codes, classes, weights, first, plain)
    assert_allclose(counted, plain)
    assert counted.sum() == pytest.approx(((codes >= 0).sum(axis=1) * weights).sum())
    columns = np.array([0, 1, 2])
    tables = rng.normal(size=(3, 2, 6))
    arguments = {
        "add_category_terms": (codes, first, tables[0]),
        "add_gaussian_terms": (numbers, columns, *(table[:, :3].copy() for table in tables)),
        "add_linear_terms": (numbers, columns, tables[0][:, :3].copy(), tables[1][:, :3].copy()),
    }
    for name, inputs in arguments.items():
        fast, slow = np.zeros((30, 2)), np.zeros((30, 2))
        getattr(loops, name)(fast, *inputs)
        getattr(loops, name).py_func(slow, *inputs)
        assert_allclose(fast, slow)
        assert np.isfinite(fast).all()
        assert fast.any()
