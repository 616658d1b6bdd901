"""Pictures of the guide's page on maps and prototypes."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from verulam.data import dataset
from verulam.local import (
    AdaptiveResonance,
    GeneralisedVectorQuantisation,
    GenerativeTopographicMap,
    NeuroScale,
    OnlineSelfOrganisingMap,
    SelfOrganisingMap,
    distributed_codes,
    lateral_inhibition,
    local_codes,
    tour_by_map,
)
from verulam.plots import (
    class_map,
    component_plane,
    hit_map,
    ordering_strip,
    u_matrix,
    vigilance_circles,
)

#: The first colours of the palette of Okabe and Ito.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")


def draw_maps(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    wine = dataset("wine")
    Z = (wine.inputs - wine.inputs.mean()) / wine.inputs.std()
    for name, figure in (
        ("competition", _competition()),
        ("inhibition", _inhibition()),
        ("ordering", _ordering()),
        ("wine", _wine(Z, wine.target_values)),
        ("places", _places(Z, wine.target_values)),
        ("prototypes", _prototypes()),
        ("codes", _codes()),
        ("tour", _tour()),
    ):
        figure.savefig(folder / f"maps-{name}.png", dpi=110)
        plt.close(figure)


def _competition() -> plt.Figure:
    """Return figures 12.1 and 12.4: a step of the winner, and circles of vigilance."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    units, row = np.array([[1.0, 3.0], [2.6, 1.2], [4.4, 3.2]]), np.array([3.7, 1.9])
    winner = int(np.square(units - row).sum(axis=1).argmin())
    moved = units[winner] + 0.5 * (row - units[winner])
    left.plot(*units.T, "o", color="0.55", markersize=13, label="units")
    left.plot(*row, "o", color="white", markeredgecolor="black", markersize=11, label="row")
    left.plot(*moved, "o", color="#0072b2", markersize=13, label="the winner after its step")
    left.annotate(
        "", moved, units[winner], arrowprops={"arrowstyle": "->", "shrinkA": 8, "shrinkB": 8}
    )
    left.set(xlim=(0, 5.2), ylim=(0.4, 4.2), title="half of the way to the row", aspect="equal")
    left.legend(loc="upper center", ncols=3, fontsize="small")
    random = np.random.default_rng(4)
    centres = np.array([[0.0, 0.0], [3.0, 0.5], [1.2, 2.6]])
    X = centres[random.integers(3, size=90)] + 0.45 * random.normal(size=(90, 2))
    vigilance_circles(AdaptiveResonance(1.3, random_state=0).fit(X), X, ax=right)
    right.set_title("a new unit wherever no circle covers a row")
    return figure


def _inhibition() -> plt.Figure:
    """Return the values of four units that inhibit one another, step by step (figure 12.3)."""
    states = lateral_inhibition([0.75, 1.0, 0.9, 0.4]).states
    figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
    for unit, (values, style) in enumerate(zip(states.T, ("-o", "-s", "-^", "-D"), strict=True)):
        ax.plot(values, style, color=COLOURS[unit], markersize=4, label=f"unit {unit}")
    ax.set(xlabel="step", ylabel="value")
    ax.legend(fontsize="small")
    return figure


def _codes() -> plt.Figure:
    """Return the regions that local and distributed codes tell apart (figure 12.7)."""
    side = np.linspace(-2.0, 2.0, 321)
    across, down = np.meshgrid(side, side)
    X = np.column_stack([across.ravel(), down.ravel()])
    centres = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.5]])
    planes = np.array([[0.1, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, 1.0, -1.0]])
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
    codes = (
        ("local: three centres", local_codes(X, centres, hard=True)),
        ("distributed: three lines", distributed_codes(X, planes, hard=True)),
    )
    for ax, (title, code) in zip(axes, codes, strict=True):
        patterns, places = np.unique(code.codes, axis=0, return_inverse=True)
        regions = places.reshape(across.shape)
        ax.pcolormesh(across, down, regions, cmap="Pastel1", rasterized=True)
        for number, pattern in enumerate(patterns):
            across_middle, middle = X[places.ravel() == number].mean(axis=0)
            middle -= 0.25 if ax is axes[0] else 0.0
            ax.text(
                across_middle,
                middle,
                "".join(str(int(bit)) for bit in pattern),
                ha="center",
                va="center",
            )
        ax.set(title=f"{title}, {code.n_regions} regions", xticks=[], yticks=[], aspect="equal")
    axes[0].plot(*centres.T, "k+", markersize=9)
    return figure


def _ordering() -> plt.Figure:
    """Return the film strip of a net that unfolds over a square."""
    X = np.random.default_rng(0).uniform(size=(1000, 2))
    learner = OnlineSelfOrganisingMap((10, 10), init=X[:100])
    return ordering_strip(learner, X, [1, 20, 2000, 10_000, 20_000])[0].figure


def _wine(Z: pd.DataFrame, growers: pd.Series) -> plt.Figure:
    """Return four views of the map of wines."""
    learner = SelfOrganisingMap((9, 7), lattice="hexagonal").fit(Z)
    figure, axes = plt.subplots(2, 2, figsize=(10, 9), layout="constrained")
    u_matrix(learner, ax=axes[0, 0])
    hit_map(learner, Z, growers, ax=axes[0, 1])
    component_plane(learner, "flavanoids", ax=axes[1, 0])
    component_plane(learner, "color_intensity", ax=axes[1, 1])
    return figure


def _places(Z: pd.DataFrame, growers: pd.Series) -> plt.Figure:
    """Return the wines on the map, on the sheet and by the network."""
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    wines = SelfOrganisingMap((9, 7), lattice="hexagonal").fit(Z)
    views = (
        ("between the units of a map", wines.place(Z)),
        ("generative topographic mapping", GenerativeTopographicMap((12, 12)).fit_transform(Z)),
        ("neuroscale", NeuroScale(random_state=0).fit_transform(Z)),
    )
    for ax, (title, places) in zip(axes, views, strict=True):
        class_map(places, growers, ax=ax)
        ax.set(title=title, xlabel="", ylabel="")
        if ax is not axes[2]:
            ax.get_legend().remove()
    axes[0].invert_yaxis()
    return figure


def _prototypes() -> plt.Figure:
    """Return the prototypes of the digits as images."""
    digits = dataset("digits")
    learner = GeneralisedVectorQuantisation(5, random_state=0)
    prototypes = learner.fit(digits.inputs, digits.target_values).prototypes_
    figure, axes = plt.subplots(5, 10, figsize=(9, 4.6), layout="constrained")
    for place, ax in enumerate(axes.T.ravel()):
        ax.imshow(prototypes[place].reshape(8, 8), cmap="gray_r")
        ax.set_axis_off()
    return figure


def _tour() -> plt.Figure:
    """Return the ring after some passes, and the tour that it gives."""
    cities = np.random.default_rng(3).uniform(size=(60, 2))
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.6), layout="constrained")
    tour = tour_by_map(cities, random_state=0)
    ring = np.vstack([tour.ring, tour.ring[:1]])
    left.plot(*ring.T, "-o", color="#d55e00", markersize=2.5, linewidth=0.8)
    closed = cities[np.append(tour.order, tour.order[0])]
    right.plot(*closed.T, "-", color="#0072b2", linewidth=1.2)
    for ax, title in ((left, "the ring of units"), (right, f"the tour: length {tour.length:.2f}")):
        ax.plot(*cities.T, "ko", markersize=4)
        ax.set(title=title, xticks=[], yticks=[], aspect="equal")
    return figure
