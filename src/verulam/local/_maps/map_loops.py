"""Compiled loops of maps: the online step of all units about a winner, winners from products."""

import numpy as np

from verulam.local._competitive.competition_loops import smallest, square_distances
from verulam.numerics import njit

#: A pull below this does not change a number of the size of the deviations.
LEAST_PULL = 1e-16
#: Distance of rows of a hexagonal grid whose units are one apart.
ROW_HEIGHT = 0.8660254037844386


@njit()
def bell(table, step, radius):
    """Write exp(-(a step)^2 / 2 radius^2) for a = 0, 1, ... by two multiplications each."""
    # From a^2 to (a + 1)^2 it is 2 a + 1: the ratio of two neighbours grows by base^2 each time.
    base = np.exp(-0.5 * (step / radius) * (step / radius))
    ratio = base
    value = 1.0
    for a in range(table.shape[0]):
        table[a] = value
        value *= ratio
        ratio *= base * base


@njit()
def pull_units(rate, radius, r0, c0, n_cols, hexagonal, bubble, periodic, across, down, pulls):
    """Write the pull on each unit; return the first unit that is pulled and the one past the last.

    Columns are counted in halves, as every other row of a hexagonal grid is shifted by one half;
    so `across` has the bell at half a column each, and `down` at one row each.
    """
    n_rows = down.shape[0]
    height = ROW_HEIGHT if hexagonal else 1.0
    first, last = np.int64(n_rows * n_cols), np.int64(0)
    for r in range(n_rows):
        dr = abs(r - r0)
        if periodic:
            dr = min(dr, n_rows - dr)
        start = r * n_cols
        # A little wider, since the heights of hexagons are rounded: units at the radius are inside.
        far = dr * height > radius * 1.000000001 if bubble else rate * down[dr] < LEAST_PULL
        inside = not far
        if inside:
            first = min(first, np.int64(start))
            last = np.int64(start + n_cols)
        # Odd rows stand half a column to the right of even ones.
        shift = (r & 1) - (r0 & 1) if hexagonal else 0
        for c in range(n_cols):
            halves = abs(2 * (c - c0) + shift)
            if periodic:  # the shorter way around
                halves = min(halves, 2 * n_cols - halves)
            pull = 0.0
            if inside and bubble:
                square = 0.25 * halves * halves + (dr * height) * (dr * height)
                if square <= radius * radius * 1.000000001:
                    pull = rate
            elif inside:
                pull = rate * down[dr] * across[halves]
            pulls[start + c] = pull
    return first, last


@njit()
def move_and_measure(row, following, pulls, units, squares):
    """Move units towards a row and write their squared distances from the one that follows.

    Both in one go over the units, which are more than the nearest cache holds, and for four columns
    at a time, so that pulls and squares are fetched a fourth as often.
    """
    d, k = units.shape
    for u in range(k):
        squares[u] = 0.0
    for j in range(0, d - 3, 4):
        x0, x1, x2, x3 = row[j], row[j + 1], row[j + 2], row[j + 3]
        y0, y1, y2, y3 = following[j], following[j + 1], following[j + 2], following[j + 3]
        for u in range(k):
            pull = pulls[u]
            u0, u1, u2, u3 = units[j, u], units[j + 1, u], units[j + 2, u], units[j + 3, u]
            u0 += pull * (x0 - u0)
            u1 += pull * (x1 - u1)
            u2 += pull * (x2 - u2)
            u3 += pull * (x3 - u3)
            units[j, u], units[j + 1, u], units[j + 2, u], units[j + 3, u] = u0, u1, u2, u3
            d0, d1, d2, d3 = y0 - u0, y1 - u1, y2 - u2, y3 - u3
            squares[u] = squares[u] + d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
    for j in range(d - d % 4, d):
        value, target = row[j], following[j]
        for u in range(k):
            unit = units[j, u]
            unit += pulls[u] * (value - unit)
            units[j, u] = unit
            squares[u] += (target - unit) * (target - unit)


@njit()
def map_pass(
    X, order, rates, radii, units, n_units, n_cols, hexagonal, bubble, periodic, room
):  # fmt: skip
    """Move the winner of each row and its neighbours towards it; units stand in columns.

    Columns behind the units, if any, are zeros that fill lines of the cache. `room` is zeros at
    first: a row for the pulls on units, one for squared distances.
    """
    d, k = units.shape[0], n_units
    pulls, squares = room[0], room[1]
    across, down = np.zeros(2 * n_cols + 1), np.zeros(k // n_cols)
    radius = -1.0
    measured = False
    for step in range(order.shape[0]):
        row = X[order[step]]
        if not measured:
            square_distances(row, units, k, squares)
        measured = False
        winner = smallest(squares, k)
        rate = rates[step]
        if radii[step] <= 0.0:
            for j in range(d):
                units[j, winner] += rate * (row[j] - units[j, winner])
            continue
        if not bubble and radii[step] != radius:
            radius = radii[step]
            bell(across, 0.5, radius)
            bell(down, ROW_HEIGHT if hexagonal else 1.0, radius)
        first, last = pull_units(
            rate, radii[step], winner // n_cols, winner % n_cols, n_cols, hexagonal, bubble,
            periodic, across, down, pulls,
        )  # fmt: skip
        if 2 * (last - first) > k and step + 1 < order.shape[0]:
            move_and_measure(row, X[order[step + 1]], pulls, units, squares)
            measured = True
            continue
        for j in range(d):
            value = row[j]
            # Without a sign, indices need no test for counting from the end.
            for u in range(np.uint64(first), np.uint64(last)):
                units[j, u] += pulls[u] * (value - units[j, u])


# Products are finite, which lets maxima run in vector registers.
@njit(fastmath={"reassoc", "nsz", "nnan"})
def best_units(products, half_squares, best):
    """Write the nearest unit of each row, the first of equals, from its product with each."""
    k = products.shape[1]
    for i in range(products.shape[0]):
        largest = -np.inf
        for u in range(k):
            value = products[i, u] - half_squares[u]
            products[i, u] = value
            largest = max(largest, value)
        place = np.int64(0)
        while products[i, place] < largest:
            place += 1
        best[i] = place


@njit()
def second_units(products, best, second):
    """Write the second nearest unit of each row, after `best_units`."""
    for i in range(products.shape[0]):
        place = np.int64(-1)
        for u in range(products.shape[1]):
            if u != best[i] and (place < 0 or products[i, u] > products[i, place]):
                place = np.int64(u)
        second[i] = place


@njit(fastmath={"reassoc", "contract", "nsz"})
def sum_by_winner(X, best, row_weights, origin, units, weights, deviations):
    """Add up deviations from the winners; return the sums of squared and of plain distances.

    `row_weights` is empty where all rows count alike; units are measured from `origin`.
    """
    weighted = row_weights.shape[0] > 0
    total, length = 0.0, 0.0
    for i in range(X.shape[0]):
        u = best[i]
        one = row_weights[i] if weighted else 1.0
        square = 0.0
        for j in range(X.shape[1]):
            deviation = X[i, j] - origin[j] - units[u, j]
            square += deviation * deviation
            deviations[u, j] += one * deviation
        weights[u] += one
        total += one * square
        length += one * np.sqrt(square)
    return total, length
