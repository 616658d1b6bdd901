"""Inference over hidden states against the sum over all paths."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.sequence import (
    BestPath,
    EmissionLikelihoods,
    Filtered,
    Smoothed,
    Transitions,
    VaryingTransitions,
    best_paths,
    draw_paths,
    emissions_from_logarithms,
    filter_states,
    left_to_right,
    smooth_states,
)
from verulam.sequence._recursions import diagonal_loops
from verulam.sequence._recursions import inference_loops as loops

LENGTHS = (5, 1, 0, 4)
STARTS = np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64)
FORMS = ("dense", "diagonals", "edges")


def random_model(n_states, seed=0, mask=None):
    random = np.random.default_rng(seed)
    matrix = random.dirichlet(np.ones(n_states), n_states)
    if mask is not None:
        matrix = np.where(mask, matrix, 0.0)
        matrix /= matrix.sum(axis=1, keepdims=True)
    initial = random.dirichlet(np.ones(n_states))
    logarithms = np.log(random.random((STARTS[-1], n_states)))
    return initial, matrix, logarithms


def enumerate_paths(initial, matrices, logarithms):
    """Return every path and its joint probability; `matrices` has one matrix per step."""
    n_steps, n_states = logarithms.shape
    for path in product(range(n_states), repeat=n_steps):
        value = 1.0
        for t, state in enumerate(path):
            value *= initial[state] if t == 0 else matrices[t][path[t - 1], state]
            value *= np.exp(logarithms[t, state])
        yield path, value


def by_enumeration(initial, matrices, logarithms):
    """Return likelihood, state and transition posteriors, filtered posteriors, best path."""
    n_steps, n_states = logarithms.shape
    total, best, best_value = 0.0, None, -1.0
    gamma, xi = np.zeros((n_steps, n_states)), np.zeros((n_steps, n_states, n_states))
    for path, value in enumerate_paths(initial, matrices, logarithms):
        total += value
        if value > best_value:
            best, best_value = path, value
        for t, state in enumerate(path):
            gamma[t, state] += value
            if t:
                xi[t, path[t - 1], state] += value
    return total, gamma / total, xi / total, best, best_value


def test_emission_likelihoods_are_relative_to_a_peak_of_each_step():
    logarithms = random_model(3)[2] - 1e4
    likelihoods = emissions_from_logarithms(logarithms)
    assert isinstance(likelihoods, EmissionLikelihoods)
    assert len(likelihoods) == len(logarithms)
    assert_allclose(np.log(likelihoods.relative) + likelihoods.log_peaks[:, None], logarithms)
    assert likelihoods.relative.max() <= 1.0
    assert_array_equal(likelihoods.logarithms(1, 3), logarithms[1:3])


def check_against_enumeration(initial, matrices, transitions, logarithms):
    smoothed = smooth_states(emissions_from_logarithms(logarithms), STARTS, initial, transitions)
    filtered = filter_states(emissions_from_logarithms(logarithms), STARTS, initial, transitions)
    best = best_paths(logarithms, STARTS, initial, transitions)
    sums = np.zeros_like(matrices)
    for s in range(len(LENGTHS)):
        first, last = STARTS[s], STARTS[s + 1]
        if first == last:
            assert smoothed.log_likelihoods[s] == 0.0
            continue
        total, gamma, xi, path, value = by_enumeration(
            initial, matrices[first:last], logarithms[first:last]
        )
        assert_allclose(smoothed.log_likelihoods[s], np.log(total))
        assert_allclose(filtered.log_likelihoods[s], np.log(total))
        assert_allclose(smoothed.probabilities[first:last], gamma)
        assert_array_equal(best.states[first:last], path)
        assert_allclose(best.log_probabilities[s], np.log(value))
        for t in range(first, last):
            _, so_far, _, _, _ = by_enumeration(
                initial, matrices[first : t + 1], logarithms[first : t + 1]
            )
            assert_allclose(filtered.probabilities[t], so_far[-1], atol=1e-300)
        sums[first:last] += xi
    return smoothed, sums


@pytest.mark.parametrize("n_states", [1, 2, 3, 5])
def test_every_path_counted(n_states):
    initial, matrix, logarithms = random_model(n_states)
    matrices = np.repeat(matrix[None], STARTS[-1], axis=0)
    smoothed, sums = check_against_enumeration(
        initial, matrices, Transitions.from_matrix(matrix), logarithms
    )
    assert_allclose(smoothed.transition_sums, sums.sum(axis=0).ravel())


@pytest.mark.parametrize("form", FORMS)
def test_every_path_of_a_topology_counted(form):
    mask = left_to_right(4, jump=2)
    initial, matrix, logarithms = random_model(4, mask=mask)
    transitions = Transitions.from_matrix(matrix, mask, form=form)
    matrices = np.repeat(matrix[None], STARTS[-1], axis=0)
    smoothed, sums = check_against_enumeration(initial, matrices, transitions, logarithms)
    assert_allclose(smoothed.transition_sums, sums.sum(axis=0)[mask])


def test_every_path_of_varying_transitions_counted():
    random = np.random.default_rng(3)
    initial, _, logarithms = random_model(3)
    matrices = random.dirichlet(np.ones(3), (STARTS[-1], 3))
    smoothed, sums = check_against_enumeration(
        initial, matrices, VaryingTransitions(matrices), logarithms
    )
    assert_allclose(smoothed.transition_sums, sums, atol=1e-300)


@pytest.mark.parametrize("form", FORMS)
def test_forms_agree_on_a_wide_model(form):
    mask = left_to_right(30, jump=2)
    random = np.random.default_rng(0)
    matrix = np.where(mask, random.random((30, 30)), 0.0)
    matrix /= matrix.sum(axis=1, keepdims=True)
    initial, starts = np.eye(30)[0], np.array([0, 40, 100])
    logarithms = np.log(random.random((100, 30)))
    answers = [
        smooth_states(
            emissions_from_logarithms(logarithms),
            starts,
            initial,
            Transitions.from_matrix(matrix, mask, form=loop_form),
        )
        for loop_form in ("", form)
    ]
    assert Transitions.from_matrix(matrix, mask).kind == loops.DIAGONALS
    for name in ("probabilities", "transition_sums", "log_likelihoods"):
        first, second = (getattr(answer, name) for answer in answers)
        assert_allclose(first, second, rtol=1e-10, atol=1e-250)


def test_long_sequences_do_not_underflow():
    n_steps = 100_000
    logarithms = np.full((n_steps, 2), -800.0)
    transitions = Transitions.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    smoothed = smooth_states(
        emissions_from_logarithms(logarithms),
        np.array([0, n_steps]),
        np.array([0.5, 0.5]),
        transitions,
    )
    assert_allclose(smoothed.log_likelihoods, -800.0 * n_steps)
    assert_allclose(smoothed.probabilities[50_000], [2 / 3, 1 / 3])


@pytest.mark.parametrize("form", FORMS)
def test_shares_that_underflow_are_computed_in_logarithms(form):
    # The second state explains every step far better, yet the chain cannot get there.
    logarithms = np.log(np.random.default_rng(0).random((4, 3)))
    logarithms[:, 1] += 2000.0
    logarithms[2] = [-900.0, 3000.0, 0.0]
    matrix = np.array([[0.6, 0.0, 0.4], [0.3, 0.4, 0.3], [0.0, 0.0, 1.0]])
    transitions = Transitions.from_matrix(matrix, form=form)
    initial, starts = np.array([1.0, 0.0, 0.0]), np.array([0, 4])
    smoothed = smooth_states(emissions_from_logarithms(logarithms), starts, initial, transitions)
    filtered = filter_states(emissions_from_logarithms(logarithms), starts, initial, transitions)
    expected = [
        (sum_, path)
        for path in product(range(3), repeat=4)
        if np.isfinite(sum_ := log_joint(path, initial, matrix, logarithms))
    ]
    total = np.logaddexp.reduce([value for value, _ in expected])
    assert_allclose(smoothed.log_likelihoods, [total])
    assert_allclose(filtered.log_likelihoods, [total])
    gamma, xi = np.zeros((4, 3)), np.zeros((3, 3))
    for value, path in expected:
        gamma[range(4), path] += np.exp(value - total)
        for pair in pairwise(path):
            xi[pair] += np.exp(value - total)
    assert_allclose(smoothed.probabilities, gamma, atol=1e-12)
    assert_allclose(smoothed.transition_sums, xi[matrix > 0], atol=1e-12)


def log_joint(path, initial, matrix, logarithms):
    with np.errstate(divide="ignore"):
        value = np.log(initial[path[0]]) + logarithms[range(len(path)), path].sum()
        return value + sum(np.log(matrix[pair]) for pair in pairwise(path))


def test_impossible_sequences_say_where():
    with np.errstate(divide="ignore"):
        logarithms = np.log([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
    transitions = Transitions.from_matrix([[1.0, 0.0], [0.0, 1.0]])
    starts, initial = np.array([0, 4, 5]), np.array([0.5, 0.5])
    smoothed = smooth_states(emissions_from_logarithms(logarithms), starts, initial, transitions)
    assert_array_equal(smoothed.impossible, [2, -1])
    assert_allclose(smoothed.log_likelihoods, [-np.inf, np.log(0.5)])
    assert_array_equal(smoothed.probabilities, [[0.0, 0.0]] * 4 + [[0.5, 0.5]])
    assert_array_equal(smoothed.transition_sums, 0.0)
    assert_allclose(
        best_paths(logarithms, starts, initial, transitions).log_probabilities[0], -np.inf
    )


@pytest.mark.parametrize("form", FORMS)
def test_drawn_paths_follow_the_posterior(form):
    mask = left_to_right(3, jump=1)
    initial, matrix, logarithms = random_model(3, mask=mask)
    transitions = Transitions.from_matrix(matrix, mask, form=form)
    copies = 4000
    repeated = np.tile(logarithms[:4], (copies, 1))
    starts = np.arange(copies + 1) * 4
    drawn = draw_paths(
        emissions_from_logarithms(repeated),
        starts,
        initial,
        transitions,
        np.random.default_rng(0),
    ).reshape(copies, 4)
    total, gamma, _, _, _ = by_enumeration(
        initial, np.repeat(matrix[None], 4, axis=0), logarithms[:4]
    )
    shares = np.stack([(drawn == k).mean(axis=0) for k in range(3)], axis=1)
    assert_allclose(shares, gamma, atol=0.03)
    assert (np.diff(drawn, axis=1) >= 0).all()
    probable = {
        path: value / total
        for path, value in enumerate_paths(
            initial, np.repeat(matrix[None], 4, axis=0), logarithms[:4]
        )
    }
    whole = (drawn == drawn[0]).all(axis=1).mean()
    assert_allclose(whole, probable[tuple(drawn[0])], atol=0.03)


def run_loops(layout, transposed, initial, logarithms, compiled):
    """Return forward shares, scales, posteriors and transition sums of the loops."""

    def source(function):
        return function if compiled else function.py_func

    alpha, gamma, ahead = np.zeros_like(logarithms), np.zeros_like(logarithms), np.exp(logarithms)
    scales, failures = np.zeros(len(alpha)), np.zeros(len(LENGTHS), dtype=np.int64)
    tail = np.empty(0)
    sums = np.zeros_like(layout.diagonals if layout.diagonals.size else layout.weights)
    data, outputs = (ahead, STARTS, initial), (alpha, scales, failures)
    if layout.kind == loops.DENSE:
        source(loops.forward_dense)(*data, layout.dense, *outputs)
        sums = np.zeros_like(layout.dense[0])
        back = transposed.dense, alpha, gamma, sums, failures
        source(loops.backward_dense)(ahead, STARTS, *back, tail, True)
    elif layout.kind == loops.DIAGONALS:
        source(diagonal_loops.forward_diagonals)(*data, layout.offsets, layout.diagonals, *outputs)
        back = transposed.offsets, transposed.diagonals, alpha, gamma, sums, failures
        source(diagonal_loops.backward_diagonals)(ahead, STARTS, *back, tail, True)
    else:
        source(loops.forward_edges)(*data, layout, *outputs)
        back = layout, transposed, alpha, gamma, sums, failures
        source(loops.backward_edges)(ahead, STARTS, *back, tail, True)
    return alpha, scales, gamma, ahead, sums


@pytest.mark.parametrize("form", FORMS)
def test_compiled_loops_equal_their_python_source(form):
    mask = left_to_right(6, jump=1)
    initial, matrix, logarithms = random_model(6, mask=mask)
    layouts = Transitions.from_matrix(matrix, mask, form=form).layouts
    compiled, plain = (
        run_loops(*layouts, initial, logarithms, compiled_source)
        for compiled_source in (True, False)
    )
    for first, second in zip(compiled, plain, strict=True):
        assert_allclose(first, second)


def test_records_agree_at_the_last_step():
    initial, matrix, logarithms = random_model(3)
    moves, starts = Transitions.from_matrix(matrix), np.array([0, len(logarithms)])
    model = starts, initial, moves
    smoothed = smooth_states(emissions_from_logarithms(logarithms), *model)
    filtered = filter_states(emissions_from_logarithms(logarithms), *model)
    best = best_paths(logarithms, *model)
    for record, kind in ((smoothed, Smoothed), (filtered, Filtered), (best, BestPath)):
        assert isinstance(record, kind)
    # With all steps seen, there is nothing left to smooth by.
    assert_allclose(smoothed.probabilities[-1], filtered.probabilities[-1])
    assert_allclose(smoothed.log_likelihoods, filtered.log_likelihoods)
    assert best.log_probabilities[0] < filtered.log_likelihoods[0]
