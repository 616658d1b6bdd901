"""Rules into networks and back."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from verulam.base import DataError, UnknownNameError
from verulam.local import (
    Condition,
    FuzzyRule,
    RBFNetworkClassifier,
    RBFNetworkRegressor,
    parse_rules,
)

#: Alpaydin 12.23.
PRINTED = "IF ((x1 ≈ 1) AND (x2 ≈ 2)) OR (x3 ≈ 3) THEN y = 0.1"
RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame(RANDOM.normal(size=(60, 3)), columns=["x1", "x2", "x3"])
VALUES = np.sin(TABLE["x1"].to_numpy())


def network(rules, **options):
    options = {"covariance_type": "diag", "training": "none", **options}
    return RBFNetworkRegressor(rules=rules, **options).fit(TABLE, VALUES)


def row(*numbers):
    return pd.DataFrame([numbers], columns=TABLE.columns)


def test_the_printed_rule_makes_two_units_with_weight_one_tenth():
    built = network(PRINTED)
    assert_allclose(built.coef_, [0.1, 0.1], atol=1e-12)
    assert built.predict(row(1, 2, 3))[0] == pytest.approx(0.2)
    shares = network(PRINTED, combination="normalised")
    assert shares.predict(row(1, 2, 3))[0] == pytest.approx(0.1)
    spreads = 0.5 * TABLE.std(ddof=0).to_numpy()
    bells = np.exp(-0.5 * ((np.array([1.2, 1.7, 2.5]) - [1, 2, 3]) / spreads) ** 2)
    expected = 0.1 * (bells[0] * bells[1] + bells[2])
    assert built.predict(row(1.2, 1.7, 2.5))[0] == pytest.approx(expected, rel=1e-9)


def test_a_conjunction_of_disjunctions_is_multiplied_out():
    rules = parse_rules("IF (a ~ 1 OR b ~ 2) AND (c ~ 3 OR d ~ 4) THEN 5")
    named = [{condition.column for condition in rule.conditions} for rule in rules]
    assert named == [{"a", "c"}, {"a", "d"}, {"b", "c"}, {"b", "d"}]
    assert all(rule.value == 5.0 for rule in rules)


def test_words_of_rules():
    (rule,) = parse_rules('if "sepal length" ~= -1.5e-1 +- .25 and b ≈ 2 then y = big with 0.8')
    assert rule.conditions == (Condition("sepal length", -0.15, 0.25), Condition("b", 2.0))
    assert (rule.value, rule.certainty) == ("big", 0.8)
    assert parse_rules([str(rule)]) == [rule]
    assert parse_rules("ELSE y = 3") == [FuzzyRule((), 3.0)]


@pytest.mark.parametrize("combination", ["sum", "normalised", "competitive"])
def test_rules_survive_the_round_trip(combination):
    text = "IF x1 ≈ 1 ± 0.5 AND x2 ≈ 2 ± 0.25 THEN y = 0.1\nIF x3 ≈ -3 ± 0.5 THEN y = -4"
    if combination == "sum":
        text += "\nELSE y = 2"
    built = network(text, combination=combination)
    printed = "\n".join(map(str, built.extract_rules()))
    assert printed == text
    again = network(printed, combination=combination)
    assert_allclose(again.predict(TABLE), built.predict(TABLE), atol=1e-12)


def test_rules_of_a_trained_network_give_the_same_network():
    trained = RBFNetworkRegressor(
        4, covariance_type="diag", training="gradient", random_state=0
    ).fit(TABLE, VALUES)  # fmt: skip
    rules = trained.extract_rules()
    text = [str(rule) for rule in rules]
    assert parse_rules(text) == rules
    for source in (rules, text):
        assert_allclose(network(source).predict(TABLE), trained.predict(TABLE), rtol=1e-11)


def test_fine_tuning_lowers_the_error_and_extrapolates_on_the_prior():
    text = "IF x1 ≈ 1.5 ± 0.8 THEN y = 0.5\nIF x1 ≈ -1.5 ± 0.8 THEN y = -0.5\n"
    text += "IF x2 ≈ 50 ± 1 THEN y = 7"
    prior = network(text)
    tuned = network(text, training="gradient", random_state=0)
    assert tuned.loss_ < 0.5 * prior.loss_
    far = row(0.0, 50.0, 0.0)
    near = row(0.0, 30.0, 0.0)
    gain = tuned.predict(far)[0] - tuned.predict(near)[0]
    assert gain == pytest.approx(7.0, abs=0.01)
    unnamed = tuned.covariances_[0, 1:]
    assert np.isinf(unnamed).all()


def test_noise_of_rules_that_hold_exactly_ends_at_its_floor():
    """Without one the likelihood would have no maximum: the noise would go to zero."""
    text = "IF x1 ≈ 1.5 ± 0.8 THEN y = 0.5\nIF x1 ≈ -1.5 ± 0.8 THEN y = -0.5"
    learner = RBFNetworkRegressor(
        rules=text, covariance_type="diag", combination="competitive", training="gradient",
        max_iter=500, random_state=0,
    )  # fmt: skip
    values = np.where(TABLE["x1"] > 0, 0.5, -0.5)
    learner.fit(TABLE, values)
    assert learner.parameters_[-1] == pytest.approx(0.5 * np.log(1e-6), abs=1e-9)
    assert_allclose(learner.coef_, [0.5, -0.5], atol=1e-6)
    assert_allclose(learner.predict(TABLE), values, atol=1e-6)


def test_rules_for_classes():
    labels = np.where(TABLE["x1"] > 0, "up", "down")
    text = "IF x1 ≈ 1 ± 1 THEN y = up WITH 0.95\nIF x1 ≈ -1 ± 1 THEN y = down"
    learner = RBFNetworkClassifier(rules=text, covariance_type="diag", training="none")
    learner.fit(TABLE, labels)
    assert learner.score(TABLE, labels) > 0.95
    first, second, rest = learner.extract_rules()
    assert (first.value, second.value) == ("up", "down")
    assert first.certainty == pytest.approx(0.95)
    assert second.certainty == pytest.approx(0.9)
    assert rest.conditions == ()
    again = RBFNetworkClassifier(
        rules=[first, second], covariance_type="diag", training="none"
    ).fit(TABLE, labels)  # fmt: skip
    assert_allclose(again.predict_proba(TABLE), learner.predict_proba(TABLE), atol=1e-9)
    with pytest.raises(UnknownNameError, match=r"Unknown class in rules: 'upp'. Nearest: up"):
        learner.set_params(rules="IF x1 ~ 1 THEN upp").fit(TABLE, labels)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("combination", ["sum", "normalised", "competitive"])
def test_rules_of_a_trained_classifier_give_the_same_network(combination, n_classes):
    """Probabilities of all classes are in the rules, and in their text."""
    labels = pd.cut(TABLE["x1"] * TABLE["x2"], n_classes, labels=False).to_numpy()
    trained = RBFNetworkClassifier(
        4, covariance_type="diag", training="gradient", combination=combination, tol=0.01,
        random_state=0,
    ).fit(TABLE, labels)  # fmt: skip
    rules = trained.extract_rules()
    assert len(rules) == 4 + (combination == "sum")
    for source in (rules, "\n".join(map(str, rules))):
        again = RBFNetworkClassifier(
            rules=source, covariance_type="diag", combination=combination, training="none"
        ).fit(TABLE, labels)  # fmt: skip
        assert_allclose(again.predict_proba(TABLE), trained.predict_proba(TABLE), rtol=1e-11)
        printed = [f"{rule:.10g}" for rule in again.extract_rules()]
        assert printed == [f"{rule:.10g}" for rule in rules]


def test_probabilities_of_several_classes_in_one_rule():
    text = "IF x1 ≈ 1 ± 1 THEN y = a WITH 0.7, c WITH 0.2"
    labels = np.array(["a", "b", "c", "d"])[np.arange(60) % 4]
    learner = RBFNetworkClassifier(rules=text, covariance_type="diag", training="none")
    learner.fit(TABLE, labels)
    far = pd.DataFrame([[1.0, 0.0, 0.0]], columns=TABLE.columns)
    assert_allclose(learner.predict_proba(far)[0], [0.7, 0.05, 0.2, 0.05], rtol=1e-12)
    (rule, rest) = learner.extract_rules()
    assert (rule.value, rule.certainty) == ("a", pytest.approx(0.7))
    assert dict(rule.others) == pytest.approx({"b": 0.05, "c": 0.2, "d": 0.05})
    assert (rest.certainty, rest.others) == (pytest.approx(0.25), ())
    assert str(FuzzyRule((), "a", 0.5, (("and", 0.25),))) == 'ELSE y = a WITH 0.5, "and" WITH 0.25'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("IF x1 ~ 1 THEN a WITH 0.7, a WITH 0.1", "names the class 'a' twice"),
        ("IF x1 ~ 1 THEN a WITH 0.7, b WITH 0.3", "leaves no probability for the other classes"),
        ("IF x1 ~ 1 THEN a WITH 0.7, b WITH 0.4", "must not sum to more than 1"),
        ("IF x1 ~ 1 THEN a WITH 0.7, b", "WITH is expected where 'the end' stands"),
        ("IF x1 ~ 1 THEN a WITH 1", "a certainty must lie between 0 and 1"),
        ("IF x1 ~ 1 THEN 3", "Unknown class in rules: '3'"),
    ],
)
def test_rules_for_classes_that_do_not_fit_are_refused(text, message):
    labels = np.array(["a", "b", "c"])[np.arange(60) % 3]
    learner = RBFNetworkClassifier(rules=text, covariance_type="diag", training="none")
    with pytest.raises((DataError, UnknownNameError), match=message):
        learner.fit(TABLE, labels)


@pytest.mark.parametrize("labels", [[0, 1], [0.0, 1.0], [False, True], ["0", "1"], ["if", "or"]])
def test_classes_are_written_as_they_are_read(labels):
    """Numbers, truth values and words of the grammar come back as the classes that they are."""
    y = np.array(labels)[np.arange(60) % 2]
    trained = RBFNetworkClassifier(3, covariance_type="diag", random_state=0).fit(TABLE, y)
    text = "\n".join(map(str, trained.extract_rules()))
    again = RBFNetworkClassifier(rules=text, covariance_type="diag", training="none").fit(TABLE, y)
    assert_allclose(again.predict_proba(TABLE), trained.predict_proba(TABLE), rtol=1e-9)
    if y.dtype.kind in "if":
        by_hand = "IF x1 ~ 1 THEN y = 1"
        built = RBFNetworkClassifier(rules=by_hand, covariance_type="diag", training="none")
        assert built.fit(TABLE, y).predict(row(1, 0, 0))[0] == 1


def test_names_of_columns_are_quoted_where_they_must_be():
    named = TABLE.set_axis(["and", "7", 'a "b", c'], axis=1)
    trained = RBFNetworkRegressor(3, covariance_type="diag", random_state=0).fit(named, VALUES)
    text = "\n".join(map(str, trained.extract_rules()))
    again = RBFNetworkRegressor(rules=text, covariance_type="diag", training="none")
    assert_allclose(again.fit(named, VALUES).predict(named), trained.predict(named), rtol=1e-9)


def test_an_unknown_column_is_refused_with_the_nearest_names():
    with pytest.raises(UnknownNameError, match=r"Unknown column in rules: 'x9'. Nearest: x"):
        network("IF x9 ≈ 1 THEN y = 1")
    unnamed = RBFNetworkRegressor(rules="IF x2 ~ 1 THEN 1", covariance_type="diag", training="none")
    with pytest.raises(UnknownNameError, match="Nearest: x1, x0"):
        unnamed.fit(TABLE.to_numpy()[:, :2], VALUES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "rules: the text has no rules"),
        (5, "rules: expected a text or a list of rules; got int"),
        ([5], "rules: expected texts; got int"),
        ("x1 ~ 1 THEN 2", "IF is expected where 'x1' stands"),
        ("IF x1 ~ 1", "THEN is expected where 'the end' stands"),
        ("IF x1 = 1 THEN 2", "≈ is expected where '=' stands"),
        ("IF (x1 ~ 1 THEN 2", r"\) is expected where 'THEN' stands"),
        ("IF x1 ~ 1 +- 0 THEN 2", "a spread must be positive"),
        ("IF x1 ~ 1 THEN a WITH 2", "a certainty must lie between 0 and 1"),
        ("IF x1 ~ 1 THEN 2 3", "'3' is too much"),
        ("IF x1 ~ THEN 2", "a number is expected where 'THEN' stands"),
    ],
)
def test_rules_that_cannot_be_read_are_refused(text, message):
    with pytest.raises(DataError, match=message):
        parse_rules(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("IF x1 ~ 1 THEN up", "states no number for its output"),
        ("ELSE 2", "at least one must have conditions"),
        ("IF x1 ~ 1 AND x1 ~ 2 THEN 3", "names the column 'x1' twice"),
    ],
)
def test_rules_that_do_not_fit_are_refused(text, message):
    with pytest.raises(DataError, match=message):
        network(text)
    with pytest.raises(DataError, match="rules state one output"):
        RBFNetworkRegressor(rules=PRINTED, covariance_type="diag", training="none").fit(
            TABLE, np.column_stack([VALUES, VALUES])
        )


def test_rules_of_a_network_that_is_not_fitted():
    with pytest.raises(NotFittedError, match="RBFNetworkRegressor instance is not fitted"):
        RBFNetworkRegressor().extract_rules()
