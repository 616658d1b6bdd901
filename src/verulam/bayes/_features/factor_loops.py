"""Compiled sweeps over binary factors with their loadings averaged out: features change in place.

`covariance` is :math:`(Z^T Z + r I)^{-1}` and `means` are the expected loadings, of all rows or of
all but one. Both change by rank one when a row leaves or comes back. Slots that no row uses have
the prior's values, so that a feature is begun by setting a bit.
"""

import numpy as np

from verulam.numerics import njit

#: Most features that one row may begin in one visit; far beyond what Poisson draws reach.
MOST_NEW = 12
#: SplitMix64 (Steele, Lea and Flood, 2014): its step, its factors and its shifts.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@njit(cache=True, nogil=True)
def draw_uniform(state):
    """Return a uniform number from the next state of the generator, never 0 or 1."""
    state[0] += GOLDEN
    bits = (state[0] ^ (state[0] >> SHIFTS[0])) * FACTORS[0]
    bits = (bits ^ (bits >> SHIFTS[1])) * FACTORS[1]
    return (((bits ^ (bits >> SHIFTS[2])) >> SHIFTS[3]) + 0.5) * 2.0**-53


@njit(cache=True, nogil=True)
def predict_row(row, features, covariance, means, product, residual):
    """Write the covariance times a row's features and what they leave; return their variance."""
    spread = 0.0
    for c in range(row.shape[0]):
        residual[c] = row[c]
    for j in range(features.shape[0]):
        product[j] = 0.0
    for j in range(features.shape[0]):
        if features[j] == 1:
            for i in range(features.shape[0]):
                product[i] += covariance[i, j]
            for c in range(row.shape[0]):
                residual[c] -= means[j, c]
    for j in range(features.shape[0]):
        spread += features[j] * product[j]
    return spread


@njit(cache=True, nogil=True)
def move_row(sign, spread, covariance, means, product, residual):
    """Let a row come in (sign 1) or leave (sign -1), after `predict_row`."""
    # Sherman and Morrison: (A + sign z z')^-1 differs from A^-1 by the product with itself of
    # A^-1 z, which `predict_row` has left in `product`.
    gain = sign / (1.0 + sign * spread)
    for i in range(product.shape[0]):
        weight = gain * product[i]
        for j in range(product.shape[0]):
            covariance[i, j] -= weight * product[j]
        for c in range(residual.shape[0]):
            means[i, c] += weight * residual[c]


@njit(cache=True, nogil=True)
def toggle_features(
    features, counts, extra, n_rows, variance, spread, covariance, means, product, residual, state
):
    """Draw the features of a row that others may have, too; return the variance of their sum.

    `extra` is a prior count: without any, features that no other row has are left as they are.
    """
    n_columns = residual.shape[0]
    square = 0.0
    for c in range(n_columns):
        square += residual[c] * residual[c]
    for j in range(features.shape[0]):
        others = counts[j] - features[j]
        if others + extra <= 0.0:
            continue
        sign = 1.0 - 2.0 * features[j]
        flipped = 0.0
        for c in range(n_columns):
            flipped += (residual[c] - sign * means[j, c]) ** 2
        # The variance z'Cz of the sum, and the residual above, once the bit of j is turned over.
        wider = spread + 2.0 * sign * product[j] + covariance[j, j]
        now, then = variance * (1.0 + spread), variance * (1.0 + wider)
        gain = 0.5 * (n_columns * np.log(now / then) + square / now - flipped / then)
        # Prior odds of having the feature, by the other rows that have it (Griffiths, Ghahramani).
        gain += sign * np.log((others + extra) / (n_rows - others))
        draw = draw_uniform(state)
        # Compared without the sigmoid, which overflows.
        if np.log(draw / (1.0 - draw)) < gain:
            features[j] = 1 - features[j]
            counts[j] = others + features[j]
            spread, square = wider, flipped
            for i in range(features.shape[0]):
                product[i] += sign * covariance[i, j]
            for c in range(n_columns):
                residual[c] -= sign * means[j, c]
    return spread


@njit(cache=True, nogil=True)
def drop_features(features, counts, covariance, means, prior):
    """Drop the features that a row alone has; their slots are as if they had never been used."""
    for j in range(features.shape[0]):
        if features[j] == 1 and counts[j] == 1:
            features[j], counts[j] = 0, 0
            for i in range(features.shape[0]):
                covariance[i, j] = covariance[j, i] = 0.0
            covariance[j, j] = prior
            for c in range(means.shape[1]):
                means[j, c] = 0.0


@njit(cache=True, nogil=True)
def count_new(square, n_columns, rate, variance, prior_variance, state, masses):
    """Return how many features a row begins: Poisson many, weighed by what they explain."""
    log_prior, largest = 0.0, -np.inf
    for k in range(masses.shape[0]):
        # The k-th step of a Poisson's log-probability, but for its constant. The loadings of new
        # features are averaged out: each adds its prior variance to that of every column.
        if k > 0:
            log_prior += np.log(rate / k)
        spread = variance + k * prior_variance
        masses[k] = log_prior - 0.5 * (n_columns * np.log(spread) + square / spread)
        largest = max(largest, masses[k])
    total = 0.0
    for k in range(masses.shape[0]):
        masses[k] = np.exp(masses[k] - largest)
        total += masses[k]
    rest = draw_uniform(state) * total
    count = np.int64(0)
    while count < masses.shape[0] - 1 and rest >= masses[count]:
        rest -= masses[count]
        count += 1
    return count


@njit(cache=True, nogil=True)
def begin_features(features, counts, n_new):
    """Set the bits of features that no row has."""
    for j in range(features.shape[0]):
        if n_new > 0 and counts[j] == 0:
            features[j], counts[j] = 1, 1
            n_new -= 1


@njit(cache=True, nogil=True)
def factor_sweep(
    X, start, present, counts, extra, rate, variance, prior_variance, covariance, means, product,
    residual, state, masses,
):  # fmt: skip
    """Draw all features of all rows; return the first row that lacks slots for new ones.

    With a `rate` of zero their number is fixed.
    """
    for t in range(start, X.shape[0]):
        free = np.int64(0)
        for j in range(counts.shape[0]):
            free += np.int64(counts[j] == 0)
        if rate > 0.0 and free < masses.shape[0]:
            return t
        spread = predict_row(X[t], present[t], covariance, means, product, residual)
        move_row(-1.0, spread, covariance, means, product, residual)
        spread = predict_row(X[t], present[t], covariance, means, product, residual)
        toggle_features(
            present[t], counts, extra, X.shape[0], variance, spread, covariance, means, product,
            residual, state,
        )  # fmt: skip
        if rate > 0.0:
            drop_features(present[t], counts, covariance, means, prior_variance / variance)
            spread = predict_row(X[t], present[t], covariance, means, product, residual)
            square = 0.0
            for c in range(X.shape[1]):
                square += residual[c] * residual[c]
            known = variance * (1.0 + spread)
            n_new = count_new(square, X.shape[1], rate, known, prior_variance, state, masses)
            begin_features(present[t], counts, n_new)
        spread = predict_row(X[t], present[t], covariance, means, product, residual)
        move_row(1.0, spread, covariance, means, product, residual)
    return X.shape[0]
