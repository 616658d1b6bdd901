"""The E-step: groups, threads, halves of a long sequence and checkpoints change nothing."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError
from verulam.sequence import (
    CategoricalEmission,
    GaussianEmission,
    HiddenMarkovModel,
    LogisticTransitions,
    TransitionMatrix,
    cyclic,
    read_sequences,
)
from verulam.sequence._model import expectation as module
from verulam.sequence._model.expectation import checkpointed_sums, expected_sums
from verulam.sequence._model.parameters import updated

LEARNER = HiddenMarkovModel.from_parameters(
    [0.6, 0.4],
    [[0.7, 0.3], [0.2, 0.8]],
    GaussianEmission(means=[[0.0], [1.0]], covariances=[[1.0], [2.0]]),
)
X = [np.random.default_rng(seed).normal(size=20) for seed in range(8)]


def assert_same_sums(one, other, **tolerance):
    """Compare two records of a pass."""
    assert_allclose(one.log_likelihood, other.log_likelihood, rtol=1e-12)
    assert_allclose(one.firsts, other.firsts, **tolerance)
    assert_allclose(one.visits, other.visits, **tolerance)
    assert_allclose(one.transitions.sums, other.transitions.sums, **tolerance)
    assert one.n_steps == other.n_steps
    new, old = updated(one).emission, updated(other).emission
    for name in ("probabilities", "means", "covariances"):
        if hasattr(new, name):
            assert_allclose(getattr(new, name), getattr(old, name), **tolerance)


def test_groups_do_not_matter(monkeypatch):
    sequences = LEARNER._read(X, None)
    whole = expected_sums(LEARNER.model_, sequences)
    monkeypatch.setattr(module, "GROUP_NUMBERS", 100)
    parts = expected_sums(LEARNER.model_, sequences)
    assert_same_sums(parts, whole)
    assert_allclose(whole.visits.sum(), 160)
    assert_allclose(whole.firsts.sum(), 8)
    assert_allclose(whole.transitions.sums.sum(), 152)


def long_model(form, kind, mask):
    random = np.random.default_rng(3)
    n_states = 6
    matrix = random.dirichlet(np.ones(n_states), n_states) * mask
    matrix /= matrix.sum(axis=1, keepdims=True)
    if kind == "categorical":
        emission = CategoricalEmission(probabilities=random.dirichlet(np.ones(4), n_states))
        values = random.integers(4, size=301)
    else:
        emission = GaussianEmission(
            means=random.normal(size=(n_states, 2)), covariances=np.full((n_states, 2), 0.8)
        )
        values = random.normal(size=(301, 2))
        values[5, 0] = values[200] = np.nan
    learner = HiddenMarkovModel(
        n_states,
        emission,
        transitions=TransitionMatrix(mask, values=matrix, form=form),
        max_iter=2,
        tol=0.0,
    )
    with pytest.warns(ConvergenceWarning, match="had not converged"):
        learner.fit(values)
    return learner, learner._read(values, None)


@pytest.mark.parametrize("kind", ["categorical", "Gaussian"])
@pytest.mark.parametrize("form", ["dense", "diagonals", "edges"])
def test_a_long_sequence_from_both_ends(form, kind, monkeypatch):
    mask = np.ones((6, 6)) if form == "dense" else cyclic(6, 2)
    learner, sequences = long_model(form, kind, mask)
    whole = expected_sums(learner.model_, sequences)
    monkeypatch.setattr(module, "GROUP_NUMBERS", 100)
    calls = []
    halves = module._sums_from_both_ends
    monkeypatch.setattr(
        module, "_sums_from_both_ends", lambda *arguments: calls.append(1) or halves(*arguments)
    )
    assert_same_sums(expected_sums(learner.model_, sequences), whole, rtol=1e-10, atol=1e-12)
    assert calls


def test_threads_change_no_bit(monkeypatch):
    learner, sequences = long_model("dense", "Gaussian", np.ones((6, 6)))
    monkeypatch.setattr(module, "GROUP_NUMBERS", 100)
    monkeypatch.setattr(module, "THREADED_NUMBERS", 0)
    sums = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("VERULAM_THREADS", threads)
        sums.append(expected_sums(learner.model_, sequences))
    for other in sums[1:]:
        assert other.log_likelihood == sums[0].log_likelihood
        assert_array_equal(other.transitions.sums, sums[0].transitions.sums)
        assert_array_equal(other.emission.sums, sums[0].emission.sums)


def test_halves_that_underflow_are_computed_in_logarithms(monkeypatch):
    # Only the last state, which is next to impossible at first, can show what comes at the end.
    learner = HiddenMarkovModel.from_parameters(
        [1.0, 0.0],
        [[1.0 - 1e-12, 1e-12], [0.0, 1.0]],
        GaussianEmission(means=[[0.0], [40.0]], covariances=[[1.0], [1.0]]),
    )
    values = np.concatenate([np.zeros(30), np.full(30, 40.0)])
    sequences = learner._read(values, None)
    monkeypatch.setattr(module, "GROUP_NUMBERS", 10)
    sums = expected_sums(learner.model_, sequences)
    assert_allclose(sums.visits, [30, 30], atol=1e-9)
    assert_allclose(sums.log_likelihood, learner.score(values), rtol=1e-12)
    assert_allclose(sums.transitions.sums, [29, 1, 29], atol=1e-9)


def test_an_impossible_long_sequence_is_explained(monkeypatch):
    learner = HiddenMarkovModel.from_parameters(
        [1.0, 0.0],
        [[0.5, 0.5], [0.0, 1.0]],
        CategoricalEmission(probabilities=[[1.0, 0.0], [0.0, 1.0]]),
    )
    monkeypatch.setattr(module, "GROUP_NUMBERS", 10)
    sequences = learner._read(np.array([0] * 20 + [1] * 20 + [0] * 5), None)
    with pytest.raises(DataError, match="impossible under the model from step 40"):
        expected_sums(learner.model_, sequences)


def test_no_sequences_are_refused():
    with pytest.raises(DataError, match="no sequences"):
        expected_sums(LEARNER.model_, read_sequences([[1.0]])[:0])


def banded(n_states, offsets, seed=0, shared=None):
    """Return a learner of symbols with transitions along diagonals, and sequences with gaps."""
    random = np.random.default_rng(seed)
    mask = sum(np.eye(n_states, k=offset) for offset in offsets) > 0
    matrix = random.random((n_states, n_states)) * mask
    table = random.dirichlet(np.ones(5), n_states if shared is None else max(shared) + 1)
    learner = HiddenMarkovModel.from_parameters(
        random.dirichlet(np.ones(n_states)),
        matrix / matrix.sum(axis=1, keepdims=True),
        CategoricalEmission(probabilities=table),
        shared_emissions=shared,
    )
    X = [random.integers(5, size=size).astype(float) for size in (1, 40, 2, 23, 3, 61)]
    X[1][:2] = X[3][-1] = X[0][0] = np.nan
    return learner, learner._read(X, None)


@pytest.mark.parametrize(
    ("n_states", "offsets", "shared"),
    [
        (20, (0, 1, 2), None),
        (23, (-1, 0, 1, 2), None),
        (33, (0, 1, 2, 3, 4, 32), None),
        (20, (0, 1), tuple(range(10)) * 2),
    ],
)
def test_symbols_summed_at_once_are_the_same(n_states, offsets, shared):
    learner, sequences = banded(n_states, offsets, shared=shared)
    at_once = expected_sums(learner.model_, sequences)
    by_steps = module._group_sums(learner.model_, sequences)
    assert_same_sums(at_once, by_steps, rtol=1e-10, atol=1e-12)
    assert_allclose(at_once.visits.sum(), 130)
    assert module.symbol_table(learner.model_, sequences) is not None


@pytest.mark.parametrize("faintest", [1e-200, 1e-140])
def test_symbols_that_underflow_are_left_to_logarithms(faintest):
    # What the first symbol makes faint, the others make likely: with 1e-140, nothing vanishes on
    # the way there, and only the way back tells that what was dropped matters.
    probabilities = np.array([[1.0, faintest], [1e-170, 1.0]] * 20)
    learner = HiddenMarkovModel.from_parameters(
        np.full(40, 0.025),
        np.eye(40),
        CategoricalEmission(probabilities=probabilities),
    )
    X = np.array([0, 1, 1])
    sequences = learner._read(X, None)
    table, model = module.symbol_table(learner.model_, sequences), learner.model_
    layouts = model.transitions.layouts
    assert module.symbol_record(model.initial, layouts, sequences, table) is None
    sums = expected_sums(learner.model_, sequences)
    assert_allclose(sums.log_likelihood, learner.score(X), rtol=1e-12)
    assert_allclose(sums.visits.sum(), 3)


def test_only_symbols_along_diagonals_have_a_table():
    learner, sequences = banded(20, (0, 1, 2))
    assert module.symbol_table(learner.model_, sequences).shape == (6, 20)
    few = learner._read([0, 1, 2], None)
    assert module.symbol_table(learner.model_, few) is None
    assert module.symbol_table(LEARNER.model_, LEARNER._read(X, None)) is None


COINS = HiddenMarkovModel.from_parameters(
    [0.6, 0.4],
    [[0.7, 0.3], [0.2, 0.8]],
    CategoricalEmission(probabilities=[[0.9, 0.1], [0.3, 0.7]]),
)
TOSSES = [
    np.random.default_rng(seed).integers(2, size=length) for seed, length in enumerate((23, 1, 40))
]


@pytest.mark.parametrize("block", [1, 5, 8, 100])
def test_blocks_of_any_size_give_the_same_sums(block):
    sequences = COINS._read(TOSSES, None)
    whole = expected_sums(COINS.model_, sequences)
    parts = checkpointed_sums(COINS.model_, sequences, block)
    assert_allclose(parts.log_likelihood, whole.log_likelihood)
    assert_allclose(parts.firsts, whole.firsts)
    assert_allclose(parts.transitions.sums, whole.transitions.sums)
    assert_allclose(parts.emission.counts, whole.emission.counts)


def test_checkpoints_refuse_what_they_cannot_do():
    with pytest.raises(DataError, match="same at every step"):
        HiddenMarkovModel(2, transitions=LogisticTransitions(), checkpoint=3).fit(
            [1.0, 2.0], inputs=[1.0, 2.0]
        )
    impossible = HiddenMarkovModel(
        2,
        CategoricalEmission(probabilities=[[1, 0], [0, 1]]),
        transitions=TransitionMatrix("left-to-right"),
        checkpoint=2,
    )
    with pytest.raises(DataError, match="at step 2"):
        impossible.fit([0, 1, 0])


MILLION = """
import numpy as np
import warnings
from verulam.sequence import CategoricalEmission, HiddenMarkovModel
warnings.simplefilter("ignore")
X = np.random.default_rng(0).integers(4, size=10**6)
options = dict(max_iter=2, checkpoint={block}, random_state=0)
HiddenMarkovModel({states}, CategoricalEmission(), **options).fit(X)
with open("/proc/self/status") as status:
    print(next(line for line in status if line.startswith("VmHWM")).split()[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize(
    ("states", "block"), [(8, None), pytest.param(64, 4096, marks=pytest.mark.slow)]
)
def test_a_million_steps_stay_below_a_gigabyte(states, block):
    code = textwrap.dedent(MILLION.format(states=states, block=block))
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert int(result.stdout) * 1024 < 1e9
