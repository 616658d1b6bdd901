"""The texts' remaining figures of neural networks, for the guide and the gallery."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from verulam.data import dataset
from verulam.neural import (
    Autoencoder,
    CascadeCorrelationClassifier,
    MLPClassifier,
    MLPRegressor,
    grow,
    virtual_examples,
    window_layer,
)
from verulam.plots import GraphEdge, GraphNode, graph_diagram, network_diagram

BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"
#: Exclusive or, and the weights of figure 11.7: biases first.
CORNERS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
IS_ONE = np.array([False, True, True, False])
HIDDEN = np.array([[-0.5, 1.0, -1.0], [-0.5, -1.0, 1.0]])
OUTPUT = np.array([-0.5, 1.0, 1.0])


def draw_neural_text(folder: Path) -> None:
    """Draw the pictures into `folder`."""
    for name, figure in (
        ("units", _units()),
        ("spaces", _spaces()),
        ("errors", _errors()),
        ("windows", _windows()),
        ("invariance", _invariance()),
        ("growing", _growing()),
        ("coders", _coders()),
    ):
        figure.savefig(folder / f"neural-{name}.png", dpi=110)
        plt.close(figure)


def _units() -> plt.Figure:
    """Return figures 11.1, 11.2 and 11.6: one unit, several side by side, and two layers."""
    figure, axes = plt.subplots(1, 3, figsize=(12.6, 4.0), layout="constrained")
    inputs = ["$x_0=1$", "$x_1$", "$x_2$"]
    _layers(axes[0], [inputs, ["$y$"]], [r"$w_{0}$", "$w_{1}$", "$w_{2}$"])
    axes[0].set_title("a perceptron")
    _layers(axes[1], [inputs, ["$y_1$", "$y_2$", "$y_3$"]])
    axes[1].set_title("three perceptrons side by side")
    _layers(axes[2], [inputs, ["$z_0=1$", "$z_1$", "$z_2$"], ["$y_1$", "$y_2$"]])
    axes[2].set_title("a hidden layer between inputs and outputs")
    return figure


def _layers(ax: Axes, layers: list[list[str]], labels: list[str] | None = None) -> None:
    """Draw layers of units from below, each of which sees all of the layer below."""
    nodes, edges = [], []
    for height, layer in enumerate(layers):
        for place, label in enumerate(layer):
            across = 1.8 * (place - (len(layer) - 1) / 2)
            is_constant = "=1" in label
            shape = "box" if is_constant else "ellipse"
            nodes.append(
                GraphNode(label, shape=shape, shaded=height == 0, position=(across, 2.0 * height))
            )
            if height and not is_constant:
                names = labels or [""] * len(layers[height - 1])
                edges += [
                    GraphEdge(source, label, label=name)
                    for source, name in zip(layers[height - 1], names, strict=True)
                ]
    graph_diagram(nodes, edges, ax=ax)


def _spaces() -> plt.Figure:
    """Return figure 11.7: exclusive or before and after the hidden units."""
    figure, (before, after) = plt.subplots(1, 2, figsize=(9.0, 4.2), layout="constrained")
    hidden = (CORNERS @ HIDDEN[:, 1:].T + HIDDEN[:, 0] > 0).astype(float)
    for ax, places, letter in ((before, CORNERS, "x"), (after, hidden, "z")):
        ax.plot(*places[IS_ONE].T, "o", color=BLUE, markersize=11, label="1")
        ax.plot(*places[~IS_ONE].T, "s", color="0.4", markersize=11, label="0")
        ax.set(xlim=(-0.6, 1.6), ylim=(-0.6, 1.6), aspect="equal", xticks=[0, 1], yticks=[0, 1])
        ax.set(xlabel=f"${letter}_1$", ylabel=f"${letter}_2$")
    for unit, shade, place in ((0, ORANGE, (0.7, -0.5)), (1, GREEN, (-0.55, 0.75))):
        weights = HIDDEN[unit]
        _line(before, weights, shade)
        before.text(*place, f"$z_{unit + 1} = 1$", color=shade)
    _line(after, OUTPUT, BLUE)
    after.text(0.75, 0.75, "$y = 1$", color=BLUE)
    after.text(-0.5, -0.25, "(0, 0) and (1, 1)", color="0.4")
    before.set_title("inputs: no line parts them")
    after.set_title("outputs of two hidden units: a line does")
    before.legend(loc="upper right")
    return figure


def _line(ax: Axes, weights: np.ndarray, shade: str) -> None:
    """Draw where a weighted sum is zero."""
    bias, direction = weights[0], weights[1:]
    start = -bias * direction / (direction @ direction)
    ax.axline(start, start + np.array([-direction[1], direction[0]]), color=shade)


def _errors() -> plt.Figure:
    """Return figure 11.9: mean squared errors of the fit of figure 11.8 by epoch."""
    random = np.random.default_rng(0)
    x = random.uniform(-0.5, 0.5, size=(100, 1))
    y = np.sin(6 * x[:, 0]) + random.normal(scale=0.1, size=100)
    net = MLPRegressor(
        2, activation="logistic", solver="sgd", learning_rate=0.1, momentum=0.0, batch_size=1,
        alpha=0.0, max_iter=300, tol=0.0, n_iter_no_change=300, random_state=0,
    )  # fmt: skip
    errors = [
        [np.mean((net.predict(x[part]) - y[part]) ** 2) for part in (slice(50), slice(50, None))]
        for _ in net.epochs(x[:50], y[:50])
    ]
    figure, ax = plt.subplots(figsize=(6.2, 3.4), layout="constrained")
    for curve, label, style in zip(
        np.transpose(errors), ("training", "validation"), ("-", "--"), strict=True
    ):
        ax.plot(np.arange(1, 301), curve, style, label=label)
    ax.set(xlabel="epoch", ylabel="mean squared error", ylim=(0, None))
    ax.legend()
    return figure


def _windows() -> plt.Figure:
    """Return figures 11.14 and 11.15: a cone of windows, and windows that share their weights."""
    figure, (cone, shared) = plt.subplots(1, 2, figsize=(11.0, 3.6), layout="constrained")
    layers = [window_layer((1, 9), 3, stride=2), window_layer((1, 4), 2, stride=1)]
    _draw_windows(cone, [layer.mask for layer in layers])
    cone.set_title("units see windows, the upper ones more and more")
    layer = window_layer((1, 9), 3, stride=2)
    _draw_windows(shared, [layer.mask], layer.tied)
    shared.set_title("weights of one colour are one weight")
    return figure


def _draw_windows(ax: Axes, masks: list[np.ndarray], tied: np.ndarray | None = None) -> None:
    width = len(masks[0])
    counts = [width, *(mask.shape[1] for mask in masks)]
    places = [(np.arange(count) + 0.5) * width / count for count in counts]
    for height, mask in enumerate(masks):
        for source, unit in np.argwhere(mask):
            shade = "0.5" if tied is None else (BLUE, ORANGE, GREEN)[tied[source, unit] % 3]
            ends = [places[height][source], places[height + 1][unit]]
            ax.plot(ends, [height, height + 1], color=shade, linewidth=1.6, zorder=1)
    for height, points in enumerate(places):
        fill = "0.85" if height == 0 else "white"
        level = np.full(len(points), height)
        ax.scatter(points, level, s=150, facecolor=fill, edgecolor="0.2", zorder=2)
    ax.axis("off")
    ax.margins(0.05, 0.2)


def _invariance() -> plt.Figure:
    """Return figure 11.16: what may be done to a digit that stays what it is."""
    digits = dataset("digits")
    image = digits.inputs.to_numpy()[4].reshape(1, 8, 8)
    copies, labels = virtual_examples(
        image, [digits.target_values.iloc[4]], shifts=[1], angles=[-20, 20], scales=[0.7]
    )
    titles = ["digit", "left", "right", "up", "down", "turned", "turned back", "smaller"]
    figure, axes = plt.subplots(1, 8, figsize=(10.4, 1.7), layout="constrained")
    # Copies come moved right, left, down and up.
    order = [0, 2, 1, 4, 3, 5, 6, 7]
    for ax, place, title in zip(axes, order, titles, strict=True):
        ax.imshow(copies[place], cmap="gray_r", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[], title=title, xlabel=f"a {labels[place]}")
    return figure


def _growing() -> plt.Figure:
    """Return figure 11.17: units added to a layer, and units that are layers of their own."""
    settings = MLPClassifier(activation="tanh", solver="lbfgs", tol=1e-4, random_state=0)
    grown = grow(settings, CORNERS, IS_ONE, goal=0.3, max_units=3)
    cascade = CascadeCorrelationClassifier(max_units=3, tol=0.0, goal=0.0, random_state=0)
    figure, axes = plt.subplots(1, 2, figsize=(10.4, 4.4), layout="constrained")
    names = ["$x_1$", "$x_2$"]
    network_diagram(grown.learner, input_names=names, ax=axes[0])
    axes[0].set_title("node creation: a wider layer")
    random = np.random.default_rng(0)
    rows = random.uniform(-1, 1, (200, 2))
    network_diagram(
        cascade.fit(rows, np.sin(4 * rows[:, 0]) > rows[:, 1]), input_names=names, ax=axes[1]
    )
    axes[1].set_title("cascade correlation: each unit sees all before it")
    return figure


def _coders() -> plt.Figure:
    """Return figure 11.19: a narrow layer between equals, and deep coders on both of its sides."""
    random = np.random.default_rng(0)
    turn = random.uniform(-1.5, 1.5, 200)
    rows = np.column_stack([turn, np.sin(turn), np.cos(turn), turn**2, turn])
    rows += random.normal(scale=0.05, size=rows.shape)
    figure, axes = plt.subplots(1, 2, figsize=(11.0, 4.0), layout="constrained")
    for ax, units, title in (
        (axes[0], 2, "inputs, code, inputs again"),
        (axes[1], (4, 2), "with hidden layers on the way"),
    ):
        coder = Autoencoder(units, tol=1e-2, random_state=0).fit(rows)
        network_diagram(coder, ax=ax)
        ax.set_title(f"{ax.get_title()}: {title}")
    return figure
