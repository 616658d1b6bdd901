"""Pictures of the guide's page on kernel reduction, metrics, and several kernels."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression

from verulam.data import dataset
from verulam.kernel import (
    Gaussian,
    KernelPrincipalComponents,
    LargeMarginComponents,
    Linear,
    LocalisedKernelClassifier,
    MultipleKernelClassifier,
)
from verulam.plots import decision_regions

COLOURS = np.array(["#0072b2", "#d55e00", "#009e73"])
MARKERS = "os^"


def draw_kernel_objects(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    for name, figure in (
        ("components", _components()),
        ("metric", _metric()),
        ("gates", _gates()),
    ):
        figure.savefig(folder / f"kernel_objects-{name}.png", dpi=110)
        plt.close(figure)


def _scatter(ax: plt.Axes, points: np.ndarray, codes: np.ndarray, names: list[str]) -> None:
    for code, name in enumerate(names):
        chosen = points[codes == code]
        ax.plot(
            chosen[:, 0], chosen[:, 1], MARKERS[code], color=COLOURS[code], markersize=4, label=name
        )


def _components() -> plt.Figure:
    """Return a ring, and its plane of components with a linear boundary."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 80)
    angle = rng.uniform(0, 2 * np.pi, 160)
    radius = np.where(y == 0, 0.6, 1.8) + 0.15 * rng.normal(size=160)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    components = KernelPrincipalComponents(2, kernel=Gaussian(1.0)).fit(X)
    Z = components.transform(X)
    line = LogisticRegression(C=100.0).fit(Z, y)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
    for ax, points in ((left, X), (right, Z)):
        _scatter(ax, points, y, ["inside", "ring"])
    left.set(title="Inputs", xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    left.legend(loc="upper right", fontsize="small")
    ends = np.array(right.get_ylim())
    (first, second), constant = line.coef_[0], line.intercept_[0]
    right.plot(-(second * ends + constant) / first, ends, color="black")
    right.set_ylim(*ends)
    shares = components.explained_share_
    right.set(
        title="Components of a Gaussian kernel, and a line",
        xlabel=f"first component ({shares[0]:.0%} of variance)",
        ylabel=f"second component ({shares[1]:.0%})",
    )
    return figure


def _metric() -> plt.Figure:
    """Return the wines in two planes: of most variance, and of the largest margin."""
    wine = dataset("wine")
    rows = wine.inputs.to_numpy()
    names, codes = np.unique(wine.target_values, return_inverse=True)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    learned = LargeMarginComponents(2).fit(rows[::2], codes[::2])
    planes = (
        (left, PCA(2).fit(rows[::2]), "Principal components"),
        (right, learned, "Large margin components"),
    )
    for ax, plane, title in planes:
        _scatter(ax, plane.transform(rows[1::2]), codes[1::2], [str(name) for name in names])
        ax.set(title=f"{title} (held-out wines)", xlabel="first", ylabel="second")
    left.legend(fontsize="small")
    return figure


def _gates() -> plt.Figure:
    """Return the boundary of one linear kernel, and of two with gates."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    y = np.where(X[:, 1] > 1.5 * np.abs(X[:, 0]) - 0.6, "above", "below")
    kernels = [Linear(), Linear()]
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.4), sharey=True, layout="constrained")
    learners = (
        (MultipleKernelClassifier(kernels, C=100.0), "One weight everywhere"),
        (
            LocalisedKernelClassifier(kernels, C=100.0, tol=1e-4, random_state=0),
            "A gate for each kernel",
        ),
    )
    for ax, (learner, title) in zip(axes, learners, strict=True):
        learner.fit(X, y)
        decision_regions(learner, X, y, ax=ax)
        ax.set_title(f"{title}: training error {1 - learner.score(X, y):.1%}", fontsize="medium")
    axes[1].get_legend().remove()
    return figure
