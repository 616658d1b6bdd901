"""Pictures, estimates and passes as arrays."""

from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from verulam.base import DataError
from verulam.decision import decision_regions
from verulam.kernel import Gaussian
from verulam.lab import (
    Estimate,
    Generated,
    LearnerSetting,
    Line,
    Picture,
    PlaneState,
    Points,
    estimate,
    frames,
    picture,
    plane_code,
    plane_learners,
)
from verulam.lab._jobs import LEVELS, nearest_point, training_data
from verulam.lab._lines import level_lines
from verulam.lab._parameters import make_learner
from verulam.lab._state import TASKS

SMALL = Generated("Gaussians", 40, seed=1)
SINE = Generated("noisy sine", 40, 0.2, 1)


def state_of(task, *learners, **parts):
    data = SINE if task == "regression" else SMALL
    settings = tuple(
        LearnerSetting(name, values) if values else LearnerSetting(name)
        for name, values in learners
    )
    return replace(PlaneState(task, data, settings, resolution=40, folds=5), **parts)


def test_regions_are_those_of_the_decision_grid():
    state = state_of("classification", ("parametric.GaussianClassifier", {}))
    drawn = picture(state, 0)
    X, y = training_data(state)
    learner = make_learner(state.learners[0], 0).fit(X, y)
    grid = decision_regions(learner, X, extent=state.extent, resolution=40)
    np.testing.assert_array_equal(drawn.image // LEVELS, grid.codes)
    shade = np.rint(grid.certainty * (LEVELS - 1))
    np.testing.assert_array_equal(drawn.image % LEVELS, shade)
    assert drawn.image.dtype == np.uint8
    assert any(line.role == "boundary" for line in drawn.lines)


def test_a_class_keeps_its_colour_where_others_are_missing():
    points = Points((0.0, 0.1, 3.0, 3.1), (0.0, 0.2, 3.0, 3.2), (1, 1, 4, 4))
    state = replace(state_of("classification", ("parametric.NearestMean", {})), data=points)
    assert set((picture(state, 0).image // LEVELS).ravel()) == {1, 4}


def test_a_machine_shows_margins_and_support_vectors():
    state = state_of("classification", ("kernel.SupportVectorClassifier", {"kernel": "linear"}))
    drawn = picture(state, 0)
    X, y = training_data(state)
    machine = make_learner(state.learners[0], 0).fit(X, y)
    assert drawn.mark_words == "support vectors"
    np.testing.assert_allclose(drawn.marks, machine.support_vectors_)
    edges = [line for line in drawn.lines if line.role == "margin"]
    assert edges
    for line in edges:
        places = np.column_stack([line.horizontal, line.vertical])
        np.testing.assert_allclose(np.abs(machine.decision_function(places)), 1.0, atol=1e-6)


def test_a_regression_is_a_curve_with_its_band():
    state = state_of("regression", ("bayes.GaussianProcessRegressor", {}))
    drawn = picture(state, 0)
    assert drawn.image is None
    assert [line.role for line in drawn.lines] == ["curve", "band", "band"]
    curve, low, high = (line.vertical for line in drawn.lines)
    assert ((low < curve) & (curve < high)).all()


def test_a_density_is_brightest_where_it_is_largest():
    state = state_of("density", ("parametric.GaussianDensity", {}))
    drawn = picture(state, 0)
    assert drawn.image.max() == 255
    row, column = np.unravel_index(drawn.image.argmax(), drawn.image.shape)
    left, right, bottom, top = state.extent
    mean = state.points.rows.mean(axis=0)
    assert left + (right - left) * column / 39 == pytest.approx(mean[0], abs=0.2)
    assert bottom + (top - bottom) * row / 39 == pytest.approx(mean[1], abs=0.2)


def test_clusters_colour_points_and_plane_alike():
    state = state_of("clustering", ("cluster.KMeans", {"n_clusters": 3}))
    drawn = picture(state, 0)
    assert set(drawn.codes) == {0, 1, 2} == set((drawn.image // LEVELS).ravel())
    assert drawn.mark_words == "centres"
    assert drawn.words.startswith("3 clusters, silhouette 0.")


def test_a_map_is_drawn_as_its_net():
    state = state_of("clustering", ("local.SelfOrganisingMap", {"grid_shape": 4}))
    drawn = picture(state, 0)
    assert sum(line.role == "net" for line in drawn.lines) == 2 * 4 * 3
    assert drawn.marks.shape == (16, 2)


def test_outliers_are_counted():
    state = state_of("outliers", ("nonparametric.GaussianDetector", {}))
    drawn = picture(state, 0)
    outside = sum(drawn.codes)
    assert drawn.words == f"{outside} of 40 points outside"


@pytest.mark.parametrize(
    ("task", "data", "message"),
    [
        ("classification", Points(), "at least two points"),
        ("classification", Points((0.0, 1.0), (0.0, 1.0), (2, 2)), "two classes"),
        ("density", Points((0.0,), (0.0,), (0,)), "at least two points"),
    ],
)
def test_too_few_points_are_refused_in_words(task, data, message):
    learner = {"classification": "parametric.NearestMean", "density": "nonparametric.KernelDensity"}
    state = replace(state_of(task, (learner[task], {})), data=data)
    with pytest.raises(DataError, match=message):
        picture(state, 0)


NUMBERS = [
    ("classification", ("tree.DecisionTreeClassifier", {"max_depth": 2})),
    ("classification", ("kernel.SupportVectorClassifier", {"kernel__width": 0.7, "C": 3.0})),
    ("classification", ("majority class", {})),
    ("regression", ("nonparametric.KernelSmoother", {"bandwidth": 0.4})),
    ("density", ("cluster.GaussianMixture", {"n_components": 2})),
]


@pytest.mark.parametrize(("task", "learner"), NUMBERS)
@pytest.mark.parametrize("data", [None, "points", "ring"])
def test_the_code_prints_the_estimate(task, learner, data):
    state = state_of(task, learner)
    if data == "points":
        state = replace(state, data=state.points)
    elif data == "ring" and task != "regression":
        state = replace(state, data=Generated("ring", 40, 0.3, 2))
    assert run_code(plane_code(state)).strip() == str(estimate(state, 0))


def run_code(code, names=None):
    printed = StringIO()
    mpl.use("agg")
    with redirect_stdout(printed):
        exec(code, {} if names is None else names)
    return printed.getvalue()


@pytest.mark.parametrize("generator", ["spirals", "XOR", "checkerboard"])
def test_the_code_draws_the_points_and_the_region_of_the_screen(generator):
    state = state_of("classification", ("nonparametric.KNeighborsClassifier", {"n_neighbors": 3}))
    state = replace(state, data=Generated(generator, 40, 0.2, 6))
    names = {}
    run_code(plane_code(state), names)
    np.testing.assert_array_equal(names["X"], state.points.rows)
    np.testing.assert_array_equal(names["y"], state.points.labels)
    np.testing.assert_array_equal(names["grid"].codes, picture(state, 0).image // LEVELS)


@pytest.mark.parametrize(
    ("task", "learner"),
    [
        ("clustering", ("cluster.KMeans", {"n_clusters": 3})),
        ("clustering", ("cluster.AgglomerativeClustering", {})),
        ("clustering", ("local.SelfOrganisingMap", {"grid_shape": 3})),
        ("outliers", ("nonparametric.GaussianDetector", {})),
    ],
)
def test_the_code_says_what_the_caption_says(task, learner):
    state = state_of(task, learner)
    printed = run_code(plane_code(state))
    assert ", ".join(printed.splitlines()) == picture(state, 0).words
    several = replace(state, learners=state.learners * 2)
    assert run_code(plane_code(several)) == printed * 2


@pytest.mark.parametrize(
    "learner",
    ["nonparametric.KernelSmoother", "bayes.GaussianProcessRegressor",
     "kernel.SupportVectorRegressor"],
)  # fmt: skip
def test_the_code_draws_the_curve_and_its_band(learner):
    state = state_of("regression", (learner, {}))
    names = {}
    run_code(plane_code(state), names)
    curve, *band = (line for line in picture(state, 0).lines if line.role != "window")
    np.testing.assert_allclose(names["curve"], curve.vertical)
    shaded = [item.get_paths()[0].vertices for item in plt.gca().collections]
    assert len(shaded) == len(band) // 2
    for vertices in shaded:
        low, high = (line.vertical for line in band)
        assert vertices[:, 1].min() == pytest.approx(low.min())
        assert vertices[:, 1].max() == pytest.approx(high.max())


def test_the_code_draws_the_density_of_the_screen():
    state = state_of("density", ("nonparametric.KernelDensity", {"bandwidth": 0.4}))
    names = {}
    run_code(plane_code(state), names)
    shares = names["density"] / names["density"].max()
    image = np.rint(255.0 * np.sqrt(shares)).astype(np.uint8)
    np.testing.assert_array_equal(image, picture(state, 0).image)
    assert plt.get_fignums()


def test_an_estimate_is_spoken():
    assert str(Estimate("error", 0.1, 0.05, 0.2, 10)) == "error 10.0% [5.0%, 20.0%]"
    assert str(Estimate("log density", -2.5, -3.0, -2.0, 10)) == "log density -2.5 [-3, -2]"
    assert estimate(state_of("clustering", ("cluster.KMeans", {})), 0) is None


def test_a_density_that_is_zero_at_a_point_left_out_is_explained():
    state = state_of("density", ("nonparametric.HistogramDensity", {"bin_width": 0.05}))
    with pytest.raises(DataError, match="lie where the others leave no density at all"):
        estimate(state, 0)


@pytest.mark.parametrize(
    ("task", "learner", "words"),
    [
        ("classification", ("neural.MLPClassifier", {"max_iter": 5}), "epoch"),
        ("density", ("cluster.GaussianMixture", {"n_components": 2}), "pass of EM"),
        ("classification", ("ensemble.AdaBoostClassifier", {"n_estimators": 4}), "round"),
        ("clustering", ("local.SelfOrganisingMap", {"grid_shape": 3, "n_iter": 5}), "pass"),
        ("clustering", ("cluster.KMeans", {"n_clusters": 3}), "pass"),
    ],
)
@pytest.mark.filterwarnings("ignore:Training ended")
def test_the_last_pass_is_the_trained_learner(task, learner, words):
    state = replace(state_of(task, learner), data=Generated("XOR", 40, 0.4, 1))
    passes = list(frames(state, 0))
    assert passes[0].pass_words == words
    assert [item.pass_number for item in passes] == sorted({p.pass_number for p in passes})
    assert len(passes) > 1
    final = picture(state, 0)
    if final.image is not None:
        np.testing.assert_array_equal(passes[-1].image, final.image)
    np.testing.assert_allclose(passes[-1].marks, final.marks)
    assert not np.array_equal(passes[0].marks, final.marks) or not np.array_equal(
        passes[0].image, final.image
    )


def test_the_passes_of_a_map_are_those_of_its_training():
    state = state_of("clustering", ("local.SelfOrganisingMap", {"grid_shape": 4, "n_iter": 6}))
    last = picture(state, 0).marks
    short = list(frames(state, 0))[-2].marks
    X, _ = training_data(state)
    learner = make_learner(state.learners[0], 0)
    radii = np.geomspace(2.0, learner.last_radius, 6)
    learner.set_params(n_iter=5, first_radius=2.0, last_radius=radii[4])
    np.testing.assert_allclose(short, learner.fit(X).cluster_centers_)
    learner.set_params(
        n_iter=1, first_radius=radii[5], last_radius=radii[5], init=learner.cluster_centers_
    )
    np.testing.assert_allclose(learner.fit(X).cluster_centers_, last)


def test_a_learner_without_passes_says_so():
    with pytest.raises(DataError, match="one piece"):
        next(frames(state_of("classification", ("parametric.NearestMean", {})), 0))


def test_lines_and_near_points():
    axis = np.linspace(-1, 1, 41)
    heights = axis[None, :] ** 2 + axis[:, None] ** 2
    (circle,) = level_lines(axis, axis, heights, 0.25, "contour")
    assert isinstance(circle, Line)
    np.testing.assert_allclose(np.hypot(circle.horizontal, circle.vertical), 0.5, atol=0.01)
    points = Points((0.0, 1.0), (0.0, 1.0), (0, 0))
    assert nearest_point(points, 0.99, 1.0, (0.0, 1.0, 0.0, 1.0), 0.02) == 1
    assert nearest_point(points, 0.5, 0.5, (0.0, 1.0, 0.0, 1.0), 0.02) is None
    assert nearest_point(Points(), 0.5, 0.5, (0.0, 1.0, 0.0, 1.0), 0.02) is None
    assert isinstance(Picture(None, "curve").marks, np.ndarray)


def test_a_width_makes_a_gaussian_kernel():
    setting = LearnerSetting("kernel.SupportVectorClassifier", {"kernel__width": 0.5})
    assert make_learner(setting, 0).kernel == Gaussian(width=0.5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("task", TASKS)
def test_every_learner_of_the_plane_draws(task):
    wrong = []
    for name in plane_learners(task):
        state = state_of(task, (name, {}), resolution=25)
        try:
            picture(state, 0)
        except Exception as error:
            wrong.append(f"{name}: {error}")
    assert wrong == []
