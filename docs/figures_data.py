"""The pictures of the guide to data."""

from pathlib import Path

import matplotlib.pyplot as plt

from verulam.data import (
    Dataset,
    blobs,
    checkerboard,
    four_spirals,
    gaussian_classes,
    two_spirals,
    xor,
)

COLOURS = ("#0072b2", "#d55e00", "#009e73")
MARKERS = ("o", "s", "^")


def draw_data(folder: Path) -> None:
    """Draw the six generators of classes in the plane."""
    samples = {
        "gaussian_classes": gaussian_classes(n=300, random_state=0),
        "blobs": blobs(300, centres=[[0, 0], [5, 1], [2, 5]], random_state=0),
        "xor": xor(300, random_state=0),
        "checkerboard": checkerboard(600, random_state=0),
        "two_spirals": two_spirals(400, noise=0.03, random_state=0),
        "four_spirals": four_spirals(800, noise=0.02, random_state=0),
    }
    figure, axes = plt.subplots(2, 3, figsize=(9, 6), layout="constrained")
    for ax, (name, data) in zip(axes.flat, samples.items(), strict=True):
        scatter(ax, data)
        ax.set_title(name, family="monospace")
    figure.savefig(folder / "data-generators.png", dpi=150)
    plt.close(figure)


def scatter(ax: plt.Axes, data: Dataset) -> None:
    """Draw the classes of a data set with two inputs, each with its colour and shape."""
    target = data.target_values
    for label, colour, marker in zip(data.classes or [], COLOURS, MARKERS, strict=False):
        points = data.inputs[target == label]
        ax.scatter(*points.to_numpy().T, s=9, c=colour, marker=marker, linewidths=0, label=label)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xticks=[], yticks=[])
