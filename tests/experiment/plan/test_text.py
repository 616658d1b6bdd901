"""The sentence of a plan: its numbers multiply to the number of runs, or it does not say so."""

from tests.experiment.studies import small_study

from verulam.experiment import DataChoice, LearnerChoice, make_plan


def test_contestants_are_counted_once_for_all_data_sets():
    names = ["iris", "wine", "penguins"]
    plan = make_plan(small_study(data=[DataChoice(name) for name in names]))
    assert "30 runs = 2 settings of learners x 3 data sets (iris, wine, penguins) x 5" in str(plan)


def test_shares_and_replications_are_factors_of_their_own():
    plan = make_plan(small_study(training_shares=[0.5, 1.0], replications=3))
    assert "60 runs = 2 settings of learners x 1 data set (iris) x 5 splits x 2 training" in str(
        plan
    )
    assert "shares x 3 replications, 5-fold" in str(plan)


def test_numbers_that_differ_are_no_product():
    factors = {"data_set": ["iris"], "training_share": [0.5, 1.0]}
    learners = [LearnerChoice("nearest mean", factors=factors), LearnerChoice("naive bayes")]
    plan = make_plan(small_study(data=[DataChoice("iris"), DataChoice("wine")], learners=learners))
    assert "20 runs of 1 to 3 settings of learners, 2 data sets (iris, wine), 5 splits" in str(plan)


def test_rows_that_are_locked_away_are_told():
    assert "seed 0, 25% of the rows locked away" in str(make_plan(small_study(test_share=0.25)))
    assert "locked" not in str(make_plan(small_study()))


def test_repeats_that_may_not_be_needed_are_counted_as_the_most():
    text = str(make_plan(small_study(resampling="2-4x5-fold")))
    assert text == (
        "flowers: up to 40 runs = 2 settings of learners x 1 data set (iris) x 20 splits, "
        "2-4x5-fold, seed 0"
    )
