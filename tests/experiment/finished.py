"""A finished study with a locked part, and the model it ends in, for tests of what comes after."""

from dataclasses import dataclass
from pathlib import Path

from verulam.experiment import DataChoice, LearnerChoice, Study, finalise, run
from verulam.experiment._final.finalise import Finalised

LOSSES = [[0, 1, 1], [5, 0, 1], [5, 1, 0]]


@dataclass(frozen=True)
class Finished:
    """Where a study is, and what it ended in."""

    study: Study
    store: Path
    made: Finalised


def birds(**changes):
    """Return a small study of the penguins: categories, missing values, losses, a locked part."""
    learners = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]
    neighbours = LearnerChoice("k-nearest neighbours", factors={"n_neighbors": [1, 5]})
    given = {
        "resampling": "3-fold",
        "test_share": 1 / 3,
        "losses": LOSSES,
        "reject_cost": 0.3,
        **changes,
    }
    return Study("birds", [DataChoice("penguins")], [*learners, neighbours], **given)


def finish(study, folder, learner="naive bayes", **options):
    """Run a study in a folder and finalise it."""
    store = Path(folder) / "birds.sqlite"
    run(study, store, engine="serial", progress=False)
    return Finished(study, store, finalise(store, learner, **options))
