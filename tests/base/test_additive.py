"""The additive contract: one definition at three scales, for every learner that declares it."""

import subprocess
import sys
import textwrap
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from verulam.base import (
    Additive,
    DataError,
    EMRun,
    ManyPasses,
    OnePass,
    OnePassClassifier,
    encode_classes,
    numeric_targets,
)
from verulam.bayes import (
    BayesianGaussianClassifier,
    BayesianGaussianMixture,
    BayesianLinearRegression,
    NormalGammaRegression,
)
from verulam.catalogue import our_entries
from verulam.cluster import FuzzyKMeans, GaussianMixture, KMeans
from verulam.local import GenerativeTopographicMap, SelfOrganisingMap
from verulam.parametric import (
    BernoulliDensity,
    GaussianClassifier,
    GaussianDensity,
    IncompleteGaussianDensity,
    LeastSquares,
    MultinomialDensity,
    NaiveBayes,
    NearestMean,
    PolynomialRegression,
    SampleMoments,
)
from verulam.reduction import (
    CanonicalCorrelations,
    DiscriminantProjection,
    FactorAnalysis,
    PrincipalComponents,
    ProbabilisticComponents,
)

LEARNERS = [
    BayesianGaussianClassifier(),
    BayesianGaussianMixture(n_components=2, random_state=0),
    # Given precisions: those of the largest evidence are found by a search, to its tolerance.
    BayesianLinearRegression(prior_precision=1.0, noise_precision=2.0),
    BernoulliDensity(threshold=1.0),
    CanonicalCorrelations(n_components=1),
    DiscriminantProjection(),
    FactorAnalysis(n_components=1),
    GaussianClassifier(covariance_type="full"),
    GaussianClassifier(covariance_type="tied"),
    GaussianClassifier(covariance_type="diag"),
    GaussianDensity(),
    GaussianMixture(n_components=2, random_state=0),
    GenerativeTopographicMap(),
    IncompleteGaussianDensity(),
    KMeans(n_clusters=3, random_state=0),
    FuzzyKMeans(n_clusters=3, random_state=0),
    LeastSquares(),
    MultinomialDensity(),
    NaiveBayes(),
    NearestMean(metric="mahalanobis"),
    NormalGammaRegression(),
    PolynomialRegression(),
    PrincipalComponents(),
    ProbabilisticComponents(n_components=2),
    SampleMoments(),
    SelfOrganisingMap(random_state=0),
]
IDS = [f"{type(learner).__name__}-{number}" for number, learner in enumerate(LEARNERS)]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=900)
    X = rng.gamma(2.0, size=(900, 4)) + 0.5 * y[:, None]
    return X, y, rng.integers(1, 4, size=900).astype(float)


def fitted_numbers(learner):
    """Return every fitted array and number of a learner, by name."""
    return {
        name: np.asarray(value, dtype=float)
        for name, value in vars(learner).items()
        if name.endswith("_") and isinstance(value, np.ndarray | float | int)
        if np.asarray(value).dtype.kind in "fiu"
    }


def assert_same_fit(first, second):
    expected = fitted_numbers(first)
    numbers = fitted_numbers(second)
    assert expected.keys() == numbers.keys()
    assert expected
    for name, value in expected.items():
        assert_allclose(numbers[name], value, rtol=1e-8, atol=1e-10, err_msg=name)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as running,
        distributed.Client(running) as client,
    ):
        yield client


def test_every_additive_learner_is_in_the_list():
    # Learners of sequences add up over sequences, not rows, and networks over categories, which
    # they cut from the numbers of the first chunk; their own tests show it.
    declared = {
        entry.learner_class
        for entry in our_entries()
        if entry.abilities.additive
        and not entry.abilities.sequences
        and not entry.name.startswith("graphical.")
    }
    assert declared == {type(learner) for learner in LEARNERS}


@pytest.mark.parametrize("learner", LEARNERS, ids=IDS)
def test_memory_equals_stream_equals_cluster(learner, data, cluster):
    import dask.array

    X, y, weights = data
    in_memory = clone(learner).fit(X, y, sample_weight=weights)
    pieces = [
        (X[start : start + 100], y[start : start + 100], weights[start : start + 100])
        for start in range(0, 900, 100)
    ]
    assert_same_fit(in_memory, clone(learner).fit(lambda: iter(pieces)))
    parts = [dask.array.from_array(part, chunks=(250, *part.shape[1:])) for part in data]
    assert_same_fit(in_memory, clone(learner).fit(*parts))


def test_dask_frames_with_categories(cluster):
    import dask.dataframe

    frame = pd.DataFrame({"a": pd.Categorical(list("xyzx") * 25), "b": np.arange(100.0)})
    y = pd.Series(list("pqqp") * 25)
    in_memory = NaiveBayes().fit(frame, y)
    far = NaiveBayes().fit(
        dask.dataframe.from_pandas(frame, npartitions=4),
        dask.dataframe.from_pandas(y, npartitions=4),
    )
    assert_array_equal(far.feature_names_in_, ["a", "b"])
    assert_allclose(far.predict_proba(frame), in_memory.predict_proba(frame), rtol=1e-8)


def test_chunks_may_bring_new_classes_and_categories():
    whole = pd.DataFrame({"a": ["x", "y", "x", "z"]}, dtype="category")
    y = ["p", "p", "q", "r"]
    pieces = [
        (pd.DataFrame({"a": pd.Categorical([value])}), [label])
        for value, label in zip(whole["a"], y, strict=True)
    ]
    streamed = NaiveBayes().fit(iter(pieces))
    assert_array_equal(streamed.classes_, ["p", "q", "r"])
    assert_allclose(streamed.predict_proba(whole), NaiveBayes().fit(whole, y).predict_proba(whole))


# A third of rows that hardly depend on one another may leave a factor with one column.
@pytest.mark.filterwarnings("ignore:Heywood case")
@pytest.mark.parametrize("learner", LEARNERS, ids=IDS)
def test_partial_fit_in_any_order(learner, data):
    if not hasattr(learner, "partial_fit"):
        pytest.skip("needs several passes")
    X, y, weights = data
    pieces = clone(learner)
    for rows in (slice(600, 900), slice(0, 600)):
        pieces.partial_fit(X[rows], y[rows], sample_weight=weights[rows])
    assert_same_fit(clone(learner).fit(X, y, sample_weight=weights), pieces)


def test_partial_fit_knows_classes_to_come():
    learner = NaiveBayes().partial_fit([[0.0], [1.0]], ["a", "a"], classes=["a", "b"])
    assert_array_equal(learner.predict([[0.5]]), ["a"])
    learner.partial_fit([[9.0], [10.0]], ["b", "b"])
    assert_array_equal(learner.predict([[0.5], [9.5]]), ["a", "b"])


def test_many_passes_need_a_stream_that_starts_again(data):
    X = data[0]
    with pytest.raises(DataError, match="one-shot iterator"):
        IncompleteGaussianDensity().fit(iter([X]))


def test_too_few_passes_are_reported():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[::2, 0] = np.nan
    with pytest.warns(ConvergenceWarning, match="had not converged after max_iter=2"):
        IncompleteGaussianDensity(max_iter=2, tol=0.0).fit(X)


@dataclass
class _Halving(ManyPasses):
    """A number that every pass halves; the objective is how near it has come to zero."""

    max_iter: int = 50
    tol: float = 1e-3

    def _total(self, source, parameters):
        return parameters

    def _statistics(self, chunk, parameters):
        raise AssertionError

    def _update(self, statistics):
        return statistics / 2

    def _objective(self, statistics):
        return -statistics

    def _store(self, parameters):
        self.number_ = parameters


def test_a_run_ends_when_a_pass_gains_too_little():
    run = _Halving()._run(None, 1.0)
    assert run.converged
    assert_allclose(run.curve, -(0.5 ** np.arange(len(run.curve))))
    # The last pass gained no more than tol, and the one before did.
    assert run.curve[-1] - run.curve[-2] <= 1e-3 < run.curve[-2] - run.curve[-3]
    assert_allclose(run.parameters, -run.curve[-1] / 2)
    assert run.statistics == -run.curve[-1]


def test_a_revision_may_change_parameters_and_begin_the_curve_anew():
    def revise(run):
        if not run.notes:
            run.notes.append("set back")
            run.parameters = 8.0
            run.curve.clear()

    run = _Halving()._run(None, 1.0, revise)
    assert run.curve[:2] == [-8.0, -4.0]
    assert run.notes == ["set back"]


def test_the_run_that_ends_highest_is_taken():
    learner = _Halving(max_iter=2, tol=0.0)
    runs = [learner._run(None, start) for start in (4.0, 1.0, 1.0, 2.0)]
    with pytest.warns(ConvergenceWarning, match="_Halving had not converged after max_iter=2"):
        assert learner._conclude(runs) is runs[1]
    assert (learner.number_, learner.n_iter_, learner.converged_) == (0.25, 2, False)
    assert learner.objective_curve_ == [-1.0, -0.5]
    # A curve that a revision has cleared in the last pass counts as the lowest.
    with pytest.warns(ConvergenceWarning):
        assert learner._conclude([EMRun(9.0), runs[0]]) is runs[0]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        (np.array(["a", None], dtype=object), "label of row 1 is missing"),
        ([1.0, np.inf], "contains infinity"),
        (np.array(["a", 1], dtype=object), "cannot be put in order"),
        ([0.3, 1.7], "Unknown label type"),
        ([], "no rows"),
    ],
)
def test_bad_labels(y, message):
    with pytest.raises(ValueError, match=message):
        encode_classes(NaiveBayes(), y)


def test_labels_keep_their_type():
    for labels in (
        np.array([3, 1, 3]),
        np.array(["b", "a", "b"]),
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="category"),
        np.array([True, False, True]),
    ):
        codes, classes = encode_classes(NaiveBayes(), labels)
        assert_array_equal(codes, [1, 0, 1])
        assert_array_equal(classes, np.unique(np.asarray(labels)))


def test_many_classes_are_no_reason_to_warn():
    codes, classes = encode_classes(NaiveBayes(), np.repeat(np.arange(30), 2))
    assert len(classes) == 30
    assert codes.max() == 29


def test_chunk_without_weight_counts_for_nothing():
    X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([0, 0, 1, 1])
    pieces = [(X, y, np.ones(4)), (X + 50, y, np.zeros(4))]
    streamed = NearestMean().fit(iter(pieces))
    assert_allclose(streamed.means_, NearestMean().fit(X, y).means_)
    with pytest.raises(ValueError, match="at least one row needs a weight above zero"):
        NearestMean().fit(X, y, sample_weight=np.zeros(4))


def test_one_class_is_not_enough():
    with pytest.raises(ValueError, match="only one class: a"):
        GaussianClassifier().fit([[1.0], [2.0]], np.array(["a", "a"], dtype=object))


def test_rows_and_labels_must_match():
    with pytest.raises(ValueError, match="X has 2 rows and y has 3"):
        GaussianClassifier().fit([[1.0], [2.0]], [0, 1, 1])


STREAM = """
import numpy as np
from verulam.parametric import GaussianClassifier

def chunks():
    rng = np.random.default_rng(0)
    for _ in range({chunks}):
        y = rng.integers(2, size=100_000)
        X = rng.standard_normal((100_000, 20))
        X += y[:, None]
        yield X, y

learner = GaussianClassifier(covariance_type="full").fit(chunks)
assert learner.statistics_.statistics.weight.sum() == {chunks} * 100_000
assert abs(learner.means_[1].mean() - 1) < 0.01
# Not ru_maxrss: a child process starts with the high-water mark of its parent.
with open("/proc/self/status") as status:
    print(next(line for line in status if line.startswith("VmHWM")).split()[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize(
    "n_chunks", [10, pytest.param(100, marks=pytest.mark.slow, id="ten-million-rows")]
)
def test_streaming_stays_in_constant_memory(n_chunks):
    code = textwrap.dedent(STREAM.format(chunks=n_chunks))
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert int(result.stdout) * 1024 < 600e6


def test_passes_of_the_learners():
    assert isinstance(NaiveBayes(), OnePassClassifier)
    assert isinstance(LeastSquares(), OnePass)
    assert isinstance(IncompleteGaussianDensity(), ManyPasses)
    assert all(isinstance(learner, Additive) for learner in LEARNERS)
    run = EMRun(parameters=None)
    assert (run.curve, run.converged) == ([], False)


def test_numeric_targets_are_finite_numbers():
    assert numeric_targets(LeastSquares(), [1, 2]).dtype == np.float64
    with pytest.raises(DataError, match="first at row 1"):
        numeric_targets(LeastSquares(), [1.0, np.nan])
    with pytest.raises(ValueError, match="requires y"):
        numeric_targets(LeastSquares(), None)
