"""Scorecards: points that add up, double the odds, and can be read."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

from verulam.base import DataError, encode_table, read_schema
from verulam.linear import Scorecard
from verulam.linear._scorecard import attribute_codes, find_characteristics


def _applicants(n_rows=400, seed=0):
    random = np.random.default_rng(seed)
    income = random.normal(30.0, 8.0, n_rows)
    home = random.choice(["owns", "rents", "shares"], n_rows)
    log_odds = (income - 30.0) / 6.0 + np.where(home == "owns", 1.0, -0.5)
    outcome = np.where(random.random(n_rows) < 1 / (1 + np.exp(-log_odds)), "repaid", "default")
    income[::17] = np.nan
    return pd.DataFrame({"income": income, "home": pd.Categorical(home)}), outcome


TABLE, OUTCOME = _applicants()
CARD = Scorecard(n_ranges=4).fit(TABLE, OUTCOME)


def test_so_many_points_double_the_odds():
    points = CARD.points(TABLE, rounded=False)
    log_odds = logit(CARD.predict_proba(TABLE)[:, 1])
    assert np.allclose(points, 600.0 + 20.0 * np.log2(np.exp(log_odds) / 50.0))
    wider = Scorecard(n_ranges=4, base_points=500, base_odds=1.0, double_points=50)
    other = wider.fit(TABLE, OUTCOME).points(TABLE, rounded=False)
    assert np.allclose(other, 500.0 + 50.0 * log_odds / np.log(2.0))


def test_the_card_is_added_up_by_hand():
    card = CARD.card()["points"]
    row = pd.DataFrame({"income": [25.2], "home": pd.Categorical(["owns"], ["owns"])})
    cuts = np.quantile(TABLE["income"].dropna(), [0.25, 0.5, 0.75], method="lower")
    names = [f"up to {cuts[0]:.6g}", f"{cuts[0]:.6g} to {cuts[1]:.6g}"]
    attribute = names[int(cuts[0] < 25.2)]
    total = card["start", ""] + card["income", attribute] + card["home", "owns"]
    assert CARD.points(row).tolist() == [total]


def test_rounding_costs_half_a_point_for_each_part():
    away = np.abs(CARD.points(TABLE) - CARD.points(TABLE, rounded=False))
    assert away.max() <= 1.5
    assert CARD.points(TABLE).dtype == np.int64


def test_the_worst_attribute_of_each_characteristic_has_no_points():
    points = CARD.card()["points"].drop("start", level=0)
    assert (points.groupby(level=0).min() == 0).all()
    assert points["home"].idxmax() == "owns"
    assert points["income"].drop("missing").is_monotonic_increasing


def test_the_card_counts_rows_and_shares():
    card = CARD.card()
    assert card.loc[("income", "missing"), "rows"] == TABLE["income"].isna().sum()
    owners = TABLE["home"] == "owns"
    assert card.loc[("home", "owns"), "rows"] == owners.sum()
    share = (OUTCOME[owners] == "repaid").mean()
    assert card.loc[("home", "owns"), "favourable"] == pytest.approx(share)
    assert card.loc[("start", ""), "favourable"] == pytest.approx((OUTCOME == "repaid").mean())
    assert ("home", "missing") not in card.index


def test_it_is_logistic_regression_on_the_attributes():
    cuts = np.quantile(TABLE["income"].dropna(), [0.25, 0.5, 0.75], method="lower")
    ranges = np.where(TABLE["income"].isna(), 9, np.searchsorted(cuts, TABLE["income"]))
    attributes = pd.DataFrame({"income": ranges, "home": TABLE["home"].astype(str)})
    indicators = OneHotEncoder().fit_transform(attributes)
    theirs = LogisticRegression(tol=1e-10, max_iter=1000).fit(indicators, OUTCOME)
    posterior = CARD.predict_proba(TABLE)
    assert np.allclose(posterior, theirs.predict_proba(indicators), atol=1e-5)
    assert (CARD.predict(TABLE) == theirs.predict(indicators)).mean() > 0.99


def test_the_favourable_class_may_be_named():
    turned = Scorecard(n_ranges=4, favourable="default").fit(TABLE, OUTCOME)
    assert np.allclose(turned.predict_proba(TABLE), CARD.predict_proba(TABLE), atol=1e-6)
    points = turned.points(TABLE, rounded=False), CARD.points(TABLE, rounded=False)
    assert np.allclose(points[0] - 600 + 20 * np.log2(50), 600 - 20 * np.log2(50) - points[1])
    with pytest.raises(DataError, match="favourable='good' is not among the classes"):
        Scorecard(favourable="good").fit(TABLE, OUTCOME)


def test_plain_numbers_have_numbered_characteristics():
    rows = TABLE[["income"]].fillna(30.0).to_numpy()
    card = Scorecard(n_ranges=2).fit(rows, OUTCOME)
    assert set(card.card().index.get_level_values(0)) == {"start", "input 0"}
    unseen_gap = card.points([[np.nan]], rounded=False)
    ends = card.points([[0.0], [60.0]], rounded=False)
    assert ends[0] < unseen_gap[0] < ends[1]


def test_a_constant_column_has_one_attribute():
    table = TABLE.assign(same=1.0)
    card = Scorecard().fit(table, OUTCOME).card()
    assert card.loc["same"].index.tolist() == ["any"]
    assert card.loc[("same", "any"), "points"] == 0


@pytest.mark.parametrize(
    ("table", "outcome", "message"),
    [
        (TABLE, np.repeat([0, 1, 2, 3], 100), "draws one line between two|two classes"),
        (TABLE, np.zeros(400), "only one class"),
        (TABLE[:5], OUTCOME, "inconsistent numbers of samples|X has 5 rows"),
        (TABLE.assign(word="a b c"), OUTCOME, "Column 'word' holds text"),
    ],
)
def test_what_cannot_be_scored_is_refused(table, outcome, message):
    with pytest.raises(ValueError, match=message):
        Scorecard().fit(table, outcome)


def test_new_categories_are_refused():
    strange = pd.DataFrame({"income": [30.0], "home": pd.Categorical(["tent"])})
    with pytest.raises(DataError, match="'home' has the category 'tent'"):
        CARD.points(strange)


FRAME = pd.DataFrame(
    {
        "age": [20.0, 30.0, 40.0, 50.0, np.nan],
        "home": pd.Categorical(["owns", None, "rents", "owns", "owns"]),
        "same": 7.0,
        "gap": np.nan,
    }
)
ENCODED = encode_table(FRAME, read_schema(FRAME))


def test_every_column_has_its_attributes_and_one_for_gaps():
    attributes = {column.name: column.attributes for column in find_characteristics(ENCODED, 2)}
    assert attributes == {
        "age": ("up to 30", "above 30", "missing"),
        "home": ("owns", "rents", "missing"),
        "same": ("any", "missing"),
        "gap": ("any", "missing"),
    }


def test_rows_are_sorted_into_them():
    codes = attribute_codes(ENCODED, find_characteristics(ENCODED, 2))
    assert codes[:, 0].tolist() == [0, 0, 1, 1, 2]
    assert codes[:, 1].tolist() == [0, 2, 1, 0, 0]
    assert codes[:, 2].tolist() == [0] * 5
    assert codes[:, 3].tolist() == [1] * 5


def test_a_cut_belongs_to_the_range_below():
    (age, *_) = find_characteristics(ENCODED, 4)
    assert age.attributes[:2] == ("up to 20", "20 to 30")
    frame = FRAME.assign(age=[20.0, 20.5, 30.0, 100.0, -5.0])
    codes = attribute_codes(encode_table(frame, ENCODED.schema), find_characteristics(ENCODED, 4))
    assert codes[:, 0].tolist() == [0, 1, 1, 3, 0]


def test_equal_quantiles_are_one_cut():
    frame = pd.DataFrame({"a": [1.0, 1.0, 1.0, 1.0, 2.0]})
    (only,) = find_characteristics(encode_table(frame, read_schema(frame)), 5)
    assert only.attributes == ("up to 1", "above 1", "missing")


@pytest.mark.parametrize("n_ranges", [2, 3, 5, 8])
@pytest.mark.parametrize("values", [[1, 2, 2, 2, 2], [1, 1, 2, 3, 3, 3], [5, 6, 7, 8, 9, 9, 9, 9]])
def test_no_range_lies_beyond_the_largest_value(values, n_ranges):
    """Each range has rows, and the largest value is in the last, with all that equal it."""
    frame = pd.DataFrame({"a": np.array(values, dtype=float)})
    table = encode_table(frame, read_schema(frame))
    characteristics = find_characteristics(table, n_ranges)
    (only,) = characteristics
    assert (only.cuts < max(values)).all()
    codes = attribute_codes(table, characteristics)[:, 0]
    assert set(codes.tolist()) == set(range(len(only.cuts) + 1))
    assert len(only.attributes) == len(only.cuts) + 2


def test_distinct_values_share_the_last_range():
    frame = pd.DataFrame({"a": np.arange(1.0, 13.0)})
    table = encode_table(frame, read_schema(frame))
    codes = attribute_codes(table, find_characteristics(table, 4))[:, 0]
    assert np.bincount(codes).tolist() == [3, 3, 3, 3]
