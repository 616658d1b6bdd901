"""Topics beside tomotopy at the same perplexity, mixtures with priors beside scikit-learn's."""

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture as TheirMixture
from threadpoolctl import threadpool_limits

from benchmarks._timing import Race, alone, print_races, race
from verulam.bayes import (
    BayesianGaussianMixture,
    DirichletProcessMixture,
    InfiniteFactors,
    LatentDirichletAllocation,
    draw_documents,
)

#: Documents, words of each, words of the vocabulary, topics that they are drawn from.
SHAPE = (2_000, 150, 5_000, 50)
SWEEPS = 100
#: Chains whose perplexities are averaged.
CHAINS = 3
ALPHA, BETA = 0.1, 0.01
#: Passes of a short and of a long fit of a mixture: their difference leaves starts and ends out.
PASSES = (10, 50)
#: Rows, columns and components of mixtures.
MIXTURES = ((20_000, 4, 5), (20_000, 10, 8))


def run() -> None:
    """Print the races, each with one thread on both sides."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(1):
        print_races("Topics", topic_races())
        print_races("Mixtures with priors, one pass", mixture_races())
        print("\n".join(without_peer()))


def corpus(kind: str, seed: int = 0) -> scipy.sparse.csr_array:
    """Return documents of topics that differ in all words, or that share words as texts do."""
    n_documents, length, n_words, n_topics = SHAPE
    random = np.random.default_rng(0)
    topics = random.dirichlet(np.full(n_words, 0.02), size=n_topics)
    if kind == "uneven":
        common = 1.0 / np.arange(1, n_words + 1) ** 0.9
        topics = random.dirichlet(0.05 * n_words * common / common.sum(), size=n_topics)
        topics = 0.9 * topics + 0.1 * common / common.sum()
    counts = draw_documents(
        n_documents, lengths=length, topics=topics, doc_topic_prior=0.1, random_state=seed
    ).counts
    counts.sort_indices()
    return counts


def perplexity(
    counts: scipy.sparse.csr_array, proportions: np.ndarray, topics: np.ndarray
) -> float:
    """Return exp(-ln L / n) of all words, the same formula for both."""
    rows, columns = counts.nonzero()
    likelihood = np.einsum("ij,ij->i", proportions[rows], topics.T[columns])
    return float(np.exp(-(counts.data @ np.log(likelihood)) / counts.data.sum()))


def topic_races() -> list[Race]:
    """Race the samplers with 20 and 100 topics."""
    try:
        import tomotopy
    except ImportError:
        print("  tomotopy is not installed")
        return []
    return [entry for kind in ("drawn", "uneven") for entry in _races_of(kind, tomotopy)]


def _races_of(kind: str, tomotopy: Any) -> list[Race]:
    counts = corpus(kind)
    texts = [_words(counts[[d]]) for d in range(counts.shape[0])]
    races = []
    for n_topics in (20, 100):

        def ours(seed: int = 0, n_topics: int = n_topics) -> LatentDirichletAllocation:
            options = {"doc_topic_prior": ALPHA, "topic_word_prior": BETA, "random_state": seed}
            return LatentDirichletAllocation(
                n_topics, n_iter=SWEEPS, burn_in=SWEEPS - 1, **options
            ).fit(counts)

        def theirs(seed: int = 0, n_topics: int = n_topics) -> Any:
            model = tomotopy.LDAModel(k=n_topics, alpha=ALPHA, eta=BETA, seed=1 + seed)
            model.optim_interval = model.burn_in = 0
            for text in texts:
                model.add_doc(text)
            model.train(SWEEPS, workers=1, parallel=tomotopy.ParallelScheme.NONE)
            return model

        def same(one: Any, other: Any, ours: Any = ours, theirs: Any = theirs) -> None:
            # One chain differs from the next by a percent: means of a few are compared.
            chains = [(one, other), *((ours(seed), theirs(seed)) for seed in range(1, CHAINS))]
            values = [_perplexities(kind, counts, *pair) for pair in chains]
            mean, their_mean, unseen, their_unseen = np.mean(values, axis=0)
            print(f"  {kind}: perplexity {mean:.1f}, theirs {their_mean:.1f}")
            assert mean < 1.01 * their_mean
            print(f"  on held-out halves {unseen:.1f}, theirs {their_unseen:.1f}")
            assert unseen < 1.02 * their_unseen

        name = f"{kind}: {n_topics} topics, {counts.sum():,} words, {SWEEPS} sweeps"
        races.append(race(name, ours, "tomotopy", theirs, same=same))
    return races


def _perplexities(
    kind: str, counts: scipy.sparse.csr_array, ours: LatentDirichletAllocation, theirs: Any
) -> tuple[float, float, float, float]:
    """Return ours and theirs on the texts, and ours and theirs on halves of new ones."""
    topics = np.zeros((theirs.k, counts.shape[1]))
    places = [int(word) for word in theirs.used_vocabs]
    for k in range(theirs.k):
        topics[k, places] = theirs.get_topic_word_dist(k)
    proportions = np.array([document.get_topic_dist() for document in theirs.docs])
    return (
        perplexity(counts, ours.doc_topic_, ours.components_),
        perplexity(counts, proportions, topics),
        *_held_out(kind, ours, theirs, topics),
    )


def _held_out(
    kind: str, ours: LatentDirichletAllocation, theirs: Any, topics: np.ndarray
) -> tuple[float, float]:
    """Return both perplexities of one half of new documents, given the other half."""
    whole = corpus(kind, seed=1)[:200]
    first = whole.copy()
    first.data = np.random.default_rng(2).binomial(whole.data, 0.5)
    second = scipy.sparse.csr_array(whole - first)
    second.eliminate_zeros()
    first.eliminate_zeros()
    documents = [theirs.make_doc(_words(first[[d]])) for d in range(first.shape[0])]
    inferred, _ = theirs.infer(documents, iterations=100, workers=1)
    known = np.unique(theirs.used_vocabs).astype(int)
    # Words that training never had are left out on both sides: theirs have no probability.
    columns = np.zeros(second.shape[1])
    columns[known] = 1.0
    second = scipy.sparse.csr_array(second.multiply(columns))
    second.eliminate_zeros()
    return (
        perplexity(second, ours.transform(first), ours.components_),
        perplexity(second, np.array(inferred), topics),
    )


def _words(row: scipy.sparse.csr_array) -> list[str]:
    return [str(word) for word, n in zip(row.indices, row.data, strict=True) for _ in range(n)]


def mixture_races() -> list[Race]:
    """Race single passes of both kinds of estimate, from the same kind of start."""
    races = []
    for n_rows, n_columns, n_components in MIXTURES:
        random = np.random.default_rng(0)
        centres = 2 * random.normal(size=(n_components, n_columns))
        X = centres[random.integers(n_components, size=n_rows)]
        X = X + random.normal(size=X.shape)
        for estimate in ("map", "full"):
            name = f"{estimate}: {n_rows:,} x {n_columns}, {n_components} components"
            short, long = (
                race(
                    name,
                    partial(_fit_ours, X, n_components, estimate, n_passes),
                    "scikit-learn",
                    partial(_fit_theirs, X, n_components, n_passes),
                    same=partial(_as_likely, X),
                )
                for n_passes in PASSES
            )
            more = PASSES[1] - PASSES[0]
            ours, theirs = (long.ours - short.ours) / more, (long.theirs - short.theirs) / more
            races.append(replace(long, ours=ours, theirs=theirs))
    return races


def _as_likely(X: np.ndarray, ours: BayesianGaussianMixture, theirs: TheirMixture) -> None:
    """Compare mean log-densities: starts and priors differ, so that ours must be no lower."""
    scores = ours.score(X) / len(X), theirs.score(X)
    assert scores[0] > scores[1] - 0.1, scores


def _fit_ours(
    X: np.ndarray, n_components: int, estimate: str, n_passes: int
) -> BayesianGaussianMixture:
    learner = BayesianGaussianMixture(
        n_components, estimate=estimate, tol=0.0, max_iter=n_passes,
        init_params="random_from_data", random_state=0,
    ).fit(X)  # fmt: skip
    # Passes end early where the bound cannot rise any more.
    assert learner.n_iter_ == n_passes
    return learner


def _fit_theirs(X: np.ndarray, n_components: int, n_passes: int) -> TheirMixture:
    learner = TheirMixture(
        n_components=n_components,
        tol=0.0,
        max_iter=n_passes,
        init_params="random_from_data",
        random_state=0,
    ).fit(X)
    assert learner.n_iter_ == n_passes
    return learner


def without_peer() -> list[str]:
    """Return times of samplers that no maintained library has."""
    random = np.random.default_rng(0)
    X = 6 * random.normal(size=(5, 2))[random.integers(5, size=2000)] + random.normal(
        size=(2000, 2)
    )
    process = DirichletProcessMixture(1.0, n_iter=100, burn_in=50, n_chains=1, random_state=0)
    Z = random.integers(2, size=(500, 4))
    rows = Z @ (4 * random.normal(size=(4, 10))) + 0.5 * random.normal(size=(500, 10))
    factors = InfiniteFactors(1.0, n_iter=100, burn_in=50, n_chains=1, random_state=0)
    return [
        "  " + alone("Dirichlet process, 2,000 x 2, 100 sweeps", partial(process.fit, X)),
        "  " + alone("infinite factors, 500 x 10, 100 sweeps", partial(factors.fit, rows)),
    ]
