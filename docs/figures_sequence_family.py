"""Pictures of the guide's page on the family of hidden Markov models."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from verulam.sequence import (
    HiddenMarkovModel,
    LinearDynamicalSystem,
    duration_probabilities,
    factorial_model,
    linear_system,
    semi_markov_model,
    split_states,
)

BLUE, ORANGE = "#0072b2", "#d55e00"


def draw_sequence_family(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    for name, figure in (
        ("nile", _nile()),
        ("kitchen", _kitchen()),
        ("durations", _durations()),
    ):
        figure.savefig(folder / f"sequence-family-{name}.png", dpi=110)
        plt.close(figure)


def _nile() -> plt.Figure:
    from statsmodels.datasets import nile

    data = nile.load_pandas().data
    years, volume = data["year"].to_numpy(), data["volume"].to_numpy()
    start = linear_system(1.0, 1e3, 1.0, 2e4, initial_mean=volume[0], initial_covariance=1e5)
    known = ("transition", "observation", "offset", "initial_mean", "initial_covariance")
    model = LinearDynamicalSystem(init=start, fixed=known, tol=1e-6).fit(volume)
    gappy = volume.copy()
    gappy[20:30] = np.nan
    level = model.smooth(gappy)
    mean, spread = level.means[:, 0], 1.96 * np.sqrt(level.covariances[:, 0, 0])
    ahead = model.forecast(gappy, 10)
    later = years[-1] + 1 + np.arange(10)
    reach = 1.96 * np.sqrt(ahead.covariances[:, 0, 0])
    figure, ax = plt.subplots(figsize=(8.4, 3.6), layout="constrained")
    ax.axvspan(years[20] - 0.5, years[29] + 0.5, color="0.92", label="left out")
    ax.plot(years, gappy, "o", ms=3, color="0.45", label="measured")
    ax.fill_between(years, mean - spread, mean + spread, color=BLUE, alpha=0.25, lw=0)
    ax.plot(years, mean, color=BLUE, label="level, with 95% band")
    upper, lower = ahead.means[:, 0] + reach, ahead.means[:, 0] - reach
    ax.fill_between(later, lower, upper, color=ORANGE, alpha=0.25, lw=0)
    ax.plot(later, ahead.means[:, 0], color=ORANGE, label="to come, with 95% band")
    ax.set(xlabel="year", ylabel="volume ($10^8$ m³)")
    ax.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.16), frameon=False)
    return figure


def _kitchen() -> plt.Figure:
    random = np.random.default_rng(0)
    kettle = np.repeat(np.tile([0, 1], 25), random.integers(4, 12, size=50))[:300]
    fridge = np.repeat(np.tile([0, 1], 15), random.integers(8, 14, size=30))[:300]
    power = 2.0 * kettle + 0.4 * fridge + 0.1 * random.normal(size=300)
    model = factorial_model((2, 2), n_init=6, random_state=0).fit(power)
    states = split_states(model.predict(power), (2, 2))
    adds = model.emission_.contributions.reshape(2, 2)
    on = states == adds.argmax(axis=1)
    large, small = np.argsort(-np.ptp(adds, axis=1))
    steps = np.arange(120)
    figure, axes = plt.subplots(
        3, 1, figsize=(8.4, 4.4), sharex=True, layout="constrained", height_ratios=(2, 1, 1)
    )
    axes[0].step(steps, power[:120], where="mid", color="0.35", lw=1)
    axes[0].set_ylabel("meter (kW)")
    for ax, name, chain, truth, shade in (
        (axes[1], "kettle", large, kettle, BLUE),
        (axes[2], "fridge", small, fridge, ORANGE),
    ):
        ax.fill_between(
            steps, on[:120, chain], step="mid", color=shade, alpha=0.4, lw=0, label="found"
        )
        ax.step(steps, truth[:120], where="mid", color="0.2", lw=1, label="true")
        ax.set(ylabel=name, yticks=(0, 1), yticklabels=("off", "on"), ylim=(-0.1, 1.2))
    handles = axes[1].get_legend_handles_labels()
    axes[0].legend(*handles, ncols=2, loc="upper right", frameon=False, bbox_to_anchor=(1, 1.2))
    axes[2].set_xlabel("step")
    return figure


def _durations() -> plt.Figure:
    random = np.random.default_rng(1)
    truth = np.repeat(np.tile([0, 1], 40), random.integers(6, 10, size=80))
    signal = 1.5 * truth + random.normal(size=len(truth))
    timed = semi_markov_model(2, 14, random_state=0).fit(signal)
    plain = HiddenMarkovModel(2, random_state=0).fit(signal)
    lengths = np.arange(1, 17)
    learned = duration_probabilities(timed.model_.transitions.tables[1], 16).mean(axis=0)
    stay = np.diag(plain.transitions_)[:, None]
    geometric = (stay ** (lengths - 1) * (1 - stay)).mean(axis=0)
    figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    ax.bar(lengths, learned, color=BLUE, alpha=0.6, label="semi-Markov, learned")
    ax.step(lengths, geometric, where="mid", color=ORANGE, label="plain, learned")
    ax.plot(lengths, np.isin(lengths, (6, 7, 8, 9)) / 4, "o", color="0.2", ms=4, label="true")
    ax.set(xlabel="duration of a regime (steps)", ylabel="probability", xticks=lengths)
    ax.legend(frameon=False)
    return figure
