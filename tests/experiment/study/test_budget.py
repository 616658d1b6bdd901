"""Budgets: what they pay for, in whole splits, and what is left out."""

import pytest
from tests.experiment.studies import small_study

from verulam.base import DataError
from verulam.experiment import Budget, LearnerChoice, make_plan
from verulam.experiment._study.budget import affordable, budget


def blocks(plan, places):
    """Return how many runs of each split there are."""
    counts = {}
    for place in places:
        run = plan.runs[place]
        counts[run.split.fold] = counts.get(run.split.fold, 0) + 1
    return counts


def test_a_quarter_of_the_whole_is_for_the_first_study():
    assert Budget(total_runs=80, total_seconds=10.0).title == "20 runs and 2.5 seconds"
    assert Budget(runs=1).title == "1 run"
    assert Budget(total_runs=80, runs=30).most_runs == 30
    assert Budget(total_seconds=10.0, first_share=1.0).most_seconds == 10.0
    assert budget({"runs": 3}) == Budget(3)
    assert budget(budget(Budget(3).to_dict())) == Budget(3)
    assert budget(None) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"run": 3}, r"budget.run: no such key. Nearest: runs"),
        ({"runs": 2.5}, r"budget.runs: 2.5; expected a whole number above 0"),
        ({"runs": 0}, r"budget.runs: 0; expected a whole number"),
        ({"seconds": -1}, r"budget.seconds: -1; expected a number above 0"),
        ({"seconds": "1h"}, r"budget.seconds: '1h'; expected a number"),
        ({"first_share": 1.5}, r"budget.first_share: 1.5; expected a number above 0, up to 1"),
        (50, "budget: 50; expected a table with runs, seconds"),
    ],
)
def test_errors_name_the_key(given, message):
    with pytest.raises(DataError, match=message):
        budget(given)


def test_whole_splits_are_paid_for():
    plan = make_plan(small_study(budget={"runs": 7}))
    assert list(blocks(plan, plan.affordable).values()) == [2, 2, 2]
    assert str(plan).endswith(
        "Budget: 7 runs (6 of 7 used, since it stops at whole splits), which leaves out 4 of the "
        "runs"
    )
    whole = str(make_plan(small_study(budget={"runs": 6})))
    assert whole.endswith("Budget: 6 runs, which leaves out 4 of the runs")
    assert plan.order == "split by split, by the budget"
    assert make_plan(small_study()).order == "in random order"
    table = plan.table()
    assert table["affordable"].sum() == 6
    assert "affordable" not in make_plan(small_study()).table()


def test_what_is_settled_is_spent():
    plan = make_plan(small_study())
    places = affordable(plan.runs, Budget(4))
    settled = {plan.runs[place].run_id for place in places}
    assert affordable(plan.runs, Budget(4), settled) == []
    more = affordable(plan.runs, Budget(8), settled)
    assert len(more) == 4
    assert not set(more) & set(places)
    assert sorted(affordable(plan.runs, None)) == list(range(10))


def test_less_than_one_split():
    plan = make_plan(small_study(budget={"runs": 1}))
    assert len(plan.affordable) == 1


def test_time_alone_orders_by_split():
    plan = make_plan(small_study(budget={"seconds": 60}))
    places = affordable(plan.runs, plan.study.budget)
    folds = [plan.runs[place].split.fold for place in places]
    assert len(places) == 10
    assert folds[::2] == folds[1::2]
    assert str(plan).endswith("Budget: 60 seconds")


def test_equal_learners_are_paid_for_once():
    learners = [LearnerChoice("naive bayes", label=label) for label in "ab"]
    plan = make_plan(small_study(learners=learners, budget={"runs": 3}))
    assert len(plan.affordable) == 6
    assert len(affordable(plan.runs, plan.study.budget)) == 3
