"""Compiled loops behind the Gaussian densities: float64 C-arrays in, arrays out, no checks."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def squared_distances(X, means, inverse_variances):
    """Return each row's squared distance to each mean, columns weighted per mean."""
    result = np.empty((X.shape[0], means.shape[0]))
    for i in range(X.shape[0]):
        for k in range(means.shape[0]):
            total = 0.0
            for j in range(X.shape[1]):
                deviation = X[i, j] - means[k, j]
                total += inverse_variances[k, j] * deviation * deviation
            result[i, k] = total
    return result
