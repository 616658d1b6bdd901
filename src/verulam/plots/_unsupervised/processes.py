"""Topics as words, documents as topics, clusters by sweep, buffets, and planes of two factors."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.bayes import BinaryFactors, Buffet, DirichletProcessMixture, InfiniteFactors
from verulam.plots._style import axes_or_new, colour, marker, place_legend

#: Documents that are named; more would be unreadable.
MOST_NAMED = 40


def topic_words(
    model: Any, n_words: int = 8, *, topics: ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the most probable words of each topic, with bars as long as their probabilities.

    Parameters
    ----------
    model
        A fitted `LatentDirichletAllocation` or `HierarchicalTopics`.
    n_words
        Words of each topic.
    topics
        Which topics, counted from 0; None for all.
    ax
        Axes to draw on.

    Notes
    -----
    Bars of all topics have one scale. See Alpaydin 16.11.

    Examples
    --------
    >>> from verulam.bayes import LatentDirichletAllocation
    >>> from verulam.plots import topic_words
    >>> texts = ["ball goal ball ball", "paint brush paint paint"] * 5
    >>> model = LatentDirichletAllocation(2, method="variational", random_state=0).fit(texts)
    >>> axes = topic_words(model, 2)
    >>> sorted(text.get_text() for text in axes.texts)
    ['ball', 'brush', 'goal', 'paint']
    """
    if not hasattr(model, "top_words"):
        raise DataError(
            f"model is a {type(model).__name__}; expected a fitted topic model, such as "
            "LatentDirichletAllocation."
        )
    table = model.top_words(n_words)
    which = np.arange(table.shape[1]) if topics is None else np.asarray(topics)
    if which.ndim != 1 or not np.isin(which, np.arange(table.shape[1])).all() or not len(which):
        raise DataError(f"topics must be numbers from 0 to {table.shape[1] - 1}.")
    n_words = len(table)
    probabilities = -np.sort(-model.components_, axis=1)[:, :n_words]
    largest = probabilities[which].max()
    ax = axes_or_new(ax, 1.5 * len(which) + 0.5, 0.3 * n_words + 0.8)
    for place, topic in enumerate(which):
        for rank, word in enumerate(table.iloc[:, topic]):
            length = 0.92 * probabilities[topic, rank] / largest
            bar = Rectangle((place, rank - 0.4), length, 0.8, color=colour(place), alpha=0.35)
            ax.add_patch(bar)
            ax.text(place + 0.03, rank, str(word), va="center", fontsize="small")
    ax.set_xlim(-0.05, len(which))
    ax.set_ylim(n_words - 0.4, -0.6)
    ax.set_xticks(np.arange(len(which)) + 0.46, [f"topic {topic}" for topic in which])
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def document_topics(
    proportions: ArrayLike, *, names: ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Draw documents as bars, divided by their topics.

    Parameters
    ----------
    proportions
        A row for each document with the share of each topic, as `transform` of a topic model
        returns.
    names
        Names of the documents.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.plots import document_topics
    >>> axes = document_topics([[0.7, 0.3], [0.1, 0.9]], names=["first", "second"])
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['first', 'second']
    """
    shares = np.asarray(proportions, dtype=np.float64)
    if shares.ndim != 2 or not np.allclose(shares.sum(axis=1), 1.0):
        raise DataError("proportions must have a row of shares, with sum 1, for each document.")
    if names is not None and np.shape(names) != (len(shares),):
        raise DataError(f"names must be {len(shares)} names, one for each document.")
    ax = axes_or_new(ax, 6.4, min(9.0, 0.25 * len(shares) + 1.2))
    starts = np.zeros(len(shares))
    for topic, share in enumerate(shares.T):
        ax.barh(
            np.arange(len(shares)), share, left=starts, color=colour(topic), height=0.8,
            label=f"topic {topic}",
        )  # fmt: skip
        starts += share
    ax.set_xlim(0, 1)
    ax.set_ylim(len(shares) - 0.5, -0.5)
    ax.set_xlabel("share of the words")
    ax.set_yticks([])
    if len(shares) <= MOST_NAMED:
        shown = np.arange(len(shares)) if names is None else np.asarray(names)
        ax.set_yticks(np.arange(len(shares)), [str(name) for name in shown])
    ax.tick_params("y", length=0)
    place_legend(ax)
    return ax


def cluster_sweeps(mixture: DirichletProcessMixture, *, ax: Axes | None = None) -> Axes:
    """Draw how the rows are divided among clusters after every sweep, the largest below.

    Parameters
    ----------
    mixture
        A fitted `DirichletProcessMixture`.
    ax
        Axes to draw on.

    Notes
    -----
    Clusters are ordered by size in each sweep by itself. See Alpaydin 16.10.

    Examples
    --------
    >>> from verulam.bayes import DirichletProcessMixture
    >>> from verulam.plots import cluster_sweeps
    >>> X = [[0.0], [0.1], [9.0], [9.1]]
    >>> mixture = DirichletProcessMixture(1.0, n_iter=6, burn_in=4, random_state=0).fit(X)
    >>> cluster_sweeps(mixture).get_xlabel()
    'sweep'
    """
    if not isinstance(mixture, DirichletProcessMixture) or not hasattr(mixture, "sweeps_"):
        raise DataError("mixture must be a fitted DirichletProcessMixture.")
    labels = mixture.sweeps_
    n_sweeps, n_rows = labels.shape
    sizes = np.zeros((n_sweeps, int(labels.max()) + 1))
    for step, row in enumerate(labels):
        sizes[step] = np.bincount(row, minlength=sizes.shape[1])
    sizes = -np.sort(-sizes, axis=1) / n_rows
    sizes = sizes[:, sizes.any(axis=0)]
    ax = axes_or_new(ax, 6.4, 3.4)
    last = mixture.n_iter if mixture.method == "gibbs" else 1
    steps = np.arange(last - n_sweeps, last + 1)
    tops = np.cumsum(sizes, axis=1)
    for place in range(sizes.shape[1]):
        low = tops[:, place] - sizes[:, place]
        ax.stairs(
            tops[:, place], steps, baseline=low, fill=True, color=colour(place), alpha=0.8,
            linewidth=0,
        )  # fmt: skip
    ax.axvline(mixture.burn_in, color="0.2", linestyle="--", linewidth=1)
    ax.set_xlim(steps[0], steps[-1])
    ax.set_ylim(0, 1)
    ax.set_xlabel("sweep")
    ax.set_ylabel("share of the rows")
    return ax


def buffet_table(buffet: Buffet | ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw which customer takes which dish: dark where one does.

    Parameters
    ----------
    buffet
        A `Buffet`, or a table of zeros and ones.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.bayes import indian_buffet
    >>> from verulam.plots import buffet_table
    >>> buffet_table(indian_buffet(10, 2.0, random_state=0)).get_ylabel()
    'customer'
    """
    table = np.asarray(buffet.dishes if isinstance(buffet, Buffet) else buffet)
    if table.ndim != 2 or not np.isin(table, (0, 1)).all() or not table.size:
        raise DataError("buffet must be a Buffet with some dishes, or a table of zeros and ones.")
    width = min(8.0, max(3.0, 0.18 * table.shape[1] + 1))
    ax = axes_or_new(ax, width, min(8.0, max(2.4, 0.1 * table.shape[0] + 1)))
    ax.imshow(table, cmap="Greys", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("dish")
    ax.set_ylabel("customer")
    return ax


def factor_plane(
    model: BinaryFactors | InfiniteFactors, X: ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """Draw rows by how much of two factors they have, and the corners where these are whole.

    Parameters
    ----------
    model
        A fitted `BinaryFactors` or `InfiniteFactors`; its two most frequent factors are drawn.
    X
        Rows.
    ax
        Axes to draw on.

    Notes
    -----
    Coordinates are the least squares weights of all factors; rows of the model lie around corners
    of a square. See Alpaydin 16.12.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import BinaryFactors
    >>> from verulam.plots import factor_plane
    >>> X = np.random.default_rng(0).integers(2, size=(40, 2)) @ [[5.0, 0.0, 1.0], [0.0, 4.0, 1.0]]
    >>> model = BinaryFactors(2, n_iter=8, burn_in=6, random_state=0).fit(X)
    >>> factor_plane(model, X).get_xlabel()
    'factor 0'
    """
    components = getattr(model, "components_", None)
    if not isinstance(model, BinaryFactors | InfiniteFactors) or components is None:
        raise DataError("model must be a fitted BinaryFactors or InfiniteFactors.")
    if len(components) < 2:
        raise DataError(f"model has {len(components)} factors; a plane needs two or more.")
    present = model.transform(X)[:, :2] > 0.5
    weights = np.linalg.lstsq(components.T, np.asarray(X, dtype=np.float64).T, rcond=None)[0].T
    ax = axes_or_new(ax, 4.6, 4.4)
    for code in range(4):
        corner = code >> 1, code & 1
        mine = (present == np.array(corner, dtype=bool)).all(axis=1)
        names = [str(place) for place in (0, 1) if corner[place]]
        ax.scatter(
            weights[mine, 0], weights[mine, 1], s=16, color=colour(code), marker=marker(code),
            alpha=0.7, label=" and ".join(names) or "neither",
        )  # fmt: skip
        ax.plot(*corner, marker="+", markersize=14, color="0.1", markeredgewidth=2)
    ax.set_xlabel("factor 0")
    ax.set_ylabel("factor 1")
    place_legend(ax)
    return ax
