"""Sums of products of columns, of dense and of compressed tables."""

from typing import Any

import numpy as np
import scipy.sparse as sp


def weighted_products(inputs: Any, weights: np.ndarray) -> np.ndarray:
    r"""Return :math:`\sum_i v_i (1, x_i)(1, x_i)^T`, where the weights need not be positive."""
    size = inputs.shape[1] + 1
    table = np.empty((size, size))
    table[0, 0] = weights.sum()
    table[0, 1:] = table[1:, 0] = weights @ inputs
    if is_compressed(inputs):
        table[1:, 1:] = (inputs.T @ (sp.diags_array(weights) @ inputs)).toarray()
    elif weights.min() >= 0:
        scaled = inputs * np.sqrt(weights)[:, None]
        # NumPy sees that both factors are the same, and computes half of the product only.
        table[1:, 1:] = scaled.T @ scaled
    else:
        table[1:, 1:] = inputs.T @ (inputs * weights[:, None])
    return table


def row_squares(inputs: Any) -> np.ndarray:
    r"""Return :math:`\|x_i\|^2` of each row."""
    if is_compressed(inputs):
        return np.asarray(inputs.multiply(inputs).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", inputs, inputs)


def is_compressed(table: Any) -> bool:
    """Whether a table leaves out its zeros."""
    # A plain bool, for type checkers narrow the class of their stubs to one without products.
    return bool(sp.issparse(table))
