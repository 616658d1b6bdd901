"""Pictures of the guide's page on sequences, and the figures of the text's chapter 15."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from verulam.data import URN_CHAIN
from verulam.plots import objective_curve, posterior_ribbon, state_diagram, trellis
from verulam.sequence import CategoricalEmission, HiddenMarkovModel, TransitionMatrix

COLOURS = ("red", "green", "blue", "yellow")
#: What the three hidden urns hold; the text gives the balls drawn, not the urns' contents.
URNS = ((0.6, 0.2, 0.1, 0.1), (0.1, 0.6, 0.2, 0.1), (0.1, 0.1, 0.4, 0.4))
BALLS = ("red", "red", "green", "blue", "yellow")


def draw_sequence(folder: Path) -> None:
    """Draw the page's pictures and those of the gallery into `folder`."""
    for name, figure in (
        ("nile", _nile()),
        ("urns", _urns()),
        ("trellis", _trellis()),
        ("forward-backward", _forward_backward()),
        ("left-to-right", _left_to_right()),
        ("learning", _learning()),
    ):
        figure.savefig(folder / f"sequence-{name}.png", dpi=110)
        plt.close(figure)


def _nile() -> plt.Figure:
    from statsmodels.datasets import nile

    data = nile.load_pandas().data
    volume = data["volume"].to_numpy()
    model = HiddenMarkovModel(2, n_init=5, random_state=0).fit(volume)
    order = np.argsort(-model.emission_.means.ravel())
    figure, ax = plt.subplots(figsize=(8.4, 3.4), layout="constrained")
    posterior_ribbon(
        model.predict_proba(volume)[:, order],
        volume,
        times=data["year"].to_numpy(),
        names=["wet", "dry"],
        ax=ax,
    )
    figure.axes[1].set_ylabel("volume ($10^8$ m³)")
    ax.set_xlabel("year")
    return figure


def _urns() -> plt.Figure:
    figure, ax = plt.subplots(figsize=(4.8, 4.6), layout="constrained")
    state_diagram(URN_CHAIN.transition, initial=URN_CHAIN.initial, names=URN_CHAIN.states, ax=ax)
    return figure


def _hidden_urns() -> HiddenMarkovModel:
    return HiddenMarkovModel.from_parameters(
        URN_CHAIN.initial,
        URN_CHAIN.transition,
        CategoricalEmission(symbols=COLOURS, probabilities=URNS),
    )


def _trellis() -> plt.Figure:
    model = _hidden_urns()
    figure, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    trellis(
        model.predict_proba(list(BALLS)),
        path=model.predict(list(BALLS)),
        observations=BALLS,
        names=["urn 1", "urn 2", "urn 3"],
        ax=ax,
    )
    return figure


def _forward_backward() -> plt.Figure:
    """Return what is known of the states from the past, and from the whole sequence."""
    model = _hidden_urns()
    figure, axes = plt.subplots(1, 2, figsize=(10.4, 3.2), layout="constrained")
    for ax, shares, title in (
        (axes[0], model.filter(list(BALLS)), r"forward: $P(q_t \mid O_1 \ldots O_t)$"),
        (axes[1], model.predict_proba(list(BALLS)), r"both: $\gamma_t = P(q_t \mid O)$"),
    ):
        trellis(shares, observations=BALLS, ax=ax)
        ax.set_title(title, fontsize="medium")
    return figure


def _left_to_right() -> plt.Figure:
    matrix = TransitionMatrix("left-to-right", jump=2).start(4, np.random.default_rng(0)).matrix
    figure, ax = plt.subplots(figsize=(6.4, 2.8), layout="constrained")
    state_diagram(matrix, ax=ax)
    return figure


def _learning() -> plt.Figure:
    drawn = _hidden_urns().sample(60, 20, random_state=0).observations
    model = HiddenMarkovModel(3, CategoricalEmission(), n_init=3, max_iter=2000, random_state=0)
    figure, ax = plt.subplots(figsize=(5.0, 3.4), layout="constrained")
    objective_curve(model.fit(drawn).objective_curve_[:80], ax=ax)
    return figure
