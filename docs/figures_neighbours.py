"""Pictures of the guide's page on densities and neighbours."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from verulam.data import gaussian_classes
from verulam.nonparametric import (
    CondensedNeighbours,
    EditedNeighbours,
    HistogramDensity,
    KernelDensity,
    NaiveDensity,
    NearestNeighbourDensity,
    ParzenClassifier,
    ReducedCoulombEnergy,
    convergence,
    growing_count,
    neighbour_risk,
    shrinking_width,
)
from verulam.plots import (
    coulomb_discs,
    decision_regions,
    kept_rows,
    voronoi_cells,
    voronoi_facets,
    window_density,
)

BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"
#: Eight points, as in the textbook's figures of densities.
EIGHT = np.array([0.4, 0.9, 1.1, 2.0, 3.4, 4.4, 5.6, 5.9])[:, None]


def draw_neighbours(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    for name, figure in (
        ("histograms", _histograms()),
        ("windows", _windows()),
        ("kernels", _kernels()),
        ("nearest", _nearest()),
        ("shrinking", _shrinking()),
        ("widths", _widths()),
        ("parzen", _parzen()),
        ("voronoi", _voronoi()),
        ("facets", _facets()),
        ("condensing", _condensing()),
        ("metrics", _metrics()),
        ("networks", _networks()),
        ("discs", _discs()),
        ("risk", _risk()),
    ):
        figure.savefig(folder / f"neighbours-{name}.png", dpi=110)
        plt.close(figure)


def _row(count: int, height: float = 2.8, **options: object) -> tuple[plt.Figure, np.ndarray]:
    return plt.subplots(1, count, figsize=(3.3 * count, height), layout="constrained", **options)


def _curve(ax: plt.Axes, density: object, name: str, low: float = -1.5, high: float = 8.0) -> None:
    grid = np.linspace(low, high, 2000)
    ax.plot(grid, np.exp(density.score_samples(grid[:, None])), color=BLUE, linewidth=1.2)
    ax.scatter(EIGHT[:, 0], np.zeros(8), marker="|", color="0.2", s=60)
    ax.set(title=name, xlabel="x", xlim=(low, high), ylim=(0, None))
    ax.title.set_fontsize("small")


def _histograms() -> plt.Figure:
    """Return histograms, interpolated ones and naive estimates of three widths."""
    figure, axes = plt.subplots(3, 3, figsize=(9.6, 6.6), sharex=True, layout="constrained")
    for row, width in zip(axes, (2.0, 1.0, 0.5), strict=True):
        _curve(row[0], HistogramDensity(bin_width=width).fit(EIGHT), f"histogram, h = {width}")
        _curve(
            row[1],
            HistogramDensity(bin_width=width, interpolate=True).fit(EIGHT),
            f"interpolated, h = {width}",
        )
        _curve(row[2], NaiveDensity(bandwidth=width).fit(EIGHT), f"naive, h = {width}")
    for ax in axes.flat:
        ax.label_outer()
    for row in axes:
        row[0].set_ylabel("density")
    return figure


def _windows() -> plt.Figure:
    """Return the density as a sum of windows, for three widths."""
    figure, axes = _row(3)
    for ax, width in zip(axes, (1.0, 0.5, 0.25), strict=True):
        window_density(KernelDensity(bandwidth=width).fit(EIGHT), ax=ax)
        ax.set(xlim=(-3.0, 9.5), ylim=(0.0, 0.5))
    return figure


def _kernels() -> plt.Figure:
    """Return windows in the plane, and the densities that they make of five points."""
    five = np.array([[-1.0, -0.6], [-0.5, 0.9], [0.2, 0.1], [0.7, 1.1], [1.2, -0.8]])
    grid = np.linspace(-2.6, 2.6, 81)
    first, second = np.meshgrid(grid, grid)
    places = np.column_stack([first.ravel(), second.ravel()])
    figure = plt.figure(figsize=(9.6, 5.6), layout="constrained")
    for column, width in enumerate((1.0, 0.5, 0.2)):
        for row, points in enumerate((np.zeros((1, 2)), five)):
            density = KernelDensity(bandwidth=width).fit(points)
            heights = np.exp(density.score_samples(places)).reshape(first.shape)
            ax = figure.add_subplot(2, 3, 1 + column + 3 * row, projection="3d")
            ax.plot_surface(first, second, heights, cmap="viridis", rcount=81, ccount=81, lw=0)
            ax.set(xticks=[], yticks=[], zticks=[])
            ax.set_title(f"{'estimate' if row else 'window'}, h = {width}", fontsize="small")
    return figure


def _nearest() -> plt.Figure:
    """Return nearest-neighbour densities, plain and with a window."""
    figure, axes = _row(4, 2.6)
    for ax, k in zip(axes, (1, 3, 5), strict=False):
        _curve(ax, NearestNeighbourDensity(n_neighbors=k).fit(EIGHT), f"k = {k}")
        ax.set_ylim(0, 1.0)
    smooth = NearestNeighbourDensity(n_neighbors=3, kernel="gaussian").fit(EIGHT)
    _curve(axes[3], smooth, "k = 3, Gaussian window")
    return figure


def _shrinking() -> plt.Figure:
    """Return estimates whose windows shrink as rows are added."""
    figure, axes = plt.subplots(2, 4, figsize=(10.5, 4.6), sharex=True, layout="constrained")
    grid = np.linspace(-3.5, 3.5, 700)
    truth = np.exp(-0.5 * grid**2) / np.sqrt(2 * np.pi)
    chance = np.random.default_rng(1)
    for column, count in enumerate((1, 16, 256, 4096)):
        sample = chance.normal(size=(count, 1))
        learners = (
            KernelDensity(bandwidth=shrinking_width(count, 1.0)).fit(sample),
            NearestNeighbourDensity(n_neighbors=growing_count(count)).fit(sample),
        )
        for ax, learner in zip(axes[:, column], learners, strict=True):
            ax.plot(grid, truth, color="0.6", linewidth=1)
            ax.plot(grid, np.exp(learner.score_samples(grid[:, None])), color=BLUE, linewidth=1)
            ax.set_ylim(0, 0.8)
        axes[0, column].set_title(f"n = {count}", fontsize="small")
    axes[0, 0].set_ylabel(r"window, $h_n = 1/\sqrt{n}$")
    axes[1, 0].set_ylabel(r"neighbours, $k_n = \sqrt{n}$")
    return figure


def _widths() -> plt.Figure:
    """Return estimates by width and number of rows, all of which end at the truth."""
    figure, axes = plt.subplots(
        3, 4, figsize=(10.5, 6.2), sharex=True, sharey="row", layout="constrained"
    )
    grid = np.linspace(-3.5, 3.5, 700)
    truth = np.exp(-0.5 * grid**2) / np.sqrt(2 * np.pi)
    samples = {n: np.random.default_rng(1).normal(size=(n, 1)) for n in (1, 10, 100, 10**5)}
    for row, first in zip(axes, (1.0, 0.5, 0.1), strict=True):
        for ax, (count, sample) in zip(row, samples.items(), strict=True):
            # Wide enough at the end that the eye sees the limit, not the last wiggles.
            width = max(shrinking_width(count, first), 0.02)
            density = KernelDensity(bandwidth=width).fit(sample)
            ax.plot(grid, truth, color="0.6", linewidth=1)
            ax.plot(grid, np.exp(density.score_samples(grid[:, None])), color=BLUE, linewidth=1)
            ax.set_ylim(0, {1.0: 0.7, 0.5: 1.3, 0.1: 4.2}[first])
        row[0].set_ylabel(f"$h_1 = {first}$")
    for ax, count in zip(axes[0], samples, strict=True):
        ax.set_title(f"n = {count:,}", fontsize="small")
    return figure


def _two_classes(n: int = 160, seed: int = 4) -> tuple[np.ndarray, np.ndarray]:
    sample = gaussian_classes(
        means=[(-1.0, 0.0), (1.0, 0.4)],
        covariances=[[(0.8, 0.3), (0.3, 0.8)], [(0.8, -0.3), (-0.3, 0.8)]],
        n=n,
        random_state=seed,
    )
    return np.asarray(sample.inputs, dtype=float), np.asarray(sample.target_values)


def _parzen() -> plt.Figure:
    """Return the boundaries of narrow and wide windows."""
    X, y = _two_classes()
    figure, axes = _row(3, 3.2, sharey=True)
    for ax, width in zip(axes, (0.1, 0.4, 1.5), strict=True):
        classifier = ParzenClassifier(bandwidth=width).fit(X, y)
        decision_regions(classifier, X, y, ax=ax)
        ax.set_title(f"h = {width}", fontsize="small")
        if ax is not axes[0]:
            ax.get_legend().remove()
        ax.label_outer()
    return figure


def _voronoi() -> plt.Figure:
    """Return the tessellation with its boundary and the redundant rows."""
    X, y = _two_classes(60)
    figure, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
    voronoi_cells(X, y, ax=ax)
    return figure


def _facets() -> plt.Figure:
    """Return the boundary between two classes in three columns."""
    chance = np.random.default_rng(0)
    X = chance.normal(size=(50, 3)) + np.repeat([[-1.2, 0.0, 0.0], [1.2, 0.0, 0.0]], 25, axis=0)
    figure = plt.figure(figsize=(6.4, 5.2), layout="constrained")
    ax = figure.add_subplot(projection="3d")
    voronoi_facets(X, np.repeat(["west", "east"], 25), ax=ax)
    ax.view_init(elev=20.0, azim=-70.0)
    return figure


def _condensing() -> plt.Figure:
    """Return what condensing, editing and both one after the other keep."""
    X, y = _two_classes(240)
    figure, axes = _row(3, 3.3, sharey=True)
    condensed = CondensedNeighbours(random_state=0).fit(X, y)
    edited = EditedNeighbours(n_neighbors=5).fit(X, y)
    both = CondensedNeighbours(prune=True, random_state=0).fit(X[edited.rows_], y[edited.rows_])
    for ax, name, rows in zip(
        axes,
        ("condensed", "edited", "edited, condensed, pruned"),
        (condensed.rows_, edited.rows_, edited.rows_[both.rows_]),
        strict=True,
    ):
        kept_rows(X, y, rows, ax=ax)
        ax.set_title(f"{name}: {ax.get_title()}", fontsize="small")
        if ax is not axes[0]:
            ax.get_legend().remove()
        ax.label_outer()
    return figure


def _metrics() -> plt.Figure:
    """Return three neighbours by Euclid, by Mahalanobis, and on a line of projection."""
    chance = np.random.default_rng(3)
    along, across = chance.normal(scale=2.0, size=60), np.repeat([-0.55, 0.55], 30)
    tilt = np.array([[0.8, 0.6], [-0.6, 0.8]])
    X = np.column_stack([along, across + chance.normal(scale=0.12, size=60)]) @ tilt
    y = np.repeat([0, 1], 30)
    within = sum(np.cov(X[y == label], rowvar=False) for label in (0, 1)) / 2.0
    precision = np.linalg.inv(within)
    axis = precision @ (X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    axis /= np.linalg.norm(axis)
    ways = {
        "Euclid's circle": np.eye(2),
        "Mahalanobis's ellipse": precision,
        "one direction": np.outer(axis, axis),
    }

    def ranked(query: np.ndarray, metric: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        squares = np.einsum("ij,jk,ik->i", X - query, metric, X - query)
        return np.argsort(squares)[:3], squares

    # A place on the side of the first class where three by Euclid, and only they, are wrong.
    candidates = [(place, side) for side in (-0.2, -0.12) for place in np.linspace(-3, 3, 121)]
    query = next(
        place
        for place in (np.array([candidate]) @ tilt for candidate in candidates)
        if [int(y[ranked(place, metric)[0]].sum() > 1) for metric in ways.values()] == [1, 0, 0]
    )
    figure, axes = _row(3, 3.3, sharey=True)
    angles = np.linspace(0, 2 * np.pi, 200)
    for ax, (name, metric) in zip(axes, ways.items(), strict=True):
        nearest, squares = ranked(query, metric)
        for label, shade in ((0, BLUE), (1, ORANGE)):
            ax.scatter(*X[y == label].T, s=14, color=shade)
        ax.scatter(*X[nearest].T, s=70, facecolors="none", edgecolors="0.2")
        ax.scatter(*query.T, marker="*", s=110, color="k", zorder=3)
        reach = np.sqrt(squares[nearest[-1]])
        values, vectors = np.linalg.eigh(metric)
        lengths = reach / np.sqrt(np.maximum(values, 1e-3))
        edge = query + (np.column_stack([np.cos(angles), np.sin(angles)]) * lengths) @ vectors.T
        ax.plot(*edge.T, color="0.3", linewidth=1)
        winner = "blue" if (y[nearest] == 0).sum() > 1 else "orange"
        ax.set_title(f"{name}: {winner}", fontsize="small")
        ax.set(xlim=(-5, 5), ylim=(-4, 4), aspect="equal", xlabel="$x_1$")
    axes[0].set_ylabel("$x_2$")
    return figure


def _networks() -> plt.Figure:
    """Return the layers of both networks: inputs, a unit for each pattern, classes."""
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.9), layout="constrained")
    titles = ("probabilistic: units add up", "reduced Coulomb: units within their radius")
    inside = (r"$e^{(z_k - 1)/\sigma^2}$", r"$z_k > 1 - \lambda_k^2/2$")
    for ax, title, unit in zip(axes, titles, inside, strict=True):
        layers = [np.linspace(-1, 1, 3), np.linspace(-2.2, 2.2, 6), np.linspace(-1, 1, 2)]
        for pattern, place in enumerate(layers[1]):
            for start in layers[0]:
                ax.plot([0, 1], [start, place], color="0.75", linewidth=0.8, zorder=1)
            group = pattern // 3
            shade = (BLUE, ORANGE)[group]
            ax.plot([1, 2], [place, layers[2][group]], color=shade, linewidth=1.4, zorder=1)
        for depth, (places, size) in enumerate(zip(layers, (420, 420, 520), strict=True)):
            ax.scatter(
                np.full(len(places), depth), places, s=size, c="white", edgecolors="0.2", zorder=2
            )
        for names, depth in ((("$x_1$", "$x_2$", "$x_d$"), 0), ((r"$C_1$", r"$C_2$"), 2)):
            for name, place in zip(names, layers[depth][::-1], strict=True):
                ax.text(depth, place, name, ha="center", va="center", zorder=3)
        ax.text(1.0, -2.85, unit, ha="center", va="center")
        ax.text(0.45, 2.0, r"$w_k = x^k$", ha="center", color="0.35")
        ax.set(xlim=(-0.3, 2.3), ylim=(-3.2, 2.8))
        ax.set_title(title, fontsize="small")
        ax.axis("off")
    return figure


def _discs() -> plt.Figure:
    """Return six stages of the training of a network of discs."""
    X, y = _two_classes(60)
    order = np.random.default_rng(0).permutation(len(X))
    stages = list(ReducedCoulombEnergy(max_radius=0.8).stages(X[order], y[order]))
    figure, axes = plt.subplots(
        2, 3, figsize=(9.0, 6.0), sharex=True, sharey=True, layout="constrained"
    )
    for ax, count in zip(axes.flat, (1, 4, 10, 20, 35, 60), strict=True):
        coulomb_discs(stages[count - 1], ax=ax)
    axes[0, 0].set(xlim=(-4, 4), ylim=(-3, 3.4))
    return figure


def _risk() -> plt.Figure:
    """Return the errors of neighbours beside that of Bayes, and how densities converge."""
    risk = neighbour_risk(sizes=(100, 300, 1000, 3000, 10_000), counts=(1, 5, 25), n_repeats=5)
    figure, (ax, other) = _row(2, 3.0)
    for place, (count, shade) in enumerate(zip(risk.counts, (ORANGE, GREEN, BLUE), strict=True)):
        ax.plot(risk.sizes, risk.errors[:, place], "o-", color=shade, label=f"k = {count}")
    ax.axhline(risk.bayes, color="0.2", linewidth=1, label="Bayes")
    ax.axhline(risk.limit, color=ORANGE, linewidth=1, linestyle=":", label="k = 1, limit")
    ax.axhline(2 * risk.bayes, color="0.5", linewidth=1, linestyle="--", label="twice Bayes")
    ax.set(xscale="log", xlabel="training rows", ylabel="error", ylim=(0.14, 0.34))
    ax.legend(fontsize="x-small", ncols=2)
    errors = convergence((16, 64, 256, 1024, 4096, 16_384, 65_536))
    other.plot(errors.n_rows, errors.window_errors, "o-", color=BLUE, label=r"window, $2/\sqrt{n}$")
    other.plot(
        errors.n_rows, errors.neighbour_errors, "s-", color=ORANGE, label=r"neighbours, $\sqrt{n}$"
    )
    other.set(xscale="log", yscale="log", xlabel="rows", ylabel="mean absolute error of density")
    other.legend(fontsize="x-small")
    return figure
