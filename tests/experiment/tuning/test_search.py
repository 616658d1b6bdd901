"""Searches: the same budget, nothing paid for twice, the best of what was tried."""

from itertools import pairwise

import numpy as np
import pytest

from verulam.base import DataError
from verulam.design import Factor
from verulam.experiment._tuning.options import SEARCH_METHODS, halving_rounds
from verulam.experiment._tuning.search import METHODS, Trials, search

SPACE = (Factor("x", (-2.0, 2.0), "numeric"), Factor("C", (0.01, 100.0), "log"))
START = {"x": 1.5, "C": 30.0}


def bowl(setting, share):
    """Return a loss that is least at x = 0.5 and C = 1."""
    return (setting["x"] - 0.5) ** 2 + np.log10(setting["C"]) ** 2


def tried(method, loss=bowl, space=SPACE, start=START, budget=24, seed=0):
    random = np.random.default_rng(seed)
    return search(method, space, loss, start=start, budget=budget, random=random)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_spends_its_budget_and_finds_a_better_setting(method):
    calls = []

    def counted(setting, share):
        calls.append(share)
        return bowl(setting, share)

    trials = tried(method, counted)
    assert len(calls) == len(trials.made)
    assert sum(calls) == pytest.approx(24)
    assert trials.best().loss < bowl(START, 1.0) / 4
    assert trials.best().share == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_trials(method):
    assert tried(method).made == tried(method).made
    if method != "response surface":
        assert tried(method).made != tried(method, seed=1).made


@pytest.mark.parametrize("method", ["random", "successive halving"])
def test_the_setting_without_tuning_is_tried_first(method):
    assert tried(method).made[0].setting == START


@pytest.mark.parametrize("method", METHODS)
def test_small_spaces_are_tried_once_and_no_more(method):
    space = (Factor("kind", ("a", "b", "c")),)
    trials = tried(
        method, lambda setting, share: "bca".index(setting["kind"]), space, {"kind": "a"}
    )
    complete = [trial.setting["kind"] for trial in trials.made if trial.share == 1.0]
    assert sorted(complete) == ["a", "b", "c"]
    assert trials.best().setting == {"kind": "b"}


def test_a_surface_finds_the_bottom_of_a_bowl():
    best = tried("response surface", budget=12).best().setting
    assert (best["x"], best["C"]) == pytest.approx((0.5, 1.0))


def test_a_surface_leaves_lists_as_they_are_until_the_end():
    space = (*SPACE, Factor("kind", ("a", "b")))
    trials = tried("response surface", space=space, start={**START, "kind": "b"}, budget=12)
    assert all(trial.setting["kind"] == "b" for trial in trials.made[:10])


def test_a_surface_needs_its_start():
    with pytest.raises(DataError, match=r"budget: 8; the response surface of x, C starts with 9"):
        tried("response surface", budget=8)


@pytest.mark.parametrize("method", METHODS)
def test_failures_are_passed_over(method):
    def failing(setting, share):
        return np.nan if setting["x"] > 0 else bowl(setting, share)

    trials = tried(method, failing)
    assert trials.best().setting["x"] <= 0
    assert sum(trial.share for trial in trials.made) == pytest.approx(24)


def test_nothing_but_failures():
    with pytest.raises(DataError, match="None of 24 settings could be fitted and scored"):
        tried("random", lambda setting, share: np.nan).best()


def test_nothing_is_paid_for_twice():
    trials = Trials(bowl, START)
    assert trials.loss(START) == trials.loss(START)
    trials.loss(START, 0.5)
    assert [trial.share for trial in trials.made] == [1.0, 0.5]


def test_rounds_of_halving_cost_the_same():
    for budget in (1, 2, 5, 30):
        rounds = halving_rounds(budget)
        costs = [each.settings * each.share for each in rounds]
        assert costs == pytest.approx([budget // len(rounds)] * len(rounds))
        assert rounds[-1].share == 1.0


def test_halving_keeps_the_best_third():
    trials = tried("successive halving", budget=6)
    rounds = [[t for t in trials.made if t.share == share.share] for share in halving_rounds(6)]
    assert [len(each) for each in rounds] == [18, 6, 2]
    for before, after in pairwise(rounds):
        least = sorted(trial.loss for trial in before)[: len(after)]
        assert sorted(trial.loss for trial in after) == least


def test_every_method_that_can_be_asked_for_is_there():
    assert tuple(METHODS) == SEARCH_METHODS
