"""Hidden Markov models beside hmmlearn's: the same start, the same passes, in one run."""

import time
import warnings
from functools import partial
from typing import Any

import numpy as np

from benchmarks._timing import Race, close, print_races, race
from verulam.sequence import (
    CategoricalEmission,
    GaussianEmission,
    HiddenMarkovModel,
    InitialProbabilities,
    TransitionMatrix,
    left_to_right,
)

N_COLUMNS = 4


def run() -> None:
    """Print the races, then how time grows with the length."""
    warnings.simplefilter("ignore")
    races = [
        *_races("categorical", 8, 100_000, None, 10),
        *_races("Gaussian", 8, 100_000, None, 10),
        *_races("categorical", 8, 100_000, [50] * 2_000, 2),
        *_races("categorical", 64, 20_000, None, 3),
        _topology_race(),
    ]
    print_races("Hidden Markov models", races)
    _print_sizes()


def _data(kind: str, n_states: int, n_steps: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    states = np.repeat(rng.integers(n_states, size=n_steps // 10), 10)
    if kind == "categorical":
        return ((states + rng.integers(3, size=n_steps)) % (n_states + 2))[:, None]
    return states[:, None] + rng.normal(size=(n_steps, N_COLUMNS))


def _pair(kind: str, n_states: int, n_passes: int):
    """Return our model and hmmlearn's, with the same start."""
    from hmmlearn import hmm

    rng = np.random.default_rng(1)
    initial = np.full(n_states, 1.0 / n_states)
    matrix = rng.dirichlet(np.ones(n_states), n_states)
    options = {"n_iter": n_passes, "tol": -np.inf, "init_params": "", "implementation": "scaling"}
    if kind == "categorical":
        table = rng.dirichlet(np.ones(n_states + 2), n_states)
        emission = CategoricalEmission(probabilities=table)
        theirs = hmm.CategoricalHMM(n_states, **options)
        theirs.emissionprob_ = table
    else:
        means = np.arange(n_states)[:, None] * np.ones(N_COLUMNS)
        variances = np.ones((n_states, N_COLUMNS))
        emission = GaussianEmission(means=means, covariances=variances)
        theirs = hmm.GaussianHMM(n_states, covars_prior=0.0, covars_weight=0.0, **options)
        theirs.means_, theirs.covars_ = means, variances
    theirs.startprob_, theirs.transmat_ = initial, matrix
    ours = HiddenMarkovModel(
        n_states,
        emission,
        initial=InitialProbabilities(initial),
        transitions=TransitionMatrix(values=matrix),
        max_iter=n_passes,
        tol=0.0,
    )
    return ours, theirs


def _races(kind, n_states, n_steps, lengths, n_passes) -> list[Race]:
    X = _data(kind, n_states, n_steps)
    ours, theirs = _pair(kind, n_states, n_passes)
    name = f"{kind}, {n_states} states, {n_steps:,} steps"
    if lengths is not None:
        name += f" in {len(lengths):,}"
    passes = race(
        f"{name}: {n_passes} passes",
        lambda: ours.fit(X, lengths=lengths),
        "hmmlearn",
        lambda: _pair(kind, n_states, n_passes)[1].fit(X, lengths),
        same=_same_passes,
    )
    # One model on both sides, so that the densities of their paths can be compared.
    theirs.startprob_, theirs.transmat_ = ours.initial_, ours.transitions_
    if kind == "categorical":
        theirs.emissionprob_ = ours.emission_.probabilities
    else:
        theirs.means_, theirs.covars_ = ours.emission_.means, ours.emission_.covariances
    path = race(
        f"{name}: best path",
        lambda: ours.predict(X, lengths=lengths),
        "hmmlearn",
        lambda: theirs.predict(X, lengths),
        same=partial(_same_density, theirs, X, lengths),
    )
    return [passes, path]


def _same_density(model: Any, X: np.ndarray, lengths: Any, *paths: np.ndarray) -> None:
    """Compare the log-densities of two paths, which need not be the same where several are best."""
    starts = np.cumsum([0, *(lengths or [len(X)])])[:-1]
    inside = np.setdiff1d(np.arange(1, len(X)), starts)
    emitted = model._compute_log_likelihood(X)
    densities = [
        emitted[np.arange(len(X)), path].sum()
        + np.log(model.startprob_)[path[starts]].sum()
        + np.log(model.transmat_)[path[inside - 1], path[inside]].sum()
        for path in paths
    ]
    close(1e-9)(*densities)


def _same_passes(ours: HiddenMarkovModel, theirs: Any) -> None:
    # A pass that gains nothing ends ours; where all passes are made, all gains are the same.
    histories = ours.objective_curve_, list(theirs.monitor_.history)
    shared = min(map(len, histories))
    close(1e-8)(histories[0][:shared], histories[1][:shared])


def _topology_race() -> Race:
    n_states, rng = 50, np.random.default_rng(0)
    mask = left_to_right(n_states, 2)
    table = rng.dirichlet(np.ones(20), n_states)
    X = [rng.integers(20, size=2_000) for _ in range(50)]

    def model(form: str) -> HiddenMarkovModel:
        return HiddenMarkovModel(
            n_states,
            CategoricalEmission(probabilities=table),
            initial=InitialProbabilities(np.eye(n_states)[0]),
            transitions=TransitionMatrix(
                "left-to-right", jump=2, values=mask / mask.sum(axis=1, keepdims=True), form=form
            ),
            max_iter=10,
            tol=0.0,
        )

    return race(
        "left to right, 50 states, 100,000 steps: 10 passes",
        lambda: model("").fit(X),
        "ours, dense",
        lambda: model("dense").fit(X),
        same=lambda one, other: close(1e-8)(one.objective_curve_[-1], other.objective_curve_[-1]),
    )


def _print_sizes() -> None:
    print("\nOne pass of a categorical model of 8 states, from a million steps on with checkpoints")
    print("       steps      seconds   ns per step")
    for n_steps in (10**4, 10**5, 10**6):
        X = _data("categorical", 8, n_steps)
        ours, _ = _pair("categorical", 8, 1)
        ours.set_params(checkpoint=None if n_steps < 10**6 else 2**16)
        ours.fit(X[:1000])
        start = time.perf_counter()
        ours.fit(X)
        seconds = time.perf_counter() - start
        print(f"{n_steps:>12,} {seconds:>12.3f} {seconds / n_steps * 1e9:>13.0f}")
