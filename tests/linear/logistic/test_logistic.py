"""Logistic discrimination: agreement with peers, priors, reports."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import statsmodels.api as sm
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.linear.examples import overlapping, separable

from verulam.base import DataError, DataWarning
from verulam.data import dataset
from verulam.linear import BasisExpansion, GradientLogistic, LogisticDiscriminant, Scorecard


@pytest.mark.parametrize("alpha", [0.1, 10.0])
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_two_classes_agree_with_scikit_learn(solver, alpha):
    rows, classes = overlapping()
    ours = LogisticDiscriminant(solver=solver, alpha=alpha, tol=1e-9)
    theirs = LogisticRegression(C=1 / alpha, tol=1e-10, solver="newton-cholesky")
    ours.fit(rows, classes)
    theirs.fit(rows, classes)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-6)
    assert np.allclose(ours.predict_proba(rows), theirs.predict_proba(rows), atol=1e-6)
    assert np.allclose(ours.decision_function(rows), theirs.decision_function(rows), atol=1e-5)


def test_softmax_agrees_with_scikit_learn():
    rows, species = load_iris(return_X_y=True)
    ours = LogisticDiscriminant(tol=1e-9).fit(rows, species)
    theirs = LogisticRegression(tol=1e-10, solver="newton-cholesky").fit(rows, species)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert np.allclose(ours.predict_proba(rows), theirs.predict_proba(rows), atol=1e-6)


def test_weights_and_standard_errors_agree_with_statsmodels():
    rows, classes = overlapping()
    ours = LogisticDiscriminant(penalty=None, standard_errors=True, tol=1e-10)
    report = ours.fit(rows, classes).report()
    theirs = sm.Logit(classes, sm.add_constant(rows)).fit(disp=0, tol=1e-12)
    assert np.allclose(report["weight"], theirs.params, atol=1e-6)
    assert np.allclose(report["standard error"], theirs.bse, atol=1e-6)
    assert np.allclose(report["p"], theirs.pvalues, atol=1e-6)
    assert np.allclose(report[["low", "high"]], np.exp(theirs.conf_int()), rtol=1e-6)
    assert ours.log_likelihood_ == pytest.approx(theirs.llf)


def test_several_classes_against_a_reference_agree_with_statsmodels():
    rows, _ = overlapping(300)
    codes = np.random.default_rng(0).integers(0, 3, 300)
    ours = LogisticDiscriminant(penalty=None, standard_errors=True, tol=1e-9)
    report = ours.fit(rows, codes).report()
    theirs = sm.MNLogit(codes, sm.add_constant(rows)).fit(disp=0, tol=1e-12, maxiter=200)
    assert np.allclose(report["weight"].to_numpy().reshape(2, 4).T, theirs.params, atol=1e-6)
    assert np.allclose(report["standard error"].to_numpy().reshape(2, 4).T, theirs.bse, atol=1e-6)
    assert ours.log_likelihood_ == pytest.approx(theirs.llf)


def test_the_reference_class_has_no_weights_and_posteriors_stay():
    rows, species = load_iris(return_X_y=True)
    free = LogisticDiscriminant(tol=1e-9).fit(rows, species)
    tied = LogisticDiscriminant(tol=1e-9, reference=2).fit(rows, species)
    assert not tied.coef_[2].any()
    assert np.allclose(free.predict_proba(rows), tied.predict_proba(rows))


def test_two_classes_may_have_a_reference_too():
    rows, classes = overlapping()
    free = LogisticDiscriminant().fit(rows, classes)
    tied = LogisticDiscriminant(reference=1).fit(rows, classes)
    assert np.allclose(tied.coef_, [-free.coef_[0], 0 * free.coef_[0]])
    assert np.allclose(tied.decision_function(rows), free.decision_function(rows))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_priors_shift_the_log_odds_by_their_change(n_classes):
    rows, _ = overlapping(300)
    codes = np.random.default_rng(0).integers(0, n_classes, 300)
    model = LogisticDiscriminant().fit(rows, codes)
    wished = np.array([0.1, 0.9] if n_classes == 2 else [0.1, 0.3, 0.6])
    moved = model.with_priors(wished)
    expected = model.predict_proba(rows) * wished / model.priors_
    expected /= expected.sum(axis=1, keepdims=True)
    assert np.allclose(moved.predict_proba(rows), expected)
    assert np.allclose(moved.priors_, wished)


def test_weights_of_rows_are_repetitions():
    rows, classes = overlapping(60)
    counts = np.random.default_rng(0).integers(1, 4, size=60)
    weighted = LogisticDiscriminant(tol=1e-10).fit(rows, classes, counts)
    repeated = LogisticDiscriminant(tol=1e-10).fit(
        np.repeat(rows, counts, axis=0), np.repeat(classes, counts)
    )
    assert np.allclose(weighted.coef_, repeated.coef_)


def test_contributions_add_up_to_the_discriminant():
    rows, species = load_iris(return_X_y=True)
    model = LogisticDiscriminant().fit(rows, species)
    total = model.contributions(rows).sum(axis=2) + model.intercept_
    assert np.allclose(total, model.decision_function(rows))


def test_a_table_keeps_its_names_in_the_report():
    table = dataset("iris").inputs
    two = np.arange(len(table)) % 2
    model = LogisticDiscriminant(penalty=None, standard_errors=True).fit(table, two)
    terms = model.report().index.get_level_values("term")
    assert list(terms) == ["bias", *table.columns]
    assert isinstance(model.report(), pd.DataFrame)


def test_l1_sets_weights_to_zero():
    rows, classes = overlapping()
    noisy = np.c_[rows, np.random.default_rng(0).normal(size=(200, 5))]
    strong = LogisticDiscriminant(penalty="l1", alpha=8.0, tol=1e-5).fit(noisy, classes)
    assert (strong.coef_[0, 3:] == 0).sum() >= 3
    assert (strong.coef_[0, :3] != 0).all()


def test_sparse_rows():
    rows, classes = overlapping()
    dense = LogisticDiscriminant(tol=1e-9).fit(rows, classes)
    sparse = LogisticDiscriminant(tol=1e-9).fit(sp.csr_array(rows), classes)
    assert np.allclose(dense.coef_, sparse.coef_)


def test_a_quadratic_discriminant_is_linear_in_products():
    random = np.random.default_rng(0)
    rows = random.normal(size=(600, 2))
    outside = ((rows**2).sum(axis=1) > 1.5).astype(int)
    expanded = BasisExpansion().fit_transform(rows)
    assert LogisticDiscriminant().fit(rows, outside).score(rows, outside) < 0.75
    assert LogisticDiscriminant().fit(expanded, outside).score(expanded, outside) > 0.97


def test_separable_classes_have_no_maximum():
    with pytest.warns(ConvergenceWarning, match="likelihood has no maximum"):
        LogisticDiscriminant(penalty=None).fit(*separable())


def test_too_few_steps_are_said():
    with pytest.warns(ConvergenceWarning, match="without converging"):
        LogisticDiscriminant(max_iter=1, solver="lbfgs").fit(*overlapping())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"standard_errors": True}, "need maximum likelihood"),
        ({"reference": 7}, "reference=7 is not among the classes"),
    ],
)
def test_wishes_that_do_not_fit_are_refused(options, message):
    with pytest.raises(DataError, match=message):
        LogisticDiscriminant(**options).fit(*overlapping())


def test_newton_is_for_two_classes():
    rows, species = load_iris(return_X_y=True)
    with pytest.raises(DataError, match='solver="newton" is for two classes'):
        LogisticDiscriminant(solver="newton").fit(rows, species)


def test_a_level_is_a_probability():
    rows, classes = overlapping()
    model = LogisticDiscriminant(penalty=None, standard_errors=True).fit(rows, classes)
    with pytest.raises(DataError, match="level must be between 0 and 1; got 95"):
        model.report(level=95)


def test_reports_and_priors_need_what_they_need():
    model = LogisticDiscriminant().fit(*overlapping())
    with pytest.raises(DataError, match="standard_errors=True"):
        model.report()
    with pytest.raises(DataError, match="2 positive numbers"):
        model.with_priors([0.5, 0.5, 0.0])


@pytest.mark.parametrize("classes", [[0, 0, 0, 1], [0, 1, 1, 2]])
def test_few_separable_rows_are_noticed_by_their_outputs(classes):
    corners = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    with pytest.warns(ConvergenceWarning, match="a plane separates the classes"):
        LogisticDiscriminant(penalty=None).fit(corners, classes)


def _mixed(n_rows=200):
    random = np.random.default_rng(0)
    colour = random.choice(["blue", "green", "red"], n_rows)
    size = random.normal(size=n_rows)
    log_odds = 1.5 * size + np.where(colour == "red", 2.0, -1.0)
    outcome = (random.random(n_rows) < 1 / (1 + np.exp(-log_odds))).astype(int)
    return pd.DataFrame({"size": size, "colour": pd.Categorical(colour)}), outcome


@pytest.mark.parametrize("learner", [LogisticDiscriminant(), GradientLogistic(random_state=0)])
def test_mixed_inputs_are_told_the_encoder_and_learned_with_it(learner):
    table, outcome = _mixed()
    with pytest.raises(DataError, match=r"Column 'colour' holds words.*OneHotEncoder in front"):
        learner.fit(table, outcome)
    encoder = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    ours = make_pipeline(encoder, learner).fit(table, outcome)
    theirs = make_pipeline(encoder, LogisticRegression(tol=1e-9)).fit(table, outcome)
    assert (ours.predict(table) == theirs.predict(table)).mean() > 0.98
    if isinstance(learner, LogisticDiscriminant):
        assert np.allclose(ours.predict_proba(table), theirs.predict_proba(table), atol=1e-4)


def test_a_scorecard_takes_mixed_inputs_as_they_are():
    table, outcome = _mixed()
    card = Scorecard(n_ranges=8).fit(table, outcome)
    best = LogisticRegression().fit(pd.get_dummies(table), outcome)
    assert card.score(table, outcome) > best.score(pd.get_dummies(table), outcome) - 0.05


@pytest.mark.parametrize(
    "extra", [lambda rows: rows[:, :1] * 1e4 + 3.0, lambda rows: rows[:, :1] * 0]
)
def test_dependent_inputs_make_standard_errors_doubtful(extra):
    rows, classes = overlapping()
    model = LogisticDiscriminant(penalty=None, standard_errors=True)
    with pytest.warns(DataWarning, match="constant or depend on one another"):
        model.fit(np.c_[rows, extra(rows)], classes)
    assert np.isfinite(model.report()["standard error"]).all()


def test_scales_of_inputs_are_no_dependence():
    rows, classes = overlapping()
    model = LogisticDiscriminant(penalty=None, standard_errors=True)
    plain = model.fit(rows, classes).report()["z"]
    scaled = model.fit(rows * [1e-4, 1.0, 1e4], classes).report()["z"]
    assert np.allclose(plain, scaled, rtol=1e-3)


def test_rows_of_another_width_are_refused_and_change_nothing():
    rows = np.random.default_rng(0).normal(size=(60, 3))
    machine = LogisticDiscriminant().fit(rows, np.digitize(rows[:, 0], [-0.5, 0.5]))
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3"):
        machine.predict_proba(rows[:, :2])
    assert machine.n_features_in_ == 3
