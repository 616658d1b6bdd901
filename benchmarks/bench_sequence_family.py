"""Kalman's filter and smoother beside statsmodels': the same systems, in one run."""

import warnings

import numpy as np

from benchmarks._timing import Race, close, print_races, race
from verulam.sequence import kalman_filter, kalman_smoother, linear_system

#: Dimensions of the state, columns and steps.
SIZES = ((1, 1, 10_000), (2, 2, 10_000), (4, 3, 10_000), (8, 4, 3_000))


def run() -> None:
    """Print the races."""
    warnings.simplefilter("ignore")
    races = [found for size in SIZES for found in _races(*size)]
    races += _races(2, 2, 10_000, gaps=0.1)
    print_races("Linear dynamical systems", races)


def _races(size: int, width: int, n_steps: int, gaps: float = 0.0) -> list[Race]:
    from statsmodels.tsa.statespace.mlemodel import MLEModel

    rng = np.random.default_rng(0)
    transition = rng.normal(size=(size, size))
    transition *= 0.9 / np.abs(np.linalg.eigvals(transition)).max()
    noise = np.eye(width) + 0.3
    system = linear_system(transition, np.eye(size), rng.normal(size=(width, size)), noise)
    X = rng.normal(size=(n_steps, width))
    X[rng.random(X.shape) < gaps] = np.nan
    peer = MLEModel(X, k_states=size)
    peer["design"], peer["obs_cov"] = system.observation, noise
    peer["transition"], peer["state_cov"] = transition, system.state_noise
    peer["selection"] = np.eye(size)
    peer.ssm.initialize_known(system.initial_mean, system.initial_covariance)
    work = f"{n_steps} steps, {size} dimensions, {width} columns" + (", gaps" if gaps else "")
    return [
        race(
            f"filter, {work}",
            lambda: kalman_filter(system, X),
            "statsmodels",
            peer.ssm.filter,
            same=lambda one, other: close(1e-6, 1e-8)(one.means, other.filtered_state.T),
        ),
        race(
            f"smoother, {work}",
            lambda: kalman_smoother(system, X),
            "statsmodels",
            peer.ssm.smooth,
            same=lambda one, other: close(1e-6, 1e-8)(one.means, other.smoothed_state.T),
        ),
    ]
