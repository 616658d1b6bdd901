"""NaiveBayes: the worked example of the notes, scikit-learn's numbers, mixed tables, bad input."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

from verulam.base import DataError, DataWarning
from verulam.data import dataset
from verulam.parametric import NaiveBayes


@pytest.fixture
def customers():
    data = dataset("buys_computer")
    return data.inputs, np.asarray(data.target_values)


@pytest.fixture
def query(customers):
    X = customers[0]
    row = pd.DataFrame([["youth", "medium", "yes", "fair"]], columns=X.columns)
    return row.astype({name: X[name].dtype for name in X.columns})


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    frame = pd.DataFrame(
        {
            "height": rng.normal(size=200) + y,
            "colour": pd.Categorical(rng.choice(list("rgb"), size=200)),
            "flag": rng.integers(2, size=200).astype(float),
            "word": rng.poisson(2 + y).astype(float),
            "other": rng.poisson(3, size=200).astype(float),
        }
    )
    return frame, y


KINDS = {"flag": "bernoulli", "word": "multinomial", "other": "multinomial"}


def test_worked_example(customers, query):
    """SIT1305 II: will a youth of medium income, student, with fair credit buy a computer."""
    classifier = NaiveBayes(alpha=0).fit(*customers)
    assert_allclose(classifier.priors_, [5 / 14, 9 / 14])
    assert_allclose(classifier.predict_joint_proba(query), [[0.0068571, 0.0282187]], atol=5e-8)
    assert_allclose(classifier.predict_proba(query)[0, 1], 0.804505, atol=5e-7)
    assert classifier.predict(query)[0] == "yes"


def test_worked_likelihoods(customers, query):
    equal = NaiveBayes(alpha=0, priors="equal").fit(*customers)
    assert_allclose(equal.predict_joint_proba(query) * 2, [[0.0192, 0.0438957]], atol=5e-8)


def test_worked_conditionals(customers):
    classifier = NaiveBayes(alpha=0).fit(*customers)
    schema, table = classifier.schema_, np.exp(classifier.categorical_.log_probabilities)
    first = dict(zip(schema.categorical, classifier.categorical_.first, strict=False))
    expected = {
        ("age", "youth"): (3 / 5, 2 / 9),
        ("income", "medium"): (2 / 5, 4 / 9),
        ("student", "yes"): (1 / 5, 6 / 9),
        (schema.names[-1], "fair"): (2 / 5, 6 / 9),
    }
    for (column, category), probabilities in expected.items():
        position = first[column] + list(schema.categories_of(column)).index(category)
        assert_allclose(table[:, position], probabilities)


def test_worked_resubstitution_error(customers):
    """One error on the training data, row 6."""
    X, y = customers
    wrong = np.flatnonzero(NaiveBayes(alpha=0).fit(X, y).predict(X) != y)
    assert wrong.tolist() == [5]


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_categorical_agrees_with_scikit_learn(customers, alpha):
    X, y = customers
    codes = np.column_stack([X[name].cat.codes for name in X.columns])
    peer = CategoricalNB(alpha=alpha).fit(codes, y)
    assert_allclose(NaiveBayes(alpha=alpha).fit(X, y).predict_proba(X), peer.predict_proba(codes))


def test_gaussian_agrees_with_scikit_learn():
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=len(X))
    ours = NaiveBayes().fit(X, y, sample_weight=weights)
    peer = GaussianNB(var_smoothing=0.0).fit(X, y, sample_weight=weights)
    assert_allclose(ours.gaussian_.means, peer.theta_)
    assert_allclose(ours.gaussian_.variances, peer.var_)
    assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-12)


def test_bernoulli_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = rng.integers(2, size=(60, 3)).astype(float), rng.integers(2, size=60)
    ours = NaiveBayes(alpha=1, kinds=dict.fromkeys(range(3), "bernoulli")).fit(X, y)
    assert_allclose(ours.predict_proba(X), BernoulliNB(alpha=1).fit(X, y).predict_proba(X))


def test_multinomial_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(3, size=(60, 4)).astype(float), rng.integers(3, size=60)
    ours = NaiveBayes(alpha=1, kinds=dict.fromkeys(range(4), "multinomial")).fit(X, y)
    assert_allclose(ours.predict_proba(X), MultinomialNB(alpha=1).fit(X, y).predict_proba(X))


def test_kinds_together_multiply(mixed):
    """The joint of a mixed table is the product of the joints of its parts, less the prior."""
    X, y = mixed
    together = NaiveBayes(kinds=KINDS).fit(X, y)
    groups = [["height"], ["colour"], ["flag"], ["word", "other"]]
    parts = []
    for columns in groups:
        kinds = {name: kind for name, kind in KINDS.items() if name in columns}
        parts.append(NaiveBayes(kinds=kinds).fit(X[columns], y).predict_joint_proba(X[columns]))
    expected = np.prod(parts, axis=0) / together.priors_**3
    assert_allclose(together.predict_joint_proba(X), expected)


def test_missing_values_are_skipped_in_prediction(mixed):
    X, y = mixed
    classifier = NaiveBayes(kinds=KINDS).fit(X, y)
    gaps = X.copy()
    gaps["colour"] = pd.Categorical([None] * 200, categories=list("rgb"))
    gaps["height"] = np.nan
    # Multinomial shares belong together, so the others are refitted without the two columns.
    rest = ["flag", "word", "other"]
    without = NaiveBayes(kinds=KINDS).fit(X[rest], y)
    assert_allclose(classifier.predict_proba(gaps), without.predict_proba(X[rest]))


def test_missing_values_are_skipped_in_training(mixed):
    X, y = mixed
    gaps = X.copy()
    gaps.loc[::3, "height"] = np.nan
    present = gaps["height"].notna().to_numpy()
    classifier = NaiveBayes(kinds=KINDS).fit(gaps, y)
    assert_allclose(
        classifier.gaussian_.means[:, 0],
        [X["height"][present & (y == k)].mean() for k in (0, 1)],
    )


def test_explanation_adds_up(mixed):
    X, y = mixed
    classifier = NaiveBayes(kinds=KINDS).fit(X, y)
    explanation = classifier.explain(X[:3])[1]
    log_proba = np.sort(classifier.predict_log_proba(X[1:2])[0])
    assert explanation.log_odds.sum() == pytest.approx(log_proba[1] - log_proba[0])
    assert list(explanation.log_odds.index) == ["prior", *X.columns]
    assert explanation.probability == pytest.approx(np.exp(log_proba[1]))
    assert explanation.label == classifier.predict(X[1:2])[0]


def test_unseen_category(customers, query):
    classifier = NaiveBayes().fit(*customers)
    strange = query.assign(age=pd.Categorical(["ancient"]))
    with pytest.raises(DataError, match="'age' has the category 'ancient'"):
        classifier.predict(strange)
    lenient = NaiveBayes(unseen="skip").fit(*customers)
    gap = query.assign(age=pd.Categorical([None], categories=["youth"]))
    assert_allclose(lenient.predict_proba(strange), classifier.predict_proba(gap))


def test_impossible_rows_fall_back_to_the_priors():
    X = pd.DataFrame({"a": pd.Categorical(["x", "y"], categories=["x", "y", "z"])})
    classifier = NaiveBayes(alpha=0).fit(X, ["p", "q"])
    never = pd.DataFrame({"a": pd.Categorical(["z"], categories=["x", "y", "z"])})
    with pytest.warns(DataWarning, match="1 rows are impossible under every class"):
        assert_allclose(classifier.predict_proba(never), [[0.5, 0.5]])


def test_column_without_values_says_nothing(mixed):
    X, y = mixed
    with pytest.warns(DataWarning, match="All values are missing in 'void'"):
        classifier = NaiveBayes(kinds=KINDS).fit(X.assign(void=np.nan), y)
    plain = NaiveBayes(kinds=KINDS).fit(X, y)
    assert_allclose(classifier.predict_proba(X.assign(void=np.nan)), plain.predict_proba(X))


def test_class_in_which_a_column_is_always_missing():
    X = [[1.0, 0.0], [2.0, 1.0], [np.nan, 5.0], [np.nan, 6.0]]
    classifier = NaiveBayes().fit(X, [0, 0, 1, 1])
    assert np.isfinite(classifier.predict_proba([[1.5, 5.5]])).all()
    assert_array_equal(classifier.predict([[1.5, 5.5], [1.5, 0.5]]), [1, 0])


@pytest.mark.parametrize("value", [3.0, 0.1, 1e8 / 3])
def test_constant_column_says_nothing(value):
    X, y = (part[:137] for part in load_iris(return_X_y=True))
    wider = np.column_stack([X, np.full(len(X), value)])
    for gaps in (False, True):
        if gaps:
            X, wider = X.copy(), wider.copy()
            X[::9, 1] = wider[::9, 1] = np.nan
        plain = NaiveBayes().fit(X, y).predict_proba(X)
        assert_allclose(NaiveBayes().fit(wider, y).predict_proba(wider), plain, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
def test_arrays_and_frames_go_by_position(mixed):
    X, y = mixed
    numbers = X[["height", "flag", "word"]]
    from_array = NaiveBayes().fit(numbers.to_numpy(), y)
    from_frame = NaiveBayes(kinds={"flag": "categorical"}).fit(numbers, y)
    assert_allclose(from_array.predict_proba(numbers), from_array.predict_proba(numbers.to_numpy()))
    assert_allclose(from_frame.predict_proba(numbers), from_frame.predict_proba(numbers.to_numpy()))


def test_chunks_must_agree_on_kinds_and_labels():
    first = pd.DataFrame({"a": pd.Categorical(["x", "y"])})
    second = pd.DataFrame({"a": [1, 2]})
    with pytest.raises(DataError, match="'a' is numeric in one chunk and categorical in another"):
        NaiveBayes().fit(iter([(first, [0, 1]), (second, [0, 1])]))
    with pytest.raises(DataError, match="Labels are numbers in one chunk and words in another"):
        NaiveBayes().fit(iter([(second, [0, 1]), (second, ["0", "1"])]))


def test_impossible_bernoulli_rows_fall_back_to_the_priors():
    X, y = [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0, 0, 0, 1]
    classifier = NaiveBayes(alpha=0, kinds={0: "bernoulli", 1: "bernoulli"}).fit(X, y)
    with pytest.warns(DataWarning, match="1 rows are impossible"):
        assert_allclose(classifier.predict_proba([[1.0, 1.0]]), [[0.75, 0.25]])


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"flag": "normal"}, r"kinds\['flag'\] is 'normal'; expected one of gaussian"),
        ({"height": "bernoulli"}, "'height' is bernoulli and has the value .*accepted are 0 and 1"),
        ({"height": "multinomial"}, "'height' is multinomial and has the value -"),
        ({"nothing": "gaussian"}, "'nothing', which the table does not have"),
        ({"nothing": "categorical"}, "There is no column 'nothing'"),
    ],
)
def test_bad_kinds(mixed, kinds, message):
    with pytest.raises(DataError, match=message):
        NaiveBayes(kinds=kinds).fit(*mixed)


def test_bad_tables(mixed):
    X, y = mixed
    with pytest.raises(DataError, match="'remark' holds text"):
        NaiveBayes().fit(X.assign(remark="said"), y)
    with pytest.raises(DataError, match="'height' contains infinity, first at row 3"):
        NaiveBayes().fit(X.assign(height=np.where(np.arange(200) == 3, np.inf, 1.0)), y)
    with pytest.raises(DataError, match="X has no rows"):
        NaiveBayes().fit(X[:0], y[:0])
    classifier = NaiveBayes().fit(X, y)
    with pytest.raises(ValueError, match="feature names should match"):
        classifier.predict(X.rename(columns={"height": "width"}))
    with pytest.raises(DataError, match="'height' was numeric in training"):
        classifier.predict(X.assign(height=X["colour"]))


def test_columns_declared_categorical_in_an_array():
    X = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 9.0], [1.0, 8.0]])
    classifier = NaiveBayes(kinds={0: "categorical"}).fit(X, [0, 0, 1, 1])
    assert classifier.schema_.categorical == (0,)
    assert_array_equal(classifier.predict(X), [0, 0, 1, 1])
    with pytest.raises(DataError, match=r"Column 0 has the category .*7"):
        classifier.predict([[7.0, 1.0]])
