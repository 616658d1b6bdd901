"""Radial networks and experts beside the same ones in PyTorch: same start, batches and steps."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks._timing import Race, alone, close, print_races, race
from verulam.base import one_blas_thread
from verulam.local import (
    LocalLearningRegressor,
    MixtureOfExpertsRegressor,
    RBFNetworkRegressor,
    ResourceAllocatingNetwork,
)
from verulam.local._experts.parts import LinearExperts, TreeGate, even_tree
from verulam.local._radial.gates import BellGate
from verulam.local._radial.mixing import Targets
from verulam.local._radial.objective import ConstantExperts, LocalError, LocalModel
from verulam.local._radial.units import UnitLayout
from verulam.numerics import Adam, RuleMemory

N_ROWS, N_INPUTS, N_UNITS, N_EXPERTS, EPOCHS, RATE = 2_000, 10, 30, 8, 3, 0.01


def run() -> None:
    """Print races of Adam over batch sizes, one thread on both sides, and times without a peer."""
    random = np.random.default_rng(0)
    X = random.normal(size=(N_ROWS, N_INPUTS))
    y = np.sin(X[:, :1]) + 0.1 * random.normal(size=(N_ROWS, 1))
    with one_blas_thread():
        races = [
            _race(kind, X, y, batch)
            for kind in ("radial network", "mixture of experts")
            for batch in (32, 200)
        ]
        print_races("Local models by gradient", races)
        rows, target = X, y[:, 0]
        for work, learner in {
            "radial network, hybrid, 100 units": RBFNetworkRegressor(100, random_state=0),
            "8 experts by expectation-maximisation": MixtureOfExpertsRegressor(8, random_state=0),
            "resource-allocating network, 20 passes": ResourceAllocatingNetwork(
                least_distance=1.5, random_state=0
            ),
        }.items():
            print(alone(f"{work}, 2,000 x 10", partial(learner.fit, rows, target)))
        local = LocalLearningRegressor(n_neighbors=50).fit(rows, target)
        print(alone("local lines, 200 queries", partial(local.predict, rows[:200])))


def _race(kind: str, X: Any, y: Any, batch: int) -> Race:
    order = np.random.default_rng(1).permutation(N_ROWS)
    model = _model(kind)
    start = 0.5 * np.random.default_rng(2).normal(size=model.n_parameters)
    ours = partial(_our_loss, model, X, y, start, order, batch)
    theirs = _torch_work(kind, X, y, start, order, batch)
    return race(f"{kind}, batch {batch}", ours, "PyTorch", theirs, same=close(0.0, 1e-4))


def _model(kind: str) -> LocalModel:
    if kind == "radial network":
        gate = BellGate(UnitLayout(N_UNITS, N_INPUTS, "spherical"))
        return LocalModel(gate, ConstantExperts(N_UNITS, 1), N_INPUTS, 1, "intercept")
    tree = TreeGate(N_INPUTS, even_tree((N_EXPERTS,)))
    return LocalModel(tree, LinearExperts(N_INPUTS, N_EXPERTS, 1), N_INPUTS, 1, "none", True)


def _our_loss(model: LocalModel, X: Any, y: Any, start: Any, order: Any, batch: int) -> float:
    theta, error = start.copy(), LocalError(model, X, Targets(y, False))
    memory = RuleMemory.of(Adam(RATE), theta)
    for _ in range(EPOCHS):
        error.run_epoch(theta, memory, order, batch)
    return error.value_and_gradient(theta)[0]


def _torch_work(
    kind: str, X: Any, y: Any, start: Any, order: Any, batch: int
) -> Callable[[], float]:
    import torch

    torch.set_num_threads(1)
    inputs, targets, places = torch.tensor(X), torch.tensor(y), torch.tensor(order)

    def radial(parts: list[Any], rows: Any, goals: Any) -> Any:
        centers, logarithms, weights, intercept = parts
        bells = torch.exp(-0.5 * torch.cdist(rows, centers) ** 2 * torch.exp(-2 * logarithms))
        return 0.5 * ((bells @ weights + intercept - goals) ** 2).sum(1).mean()

    def experts(parts: list[Any], rows: Any, goals: Any) -> Any:
        gate, outputs, noise = parts
        shares = torch.log_softmax(rows @ gate[1:] + gate[0], 1)
        errors = (goals - rows @ outputs[1:] - outputs[0]) / torch.exp(noise)
        likelihoods = -0.5 * errors**2 - noise - 0.5 * np.log(2 * np.pi)
        return -torch.logsumexp(shares + likelihoods, 1).mean()

    shapes: list[tuple[int, ...]] = [(N_INPUTS + 1, N_EXPERTS), (N_INPUTS + 1, N_EXPERTS), (1,)]
    loss = experts
    if kind == "radial network":
        shapes = [(N_UNITS, N_INPUTS), (N_UNITS,), (N_UNITS, 1), (1,)]
        loss = radial

    def work() -> float:
        ends = np.cumsum([np.prod(shape) for shape in shapes])[:-1].astype(int)
        pieces = np.split(start, ends)
        parts = [
            torch.tensor(piece.reshape(shape), requires_grad=True)
            for piece, shape in zip(pieces, shapes, strict=True)
        ]
        steps = torch.optim.Adam(parts, RATE)
        for _ in range(EPOCHS):
            for first in range(0, N_ROWS, batch):
                rows = places[first : first + batch]
                steps.zero_grad()
                loss(parts, inputs[rows], targets[rows]).backward()
                steps.step()
        with torch.no_grad():
            return float(loss(parts, inputs, targets))

    return work
