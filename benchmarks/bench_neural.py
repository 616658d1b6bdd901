"""Perceptrons beside scikit-learn's: the same rows, units, batches and epochs."""

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier as PeerClassifier

from benchmarks._timing import Race, print_races, race
from verulam.base import one_blas_thread
from verulam.neural import MLPClassifier

#: Losses after the same epochs may differ by this factor: starts and orders are drawn apart.
NEAR = 1.5


def run() -> None:
    """Print races over batch sizes, precisions and shapes, one thread on both sides."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = load_digits(return_X_y=True)
    wide = make_classification(20_000, 50, n_informative=20, n_classes=5, random_state=0)
    races = []
    with one_blas_thread():
        for dtype in (np.float64, np.float32):
            pixels = (X / 16).astype(dtype)
            name = np.dtype(dtype).name
            races += [
                _race(f"digits, 64, batch {size}, {name}", pixels, y, (64,), size, 30)
                for size in (200, 32)
            ]
            rows = wide[0].astype(dtype)
            races.append(_race(f"20k x 50, 100-50, {name}", rows, wide[1], (100, 50), 200, 5))
        online = {"solver": "sgd", "activation": "logistic", "momentum": 0.0}
        races.append(_race("digits, 64, one row a step", X / 16, y, (64,), 1, 2, **online))
        for size in (1_000, 4_000, 16_000):
            part = wide[0][:size], wide[1][:size]
            races.append(_race(f"{size:,} x 50, 100", *part, (100,), 200, 10))
    print_races("Perceptrons", races)


def _race(
    name: str, X: Any, y: Any, hidden: tuple[int, ...], size: int, epochs: int, **options: Any
) -> Race:
    settings = {"batch_size": size, "max_iter": epochs, "tol": 0.0, "n_iter_no_change": epochs,
                "random_state": 0, **options}  # fmt: skip
    peer_settings = dict(settings)
    if "momentum" in options:
        settings["learning_rate"] = peer_settings["learning_rate_init"] = 0.1
    ours = partial(_loss, MLPClassifier, hidden, X, y, settings)
    theirs = partial(_loss, PeerClassifier, hidden, X, y, peer_settings)
    ratio = ours() / theirs()
    assert 1 / NEAR < ratio < NEAR, f"{name}: our loss is {ratio:.2f} times the peer's"
    return race(name, ours, "scikit-learn", theirs)


def _loss(kind: Any, hidden: tuple[int, ...], X: Any, y: Any, settings: dict[str, Any]) -> float:
    return float(kind(hidden_layer_sizes=hidden, **settings).fit(X, y).loss_)
