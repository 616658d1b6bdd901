"""The catalogue as a table."""

import pytest

from verulam.base import UnknownNameError
from verulam.catalogue import entries, learners


def test_one_row_per_learner():
    table = learners()
    assert list(table.columns) == [
        "name",
        "task",
        "tags",
        "interpretability",
        "source",
        "section",
        "summary",
    ]
    assert len(table) == len(entries())
    assert set(table["source"]) == {"ours", "borrowed"}
    assert (table["summary"] != "").all()


def test_task_and_tags_narrow_it():
    assert set(learners(task="regression")["task"]) == {"regression"}
    both = learners(task="classification", tags=("missing", "categorical"))
    assert "parametric.NaiveBayes" in set(both["name"])
    assert "logistic regression" not in set(both["name"])
    assert both["tags"].str.contains("categorical").all()


def test_unknown_task_or_tag():
    with pytest.raises(UnknownNameError, match=r"Unknown task 'clasification'. Nearest: classif"):
        learners(task="clasification")
    with pytest.raises(UnknownNameError, match=r"Unknown tag 'mising'. Nearest: missing"):
        learners(tags=("mising",))
