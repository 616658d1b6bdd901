"""Sums of products, of dense and of compressed tables."""

import numpy as np
import pytest
import scipy.sparse as sp

from verulam.linear._training.column_products import is_compressed, row_squares, weighted_products


@pytest.mark.parametrize("least", [0.0, -1.0])
@pytest.mark.parametrize("table", [np.asarray, sp.csr_array])
def test_sums_over_augmented_rows(table, least):
    random = np.random.default_rng(0)
    rows, weights = random.normal(size=(30, 4)), random.uniform(least, 1.0, size=30)
    augmented = np.column_stack([np.ones(30), rows])
    expected = augmented.T @ (augmented * weights[:, None])
    assert is_compressed(table(rows)) == (table is sp.csr_array)
    assert np.allclose(weighted_products(table(rows), weights), expected)


def test_squared_lengths_of_rows():
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [-1.0, 0.0]])
    for table in (rows, sp.csr_array(rows)):
        assert row_squares(table).tolist() == [25.0, 0.0, 1.0]
