"""Pictures of the guide's page on kernel machines."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from verulam.data import dataset
from verulam.kernel import (
    MARGIN_LOSSES,
    Gaussian,
    KernelPrincipalComponents,
    OneClassMachine,
    Polynomial,
    SupportVectorClassifier,
    SupportVectorDescription,
    SupportVectorRegressor,
    factor_grid,
    insensitive_loss,
)
from verulam.plots import description_boundary, factor_map, margin_boundary, regression_tube


def draw_kernel(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    for name, figure in (
        ("margins", _margins()),
        ("grid", _grid()),
        ("tubes", _tubes()),
        ("descriptions", _descriptions()),
        ("losses", _losses()),
        ("separation", _separation()),
        ("widths", _widths()),
        ("regression", _regression()),
        ("balls", _balls()),
        ("principal", _principal()),
    ):
        figure.savefig(folder / f"kernel-{name}.png", dpi=110)
        plt.close(figure)


def _margins() -> plt.Figure:
    """Return one sample and three machines, from straight to bent."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(90, 2))
    y = np.where(X[:, 1] - 0.8 * X[:, 0] ** 2 + 0.5 + 0.4 * rng.normal(size=90) > 0, "in", "out")
    figure, axes = plt.subplots(1, 3, figsize=(11.5, 4.0), sharey=True, layout="constrained")
    for ax, (title, kernel) in zip(
        axes,
        (("linear", "linear"), ("quadratic", Polynomial(2)), ("Gaussian, s = 0.5", Gaussian(0.5))),
        strict=True,
    ):
        machine = SupportVectorClassifier(kernel=kernel, C=10.0).fit(X, y)
        margin_boundary(machine, X, y, ax=ax)
        ax.set_title(f"{title}: {ax.get_title()}", fontsize="small")
        if ax is not axes[-1]:
            ax.get_legend().remove()
        ax.label_outer()
    axes[-1].legend(fontsize="xx-small", loc="lower left", framealpha=0.6)
    return figure


def _grid() -> plt.Figure:
    """Return scores over cost and width on a third of the digits, and over the cost alone."""
    digits = dataset("digits")
    images, names = digits.inputs.to_numpy() / 16, digits.target_values
    grid = factor_grid(
        SupportVectorClassifier(kernel=Gaussian(1.0)),
        images[::3],
        names[::3],
        {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "width": [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]},
    )
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 3.8), layout="constrained")
    factor_map(grid, ax=axes[0])
    factor_map(grid, factors=["C"], ax=axes[1])
    axes[1].set_ylabel("score, with the best width")
    return figure


def _tubes() -> plt.Figure:
    """Return tubes of three widths."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0, 6, size=50))[:, None]
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=50)
    figure, axes = plt.subplots(1, 3, figsize=(11.5, 3.6), sharey=True, layout="constrained")
    for ax, epsilon in zip(axes, (0.05, 0.25, 0.6), strict=True):
        machine = SupportVectorRegressor(C=10.0, epsilon=epsilon).fit(X, y)
        regression_tube(machine, X, y, ax=ax)
        ax.set_title(f"$\\epsilon$ = {epsilon}: {len(machine.support_)} support vectors")
        ax.legend(fontsize="x-small", loc="lower left")
        ax.label_outer()
    return figure


def _descriptions() -> plt.Figure:
    """Return a ball around a cloud, and descriptions of an arch by Gaussian kernels."""
    rng = np.random.default_rng(1)
    angles = rng.uniform(0, np.pi, size=80)
    X = np.column_stack([np.cos(angles), np.sin(angles)]) * 2 + 0.2 * rng.normal(size=(80, 2))
    cloud = rng.normal(size=(60, 2))
    figure, axes = plt.subplots(1, 3, figsize=(11.5, 3.4), layout="constrained")
    for ax, (title, rows, machine) in zip(
        axes,
        (
            ("ball", cloud, SupportVectorDescription(kernel="linear", C=0.1)),
            ("ball, Gaussian kernel", X, SupportVectorDescription(kernel=Gaussian(0.6), C=0.1)),
            ("plane, Gaussian kernel, nu = 0.3", X, OneClassMachine(kernel=Gaussian(0.6), nu=0.3)),
        ),
        strict=True,
    ):
        description_boundary(machine.fit(rows), rows, ax=ax)
        ax.set_title(title)
        ax.set_aspect("equal")
        if ax is not axes[-1]:
            ax.get_legend().remove()
    axes[-1].legend(fontsize="x-small", loc="lower center")
    return figure


def _losses() -> plt.Figure:
    """Return the losses of a signed output, and those of a residual."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 3.8), layout="constrained")
    grid = np.linspace(-2.0, 2.5, 400)
    styles = ("-", "-", "--", "-.", ":")
    for (name, loss), style in zip(MARGIN_LOSSES.items(), styles, strict=True):
        left.plot(grid, loss(grid), style, label=name)
    left.set(xlabel="signed output r g(x)", ylabel="loss", ylim=(-0.1, 5.0))
    grid = np.linspace(-2.5, 2.5, 400)
    for epsilon, squared, name, style in (
        (0.5, False, "insensitive", "-"),
        (0.5, True, "squared insensitive", "--"),
        (0.0, False, "absolute", "-."),
        (0.0, True, "squared", ":"),
    ):
        right.plot(grid, insensitive_loss(grid, epsilon, squared=squared), style, label=name)
    right.axvspan(-0.5, 0.5, color="0.92", zorder=0)
    right.set(xlabel="residual r - f(x), the tube shaded", ylim=(-0.1, 5.0))
    for ax in (left, right):
        ax.legend(fontsize="small")
    return figure


def _separation() -> plt.Figure:
    """Return a hard margin, and the four cases of a soft one."""
    rng = np.random.default_rng(2)
    y = np.repeat(["plus", "dot"], 20)
    X = rng.normal(size=(40, 2)) + np.where(y == "plus", 2.4, -0.6)[:, None]
    wide = X + 1.5 * rng.normal(size=(40, 2))
    figure, axes = plt.subplots(1, 2, figsize=(10.0, 4.2), layout="constrained")
    for ax, rows, form in zip(axes, (X, wide), ("hard", "cost"), strict=True):
        machine = SupportVectorClassifier(kernel="linear", form=form).fit(rows, y)
        margin_boundary(machine, rows, y, ax=ax)
        ax.set_title(f"{'hard' if form == 'hard' else 'soft'} margin: {ax.get_title()}", fontsize=9)
    return figure


def _widths() -> plt.Figure:
    """Return one sample and Gaussian kernels of four widths."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(90, 2))
    y = np.where(X[:, 1] - 0.8 * X[:, 0] ** 2 + 0.5 + 0.4 * rng.normal(size=90) > 0, "in", "out")
    figure, axes = plt.subplots(1, 4, figsize=(13.0, 3.8), sharey=True, layout="constrained")
    for ax, width in zip(axes, (2.0, 1.0, 0.5, 0.25), strict=True):
        machine = SupportVectorClassifier(kernel=Gaussian(width), C=10.0).fit(X, y)
        margin_boundary(machine, X, y, ax=ax)
        ax.set_title(f"s = {width}: {len(machine.support_)} support vectors", fontsize="small")
        ax.get_legend().remove()
        ax.label_outer()
    return figure


def _regression() -> plt.Figure:
    """Return the losses of regression, and tubes by four kernels."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0, 6, size=40))[:, None]
    y = 0.4 * (X[:, 0] - 2.0) ** 2 + np.sin(2 * X[:, 0]) + 0.4 * rng.normal(size=40)
    figure, axes = plt.subplots(1, 5, figsize=(15.0, 3.4), layout="constrained")
    grid = np.linspace(-2.5, 2.5, 300)
    axes[0].plot(grid, grid**2, label="squared")
    axes[0].plot(grid, insensitive_loss(grid, 0.5), "--", label="insensitive")
    axes[0].set(xlabel="error", title="losses", ylim=(-0.1, 4.0))
    axes[0].legend(fontsize="x-small")
    kernels = {
        "linear": "linear",
        "quadratic": Polynomial(2),
        "Gaussian, s = 2": Gaussian(2.0),
        "Gaussian, s = 0.5": Gaussian(0.5),
    }
    for ax, (title, kernel) in zip(axes[1:], kernels.items(), strict=True):
        machine = SupportVectorRegressor(kernel=kernel, C=10.0, epsilon=0.5).fit(X, y)
        regression_tube(machine, X, y, ax=ax)
        ax.set_title(title)
        legend = ax.get_legend()
        if legend is not None:
            legend.remove()
    return figure


def _balls() -> plt.Figure:
    """Return descriptions by Gaussian kernels of three widths."""
    rng = np.random.default_rng(1)
    angles = rng.uniform(0, np.pi, size=80)
    X = np.column_stack([np.cos(angles), np.sin(angles)]) * 2 + 0.2 * rng.normal(size=(80, 2))
    figure, axes = plt.subplots(1, 3, figsize=(11.5, 3.6), sharey=True, layout="constrained")
    for ax, width in zip(axes, (3.0, 1.0, 0.4), strict=True):
        machine = SupportVectorDescription(kernel=Gaussian(width), C=0.1).fit(X)
        description_boundary(machine, X, ax=ax)
        ax.set_title(f"s = {width}: {len(machine.support_)} support vectors")
        ax.set_aspect("equal")
        ax.get_legend().remove()
        ax.label_outer()
    return figure


def _principal() -> plt.Figure:
    """Return a quadratic machine, and a linear one on two components of the same kernel."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1.5, 1.5, size=(90, 2))
    y = np.where(X[:, 1] - X[:, 0] ** 2 + 0.7 + 0.25 * rng.normal(size=90) > 0, "in", "out")
    kernel = Polynomial(2)
    components = KernelPrincipalComponents(2, kernel=kernel).fit(X)
    plane = components.transform(X)
    span = np.linspace(-1.6, 1.6, 80)
    grid = np.stack(np.meshgrid(span, span), axis=-1).reshape(-1, 2)
    values = components.transform(grid).reshape(80, 80, 2)
    figure, axes = plt.subplots(1, 4, figsize=(14.0, 3.7), layout="constrained")
    bent = SupportVectorClassifier(kernel=kernel, C=10.0).fit(X, y)
    margin_boundary(bent, X, y, ax=axes[0])
    for place, ax in enumerate(axes[1:3]):
        ax.contour(span, span, values[..., place], levels=12, cmap="viridis", linewidths=0.9)
        for label, mark in (("in", "o"), ("out", "s")):
            ax.plot(*X[y == label].T, mark, markersize=3)
        share = components.explained_share_[place]
        ax.set_title(f"component {place + 1}: {share:.0%} of variance", fontsize="small")
        ax.set(xlabel="x1", ylabel="x2")
    straight = SupportVectorClassifier(kernel="linear", C=10.0).fit(plane, y)
    margin_boundary(straight, plane, y, ax=axes[3])
    for ax, title in ((axes[0], "quadratic"), (axes[3], "linear")):
        ax.set_title(f"{title}: {ax.get_title()}", fontsize="small")
        ax.get_legend().remove()
    axes[3].set(xlabel="component 1", ylabel="component 2")
    return figure
