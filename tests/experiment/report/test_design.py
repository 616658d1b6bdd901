"""The design of a study as its report tells it."""

from tests.experiment.studies import small_study

from verulam.experiment import LearnerChoice, analyse, finalise, run
from verulam.experiment._report.design import design_facts
from verulam.experiment._report.report import render


def facts(path, **changes):
    return design_facts(analyse(run(small_study(**changes), path, engine="serial", progress=False)))


def test_what_is_not_used_is_not_told(tmp_path):
    assert facts(tmp_path / "r.sqlite") == {
        "Aim": ("choose: Which learner is best?",),
        "Response": ("error",),
        "Learners": ("majority class, naive Bayes",),
        "Splits": (
            "stratified 5-fold cross-validation, drawn once for each data set and shared by all",
        ),
        "Runs": ("10 done, in random order",),
        "Seed": ("0",),
    }


def test_everything_that_is_used_is_told(tmp_path):
    factors = {"n_neighbors": [1, 5], "weights": ["uniform", "distance"]}
    told = facts(
        tmp_path / "r.sqlite",
        learners=[
            LearnerChoice("k-nearest neighbours", label="near", factors=factors),
            LearnerChoice("naive bayes", tune=False),
        ],
        question="Which flower?",
        measures=["error", "log_loss"],
        response=["error", "fit time"],
        preparations=["standardised", "ranks"],
        nuisance=["the weather"],
        training_shares=[0.5, 1.0],
        replications=2,
        test_share=0.25,
        tuning={"method": "random", "budget": 2, "folds": 2},
        budget={"runs": 40},
        time_limit=60,
        memory_limit=4000,
        resampling="2-fold",
        seed=3,
    )
    assert told["Aim"] == ("choose: Which flower?",)
    assert told["Response"] == ("error, log_loss, fit time",)
    assert told["Factors"] == (
        "near: n_neighbors = 1, 5; weights = uniform, distance (every combination)",
        "preparation: standardised, ranks",
    )
    assert told["Nuisance"] == ("the weather",)
    assert told["Training shares"] == ("0.5, 1.0; contestants are judged on the largest",)
    assert told["Replications"] == ("2",)
    assert told["Tuning"][0].startswith("random search")
    assert told["Budget"] == ("40 runs",)
    assert told["Time limit"] == ("60 s for a run",)
    assert told["Memory limit"] == ("4000 MB for a run",)
    assert told["Locked away"] == ("25% of the rows of each data set, untouched so far",)
    assert told["Runs"][0].endswith(", split by split")
    assert told["Seed"] == ("3",)


def test_a_look_at_the_locked_part_is_told(tmp_path):
    study = small_study(test_share=0.25)
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    made = finalise(results, path=tmp_path / "model.skops")
    locked = design_facts(analyse(results))["Locked away"]
    assert locked[0] == "25% of the rows of each data set"
    assert locked[1].startswith("iris used on 20")
    assert str(made.card.response) in locked[1]
    assert "untouched" not in render(analyse(results))


def test_many_learners_are_counted(make_results):
    learners = [LearnerChoice("majority class", label=f"m{number}") for number in range(13)]
    found = analyse(make_results(learners, resampling="2-fold"))
    assert design_facts(found)["Learners"] == ("13 learners",)
