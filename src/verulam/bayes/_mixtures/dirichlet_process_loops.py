"""Compiled loops of the Dirichlet-process mixture: C-arrays in, counts and labels changed."""

import numpy as np

from verulam.numerics import njit


@njit(cache=True, nogil=True)
def move_row(row, k, sign, counts, means, factors, halves, prior_precision, vector):
    """Add a row to a component (sign 1) or take it out (sign -1), by a change of rank one.

    The lower factor of the scatter changes with the mean; `halves` holds half the logarithm of its
    determinant.
    """
    precision = prior_precision + counts[k]
    fewer = precision if sign > 0 else precision - 1.0
    for j in range(row.shape[0]):
        if sign < 0:
            means[k, j] = (precision * means[k, j] - row[j]) / fewer
        vector[j] = (row[j] - means[k, j]) * np.sqrt(fewer / (fewer + 1.0))
        if sign > 0:
            means[k, j] = (precision * means[k, j] + row[j]) / (precision + 1.0)
    counts[k] += np.int64(sign)
    half = 0.0
    for j in range(row.shape[0]):
        old = factors[k, j, j]
        square = old * old + sign * vector[j] * vector[j]
        # A prior scatter is part of the sum, so that only rounding can come near zero.
        new = np.sqrt(max(square, 1e-14 * old * old))
        cosine, sine = new / old, vector[j] / old
        factors[k, j, j] = new
        half += np.log(new)
        for i in range(j + 1, row.shape[0]):
            factors[k, i, j] = (factors[k, i, j] + sign * sine * vector[i]) / cosine
            vector[i] = cosine * vector[i] - sine * factors[k, i, j]
    halves[k] = half


@njit(cache=True, nogil=True)
def weigh_seats(
    row, counts, means, factors, halves, constants, prior_precision, prior_freedom, weights, vector
):
    """Write the log-weight of every component for a row; return a slot that is free, or -1."""
    free = np.int64(-1)
    for k in range(counts.shape[0]):
        size = counts[k]
        if size == 0:
            free = np.int64(k)
            weights[k] = -np.inf
            continue
        # Substitution forwards solves L v = row - mean, so that the Mahalanobis square is v'v.
        square = 0.0
        for j in range(row.shape[0]):
            value = row[j] - means[k, j]
            for c in range(j):
                value -= factors[k, j, c] * vector[c]
            vector[j] = value / factors[k, j, j]
            square += vector[j] * vector[j]
        # The logarithm of Student's t, which is the normal with mean and scatter averaged out.
        share = (prior_precision + size) / (prior_precision + size + 1.0)
        power = 0.5 * (prior_freedom + size + 1.0)
        weights[k] = constants[size] - halves[k] - power * np.log1p(share * square)
    return free


@njit(cache=True, nogil=True)
def draw_seat(weights, log_new, uniform):
    """Return a component drawn by its log-weight, or -1 for a new one."""
    largest = log_new
    for k in range(weights.shape[0]):
        largest = max(largest, weights[k])
    total = np.exp(log_new - largest)
    for k in range(weights.shape[0]):
        weights[k] = np.exp(weights[k] - largest)
        total += weights[k]
    rest = uniform * total
    for k in range(weights.shape[0]):
        rest -= weights[k]
        if rest < 0.0:
            return np.int64(k)
    return np.int64(-1)


@njit(cache=True, nogil=True)
def seat_rows(
    X, start, labels, uniforms, log_new, counts, means, factors, halves, constants,
    prior_mean, prior_factor, prior_precision, prior_freedom, weights, vector,
):  # fmt: skip
    """Take each row out of its component and seat it anew; return the first row not seated.

    A label of -1 marks a row that sits nowhere yet. Fewer rows than all are seated where no slot
    is free for a new component.
    """
    for i in range(start, X.shape[0]):
        k = labels[i]
        if k >= 0:
            move_row(X[i], k, -1.0, counts, means, factors, halves, prior_precision, vector)
            labels[i] = -1
        free = weigh_seats(
            X[i], counts, means, factors, halves, constants, prior_precision, prior_freedom,
            weights, vector,
        )  # fmt: skip
        if free < 0:
            return i
        k = draw_seat(weights, log_new[i], uniforms[i])
        if k < 0:
            k = free
            for j in range(X.shape[1]):
                means[k, j] = prior_mean[j]
                for c in range(X.shape[1]):
                    factors[k, j, c] = prior_factor[j, c]
        labels[i] = k
        move_row(X[i], k, 1.0, counts, means, factors, halves, prior_precision, vector)
    return X.shape[0]
