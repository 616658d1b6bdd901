"""Dynamic networks against enumeration, and hidden Markov models against `verulam.sequence`."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.graphical import (
    DynamicNetwork,
    FactorGraph,
    NoisyOr,
    SoftmaxTable,
    Table,
    from_hidden_markov,
    propagate,
)
from verulam.sequence import CategoricalEmission, HiddenMarkovModel

TWO = ("no", "yes")
RANDOM = np.random.default_rng(0)
START, MOVES = RANDOM.dirichlet(np.ones(3)), RANDOM.dirichlet(np.ones(3), 3)
EMISSION = RANDOM.dirichlet(np.ones(4), 3)
SYMBOLS = RANDOM.integers(0, 4, 12)


@pytest.fixture(scope="module")
def network_and_model():
    model = HiddenMarkovModel.from_parameters(
        START, MOVES, CategoricalEmission(probabilities=EMISSION)
    )
    return from_hidden_markov(START, MOVES, EMISSION), model


def test_propagation_is_forward_backward(network_and_model):
    network, model = network_and_model
    seen = pd.DataFrame({"symbol": SYMBOLS})
    passes = model.forward_backward(SYMBOLS[:, np.newaxis])
    assert_allclose(network.smooth(seen, "state"), passes.gamma, atol=1e-12)
    filtered = model.filter(SYMBOLS[:, np.newaxis])
    assert_allclose(network.filter(seen, "state"), filtered, atol=1e-12)
    evidence = {f"symbol {t}": symbol for t, symbol in enumerate(SYMBOLS)}
    unrolled = network.unroll(len(SYMBOLS))
    assert_allclose(np.log(unrolled.probability(evidence)), passes.log_likelihood)
    messages = propagate(unrolled, evidence)
    beliefs = [messages.beliefs[f"state {t}"] for t in range(len(SYMBOLS))]
    assert_allclose(beliefs, passes.gamma, atol=1e-12)
    sums = FactorGraph.of(unrolled).sum_product(evidence)
    assert_allclose([sums.values[f"state {t}"] for t in range(12)], passes.gamma, atol=1e-8)


def test_max_product_is_viterbi(network_and_model):
    network, model = network_and_model
    best = model.best_path(SYMBOLS[:, np.newaxis])
    path, record = network.explain(pd.DataFrame({"symbol": SYMBOLS}))
    assert path["state"].tolist() == best.states.tolist()
    assert_allclose(record.log_probability, best.log_probabilities[0])
    evidence = {f"symbol {t}": symbol for t, symbol in enumerate(SYMBOLS)}
    other = FactorGraph.of(network.unroll(12)).max_product(evidence)
    assert [other.states[f"state {t}"] for t in range(12)] == best.states.tolist()


def test_a_long_series_is_filtered_from_slice_to_slice(network_and_model, monkeypatch):
    """Nothing is unrolled, and the message of all earlier slices loses no digits."""
    network, model = network_and_model
    monkeypatch.setattr(DynamicNetwork, "unroll", None)
    symbols = np.random.default_rng(1).integers(0, 4, 1500)
    ours = network.filter(pd.DataFrame({"symbol": symbols}), "state")
    assert_allclose(ours, model.filter(symbols[:, np.newaxis]), atol=1e-12)


def test_slices_without_arcs_between_them_are_filtered_alone():
    days = DynamicNetwork(*[{"a": Table(TWO, [0.3, 0.7])}] * 2)
    seen = pd.DataFrame({"a": ["yes", None, "no"]}, index=["mon", "tue", "wed"])
    filtered = days.filter(seen, "a")
    assert_allclose(filtered, [[0, 1], [0.3, 0.7], [1, 0]])
    assert list(filtered.index) == ["mon", "tue", "wed"]


def test_slices_too_large_for_one_table_are_unrolled(weather, monkeypatch):
    rows = pd.DataFrame({"wet": ["yes", None, "no"]})
    expected = weather.filter(rows, "rain")
    monkeypatch.setattr("verulam.graphical._dynamic.MOST_ENTRIES", 3)
    again = DynamicNetwork(weather.first, weather.later)
    assert_allclose(again.filter(rows, "rain"), expected)
    assert again._trees is None


@pytest.fixture(scope="module")
def weather():
    """Return figure 15.8: clouds of two days joined, rain and sprinkler below, wet grass."""
    slice_ = {
        "sprinkler": Table(TWO, [[0.5, 0.5], [0.9, 0.1]], ("cloudy",)),
        "rain": Table(TWO, [[0.9, 0.1], [0.2, 0.8]], ("cloudy",)),
        "wet": NoisyOr({"sprinkler": 0.8, "rain": 0.9, "previous wet": 0.3}, leak=0.05),
    }
    first = {
        **slice_,
        "cloudy": Table(TWO, [0.5, 0.5]),
        "wet": NoisyOr({"sprinkler": 0.8, "rain": 0.9}, leak=0.05),
    }
    later = {**slice_, "cloudy": SoftmaxTable(TWO, {"previous cloudy": 2.0}, bias=-1.0)}
    return DynamicNetwork(first, later)


def test_slices_are_an_ordinary_network(weather):
    network = weather.unroll(3)
    assert len(network.nodes) == 12
    assert set(network.graph.parents["wet 2"]) == {"sprinkler 2", "rain 2", "wet 1"}
    seen = pd.DataFrame({"wet": ["yes", None, "no"], "rain": [None, "yes", None]})
    evidence = {"wet 0": "yes", "rain 1": "yes", "wet 2": "no"}
    for t in range(3):
        exact = network.query(f"cloudy {t}", evidence, method="enumeration").values
        assert_allclose(weather.smooth(seen, "cloudy").iloc[t], exact)
        earlier = {name: value for name, value in evidence.items() if int(name[-1]) <= t}
        exact = weather.unroll(t + 1).query(f"cloudy {t}", earlier, method="enumeration").values
        assert_allclose(weather.filter(seen, "cloudy").iloc[t], exact)
    future = weather.query("wet", 4, seen)
    assert_allclose(future.values, weather.unroll(5).query("wet 4", evidence).values)
    assert_allclose(weather.query("wet", 1).values, weather.unroll(2).query("wet 1").values)


def test_histories(weather):
    rows = weather.sample(6, random_state=0)
    assert list(rows.columns) == list(weather.states)
    assert len(rows) == 6
    path, _ = weather.explain(rows[["wet", "rain"]])
    assert path["wet"].tolist() == rows["wet"].tolist()
    again = pickle.loads(pickle.dumps(weather))
    assert_allclose(again.query("wet", 2).values, weather.query("wet", 2).values)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda w: DynamicNetwork(w.first, {}), "the same nodes"),
        (
            lambda w: DynamicNetwork(
                {"a": Table(TWO, [0.5, 0.5])}, {"a": Table((0, 1), [0.5, 0.5])}
            ),
            "states of 'a' differently",
        ),
        (
            lambda w: DynamicNetwork(
                {"a": Table(TWO, [[1, 0], [0, 1]], ("previous a",))},
                {"a": Table(TWO, [[1, 0], [0, 1]], ("previous a",))},
            ),
            "has none before it",
        ),
        (
            lambda w: DynamicNetwork(
                {"a": Table(TWO, [0.5, 0.5])}, {"a": Table(TWO, [[1, 0], [0, 1]], ("previous b",))}
            ),
            "which is no node",
        ),
        (lambda w: w.unroll(0), "at least 1"),
        (lambda w: w.smooth(pd.DataFrame({"snow": ["yes"]}), "wet"), "no node 'snow'"),
        (lambda w: w.filter(pd.DataFrame(), "wet"), "a row for each slice"),
        (lambda w: w.filter(pd.DataFrame({"wet": ["damp"]}), "rain"), "'damp', which is no state"),
        (
            lambda w: DynamicNetwork(
                {"a": Table(TWO, [1, 0])}, {"a": Table(TWO, np.eye(2), ("previous a",))}
            ).filter(pd.DataFrame({"a": [None, "yes"]}, index=["mon", "tue"]), "a"),
            "Row tue of the table has probability zero",
        ),
        (
            lambda w: DynamicNetwork(
                {"a": Table(TWO, [1, 0])}, {"a": Table(TWO, np.eye(2), ("previous a",))}
            ).smooth(pd.DataFrame({"a": [None, "yes"]}), "a"),
            "The table has probability zero",
        ),
        (lambda w: w.query("wet", -1), "at: expected the number of a slice, from 0, not -1"),
        (lambda w: w.query("wet", 1.5), "at: expected the number of a slice"),
        (lambda w: from_hidden_markov([1.0], [[1.0, 0.0]], [[1.0]]), "shapes"),
    ],
)
def test_wrong_arguments_are_refused(weather, ask, message):
    with pytest.raises(DataError, match=message):
        ask(weather)
