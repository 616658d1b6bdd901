"""Compiled loops of vector quantisation: the classical rules, and sums over pairs of rivals."""

import numpy as np

from verulam.local._competitive.competition_loops import smallest, square_distances
from verulam.numerics import njit


@njit()
def quantisation_pass(X, codes, order, rates, rule, window, epsilon, units, classes):
    """Move prototypes row by row; they stand in columns. Return how many steps moved any.

    `rule` 1 is LVQ1, 2 is LVQ2.1 and 3 is LVQ3; `window` is the least ratio of the two distances.
    """
    k = units.shape[1]
    d = X.shape[1]
    squares = np.zeros(k)
    moved = np.int64(0)
    for step in range(order.shape[0]):
        t = order[step]
        row = X[t]
        square_distances(row, units, k, squares)
        a = smallest(squares, k)
        rate = rates[step]
        if rule == 1:
            signed = rate if classes[a] == codes[t] else -rate
            for j in range(d):
                units[j, a] += signed * (row[j] - units[j, a])
            moved += 1
            continue
        nearest = squares[a]
        squares[a] = np.inf
        b = smallest(squares, k)
        right_a, right_b = classes[a] == codes[t], classes[b] == codes[t]
        rate_a, rate_b = 0.0, 0.0
        # Distances are equal in the middle between two prototypes; the window lies about it.
        if right_a != right_b and np.sqrt(nearest) > window * np.sqrt(squares[b]):
            rate_a = rate if right_a else -rate
            rate_b = -rate_a
        elif rule == 3 and right_a and right_b:
            rate_a = rate_b = epsilon * rate
        if rate_a != 0.0:
            for j in range(d):
                units[j, a] += rate_a * (row[j] - units[j, a])
                units[j, b] += rate_b * (row[j] - units[j, b])
            moved += 1
    return moved


@njit()
def nearest_rivals(products, half_squares, codes, classes, right, wrong):
    """Write the nearest prototype of each row's class and the nearest of all others."""
    for i in range(products.shape[0]):
        best_right, best_wrong = -np.inf, -np.inf
        place_right, place_wrong = np.int64(0), np.int64(0)
        for p in range(products.shape[1]):
            value = products[i, p] - half_squares[p]
            if classes[p] == codes[i]:
                if value > best_right:
                    best_right = value
                    place_right = np.int64(p)
            elif value > best_wrong:
                best_wrong = value
                place_wrong = np.int64(p)
        right[i] = place_right
        wrong[i] = place_wrong


@njit(fastmath={"reassoc", "contract", "nsz"})
def squares_to(X, prototypes, places, squares):
    """Write the squared distance of each row from one prototype."""
    for i in range(X.shape[0]):
        p = places[i]
        total = 0.0
        for j in range(X.shape[1]):
            step = X[i, j] - prototypes[p, j]
            total += step * step
        squares[i] = total


@njit(fastmath={"reassoc", "contract", "nsz"})
def add_rivals(X, prototypes, places, weights, pulls, column_squares):
    """Add weighted deviations from one prototype for each row, and their squares by column."""
    for i in range(X.shape[0]):
        p = places[i]
        weight = weights[i]
        for j in range(X.shape[1]):
            step = X[i, j] - prototypes[p, j]
            pulls[p, j] += weight * step
            column_squares[j] += weight * step * step
