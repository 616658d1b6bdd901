"""Networks beside scikit-learn's and PyTorch's: the same rows, units, batches and epochs."""

import warnings
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier as PeerClassifier

from benchmarks._timing import Race, best_time, close, duration, print_races, race
from verulam.base import one_blas_thread
from verulam.neural import (
    ConvolutionalClassifier,
    MLPClassifier,
    Network,
    RecurrentRegressor,
    TrainingError,
    hessian_product,
    layout_of,
)

#: Losses after the same epochs may differ by this factor: starts and orders are drawn apart.
NEAR = 1.5
#: From one start, with rows in one order, losses differ by rounding alone.
EQUAL = 0.01
_TYPES = (np.float64, np.float32)


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
            tangents = {"activation": "tanh"}
            races.append(
                _race(f"digits, 64 tanh, batch 200, {name}", pixels, y, (64,), 200, 30, **tangents)
            )
            rows = wide[0].astype(dtype)
            races.append(_race(f"20k x 50, 100-50, {name}", rows, wide[1], (100, 50), 200, 5))
        online = {"solver": "sgd", "activation": "logistic", "momentum": 0.0}
        races.append(_race("digits, 64, one row a step", X / 16, y, (64,), 1, 2, **online))
        for size, units in ((1_000, 100), (16_000, 100), (4_000, 25), (4_000, 400)):
            part = wide[0][:size], wide[1][:size]
            races.append(_race(f"{size:,} x 50, {units}", *part, (units,), 200, 10))
        races += _torch_races()
        print_races("Networks", races)
        _print_sizes(*wide)


def _print_sizes(X: Any, y: Any) -> None:
    """Print the time of an epoch over rows and hidden units, and how it grows with either."""
    epochs, rows, units = 4, (1_000, 4_000, 16_000), (50, 200, 800)
    times = np.empty((len(rows), len(units)))
    print("\nAn epoch by rows and hidden units, batches of 200; 50 inputs, 5 classes")
    print("  rows    " + "".join(f"{f'{count} units':>12}" for count in units))
    for place, n_rows in enumerate(rows):
        for column, count in enumerate(units):
            settings = {"max_iter": epochs, "tol": 0.0, "n_iter_no_change": epochs,
                        "random_state": 0}  # fmt: skip
            learner = MLPClassifier((count,), **settings)
            times[place, column] = best_time(partial(learner.fit, X[:n_rows], y[:n_rows])) / epochs
        print(f"  {n_rows:<8,}" + "".join(f"{duration(seconds):>12}" for seconds in times[place]))
    weights = [51 * count + 5 * (count + 1) for count in units]
    by_rows = np.polyfit(np.log(rows), np.log(times), 1)[0]
    by_weights = np.polyfit(np.log(weights), np.log(times.T), 1)[0]
    print("Slopes of the logarithms, 1 where the cost is linear:")
    print(f"  in rows {by_rows.round(2)}, one for each number of units")
    print(f"  in weights {by_weights.round(2)}, one for each number of rows")


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
    return race(name, ours, "scikit-learn", theirs, same=partial(_near, name))


def _near(name: str, ours: float, theirs: float) -> None:
    print(f"{name}: loss {ours:.4f}, scikit-learn {theirs:.4f}")
    assert 1 / NEAR < ours / theirs < NEAR, f"our loss is {ours / theirs:.2f} times the peer's"


def _loss(kind: Any, hidden: tuple[int, ...], X: Any, y: Any, settings: dict[str, Any]) -> float:
    return float(kind(hidden_layer_sizes=hidden, **settings).fit(X, y).loss_)


def _torch_races() -> list[Race]:
    """Return races against PyTorch, where it is installed: the same start, batches and epochs."""
    if find_spec("torch") is None:
        print("\nPyTorch is not installed: pip install 'verulam[neural]' for its races.")
        return []
    import torch

    torch.set_num_threads(1)
    races = [_dense_race(torch, size) for size in (200, 32)]
    races += [_elman_race(torch, size, dtype) for size in (32, 8) for dtype in _TYPES]
    races += [_image_race(torch, size, dtype) for size in (200, 32) for dtype in _TYPES]
    large = partial(_image_race, torch, 32, np.float32, 28, (16, 32))
    races += [large(backend=backend) for backend in ("numpy", "torch")]
    return [*races, _hessian_race(torch)]


def _trained(
    torch: Any, net: Any, state: Any, inputs: Any, targets: Any, loss: Any, size: int, epochs: int
) -> float:
    """Return the mean loss of the last of some epochs of Adam from a start, rows in their order."""
    net.load_state_dict(state)
    rule = torch.optim.Adam([part for part in net.parameters() if part.requires_grad], lr=0.001)
    total = 0.0
    for _ in range(epochs):
        total = 0.0
        for start in range(0, len(inputs), size):
            rule.zero_grad()
            error = loss(net(inputs[start : start + size]), targets[start : start + size])
            error.backward()
            rule.step()
            total += error.item() * len(inputs[start : start + size])
    return total / len(inputs)


def _from_one_start(name: str, ours: Any, peer: Any) -> Race:
    """Return a race whose losses, from one start, are equal."""

    def same(one: float, other: float) -> None:
        print(f"{name}: loss {one:.4f}, torch {other:.4f}")
        close(EQUAL)(one, other)

    return race(name, ours, "torch", peer, same=same)


def _settings(size: int, epochs: int, init: Any) -> dict[str, Any]:
    return {"batch_size": size, "max_iter": epochs, "tol": 0.0, "n_iter_no_change": epochs,
            "shuffle": False, "alpha": 0.0, "init": init}  # fmt: skip


def _flat(*parts: Any) -> Any:
    """Return tensors one after the other; matrices of PyTorch have outputs by inputs."""
    arrays = [part.detach().numpy() for part in parts]
    return np.concatenate([part.T.ravel() if part.ndim == 2 else part.ravel() for part in arrays])


def _state(net: Any) -> Any:
    return {name: part.clone() for name, part in net.state_dict().items()}


def _dense_race(torch: Any, size: int) -> Race:
    X, y = load_digits(return_X_y=True)
    rows = (X / 16).astype(np.float32)
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    start = _flat(net[0].weight, net[0].bias, net[2].weight, net[2].bias)
    ours = partial(_loss, MLPClassifier, (64,), rows, y, _settings(size, 30, start))
    theirs = partial(
        _trained, torch, net, _state(net), torch.tensor(rows), torch.tensor(y),
        torch.nn.CrossEntropyLoss(), size, 30,
    )  # fmt: skip
    return _from_one_start(f"digits, 64, batch {size}, float32", ours, theirs)


def _elman_race(torch: Any, size: int, dtype: Any) -> Race:
    random = np.random.default_rng(0)
    signals = random.uniform(-1, 1, size=(256, 20, 4)).astype(dtype)
    echoes = np.concatenate([np.zeros_like(signals[:, :1, :2]), signals[:, :-1, :2]], axis=1)

    class Elman(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.hidden = torch.nn.RNN(4, 32, batch_first=True)
            self.outputs = torch.nn.Linear(32, 2)

        def forward(self, rows: Any) -> Any:
            return self.outputs(self.hidden(rows)[0])

    torch.manual_seed(0)
    net = Elman().to(torch.tensor(signals).dtype)
    # It has two biases for each unit, which are one.
    net.hidden.bias_hh_l0.requires_grad_(False).zero_()
    start = _flat(
        net.hidden.weight_ih_l0, net.hidden.bias_ih_l0, net.outputs.weight, net.outputs.bias,
        net.hidden.weight_hh_l0,
    )  # fmt: skip
    lists = [list(signals), list(echoes)]

    def ours() -> float:
        learner = RecurrentRegressor(32, combine="mean", **_settings(size, 10, start))
        return float(learner.fit(*lists).loss_)

    def half_square(answers: Any, targets: Any) -> Any:
        return 0.5 * ((answers - targets) ** 2).sum(dim=2).mean()

    theirs = partial(
        _trained, torch, net, _state(net), torch.tensor(signals), torch.tensor(echoes), half_square,
        size, 10,
    )  # fmt: skip
    return _from_one_start(f"Elman, T=20, H=32, batch {size}, {np.dtype(dtype).name}", ours, theirs)


def _image_race(
    torch: Any, size: int, dtype: Any, side: int = 8, maps: tuple[int, int] = (8, 16),
    backend: str = "numpy",
) -> Race:  # fmt: skip
    X, y = load_digits(return_X_y=True)
    pixels = (X / 16).astype(dtype).reshape(-1, 8, 8)
    if side > 8:
        # Digits of 8 x 8 pixels, thrice as large within a margin.
        margin = (side - 24) // 2
        pixels = np.pad(np.kron(pixels, np.ones((3, 3), dtype)), ((0, 0), *2 * ((margin, margin),)))
        pixels, y = pixels[:500], y[:500]
    rows, epochs = pixels.reshape(len(pixels), -1), 10 if side == 8 else 2
    images = torch.tensor(pixels[:, None])
    torch.manual_seed(0)
    places = (side - 4) ** 2
    net = torch.nn.Sequential(
        torch.nn.Conv2d(1, maps[0], 3), torch.nn.ReLU(),
        torch.nn.Conv2d(maps[0], maps[1], 3), torch.nn.ReLU(),
        torch.nn.Flatten(), torch.nn.Linear(places * maps[1], 10),
    ).to(images.dtype)  # fmt: skip
    # Rows, columns and channels of a patch by maps; units place by place, not map by map.
    patches = [net[layer].weight.permute(2, 3, 1, 0).reshape(-1) for layer in (0, 2)]
    top = net[5].weight.reshape(10, maps[1], places).permute(2, 1, 0).reshape(-1)
    start = _flat(patches[0], net[0].bias, patches[1], net[2].bias, top, net[5].bias)

    def ours() -> float:
        learner = ConvolutionalClassifier(maps, backend=backend, **_settings(size, epochs, start))
        return float(learner.fit(rows, y).loss_)

    theirs = partial(
        _trained, torch, net, _state(net), images, torch.tensor(y), torch.nn.CrossEntropyLoss(),
        size, epochs,
    )  # fmt: skip
    name = f"convolution {side}x{side}, {maps[0]}-{maps[1]} maps, batch {size}"
    words = "" if backend == "numpy" else f", backend {backend}"
    return _from_one_start(f"{name}, {np.dtype(dtype).name}{words}", ours, theirs)


def _hessian_race(torch: Any) -> Race:
    X, y = load_digits(return_X_y=True)
    layout = layout_of((64, 64, 10))
    random = np.random.default_rng(0)
    theta = layout.start(random, "glorot", "tanh", np.float64)
    direction = random.normal(size=theta.shape)
    error = TrainingError(Network(layout, "tanh", "softmax"), X / 16, y)
    rows, codes = torch.tensor(X / 16), torch.tensor(y)
    numbers = np.arange(len(theta))
    places = [
        view(numbers, layer) for layer in range(2) for view in (layout.weights, layout.biases)
    ]
    parts = [torch.tensor(theta[part]) for part in places]
    along = tuple(torch.tensor(direction[part]) for part in places)

    def loss(*weights: Any) -> Any:
        hidden = torch.tanh(rows @ weights[0] + weights[1])
        return torch.nn.functional.cross_entropy(hidden @ weights[2] + weights[3], codes)

    def theirs() -> Any:
        return torch.autograd.functional.vhp(loss, tuple(parts), along)[1]

    ours = partial(hessian_product, error, theta, direction)

    def same(one: np.ndarray, other: Any) -> None:
        for place, peer in zip(places, other, strict=True):
            close(0.0, 1e-10)(one[place], peer.numpy())

    return race("Hessian product, 64-64-10", ours, "torch", theirs, same=same)
