"""Pictures of the guide's page on linear discrimination."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from verulam.data import gaussian_classes
from verulam.linear import (
    BasisExpansion,
    GradientLogistic,
    Hyperplane,
    LinearRanker,
    LogisticDiscriminant,
    OneVersusRest,
    PairwiseClassifier,
    Perceptron,
    Relaxation,
    boolean_inputs,
    compare_lines,
    known_unit,
    sign_normalise,
    truth_table,
)
from verulam.plots import (
    decision_regions,
    discriminant_curves,
    discriminant_lines,
    lines,
    sigmoid_trace,
    weight_trace,
    weight_trajectory,
)

BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"


def draw_linear(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    for name, figure in (
        ("stage", _stage()),
        ("geometry", _geometry()),
        ("trajectories", _trajectories()),
        ("softening", _softening()),
        ("classes", _classes()),
        ("ranking", _ranking()),
        ("boolean", _boolean()),
    ):
        figure.savefig(folder / f"linear-{name}.png", dpi=110)
        plt.close(figure)


def _two_classes(distance: float) -> tuple[np.ndarray, np.ndarray]:
    sample = gaussian_classes(
        means=[(0.0, 0.0), (distance, 1.0)],
        covariances=[[(1.0, 0.5), (0.5, 1.0)]] * 2,
        n=80,
        random_state=4,
    )
    return sample.inputs.to_numpy(), np.asarray(sample.target_values)


def _stage() -> plt.Figure:
    names = [
        "fixed increment",
        "single-sample relaxation",
        "pocket",
        "least squares",
        "ho-kashyap",
        "linear program",
    ]
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
    for ax, distance, title in zip(axes, (6.5, 2.0), ("separable", "overlapping"), strict=True):
        comparison = compare_lines(*_two_classes(distance), names)
        lines(comparison, ax=ax)
        wrong = comparison.table["errors"]
        ax.set_title(f"{title}: {wrong.min()} to {wrong.max()} rows wrong", fontsize="medium")
    axes[0].get_legend().remove()
    return figure


def _geometry() -> plt.Figure:
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    plane, point = Hyperplane(np.array([3.0, 4.0]), -10.0), np.array([[4.0, 2.0]])
    ax, foot = axes[0], plane.project(point)[0]
    xs = np.array([-1.0, 5.0])
    ax.plot(xs, (10 - 3 * xs) / 4, color=BLUE, label="$3x_1 + 4x_2 - 10 = 0$")
    ax.plot(*np.stack([point[0], foot]).T, "--o", color=ORANGE, markersize=5)
    ax.annotate("$r = 2$", (point[0] + foot) / 2 + [0.15, -0.1])
    origin = plane.project(np.zeros((1, 2)))[0]
    ax.plot(*np.stack([np.zeros(2), origin]).T, "--o", color=GREEN, markersize=5)
    ax.annotate("$r_0 = -2$", origin / 2 + [0.15, -0.05])
    ax.annotate("", foot + np.array([0.72, 0.96]), foot, arrowprops={"arrowstyle": "->"})
    ax.annotate("$w$", foot + np.array([0.65, 1.0]))
    ax.set(xlim=(-1, 5), ylim=(-1, 4), xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    ax.legend(loc="lower left")
    ax.set_title("Signed distances from a plane", fontsize="medium")
    rows, classes = np.array([[1.0], [2.0], [-1.5], [-0.4]]), np.array([1, 1, 0, 0])
    trainer = Perceptron(record="steps", shuffle=False).fit(rows, classes)
    weight_trajectory(trainer, ax=axes[1], rows=sign_normalise(rows, classes == 1))
    axes[1].set_title("A perceptron reaches the solutions", fontsize="medium")
    return figure


def _trajectories() -> plt.Figure:
    rows, classes = _two_classes(6.5)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained")
    for ax, (title, trainer) in zip(
        axes,
        {
            "fixed increment": Perceptron(record="steps", random_state=0),
            "relaxation": Relaxation(record="steps", random_state=0),
            "errors by correction": None,
        }.items(),
        strict=True,
    ):
        ax.set_title(title, fontsize="medium")
        if trainer is not None:
            weight_trajectory(trainer.fit(rows, classes), ax=ax)
            continue
        for name, learner, colour in (
            ("fixed increment", Perceptron(record="steps", random_state=0), BLUE),
            ("relaxation", Relaxation(record="steps", random_state=0), ORANGE),
        ):
            way = learner.fit(rows, classes).trajectory_
            ax.plot(way.steps, way.errors, color=colour, label=name, drawstyle="steps-post")
        ax.set(xlabel="corrections", ylabel="rows on the wrong side")
        ax.legend()
    return figure


def _softening() -> plt.Figure:
    """Figure 10.7: lines and sigmoids after more and more passes, and the weights behind them."""
    random = np.random.default_rng(1)
    rows = np.r_[random.normal(1.0, 0.6, 20), random.normal(4.0, 0.6, 20)][:, None]
    options = {"mode": "batch", "learning_rate": 0.01, "max_iter": 1000, "tol": 0.0}
    model = GradientLogistic(record="passes", random_state=0, **options)
    model.fit(rows, np.repeat([0, 1], 20))
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    sigmoid_trace(model, rows, posterior=False, ax=axes[0])
    axes[0].set_ylim(-12, 12)
    axes[0].get_legend().remove()
    sigmoid_trace(model, rows, ax=axes[1])
    axes[1].get_legend().set_title("passes")
    for ax in axes[:2]:
        bottom = ax.get_ylim()[0]
        for part, mark in ((rows[:20], "o"), (rows[20:], "s")):
            ax.plot(part, np.full(20, bottom), mark, color="0.4", markersize=4, clip_on=False)
    weight_trace(model, ax=axes[2]).set(xlabel="passes", xscale="symlog", xlim=(0, None))
    return figure


def _classes() -> plt.Figure:
    iris = load_iris()
    petals, species = iris.data[:, 2:], iris.target_names[iris.target]
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.6), layout="constrained")
    random = np.random.default_rng(2)
    places = np.array([[0.0, 0.0], [2.6, 0.2], [1.2, 2.4]])
    blobs, names = random.normal(places.repeat(40, axis=0), 0.6), np.repeat(["a", "b", "c"], 40)
    discriminant_lines(LogisticDiscriminant().fit(blobs, names), blobs, names, ax=axes[0, 0])
    axes[0, 0].set_title("softmax, with $g_i(x) = 0$", fontsize="medium")
    strict = OneVersusRest(LogisticDiscriminant(), rule="strict").fit(petals, species)
    decision_regions(strict, petals, species, ax=axes[0, 1])
    axes[0, 1].set_title("one against the rest, strict", fontsize="medium")
    axes[0, 1].set(xlabel="petal length (cm)", ylabel="petal width (cm)")
    rows, labels = _ring()
    pairs = PairwiseClassifier(LogisticDiscriminant(), rule="strict").fit(rows, labels)
    decision_regions(pairs, rows, labels, ax=axes[1, 0])
    axes[1, 0].set_title("every two, strict, where each class loses once", fontsize="medium")
    one = LogisticDiscriminant().fit(petals[:, :1], species)
    discriminant_curves(one, petals[:, :1], posterior=True, ax=axes[1, 1])
    axes[1, 1].set(xlabel="petal length (cm)")
    axes[1, 1].set_title("posteriors over one input", fontsize="medium")
    return figure


def _ring() -> tuple[np.ndarray, np.ndarray]:
    """Return three classes that follow one another round a triangle."""
    random = np.random.default_rng(0)
    angles = np.repeat([0.0, 2.0, 4.0], 40) * np.pi / 3
    centres = np.column_stack([np.cos(angles), np.sin(angles)])
    along = np.column_stack([-np.sin(angles), np.cos(angles)])
    rows = centres + random.uniform(0, 2.5, (120, 1)) * along + random.normal(0, 0.08, (120, 2))
    return rows, np.repeat(["a", "b", "c"], 40)


def _ranking() -> plt.Figure:
    random = np.random.default_rng(3)
    rows = random.uniform(-2.2, 2.2, size=(12, 2))
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    for ax, direction in zip(axes, ([1.0, 0.3], [-0.2, 1.0]), strict=True):
        order = np.argsort(-(rows @ direction))
        relevance = np.empty(12)
        relevance[order] = np.arange(12, 0, -1)
        ranker = LinearRanker(alpha=1e-2).fit(rows, relevance)
        unit = ranker.coef_ / np.linalg.norm(ranker.coef_)
        ax.axline((0, 0), slope=unit[1] / unit[0], color=BLUE, linewidth=0.8)
        ax.annotate("", 1.6 * unit, (0, 0), arrowprops={"arrowstyle": "->", "color": BLUE})
        for place, row in enumerate(rows[order], start=1):
            ax.plot(*np.stack([row, (row @ unit) * unit]).T, ":", color="0.7", linewidth=0.8)
            ax.text(*row, str(place), ha="center", va="center", fontsize=9, color=ORANGE)
        ax.set(xlabel="$x_1$", ylabel="$x_2$", xlim=(-2.6, 2.6), ylim=(-2.6, 2.6), aspect="equal")
        ax.set_title(f"Kendall's tau {ranker.score(rows, relevance):.2f}", fontsize="medium")
    return figure


def _boolean() -> plt.Figure:
    figure, axes = plt.subplots(
        1, 4, figsize=(12, 3.6), sharex=True, sharey=True, layout="constrained"
    )
    rows = boolean_inputs(2)
    for ax, name in zip(axes, ("and", "or", "xor", "xor"), strict=True):
        outputs = truth_table(name)
        ax.set_title(name.upper(), fontsize="medium")
        for value, sign in ((0, "o"), (1, "s")):
            ax.plot(*rows[outputs == value].T, sign, color="0.2", markersize=8, label=str(value))
        if name != "xor":
            unit = known_unit(name)
            ax.axline((0, -unit.bias), slope=-1, color=BLUE)
    axes[2].text(0.5, 0.5, "no line", ha="center", va="center", color=ORANGE)
    basis = BasisExpansion().fit(rows)
    model = LogisticDiscriminant(alpha=1e-3).fit(basis.transform(rows), truth_table("xor"))
    first, second = np.meshgrid(np.linspace(-0.4, 1.4, 200), np.linspace(-0.4, 1.4, 200))
    grid = basis.transform(np.column_stack([first.ravel(), second.ravel()]))
    values = model.decision_function(grid).reshape(first.shape)
    axes[3].contour(first, second, values, levels=[0.0], colors=BLUE)
    axes[3].set_title("XOR with $x_1 x_2$ as an input", fontsize="medium")
    for ax in axes:
        ax.set(xlim=(-0.4, 1.4), ylim=(-0.4, 1.4), aspect="equal", xlabel="$x_1$")
    axes[0].set_ylabel("$x_2$")
    axes[0].legend(title="output", loc="center", fontsize="small")
    return figure
