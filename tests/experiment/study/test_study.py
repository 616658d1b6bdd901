"""Studies: what they check, and what they tell."""

import json

import pandas as pd
import pytest
from tests.experiment.studies import small_study

from verulam.base import DataError, UnknownNameError
from verulam.experiment import DataChoice, LearnerChoice, Study, make_plan
from verulam.measures import Measure

DATA, LEARNERS = [DataChoice("iris")], [LearnerChoice("naive bayes")]


def test_a_table_in_memory_is_named():
    study = Study("s", [DataChoice(pd.DataFrame({"a": [1]}))], [LearnerChoice("naive bayes")])
    assert json.loads(study.to_json())["data"][0]["source"] == "a DataFrame"


def test_a_response_is_one_measure_or_a_vector_of_measures_and_costs():
    assert Study("s", DATA, LEARNERS).response == ()
    assert Study("s", DATA, LEARNERS, response="error").response == ("error",)
    several = Study("s", DATA, LEARNERS, response=["log_loss", "fit time", "memory"])
    assert several.response == ("log_loss", "fit time", "memory")
    assert several.measures == ("log_loss",)
    assert json.loads(several.to_json())["response"] == ["log_loss", "fit time", "memory"]


def test_measures_of_the_response_are_among_those_of_the_study():
    mine = Measure.from_function(lambda y, p: 0.25, greater_is_better=True, name="mine")
    study = Study("s", DATA, LEARNERS, measures=["auc"], response=[mine, "model size"])
    assert study.measures == ("auc", mine)


def test_bad_responses():
    with pytest.raises(DataError, match="response: 'memory' is there twice"):
        Study("s", DATA, LEARNERS, response=["memory", "memory"])
    message = r"^response: Unknown measure 'fit tim'. Nearest: fit time,"
    with pytest.raises(UnknownNameError, match=message):
        Study("s", DATA, LEARNERS, response=["error", "fit tim"])
    with pytest.raises(
        UnknownNameError, match=r"^measures: Unknown measure 'eror'. Nearest: error"
    ):
        Study("s", DATA, LEARNERS, measures=["eror"])
    with pytest.raises(DataError, match=r"^measures: A measure is a name"):
        Study("s", DATA, LEARNERS, measures=[3])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"aim": "win"}, "aim: 'win'; expected one of assess, compare, choose, order"),
        ({"learners": []}, "learners: at least one is needed"),
        ({"test_share": 1.0}, "test_share: 1.0; expected a number from 0 to below 1"),
        ({"memory_limit": 0}, "memory_limit: 0; expected a number above 0"),
        ({"replications": 1.5}, "replications: 1.5; expected a whole number"),
        ({"budget": {"runs": 0}}, r"budget\.runs: 0; expected a whole number above 0"),
        ({"tuning": {"folds": 1}}, r"tuning\.folds: 1; expected a whole number"),
    ],
)
def test_bad_keys_are_named(change, message):
    with pytest.raises(DataError, match=message):
        Study(**{"name": "s", "data": DATA, "learners": LEARNERS, **change})


@pytest.mark.parametrize("seed", [-1, 1.5, True])
def test_a_seed_is_a_whole_number_from_0(seed):
    with pytest.raises(DataError, match=r"^seed: .*; expected a whole number of at least 0"):
        Study("s", DATA, LEARNERS, seed=seed)


def test_a_parameter_is_not_a_factor_too():
    both = LearnerChoice(
        "k-nearest neighbours", parameters={"n_neighbors": 2}, factors={"n_neighbors": [1, 3]}
    )
    message = r"learners\[1\]\.parameters\.n_neighbors: is a factor already"
    with pytest.raises(DataError, match=message):
        Study("s", DATA, [*LEARNERS, both])


def test_no_share_to_learn_from_is_no_study():
    with pytest.raises(DataError, match="training_shares: at least one is needed"):
        small_study(training_shares=[])


def test_a_share_that_leaves_too_few_rows_is_named():
    with pytest.raises(
        DataError, match=r"test_share: 0.99 leaves \d of 150 rows of 'iris' to learn"
    ):
        make_plan(small_study(test_share=0.99))
