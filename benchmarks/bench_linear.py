"""Linear trainers beside scikit-learn's, on the same rows."""

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, SGDRegressor
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.svm import LinearSVC

from benchmarks._timing import Race, alike, alone, best_time, print_races, race
from verulam.linear import (
    GeneralisedLinear,
    GradientLogistic,
    LeastMeanSquares,
    LinearRanker,
    LogisticDiscriminant,
    OnlineRegression,
    Perceptron,
    Scorecard,
    preferences_from_relevance,
    separability,
)
from verulam.numerics import constant

PASSES = 20


def run() -> None:
    """Print the races."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        print_races("Linear trainers", [entry for size in SIZES for entry in _trainers(*size)])
        print_races("Logistic discrimination, tol 1e-5", _logistic())
        print_races("Ranking", [_ranking(groups) for groups in (100, 400)])
        print_races("Shares and scorecards", [_shares(), _scorecard()])
    _separability_times()
    _stream_rates()


SIZES = ((20_000, 20), (100_000, 50))


def _trainers(n_rows: int, n_columns: int) -> list[Race]:
    rows, classes = _overlapping(n_rows, n_columns)
    size = f"{n_rows:,} x {n_columns}"
    signs = np.where(classes == 1, 1.0, -1.0)
    rate = 0.1 / n_columns
    theirs = TheirPerceptron(max_iter=PASSES, tol=None, random_state=0)

    def as_accurate(one: Any, other: Any) -> bool:
        """Compare accuracies: of classes that overlap, planes swing by a tenth to the end."""
        accuracies = [(np.where(fitted.predict(rows) > 0, 1, 0) == classes).mean()
                      for fitted in (one, other)]  # fmt: skip
        return accuracies[0] > accuracies[1] - 0.1

    return [
        race(
            f"perceptron, {PASSES} passes, {size}",
            lambda: Perceptron(max_iter=PASSES, random_state=0).fit(rows, classes),
            "scikit-learn",
            lambda: theirs.fit(rows, classes),
            same=as_accurate,
        ),
        race(
            f"averaged perceptron, {PASSES} passes, {size}",
            lambda: Perceptron(average=True, max_iter=PASSES, random_state=0).fit(rows, classes),
            "scikit-learn's, not averaged",
            lambda: theirs.fit(rows, classes),
            same=as_accurate,
        ),
        race(
            f"least mean squares, one streamed pass, {size}",
            lambda: LeastMeanSquares(learning_rate=constant(rate)).partial_fit(rows, classes),
            "scikit-learn's SGDRegressor",
            lambda: SGDRegressor(
                learning_rate="constant", eta0=rate, penalty=None, random_state=0
            ).partial_fit(rows, signs),
            same=as_accurate,
        ),
    ]


def _logistic() -> list[Race]:
    races = []
    for n_rows, n_columns in ((20_000, 20), (100_000, 50)):
        rows, classes = _logistic_sample(n_rows, n_columns, 2)
        for solver in ("newton-cholesky", "lbfgs"):
            theirs = LogisticRegression(solver=solver, tol=1e-5, max_iter=500)
            races.append(
                race(
                    f"two classes, {n_rows:,} x {n_columns}",
                    lambda rows=rows, classes=classes: LogisticDiscriminant(tol=1e-5).fit(
                        rows, classes
                    ),
                    f"scikit-learn, {solver}",
                    lambda rows=rows, classes=classes, theirs=theirs: theirs.fit(rows, classes),
                    same=partial(_as_likely, rows, classes),
                )
            )
    for n_rows, n_columns, n_classes in ((5_000, 20, 5), (20_000, 50, 10)):
        rows, classes = _logistic_sample(n_rows, n_columns, n_classes)
        theirs = LogisticRegression(tol=1e-5, max_iter=500)
        races.append(
            race(
                f"{n_classes} classes, {n_rows:,} x {n_columns}",
                lambda rows=rows, classes=classes: LogisticDiscriminant(tol=1e-5).fit(
                    rows, classes
                ),
                "scikit-learn, lbfgs",
                lambda rows=rows, classes=classes, theirs=theirs: theirs.fit(rows, classes),
                same=partial(_as_likely, rows, classes),
            )
        )
    return races


def _as_likely(rows: np.ndarray, classes: np.ndarray, ours: Any, theirs: Any) -> None:
    """Compare the penalised losses that both have come to: ours must not be above the peer's."""
    losses = []
    for learner in (ours, theirs):
        chances = learner.predict_proba(rows)[np.arange(len(rows)), classes]
        losses.append(-np.log(chances).sum() + 0.5 * (learner.coef_**2).sum())
    assert losses[0] < losses[1] * (1 + 1e-6), losses


def _ranking(n_groups: int) -> Race:
    random = np.random.default_rng(0)
    rows = random.normal(size=(n_groups * 50, 20))
    groups = np.repeat(np.arange(n_groups), 50)
    relevance = np.round(rows[:, :5].sum(axis=1) + random.normal(size=len(rows)))

    def by_differences() -> LinearSVC:
        pairs = preferences_from_relevance(relevance, groups)
        differences = rows[pairs.better] - rows[pairs.worse]
        signs = np.where(np.arange(len(pairs)) % 2, 1, -1)
        learner = LinearSVC(fit_intercept=False, dual=False)
        return learner.fit(differences * signs[:, None], signs)

    def as_well_ordered(ours: LinearRanker, theirs: LinearSVC) -> bool:
        """Losses differ (logistic, squared hinge): ours must order as many pairs rightly."""
        pairs = preferences_from_relevance(relevance, groups)
        right = [
            (scores[pairs.better] > scores[pairs.worse]).mean()
            for scores in (ours.predict(rows), theirs.decision_function(rows))
        ]
        return right[0] > right[1] - 0.002

    return race(
        f"{n_groups:,} groups of 50 x 20",
        lambda: LinearRanker(tol=1e-4).fit(rows, relevance, groups),
        "scikit-learn's LinearSVC on differences",
        by_differences,
        same=as_well_ordered,
    )


def _shares() -> Race:
    """Race statsmodels for the maximum of one likelihood, with standard errors."""
    rows, codes = _logistic_sample(20_000, 10, 4)
    labels = np.eye(4)[codes]

    def theirs() -> Any:
        from statsmodels.api import MNLogit, add_constant

        return MNLogit(codes, add_constant(rows)).fit(disp=0)

    def same(ours: GeneralisedLinear, peer: Any) -> None:
        chances = ours.predict(rows)[np.arange(len(rows)), codes]
        np.testing.assert_allclose(np.log(chances).sum(), peer.llf, rtol=1e-6)

    return race(
        "multinomial, 20,000 x 10, 4 categories",
        lambda: GeneralisedLinear(family="multinomial").fit(rows, labels),
        "statsmodels' MNLogit",
        theirs,
        same=same,
    )


def _scorecard() -> Race:
    rows, codes = _logistic_sample(50_000, 10, 2)
    ranges = KBinsDiscretizer(5, quantile_method="averaged_inverted_cdf")
    theirs = make_pipeline(ranges, LogisticRegression(max_iter=1000))
    return race(
        "scorecard, 50,000 x 10, 5 ranges each",
        lambda: Scorecard().fit(rows, codes),
        "scikit-learn's ranges and logistic regression",
        lambda: theirs.fit(rows, codes),
        same=lambda one, other: alike(0.98)(one.predict(rows), other.predict(rows)),
    )


def _logistic_sample(n_rows: int, n_columns: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    rows = random.normal(size=(n_rows, n_columns))
    weights = random.normal(size=(n_classes, n_columns)) / 3
    return rows, (rows @ weights.T + random.gumbel(size=(n_rows, n_classes))).argmax(axis=1)


def _separability_times() -> None:
    rows, classes = _overlapping(2_000, 20)
    plane = rows @ np.arange(1.0, 21.0) > 0
    for name, labels in (("separable", plane), ("not separable", classes)):
        work = partial(separability, rows, labels)
        print("  " + alone(f"linear program, 2,000 x 20, {name}", work))


def _stream_rates() -> None:
    """Print how many numbers a second one thread takes from a stream in chunks of 1,000 rows."""
    rows, classes = _overlapping(200_000, 50)
    chunks = [(rows[at : at + 1_000], classes[at : at + 1_000]) for at in range(0, 200_000, 1_000)]
    streams = {
        "averaged perceptron": Perceptron(average=True),
        "least mean squares": LeastMeanSquares(learning_rate=constant(0.002)),
        "logistic": GradientLogistic(learning_rate=constant(0.002), random_state=0),
        "regression": OnlineRegression(learning_rate=constant(0.002)),
    }
    for name, learner in streams.items():

        def pass_by(learner: Any = learner) -> None:
            fresh = clone(learner)
            for part, labels in chunks:
                fresh.partial_fit(part, labels)

        seconds = best_time(pass_by)
        rate = rows.size / seconds / 1e6
        print(f"  stream, {name}, 200,000 x 50: {rate:.0f} million instances x features a second")


def _overlapping(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    classes = np.arange(n_rows) % 2
    return random.normal(size=(n_rows, n_columns)) + 0.2 * classes[:, None], classes
