"""Weights of rows."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.kernel._svm.options import row_weights


def test_row_weights():
    assert row_weights(None, np.ones((3, 2))).tolist() == [1, 1, 1]
    assert row_weights([1, 0, 2], np.empty(3, dtype=object)).tolist() == [1, 0, 2]
    with pytest.raises(DataError, match="all weights are zero"):
        row_weights([0, 0], np.ones((2, 1)))
