"""Outcomes that are remembered, and steps that are imagined from them."""

import numpy as np

from verulam.numerics import njit


@njit()
def remember(successors, rewards, met, cell, successor, reward, lot):
    """Put an outcome in the next free place, or in one by lot, so that all met are as likely."""
    room = successors.shape[1]
    # Reservoir sampling: the n-th outcome stays with the probability room / n.
    place = met[cell]
    if place >= room:
        place = np.int64(lot * (met[cell] + 1))
    met[cell] += 1
    if place < room:
        successors[cell, place] = successor
        rewards[cell, place] = reward


@njit()
def plan_steps(
    values, available, n_actions, successors, rewards, met, pairs, n_pairs, discount, rate, lots
):
    """Learn from outcomes of pairs that were met, by two uniform numbers each."""
    for step in range(len(lots) // 2):
        cell = pairs[np.int64(lots[2 * step] * n_pairs)]
        known = min(met[cell], successors.shape[1])
        place = np.int64(lots[2 * step + 1] * known)
        successor = successors[cell, place]
        ahead = 0.0
        if successor >= 0:  # else the episode was over
            ahead = -np.inf
            for other in range(successor * n_actions, (successor + 1) * n_actions):
                if available[other] and values[other] > ahead:
                    ahead = values[other]
        target = rewards[cell, place] + discount * ahead
        values[cell] = target if rate == 1.0 else values[cell] + rate * (target - values[cell])
