"""Pictures of the guide's page on neural networks."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from verulam.data import dataset
from verulam.neural import (
    Autoencoder,
    CascadeCorrelationClassifier,
    ConvolutionalClassifier,
    MLPClassifier,
    MLPRegressor,
    RecurrentRegressor,
    TimeDelayRegressor,
    complexity_curve,
    input_importance,
    next_steps,
    prune,
)
from verulam.plots import (
    decision_regions,
    delay_diagram,
    film_strip,
    hidden_unit_curves,
    network_diagram,
    recurrent_diagram,
    training_curves,
    weight_templates,
)


def draw_neural(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    for name, figure in (
        ("epochs", _epochs()),
        ("hidden", _hidden()),
        ("stopping", _stopping()),
        ("digits", _digits()),
        ("diagram", _diagram()),
        ("cascade", _cascade()),
        ("autoencoder", _autoencoder()),
        ("film", _film()),
        ("templates", _templates()),
        ("maps", _maps()),
        ("complexity", _complexity()),
        ("pruned", _pruned()),
        ("sunspots", _sunspots()),
        ("time", _time()),
    ):
        figure.savefig(folder / f"neural-{name}.png", dpi=110)
        plt.close(figure)


def _sine() -> tuple[MLPRegressor, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    x = random.uniform(-0.5, 0.5, size=(50, 1))
    y = np.sin(6 * x[:, 0]) + random.normal(scale=0.1, size=50)
    net = MLPRegressor(
        2, activation="logistic", solver="sgd", learning_rate=0.1, momentum=0.0, batch_size=1,
        alpha=0.0, max_iter=1000, tol=0.0, n_iter_no_change=1000, random_state=0,
    )  # fmt: skip
    return net, x, y


def _epochs() -> plt.Figure:
    """Return a fit after 100, 200, 300 and 1,000 epochs."""
    net, x, y = _sine()
    grid = np.linspace(-0.5, 0.5, 200)
    figure, axes = plt.subplots(1, 4, figsize=(10.0, 2.8), sharey=True, layout="constrained")
    shown = iter(axes)
    for epoch in net.epochs(x, y):
        if epoch.number in (100, 200, 300, 1000):
            ax = next(shown)
            ax.plot(x[:, 0], y, ".", color="0.6")
            ax.plot(grid, np.sin(6 * grid), "--", color="0.4")
            ax.plot(grid, net.predict(grid[:, None]), color="C0", linewidth=2)
            ax.set(title=f"epoch {epoch.number}", xlabel="input")
    return figure


def _hidden() -> plt.Figure:
    """Return the hidden units of the fit."""
    net, x, y = _sine()
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.0), layout="constrained")
    hidden_unit_curves(net.fit(x, y), np.linspace(-0.5, 0.5, 200), axes=list(axes))
    return figure


def _credit() -> tuple[pd.DataFrame, np.ndarray]:
    """Return the applicants of a bank as numbers with names, and which were good."""
    credit = dataset("german_credit")
    numbers = credit.inputs.select_dtypes("number").columns.tolist()
    words = [name for name in credit.inputs if name not in numbers]
    prepare = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(sparse_output=False), words),
        verbose_feature_names_out=False,
    )  # fmt: skip
    prepare.set_output(transform="pandas")
    return prepare.fit_transform(credit.inputs), np.asarray(credit.target_values)


def _stopping() -> plt.Figure:
    """Return the errors of a large network by epoch."""
    net = MLPClassifier(
        60, alpha=0.0, learning_rate=0.01, early_stopping=True, validation_fraction=0.3,
        n_iter_no_change=40, random_state=0,
    )  # fmt: skip
    net.fit(*_credit())
    figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    training_curves(net.history_, ax=ax)
    return figure


def _digits() -> plt.Figure:
    """Return digits in the plane of two hidden units."""
    digits = dataset("digits")
    pixels = digits.inputs.to_numpy() / 16
    labels = np.asarray(digits.target_values)
    net = MLPClassifier(
        2, activation="tanh", learning_rate=0.02, tol=1e-3, max_iter=500, random_state=3
    )
    places = net.fit(pixels, labels).hidden_outputs(pixels)
    figure, ax = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
    for row in range(0, len(labels), 6):
        shade = f"C{int(labels[row])}"
        ax.text(*places[row], str(labels[row]), color=shade, ha="center", va="center")
    ax.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), xlabel="unit 1", ylabel="unit 2")
    ax.set_title(f"{100 * net.score(pixels, labels):.0f} % of the training digits told apart")
    return figure


def _diagram() -> plt.Figure:
    """Return a network whose hidden units see half of the inputs."""
    half = np.zeros((4, 2), dtype=bool)
    half[:2, 0] = half[2:, 1] = True
    iris = dataset("iris")
    net = MLPClassifier(
        2, activation="tanh", masks=[half, None], learning_rate=0.05, tol=1e-3, random_state=0
    )
    figure, ax = plt.subplots(figsize=(7.0, 4.0), layout="constrained")
    network_diagram(net.fit(iris.inputs, iris.target_values), ax=ax)
    return figure


def _cascade() -> plt.Figure:
    """Return two spirals, and the error by the number of units."""
    turn = np.linspace(0.25, 1.0, 70) * 3 * np.pi
    spiral = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)]) / 9.0
    X, y = np.vstack([spiral, -spiral]), np.repeat(["one", "other"], 70)
    net = CascadeCorrelationClassifier(max_units=25, alpha=0.0, tol=0.0, random_state=0).fit(X, y)
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.0), layout="constrained")
    decision_regions(net, X, y, ax=axes[0])
    axes[1].plot(net.path_["units"], net.path_["loss"], "o-")
    axes[1].set(xlabel="hidden units", ylabel="training error", xticks=net.path_["units"])
    return figure


def _autoencoder() -> plt.Figure:
    """Return points of an arc and their reconstructions by one number."""
    random = np.random.default_rng(0)
    angle = np.linspace(0, np.pi, 80)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    arc += random.normal(scale=0.04, size=arc.shape)
    curved = Autoencoder((6, 1), n_init=4, random_state=0).fit(arc)
    straight = Autoencoder(1, activation="identity", random_state=0).fit(arc)
    figure, ax = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
    ax.plot(arc[:, 0], arc[:, 1], ".", color="0.6", label="points")
    for label, coder in (("tanh units, 2-6-1-6-2", curved), ("linear units, 2-1-2", straight)):
        back = coder.inverse_transform(coder.transform(arc))
        ax.plot(back[:, 0], back[:, 1], label=label)
    ax.set_aspect("equal")
    ax.legend()
    return figure


def _film() -> plt.Figure:
    """Return the regions of exclusive or by epoch."""
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(200, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same sign", "other sign")
    net = MLPClassifier(6, activation="tanh", learning_rate=0.02, random_state=2)
    figure, axes = plt.subplots(1, 4, figsize=(10.4, 2.9), layout="constrained", sharey=True)
    film_strip(net, X, y, [5, 40, 120, 350], axes=list(axes))
    for ax in axes:
        ax.set(xlabel="first input", ylabel="second input" if ax is axes[0] else "")
    return figure


def _digits_net() -> tuple[MLPClassifier, np.ndarray, np.ndarray]:
    digits = dataset("digits")
    pixels, labels = digits.inputs.to_numpy() / 16, np.asarray(digits.target_values)
    net = MLPClassifier(12, activation="tanh", alpha=20.0, learning_rate=0.01, random_state=0)
    return net.fit(pixels, labels), pixels, labels


def _templates() -> plt.Figure:
    """Return the weights into the hidden units of a network for digits."""
    net, _, _ = _digits_net()
    figure, axes = plt.subplots(2, 6, figsize=(7.8, 3.0), layout="constrained")
    weight_templates(net, (8, 8), axes=list(axes.ravel()))
    return figure


def _maps() -> plt.Figure:
    """Return a digit and the maps of the first layer."""
    digits = dataset("digits")
    pixels, labels = digits.inputs.to_numpy() / 16, np.asarray(digits.target_values)
    net = ConvolutionalClassifier((8, 16), learning_rate=0.01, tol=0.01, random_state=0)
    net.fit(pixels[::2], labels[::2])
    maps = net.feature_maps(pixels[3:4], layer=0)[0]
    figure, axes = plt.subplots(1, 9, figsize=(10.4, 1.6), layout="constrained")
    for number, ax in enumerate(axes):
        ax.imshow(pixels[3].reshape(8, 8) if number == 0 else maps[number - 1], cmap="gray_r")
        ax.set(xticks=[], yticks=[], title="digit" if number == 0 else f"map {number}")
    return figure


def _complexity() -> plt.Figure:
    """Return the error on training rows and on others by the number of units."""
    random = np.random.default_rng(0)
    x = random.uniform(-0.5, 0.5, size=(300, 1))
    y = np.sin(6 * x[:, 0]) + random.normal(scale=0.4, size=300)
    net = MLPRegressor(activation="tanh", solver="lbfgs", alpha=0.0, tol=1e-3, max_iter=5000)
    curve = complexity_curve(
        net, x[:30], y[:30], (x[30:], y[30:]), [1, 2, 3, 5, 8, 12], n_repeats=5, random_state=0
    )
    figure, ax = plt.subplots(figsize=(6.0, 3.4), layout="constrained")
    for place, part in enumerate(("training", "validation")):
        ax.errorbar(
            curve["units"], curve[f"{part}_error"], yerr=curve[f"{part}_deviation"], fmt="o-",
            color=f"C{place}", label=part, capsize=3,
        )  # fmt: skip
    ax.set(xlabel="hidden units", ylabel="share of variance not explained")
    ax.legend()
    return figure


def _pruned() -> plt.Figure:
    """Return the error of a network by its weights while it is pruned, and what is left."""
    X, y = _credit()
    net = MLPClassifier(
        12, activation="tanh", solver="lbfgs", alpha=5.0, tol=1e-3, random_state=0
    ).fit(X[:500], y[:500])
    pruned = prune(net, X[:500], y[:500], (X[500:750], y[500:750]), by="saliency", tol=0.02)
    shares = input_importance(pruned.learner)
    shares = shares[shares > 0].sort_values()
    figure, axes = plt.subplots(1, 2, figsize=(10.4, 3.8), layout="constrained")
    axes[0].plot(pruned.path["weights"], pruned.path["validation_error"], "o-", markersize=3)
    axes[0].set(xscale="log", xlabel="weights", ylabel="mean error on other rows")
    axes[0].invert_xaxis()
    axes[0].set_xticks([700, 300, 100, 30, 15], ["700", "300", "100", "30", "15"], minor=False)
    axes[0].minorticks_off()
    axes[1].barh(np.arange(len(shares)), shares)
    axes[1].set_yticks(np.arange(len(shares)), shares.index, fontsize="small")
    axes[1].set(xlabel="share of the ways to the output")
    return figure


def _sunspots() -> plt.Figure:
    """Return sunspots and twenty years that a network adds by itself."""
    spots = dataset("sunspots").target_values.to_numpy() / 100
    years = dataset("sunspots").inputs["year"].to_numpy()
    past = spots[:-20]
    net = RecurrentRegressor(
        8, solver="lbfgs", combine="mean", alpha=3e-4, tol=3e-4, max_iter=2000, random_state=0
    )
    ahead = net.fit(*next_steps([past])).forecast([past], 20)[0][:, 0]
    figure, ax = plt.subplots(figsize=(8.0, 3.0), layout="constrained")
    ax.plot(years[-90:], 100 * spots[-90:], color="0.5", label="observed")
    ax.plot(years[-20:], 100 * ahead, "o-", color="C1", markersize=3, label="forecast")
    ax.axvline(years[-20] - 0.5, color="0.7", linewidth=1)
    ax.set(xlabel="year", ylabel="sunspots")
    ax.legend()
    return figure


def _time() -> plt.Figure:
    """Return a window of delays, the three kinds of feedback, and one of them unfolded."""
    steps = list(np.random.default_rng(0).normal(size=(4, 6, 1)))
    figure = plt.figure(figsize=(10.0, 6.4), layout="constrained")
    axes = figure.subplot_mosaic([["a", "b", "c"], ["delay", "unfolded", "unfolded"]])
    for letter, feedback in zip("abc", ("hidden", "output", "output-hidden"), strict=True):
        net = RecurrentRegressor(3, feedback=feedback, tol=1.0, random_state=0)
        recurrent_diagram(net.fit(steps, steps), ax=axes[letter])
    window = TimeDelayRegressor(MLPRegressor(3, tol=1.0, random_state=0), window_size=3)
    delay_diagram(window.fit(steps, steps), ax=axes["delay"])
    net = RecurrentRegressor(3, tol=1.0, random_state=0).fit(steps, steps)
    recurrent_diagram(net, n_steps=4, ax=axes["unfolded"])
    return figure
