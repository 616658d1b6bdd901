"""Maps beside MiniSom, a million rows in bounded memory, and prototypes on digits."""

import resource
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from minisom import MiniSom
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, cross_val_score
from threadpoolctl import threadpool_limits

from benchmarks._timing import Race, alone, print_races, race
from verulam.local import (
    GeneralisedVectorQuantisation,
    LearningVectorQuantisation,
    OnlineSelfOrganisingMap,
    SelfOrganisingMap,
)

#: Side of the maps, first radius, and rows that online maps learn from.
SIDE, RADIUS, STEPS = 10, 5.0, 20_000
PASSES = 5
LARGE_ROWS, LARGE_COLUMNS, LARGE_SIDE = 1_000_000, 10, 30


def run() -> None:
    """Print races of maps, one thread on both sides, and what has no peer that runs."""
    with threadpool_limits(1):
        print_races(f"Online maps of 10 x 10 units, {STEPS:,} rows", _online())
        print_races("Batch maps of 10 x 10 units, one pass", _batch())
        _million()
        _prototypes()


def tables() -> dict[str, np.ndarray]:
    """Return the tables that maps are made of."""
    random = np.random.default_rng(0)
    return {
        "5,000 x 10": random.normal(size=(5_000, 10)),
        "digits, 1,797 x 64": load_digits().data / 16.0,
    }


def _theirs(X: np.ndarray) -> MiniSom:
    peer = MiniSom(SIDE, SIDE, X.shape[1], sigma=RADIUS, learning_rate=0.5, random_seed=0)
    peer.pca_weights_init(X)
    return peer


def _online() -> list[Race]:
    races = []
    for name, X in tables().items():
        order = np.random.default_rng(0).integers(len(X), size=STEPS)
        rows = X[order]
        ours = OnlineSelfOrganisingMap((SIDE, SIDE), first_radius=RADIUS, max_iter=1, shuffle=False)

        def theirs(X: np.ndarray = X, rows: np.ndarray = rows) -> MiniSom:
            peer = _theirs(X)
            peer.train(rows, STEPS)
            return peer

        same = partial(_as_near, X)
        races.append(race(name, partial(ours.fit, rows), "MiniSom", theirs, same=same))
    return races


def _as_near(X: np.ndarray, ours: Any, theirs: MiniSom) -> None:
    """Compare mean distances to the nearest unit: starts and schedules differ."""
    errors = ours.quantisation_error(X), theirs.quantization_error(X)
    print(f"quantisation error {errors[0]:.3f}, MiniSom {errors[1]:.3f}")
    assert errors[0] <= errors[1], errors


def _batch() -> list[Race]:
    """Return races of one pass; what comes before and after it is taken off on both sides."""
    races = []
    for name, X in tables().items():
        few, many = (SelfOrganisingMap((SIDE, SIDE), n_iter=n) for n in (PASSES, 5 * PASSES))
        peer = _theirs(X)

        def theirs(passes: int, X: np.ndarray = X, peer: MiniSom = peer) -> MiniSom:
            peer.train_batch_offline(X, passes)
            return peer

        same = partial(_as_near, X)
        short = race("", partial(few.fit, X), "MiniSom", partial(theirs, 1), same=same)
        long = race("", partial(many.fit, X), "MiniSom", partial(theirs, 3), same=same)
        ours = (long.ours - short.ours) / (4 * PASSES)
        races.append(Race(name, ours, "MiniSom", (long.theirs - short.theirs) / 2))
    return races


def _chunks() -> Iterator[np.ndarray]:
    random = np.random.default_rng(0)
    for _ in range(LARGE_ROWS // 50_000):
        yield random.normal(size=(50_000, LARGE_COLUMNS))


def _million() -> None:
    """Fit a stream of a million rows, and print seconds and memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter(), time.process_time()
    learner = SelfOrganisingMap((LARGE_SIDE, LARGE_SIDE), n_iter=3).fit(_chunks)
    seconds, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"\n{LARGE_ROWS:,} rows on {LARGE_SIDE} x {LARGE_SIDE} units, 3 passes of a stream: "
        f"{seconds:.1f} s ({cpu:.1f} s of CPU), {grown:.0f} MB more than before, error "
        f"{learner.quantisation_error_:.3f}"
    )


def _prototypes() -> None:
    """Print time and accuracy on digits; the peer, sklvq, does not run on this scikit-learn."""
    X, y = load_digits(return_X_y=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for name, learner in (
        ("LVQ1", LearningVectorQuantisation(5, random_state=0)),
        ("generalised LVQ", GeneralisedVectorQuantisation(5, random_state=0)),
        (
            "generalised LVQ, relevances",
            GeneralisedVectorQuantisation(5, relevances="columns", random_state=0),
        ),
    ):
        accuracy = cross_val_score(learner, X, y, cv=folds).mean()
        print(f"{alone(f'{name}, digits', partial(learner.fit, X, y))}, accuracy {accuracy:.3f}")
