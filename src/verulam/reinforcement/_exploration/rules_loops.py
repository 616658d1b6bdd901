"""Rates by the number of a step, and the choice of an action by its value."""

import numpy as np

from verulam.numerics import njit

CONSTANT, INVERSE, EXPONENTIAL, SEARCH_THEN_CONVERGE = 0, 1, 2, 3
EPSILON_GREEDY, SOFTMAX, FIXED = 0, 1, 2


@njit()
def scheduled(kind, first, shape, step):
    """Return the rate of a step, the first of which is 1."""
    if kind == INVERSE:
        return first / step if shape == 1.0 else first / step**shape
    if kind == EXPONENTIAL:
        return first * shape ** (step - 1.0)
    if kind == SEARCH_THEN_CONVERGE:
        return first / (1.0 + step / shape)
    return first


# Values, flags and shares are flat, with the place where a state's cells begin: a slice would be
# counted by reference at every step.


@njit()
def drawn_choice(values, available, shares, first_cell, n_actions, rule, temperature, lot):
    """Return an action of a fixed policy, by its cumulative shares, or of a soft one."""
    last = np.int64(0)
    if rule == FIXED:
        while last < n_actions - 1 and lot >= shares[first_cell + last]:
            last += 1
        return last
    # Measured from the best value, so that no exponential overflows.
    best, total = -np.inf, 0.0
    for cell in range(first_cell, first_cell + n_actions):
        if available[cell]:
            best = max(best, values[cell])
    for cell in range(first_cell, first_cell + n_actions):
        if available[cell]:
            total += np.exp((values[cell] - best) / temperature)
    left = lot * total
    for action in range(n_actions):
        if available[first_cell + action]:
            last = np.int64(action)
            left -= np.exp((values[first_cell + action] - best) / temperature)
            if left < 0.0:
                return last
    return last


@njit()
def greedy_choice(values, available, first_cell, n_actions, ties, epsilon, lot, other_lot):
    """Return the best action, or any with some probability; ties by lot, or the first."""
    best, n_best, n_offered = -np.inf, np.int64(0), np.int64(0)
    for cell in range(first_cell, first_cell + n_actions):
        if available[cell]:
            n_offered += 1
            if values[cell] > best:
                best, n_best = values[cell], np.int64(1)
            elif values[cell] == best:
                n_best += 1
    # One number says whether to explore, the other which of the actions that come into question.
    explores = lot < epsilon
    count = n_offered if explores else n_best
    skip = min(np.int64(other_lot * count), count - 1)
    if ties == 0 and not explores:
        skip = np.int64(0)
    for action in range(n_actions):
        cell = first_cell + action
        if available[cell] and (explores or values[cell] == best):
            if skip == 0:
                return np.int64(action)
            skip -= 1
    return np.int64(0)
