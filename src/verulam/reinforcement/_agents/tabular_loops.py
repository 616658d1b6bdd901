"""Steps of agents with tables, alone and together with a world whose table is known."""

import numpy as np

from verulam.numerics import njit
from verulam.reinforcement._exploration.rules_loops import (
    EPSILON_GREEDY,
    drawn_choice,
    greedy_choice,
    scheduled,
)
from verulam.reinforcement._processes.environment_loops import draw_code, draw_entry

#: Rules of learning.
Q_RULE, SARSA_RULE, STATE_RULE = 0, 1, 2
#: Clocks of schedules.
STEPS, EPISODES, VISITS = 0, 1, 2
#: Places in the clock.
N_STEPS, N_EPISODES, N_ACTIVE = 0, 1, 2
#: Places of whole numbers.
RULE, ACCUMULATING, OFFLINE, TIES, EXPLORATION = 0, 1, 2, 3, 4
RATE_KIND, RATE_CLOCK, LEVEL_KIND, LEVEL_CLOCK = 5, 6, 7, 8
#: Places of real numbers.
DISCOUNT, DECAY, RATE_FIRST, RATE_SHAPE, LEVEL_FIRST, LEVEL_SHAPE = 0, 1, 2, 3, 4, 5
#: Traces below this are forgotten.
FAINTEST = 1e-10
#: Places of what a run of agent and world is at.
CHANCE, NORMAL, LOT, STATE, ACTION, IN_EPISODE, N_DONE = 0, 1, 2, 3, 4, 5, 6


# One way out, for an array that is left in several places is counted by reference at every step.


@njit()
def value_ahead(values, available, rule, n_actions, successor, next_action, over):
    """Return what the next state is held to be worth."""
    first, last = successor * n_actions, (successor + 1) * n_actions
    if rule == STATE_RULE:
        first, last = successor, successor + 1
    elif rule == SARSA_RULE:
        first, last = first + next_action, first + next_action + 1
    best = 0.0 if over else -np.inf
    for cell in range(first, first if over else last):
        value = values[cell] if rule != Q_RULE or available[cell] else -np.inf
        best = value if value > best else best
    return best


@njit()
def moved(value, target, rate):
    """Return a value that has been moved towards its target."""
    # With a rate of 1 the old value must not leave a trace of rounding.
    return target if rate == 1.0 else value + rate * (target - value)


@njit()
def cut_trace(values, available, eligibility, active, clock, codes, n_actions, cell):
    """Forget the trace where an action is not the best one, as Watkins does.

    What follows is not what the best policy would have met.
    """
    first, best = cell - cell % n_actions, values[cell]
    for other in range(first, first + n_actions):
        best = values[other] if available[other] and values[other] > best else best
    if best > values[cell]:
        for place in range(clock[N_ACTIVE]):
            eligibility[active[place]] = 0.0
        clock[N_ACTIVE] = clock[N_ACTIVE] if codes[OFFLINE] == 1 else 0


@njit()
def move_traced(values, eligibility, changes, active, clock, codes, numbers, cell, target, rate):
    """Move the value of a cell towards its target, and those before it along their traces."""
    offline = codes[OFFLINE] == 1
    error = target - values[cell]
    # Of an episode that is learned from at its end, a cell stays listed though its trace is cut:
    # its change still waits.
    listed = eligibility[cell] > 0.0
    if not listed and offline:
        for place in range(clock[N_ACTIVE]):
            listed = listed or active[place] == cell
    if not listed:
        active[clock[N_ACTIVE]] = cell
        clock[N_ACTIVE] += 1
    eligibility[cell] = eligibility[cell] + 1.0 if codes[ACCUMULATING] == 1 else 1.0
    fade, slot = numbers[DISCOUNT] * numbers[DECAY], np.int64(0)
    while slot < clock[N_ACTIVE]:
        traced = active[slot]
        if offline:
            changes[traced] += rate * error * eligibility[traced]
        else:
            values[traced] += rate * error * eligibility[traced]
        eligibility[traced] *= fade
        slot += 1
        # What is left of a faded trace would change no digit; the last cell takes its place.
        if eligibility[traced] < FAINTEST and not offline:
            slot -= 1
            eligibility[traced] = 0.0
            clock[N_ACTIVE] -= 1
            active[slot] = active[clock[N_ACTIVE]]


@njit()
def end_episode(values, eligibility, changes, active, clock):
    """Make the changes that waited for the end of the episode, and forget its traces."""
    for place in range(clock[N_ACTIVE]):
        values[active[place]] += changes[active[place]]
        changes[active[place]] = 0.0
        eligibility[active[place]] = 0.0
    clock[N_ACTIVE] = 0
    clock[N_EPISODES] += 1


@njit()
def learn_log(
    values, available, eligibility, changes, active, clock, codes, numbers, n_actions,
    visits, states, actions, rewards, successors, over, ends, next_actions,
):  # fmt: skip
    """Learn from transitions that somebody else has made."""
    rule, traced = codes[RULE], numbers[DECAY] > 0.0 or codes[OFFLINE] == 1
    for place in range(len(states)):
        cell = states[place]
        if rule != STATE_RULE:
            cell = cell * n_actions + actions[place]
        visits[cell] += 1
        step = visits[cell] if codes[RATE_CLOCK] == VISITS else clock[codes[RATE_CLOCK]] + 1
        rate = scheduled(codes[RATE_KIND], numbers[RATE_FIRST], numbers[RATE_SHAPE], step * 1.0)
        target = rewards[place] + numbers[DISCOUNT] * value_ahead(
            values, available, rule, n_actions, successors[place], next_actions[place], over[place]
        )
        clock[N_STEPS] += 1
        if traced and rule == Q_RULE:
            cut_trace(values, available, eligibility, active, clock, codes, n_actions, cell)
        if traced:
            move_traced(
                values, eligibility, changes, active, clock, codes, numbers, cell, target, rate
            )
        else:
            values[cell] = moved(values[cell], target, rate)
        if ends[place]:
            end_episode(values, eligibility, changes, active, clock)


@njit()
def run_together(
    starts, successors, shares, outcome_rewards, noise, terminal, first_states,
    values, available, eligibility, changes, active, clock, codes, numbers, n_actions,
    visits, state_visits, policy, chances, normals, lots, at, sums, limits, totals, worths,
    lengths,
):  # fmt: skip
    """Let an agent and a world go on with each other until steps or episodes are used up."""
    rule, traced = codes[RULE], numbers[DECAY] > 0.0 or codes[OFFLINE] == 1
    state, action, length, done = at[STATE], at[ACTION], at[IN_EPISODE], np.int64(0)
    chance, lot, over = at[CHANCE], at[LOT], False
    while done < limits[0] and at[N_DONE] < limits[1]:
        if state < 0:
            state = draw_code(first_states, chances[chance])
            chance += 1
            action, length = np.int64(-1), np.int64(0)
            sums[0], sums[1], sums[2] = 0.0, 0.0, 1.0
        successor, reward, cell = state, 0.0, np.int64(0)
        # Sarsa chooses twice in the first step of an episode: here and where the step has led.
        for turn in range(2):
            if turn == 1:
                row = state * n_actions + action
                entry = draw_entry(starts, shares, row, chances[chance])
                chance += 1
                reward = outcome_rewards[entry]
                if len(noise):
                    reward += noise[entry] * normals[at[NORMAL]]
                    at[NORMAL] += 1
                successor = np.int64(successors[entry])
                over = terminal[successor]
                cell = state if rule == STATE_RULE else row
                at[ACTION] = -1
            if (turn == 0 and action >= 0) or (turn == 1 and (rule != SARSA_RULE or over)):
                continue
            state_visits[successor] += 1
            step = state_visits[successor]
            if codes[LEVEL_CLOCK] != VISITS:
                step = clock[codes[LEVEL_CLOCK]] + 1
            level = scheduled(
                codes[LEVEL_KIND], numbers[LEVEL_FIRST], numbers[LEVEL_SHAPE], step * 1.0
            )
            if codes[EXPLORATION] == EPSILON_GREEDY:
                at[ACTION] = greedy_choice(
                    values, available, successor * n_actions, n_actions, codes[TIES], level,
                    lots[lot], lots[lot + 1],
                )  # fmt: skip
            else:
                at[ACTION] = drawn_choice(
                    values, available, policy, successor * n_actions, n_actions,
                    codes[EXPLORATION], level, lots[lot],
                )  # fmt: skip
            lot += 2
            action = at[ACTION] if turn == 0 else action
        visits[cell] += 1
        step = visits[cell] if codes[RATE_CLOCK] == VISITS else clock[codes[RATE_CLOCK]] + 1
        rate = scheduled(codes[RATE_KIND], numbers[RATE_FIRST], numbers[RATE_SHAPE], step * 1.0)
        target = reward + numbers[DISCOUNT] * value_ahead(
            values, available, rule, n_actions, successor, at[ACTION], over
        )
        clock[N_STEPS] += 1
        if traced and rule == Q_RULE:
            cut_trace(values, available, eligibility, active, clock, codes, n_actions, cell)
        if traced:
            move_traced(
                values, eligibility, changes, active, clock, codes, numbers, cell, target, rate
            )
        else:
            values[cell] = moved(values[cell], target, rate)
        done, length = done + 1, length + 1
        sums[0] += reward
        sums[1] += sums[2] * reward
        sums[2] *= numbers[DISCOUNT]
        state, action = successor, at[ACTION]
        if over or length >= limits[2]:
            end_episode(values, eligibility, changes, active, clock)
            totals[at[N_DONE]], worths[at[N_DONE]] = sums[0], sums[1]
            lengths[at[N_DONE]] = length
            at[N_DONE] += 1
            state = np.int64(-1)
    at[STATE], at[ACTION], at[IN_EPISODE], at[CHANCE], at[LOT] = state, action, length, chance, lot
    return done
