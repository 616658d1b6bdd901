"""Compiled loops behind stress and curvilinear components: float64 arrays in place, no checks."""

import numpy as np

from verulam.numerics import njit


@njit(fastmath={"reassoc", "contract", "nsz", "arcp"})
def guttman_product(targets, exponent, least, places, buffer, product):
    """Write B(Z) Z for places of shape (n_components, n_rows), and return the stress.

    A pair weighs 1 / d^exponent, where no distance counts as less than `least`.
    """
    n_components, n_rows = places.shape
    stress = 0.0
    for c in range(n_components):
        for j in range(n_rows):
            product[c, j] = 0.0
    for i in range(n_rows - 1):
        for j in range(i + 1, n_rows):
            buffer[j] = 0.0
        for c in range(n_components):
            here = places[c, i]
            for j in range(i + 1, n_rows):
                step = places[c, j] - here
                buffer[j] += step * step
        for j in range(i + 1, n_rows):
            target = targets[i, j]
            weight = 1.0
            if exponent == 1:
                weight = 1.0 / max(target, least)
            elif exponent == 2:
                floor = max(target, least)
                weight = 1.0 / (floor * floor)
            length = np.sqrt(buffer[j])
            error = length - target
            stress += weight * error * error
            # A pair at one place is pulled nowhere.
            buffer[j] = weight * target / max(length, 1e-300)
        for c in range(n_components):
            here = places[c, i]
            total = 0.0
            for j in range(i + 1, n_rows):
                pull = buffer[j] * (here - places[c, j])
                total += pull
                product[c, j] -= pull
            product[c, i] += total
    return stress


@njit()
def curvilinear_pass(targets, places, order, rates, radii, smooth):
    """Move all rows about each row in turn, along the lines between them.

    Parameters are the distances to keep, the places of shape (n_rows, n_components), the order in
    which rows are pinned, and the rate and radius of each turn.
    """
    n_rows, n_components = places.shape
    for turn in range(order.shape[0]):
        i = order[turn]
        rate, radius = rates[turn], radii[turn]
        for j in range(n_rows):
            square = 0.0
            for c in range(n_components):
                step = places[j, c] - places[i, c]
                square += step * step
            length = np.sqrt(square)
            if j == i or length <= 1e-300:
                continue
            share = 0.0
            if smooth:
                share = np.exp(-length / radius)
            elif length <= radius:
                share = 1.0
            factor = rate * share * (targets[i, j] - length) / length
            for c in range(n_components):
                places[j, c] += factor * (places[j, c] - places[i, c])
