"""Compiled loops of competition: units stand in columns, so that all are compared at a time.

Sums run over the inputs in their order for every unit by itself, and nothing is rearranged: two
loops that make the same step get the same bits.
"""

import numpy as np

from verulam.numerics import njit


@njit()
def square_distances(row, units, count, squares):
    """Write the squared distance of a row from each of the first `count` units."""
    d = row.shape[0]
    for u in range(count):
        squares[u] = 0.0
    # Four inputs at a time, so that a sum is fetched and stored a fourth as often.
    for j in range(0, d - 3, 4):
        x0, x1, x2, x3 = row[j], row[j + 1], row[j + 2], row[j + 3]
        for u in range(count):
            d0, d1 = x0 - units[j, u], x1 - units[j + 1, u]
            d2, d3 = x2 - units[j + 2, u], x3 - units[j + 3, u]
            squares[u] = squares[u] + d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
    for j in range(d - d % 4, d):
        value = row[j]
        for u in range(count):
            difference = value - units[j, u]
            squares[u] += difference * difference


@njit()
def smallest(values, count):
    """Return the place of the smallest of the first `count` values, the first of equals."""
    place = np.int64(0)
    best = values[0]
    for u in range(1, count):
        if values[u] < best:
            best = values[u]
            place = np.int64(u)
    return place


@njit()
def k_means_pass(X, order, rates, units, counts, velocity, momentum, shares, guilt, memory, wins):
    """Move the winner of each row towards it, in the order of the rows.

    Parameters are the rows, their order, the rate of each step (empty where a unit's rate is one
    over the number of its wins), the units in columns, their wins so far, their last changes and
    the share of them in the next, the share of wins that conscience remembers, its strength and
    how much of it one step replaces, and the wins of this pass.
    """
    k = units.shape[1]
    squares = np.zeros(k)
    counting = rates.shape[0] == 0
    for step in range(order.shape[0]):
        row = X[order[step]]
        square_distances(row, units, k, squares)
        # Conscience: who wins more often than once in k is set back, so that no unit stays dead.
        if guilt > 0.0:
            for u in range(k):
                squares[u] += guilt * (k * shares[u] - 1.0)
        winner = smallest(squares, k)
        if guilt > 0.0:
            for u in range(k):
                shares[u] -= memory * shares[u]
            shares[winner] += memory
        wins[winner] += 1
        counts[winner] += 1.0
        rate = 1.0 / counts[winner] if counting else rates[step]
        if momentum > 0.0:
            for j in range(row.shape[0]):
                change = rate * (row[j] - units[j, winner]) + momentum * velocity[j, winner]
                velocity[j, winner] = change
                units[j, winner] += change
        else:
            for j in range(row.shape[0]):
                units[j, winner] += rate * (row[j] - units[j, winner])


@njit()
def resonance_pass(X, first, units, count, vigilance, rate, kind, values, wins):
    """Present rows from number `first` on; return the next row and the number of units.

    The pass stops early where there is no room for another unit. `kind` 0 compares by distance,
    1 by the inner product of rows and units of length one, 2 by the overlap of fuzzy sets.
    """
    d = X.shape[1]
    capacity = units.shape[1]
    for step in range(first, X.shape[0]):
        row = X[step]
        if kind == 0:
            square_distances(row, units, count, values)
            winner = smallest(values, count)
            resonates = count > 0 and np.sqrt(values[winner]) <= vigilance
        elif kind == 1:
            # With a minus, so that the winner has the smallest value, as with distances.
            for u in range(count):
                values[u] = 0.0
                for j in range(d):
                    values[u] -= row[j] * units[j, u]
            winner = smallest(values, count)
            resonates = count > 0 and -values[winner] >= vigilance
        else:
            winner, resonates = _overlapping(row, units, count, vigilance, values)
        if not resonates:
            if count == capacity:
                return step, count
            for j in range(d):
                units[j, count] = row[j]
            wins[count] += 1
            count += 1
            continue
        wins[winner] += 1
        length = 0.0
        for j in range(d):
            target = min(row[j], units[j, winner]) if kind == 2 else row[j]
            units[j, winner] += rate * (target - units[j, winner])
            length += units[j, winner] * units[j, winner]
        if kind == 1 and length > 0.0:
            for j in range(d):
                units[j, winner] /= np.sqrt(length)
    return X.shape[0], count


@njit()
def _overlapping(row, units, count, vigilance, values):
    """Return the unit that overlaps most among those that match, and whether there is one."""
    total = 0.0
    for j in range(row.shape[0]):
        total += row[j]
    winner = np.int64(0)
    best = -1.0
    for u in range(count):
        shared, size = 0.0, 0.0
        for j in range(row.shape[0]):
            shared += min(row[j], units[j, u])
            size += units[j, u]
        values[u] = shared / (1e-3 + size)
        # A unit that is active enough and does not match is reset, and the next one is asked.
        if shared >= vigilance * total and values[u] > best:
            best = values[u]
            winner = np.int64(u)
    return winner, best >= 0.0


@njit()
def hebbian_pass(X, order, rates, weights, rule, outputs):
    """Apply a Hebbian rule row by row; components in the order of the rows of `weights`.

    `rule` 0 is plain, 1 scales weights to length one, 2 is Oja's with Sanger's order: a component
    sees what the ones before it have left of a row.
    """
    n_components, d = weights.shape
    residual = np.zeros(d)
    for step in range(order.shape[0]):
        row = X[order[step]]
        rate = rates[step]
        for c in range(n_components):
            outputs[c] = 0.0
            for j in range(d):
                outputs[c] += weights[c, j] * row[j]
        for j in range(d):
            residual[j] = row[j]
        for c in range(n_components):
            length = 0.0
            for j in range(d):
                before = weights[c, j]
                decay = outputs[c] * before if rule == 2 else 0.0
                weights[c, j] += rate * outputs[c] * (residual[j] - decay)
                length += weights[c, j] * weights[c, j]
                # By the weights before the step, as all outputs are.
                residual[j] -= outputs[c] * before
            if rule == 1 and length > 0.0:
                for j in range(d):
                    weights[c, j] /= np.sqrt(length)


@njit()
def whitening_pass(X, order, rates, weights, outputs, seen):
    """Turn and stretch weights row by row until outputs are uncorrelated with variance one."""
    d = weights.shape[0]
    for step in range(order.shape[0]):
        row = X[order[step]]
        length = 0.0
        for i in range(d):
            outputs[i] = 0.0
            for j in range(d):
                outputs[i] += weights[i, j] * row[j]
            length += outputs[i] * outputs[i]
        # The step is (I - y y') W: with y'W computed first, without a product of matrices.
        for j in range(d):
            seen[j] = 0.0
        for i in range(d):
            for j in range(d):
                seen[j] += outputs[i] * weights[i, j]
        # Without the divisor a long row would turn the weights over.
        rate = rates[step] / (1.0 + rates[step] * length)
        for i in range(d):
            for j in range(d):
                weights[i, j] += rate * (weights[i, j] - outputs[i] * seen[j])
