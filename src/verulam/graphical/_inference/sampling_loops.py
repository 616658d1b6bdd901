"""Gibbs sampling over flat factors."""

import numpy as np

from verulam.numerics import njit


@njit(cache=True, nogil=True)
def gibbs_sweeps(states, free, near, places, scopes, values, draws, scores, samples):
    """Draw each free variable in turn given all others, and write the states after each sweep.

    Row v of `near` is the first and the number of variable v's uses in `places`: triples of the
    offset of a factor, the first and the number of its `scopes`, which are pairs of variable and
    stride.
    """
    for sweep in range(draws.shape[0]):
        for f in range(free.shape[0]):
            v = free[f]
            n_states = near[v, 2]
            for state in range(n_states):
                scores[state] = 1.0
            for use in range(near[v, 0], near[v, 0] + near[v, 1]):
                index = places[use, 0]
                # The entries of the factor that agree with all others are one step apart.
                step = np.int64(0)
                for s in range(places[use, 1], places[use, 1] + places[use, 2]):
                    if scopes[s, 0] == v:
                        step = scopes[s, 1]
                    else:
                        index += states[scopes[s, 0]] * scopes[s, 1]
                for state in range(n_states):
                    scores[state] *= values[index + state * step]
            total = 0.0
            for state in range(n_states):
                total += scores[state]
            level = draws[sweep, f] * total
            drawn = np.int64(0)
            level -= scores[0]
            while level >= 0.0 and drawn < n_states - 1:
                drawn += 1
                level -= scores[drawn]
            states[v] = drawn
        for v in range(states.shape[0]):
            samples[sweep, v] = states[v]
