"""Pictures of the guide's page on topics, clusters and features without a number."""

import warnings
from pathlib import Path
from pydoc_data.topics import topics as pages

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer

from verulam.bayes import (
    BinaryFactors,
    DirichletProcessMixture,
    LatentDirichletAllocation,
    indian_buffet,
)
from verulam.data import dataset
from verulam.plots import (
    buffet_table,
    cluster_sweeps,
    document_topics,
    factor_plane,
    topic_words,
)

#: Pages of Python's reference that are shown as mixtures.
SHOWN = (
    "integers", "floating", "string-methods", "formatstrings", "dict", "typesmapping", "class",
    "try", "exceptions", "import", "debugger",
)  # fmt: skip


def draw_topics(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = _topics()
        figures = {
            "words": topic_words(model, 8).figure,
            "documents": _documents(model),
            "sweeps": _sweeps(),
            "features": _features(),
        }
    for name, figure in figures.items():
        figure.savefig(folder / f"topics-{name}.png", dpi=110)
        plt.close(figure)


def _topics() -> LatentDirichletAllocation:
    """Return eight topics of Python's reference pages."""
    words = CountVectorizer(stop_words="english", min_df=3, max_df=0.5)
    return LatentDirichletAllocation(
        8, doc_topic_prior=0.1, topic_word_prior=0.05, vectorizer=words, n_iter=600, burn_in=300,
        random_state=2,
    ).fit(list(pages.values()))  # fmt: skip


def _documents(model: LatentDirichletAllocation) -> plt.Figure:
    names = [page for page in SHOWN if page in pages]
    rows = [list(pages).index(page) for page in names]
    return document_topics(model.doc_topic_[rows], names=names).figure


def _sweeps() -> plt.Figure:
    """Return the clusters of penguins by the size of their bills, sweep by sweep."""
    penguins = dataset("penguins").inputs[["bill_length_mm", "bill_depth_mm"]].dropna()
    return cluster_sweeps(
        DirichletProcessMixture(n_iter=400, burn_in=100, random_state=0).fit(penguins)
    ).figure


def _features() -> plt.Figure:
    """Return a buffet, and rows by two factors."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    buffet_table(indian_buffet(50, 2.0, random_state=0), ax=left)
    random = np.random.default_rng(0)
    present = random.integers(2, size=(120, 2))
    rows = present @ [[5.0, 0.0, 5.0], [0.0, 4.0, 0.0]] + 0.6 * random.normal(size=(120, 3))
    factor_plane(BinaryFactors(2, random_state=0).fit(rows), rows, ax=right)
    return figure
