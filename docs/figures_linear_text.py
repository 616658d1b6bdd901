"""The texts' remaining figures of linear discrimination, for the guide and the gallery."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from verulam.linear import (
    BasisExpansion,
    GradientLogistic,
    Hyperplane,
    LeastMeanSquares,
    LogisticDiscriminant,
    MinimumSquaredError,
    Perceptron,
    QuadraticLogistic,
    compare_lines,
    known_unit,
    sign_normalise,
    solution_region,
)
from verulam.numerics import sigmoid
from verulam.plots import (
    decision_regions,
    discriminant_surface,
    error_curves,
    lines,
    trajectories,
)

BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"


def draw_linear_text(folder: Path) -> None:
    """Draw the pictures into `folder`."""
    for name, figure in (
        ("beginnings", _beginnings()),
        ("regions", _regions()),
        ("expansion", _expansion()),
        ("counterexample", _counterexample()),
        ("margins", _margins()),
        ("sigmoids", _sigmoids()),
        ("online", _online()),
        ("ways", _ways()),
        ("surfaces", _surfaces()),
        ("bases", _bases()),
    ):
        figure.savefig(folder / f"linear-{name}.png", dpi=110)
        plt.close(figure)


def _points(ax: Axes, rows: np.ndarray, positive: np.ndarray) -> None:
    ax.plot(*rows[~positive].T, "o", color="0.25", markersize=5, label=r"$\omega_2$")
    ax.plot(*rows[positive].T, "s", color="0.25", markersize=5, label=r"$\omega_1$")


def _line(ax: Axes, plane: Hyperplane, value: float = 0.0, **style: object) -> None:
    """Draw where the discriminant has a value."""
    start = plane.project(np.zeros((1, 2)))[0]
    start = start + value * plane.weights / (plane.weights @ plane.weights)
    along = np.array([-plane.weights[1], plane.weights[0]])
    ax.axline(tuple(start), tuple(start + along), **style)


def _beginnings() -> plt.Figure:
    """Figures 10.1 and 10.5, and the notes' 5.1."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained")
    random = np.random.default_rng(5)
    rows = np.r_[random.normal((1.0, 1.0), 0.5, (15, 2)), random.normal((3.2, 2.8), 0.5, (15, 2))]
    positive = np.repeat([True, False], 15)
    plane = Perceptron(random_state=0, margin=1.0).fit(rows, positive).hyperplane_
    for ax in axes[:2]:
        _line(ax, plane, color=BLUE)
        ax.set(xlim=(-0.5, 4.7), ylim=(-0.5, 4.5), xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    _points(axes[0], rows, positive)
    axes[0].text(2.45, -0.3, r"$w_1x_1 + w_2x_2 + w_0 = 0$", color=BLUE, fontsize="small")
    axes[0].set_title("a line separates two classes", fontsize="medium")
    foot = plane.project(np.array([[2.0, 2.0]]))[0]
    unit = plane.weights / np.linalg.norm(plane.weights)
    arrow = {"arrowstyle": "->", "color": ORANGE}
    axes[1].annotate("", foot + unit, foot, arrowprops=arrow)
    axes[1].text(*(foot + 1.15 * unit), "$w$", color=ORANGE, ha="right")
    axes[1].text(0.1, 0.3, "$R_1$: $g(x) > 0$")
    axes[1].text(2.9, 3.9, "$R_2$: $g(x) < 0$")
    axes[1].set_title("two half-spaces; $w$ points to $R_1$", fontsize="medium")
    values = np.linspace(-10, 10, 400)
    axes[2].plot(values, sigmoid(values), color=BLUE)
    axes[2].plot(0, 0.5, "o", color=ORANGE)
    axes[2].axhline(0.5, color="0.8", linewidth=0.8, zorder=0)
    axes[2].set(xlabel="$a$", ylabel=r"$1 / (1 + e^{-a})$")
    axes[2].set_title("the sigmoid", fontsize="medium")
    return figure


def _regions() -> plt.Figure:
    """Figure 5.3 of the notes, raw and negated, and the effect of a margin."""
    rows, positive = np.array([[1.2], [2.2], [-0.6], [-1.6]]), np.array([True, True, False, False])
    raw = np.column_stack([np.ones(4), rows])
    negated = sign_normalise(rows, positive)
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained")
    panels = (("rows as they are", raw, 0.0), ("negated in $\\omega_2$", negated, 0.0))
    for ax, (title, vectors, margin) in zip(
        axes, (*panels, ("the same with margin 1", negated, 1.0)), strict=True
    ):
        corners = solution_region(negated, margin, limit=3.2)
        ax.fill(*corners.T, color=GREEN, alpha=0.25, label="solutions $a$")
        for vector, mark in zip(vectors, np.where(positive, "s", "o"), strict=True):
            ax.annotate("", vector, (0, 0), arrowprops={"arrowstyle": "->", "color": "0.4"})
            ax.plot(*vector, mark, color="0.25", markersize=5)
            normal = Hyperplane(vector, -margin if margin else 0.0)
            _line(ax, normal, color="0.7", linewidth=0.7, linestyle="--")
        ax.set(xlim=(-3, 3), ylim=(-3, 3), xlabel="$a_0$", ylabel="$a_1$", aspect="equal")
        ax.set_title(title, fontsize="medium")
    axes[0].legend(loc="lower left", fontsize="small")
    return figure


def _expansion() -> plt.Figure:
    """Figure 5.2 of the notes, and figure 10.12."""
    figure = plt.figure(figsize=(11, 4.2), layout="constrained")
    solid = figure.add_subplot(1, 2, 1, projection="3d")
    xs = np.linspace(-2.2, 2.2, 200)
    inside = (xs < -1) | (xs > 0.5)
    curve = np.column_stack([np.ones_like(xs), xs, xs**2])
    for side, colour_, name in ((inside, ORANGE, "$g > 0$"), (~inside, BLUE, "$g < 0$")):
        solid.plot(*np.where(side[:, None], curve, np.nan).T, color=colour_, label=name, lw=2)
    # The plane g = (x + 1)(x - 0.5) = x^2 + 0.5 x - 0.5 in the space of (1, x, x^2).
    first, second = np.meshgrid([0.0, 2.0], [-2.2, 2.2])
    solid.plot_surface(first, second, 0.5 * first - 0.5 * second, color=GREEN, alpha=0.4)
    solid.set(xlabel="$y_1 = 1$", ylabel="$y_2 = x$", zlabel="$y_3 = x^2$")
    solid.view_init(elev=18, azim=-40)
    solid.legend(loc="upper left")
    solid.set_title("a plane cuts a line in three pieces", fontsize="medium")
    flat = figure.add_subplot(1, 2, 2)
    random = np.random.default_rng(0)
    rows = random.uniform(0, 6, size=(400, 1))
    between = (rows[:, 0] > 2) & (rows[:, 0] < 4)
    model = QuadraticLogistic(alpha=1e-2).fit(rows, between)
    grid = np.linspace(0.5, 5.5, 300)[:, None]
    posterior = model.predict_proba(grid)[:, 1]
    flat.plot(grid, 1 - (grid - 3) ** 2, color=BLUE, label="$1 - (x - 3)^2$")
    flat.plot(grid, sigmoid(1 - (grid - 3) ** 2), "--", color=ORANGE, label="its sigmoid")
    flat.plot(grid, posterior, ":", color=GREEN, label="learned from 400 rows")
    flat.axhline(0.0, color="0.7", linewidth=0.8)
    flat.axhline(0.5, color="0.85", linewidth=0.8)
    for border in (2, 4):
        flat.axvline(border, color="0.85", linewidth=0.8)
    flat.set(xlabel="$x$", ylim=(-5.5, 1.6))
    flat.legend()
    flat.set_title("a quadratic discriminant and its sigmoid", fontsize="medium")
    return figure


def _counterexample() -> plt.Figure:
    """Figure 5.4 of the notes: least squares misses a line that separates."""
    left = [[0.0, 0.3], [0.2, -1.0], [0.6, 1.1], [1.0, -0.4], [1.0, 1.6]]
    right = [[1.9, 0.0], [2.2, 0.8], [2.1, -0.9], [14.0, 0.4], [15.0, -0.4]]
    rows = np.array(left + right)
    positive = np.repeat([False, True], 5)
    figure, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    _points(ax, rows, positive)
    for name, trainer, colour_ in (
        ("perceptron: separates", Perceptron(random_state=0), GREEN),
        ("least squares", MinimumSquaredError(), ORANGE),
        ("least mean squares", LeastMeanSquares(mode="batch", max_iter=20_000), BLUE),
    ):
        trainer.fit(rows, positive)
        wrong = int((trainer.predict(rows) != positive).sum())
        style = "--" if name == "least mean squares" else "-"
        _line(ax, trainer.hyperplane_, color=colour_, ls=style, label=f"{name}, {wrong} wrong")
    ax.set(xlim=(-1, 16), ylim=(-3.2, 3.2), xlabel="$x_1$", ylabel="$x_2$")
    ax.legend(fontsize="small", loc="upper right")
    return figure


def _margins() -> plt.Figure:
    """Figures 5.5 and 5.6 of the notes: the largest margin, and slack."""
    random = np.random.default_rng(7)
    far = np.r_[random.normal((0, 0), 0.6, (14, 2)), random.normal((3, 2.4), 0.6, (14, 2))]
    near = far.copy()
    near[3], near[17] = (2.4, 2.2), (1.2, 1.4)
    positive = np.repeat([False, True], 14)
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
    for ax, rows, cost, title in (
        (axes[0], far, 1e6, "the widest margin"),
        (axes[1], near, 1.0, "slack for rows inside or beyond"),
    ):
        machine = SVC(kernel="linear", C=cost).fit(rows, positive)
        plane = Hyperplane(machine.coef_[0], float(machine.intercept_[0]))
        _points(ax, rows, positive)
        _line(ax, plane, color=BLUE, linewidth=2.0)
        for value in (-1.0, 1.0):
            _line(ax, plane, value, color=BLUE, linewidth=0.8, linestyle="--")
        products = np.where(positive, 1, -1) * plane.value(rows)
        for row, product in zip(rows, products, strict=True):
            if product < 1 + 1e-3:
                ax.plot(*row, "o", markersize=11, fillstyle="none", color=ORANGE)
            if product < 1 - 1e-3:
                aside = (9, 6) if product > 0 else (-50, 8)
                ax.annotate(rf"$\xi = {1 - product:.1f}$", row, aside, textcoords="offset points")
        ax.set(xlabel="$y_1$", ylabel="$y_2$", aspect="equal")
        ax.set_title(title, fontsize="medium")
    axes[0].legend(loc="upper left", fontsize="small")
    return figure


def _sigmoids() -> plt.Figure:
    """Figure 11.4: the unit that computes AND, and its line."""
    unit = known_unit("and")
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.0), layout="constrained")
    ax = axes[0]
    places = {"$x_0 = 1$": (0.0, 0.0), "$x_1$": (1.0, 0.0), "$x_2$": (2.0, 0.0), "$y$": (1.0, 1.2)}
    weights = (unit.bias, *unit.weights)
    for (_, place), weight in zip(list(places.items())[:3], weights, strict=True):
        ax.annotate("", (1.0, 1.08), place, arrowprops={"arrowstyle": "->", "shrinkA": 14})
        middle = (np.array(place) + np.array([1.0, 1.08])) / 2
        ax.text(middle[0] + 0.06, middle[1] - 0.05, f"{weight:+g}", color=ORANGE)
    for name, place in places.items():
        ax.text(*place, name, ha="center", va="center", bbox={"boxstyle": "circle", "fc": "white"})
    ax.set(xlim=(-0.5, 2.5), ylim=(-0.4, 1.6))
    ax.set_axis_off()
    ax.set_title("AND: $y = s(x_1 + x_2 - 1.5)$", fontsize="medium")
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    for value, mark in ((0, "o"), (1, "s")):
        axes[1].plot(*corners[unit(corners) == value].T, mark, color="0.25", label=str(value))
    _line(axes[1], Hyperplane(unit.weights, unit.bias), color=BLUE)
    axes[1].set(xlim=(-0.4, 1.6), ylim=(-0.4, 1.6), xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    axes[1].legend(title="output", loc="center left", fontsize="small")
    axes[1].set_title("its line", fontsize="medium")
    return figure


def _online() -> plt.Figure:
    """Figures 10.6, 10.8 and 11.3: the algorithms at work, in batch and row by row."""
    random = np.random.default_rng(2)
    centres = np.array([[0.0, 0.0], [2.5, 0.0], [1.2, 2.2]])
    rows = np.concatenate([random.normal(centre, 0.8, (60, 2)) for centre in centres])
    two, three = np.repeat([0, 1], 60), np.repeat([0, 1, 2], 60)
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for ax, inputs, classes, title in (
        (axes[0], rows[:120], two, "two classes (10.6)"),
        (axes[1], rows, three, "three classes (10.8 and 11.3)"),
    ):
        for mode, colour_ in (("batch", BLUE), ("online", ORANGE)):
            model = GradientLogistic(mode=mode, max_iter=60, tol=0.0, random_state=0)
            model.fit(inputs, classes)
            passes = np.arange(1, len(model.loss_curve_) + 1)
            ax.plot(passes, model.loss_curve_, color=colour_, label=f"{mode}: mean loss")
            ax.plot(passes, model.error_curve_, ":", color=colour_, label=f"{mode}: errors")
        ax.set(xlabel="passes over the rows", ylabel="mean loss, share of errors")
        ax.set(xscale="log", ylim=(0, None))
        ax.set_title(title, fontsize="medium")
    axes[1].legend(fontsize="small")
    return figure


def _ways() -> plt.Figure:
    """All trainers on one stage: lines, ways through two weights, and errors."""
    random = np.random.default_rng(4)
    rows = random.uniform(-2, 2, (400, 2))
    heights = rows @ [1.0, 0.7] - 0.6
    rows, above = rows[np.abs(heights) > 0.12][:80], (heights > 0)[np.abs(heights) > 0.12][:80]
    names = [
        "newton descent",
        "batch perceptron",
        "fixed increment",
        "balanced winnow",
        "single-sample relaxation",
        "averaged perceptron",
        "least mean squares",
        "modified ho-kashyap",
    ]
    comparison = compare_lines(rows, np.where(above, "b", "a"), names)
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    lines(comparison, ax=axes[0]).set_title("lines", fontsize="medium")
    trajectories(comparison, ax=axes[1]).set_title("ways of two weights", fontsize="medium")
    error_curves(comparison, ax=axes[2]).set_title("errors on the way", fontsize="medium")
    axes[1].get_legend().remove()
    axes[2].get_legend().remove()
    return figure


def _surfaces() -> plt.Figure:
    """Figure 10.10: three discriminants as planes, and their posteriors after softmax."""
    random = np.random.default_rng(2)
    centres = np.array([[0.0, 0.0], [2.5, 0.0], [1.2, 2.2]])
    rows = np.concatenate([random.normal(centre, 0.6, (60, 2)) for centre in centres])
    model = LogisticDiscriminant().fit(rows, np.repeat(["$C_1$", "$C_2$", "$C_3$"], 60))
    figure = plt.figure(figsize=(11, 4.8), layout="constrained")
    for place, posterior in ((1, False), (2, True)):
        ax = figure.add_subplot(1, 2, place, projection="3d")
        discriminant_surface(model, rows, posterior=posterior, ax=ax)
        ax.view_init(elev=24, azim=-70)
    return figure


def _bases() -> plt.Figure:
    """Draw a ring between two classes by lines in four spaces of basis functions."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(250, 2))
    radius = np.sqrt((rows**2).sum(axis=1))
    classes = np.where((radius > 0.8) & (radius < 1.7), "ring", "rest")
    figure, axes = plt.subplots(1, 4, figsize=(14, 3.8), layout="constrained")
    for ax, options in zip(
        axes,
        (
            {"kind": "polynomial", "degree": 4},
            {"kind": "bumps", "n_functions": 40, "bandwidth": 0.5},
            {"kind": "planes", "n_functions": 60},
            {"kind": "potentials", "bandwidth": 0.5},
        ),
        strict=True,
    ):
        basis = BasisExpansion(random_state=0, **options)
        model = make_pipeline(basis, LogisticDiscriminant(alpha=0.1)).fit(rows, classes)
        decision_regions(model, rows, classes, ax=ax)
        ax.set_title(options["kind"], fontsize="medium")
        if ax is not axes[0]:
            ax.get_legend().remove()
    return figure
