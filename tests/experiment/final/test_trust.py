"""Which types are harmless parts of learners."""

import pytest

from verulam.experiment._final.trust import foreign_types


@pytest.mark.parametrize(
    "name",
    [
        "verulam.parametric.NaiveBayes",
        "verulam.base.TableSchema",
        "verulam.decision.LossTable",
        "sklearn.svm._classes.SVC",
        "sklearn.tree._tree.Tree",
        "sklearn.gaussian_process.kernels.RBF",
        "numpy.dtype",
    ],
)
def test_parts_of_learners_are_known(name):
    assert foreign_types([name]) == []


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "builtins.eval",
        "subprocess.Popen",
        # Ours, but it opens a file.
        "verulam.experiment.Store",
        "verulam.data._readers.any_format.read",
        # In a module of ours, but not its own.
        "verulam.experiment._run.execute.perf_counter",
        "verulam.experiment._store.store.sqlite3",
        # Of scikit-learn, but no part of a learner.
        "sklearn.datasets._openml.fetch_openml",
        "sklearn.utils._testing.TempMemmap",
        "sklearn.tree.tests.test_tree.pytest",
        # Names that only begin alike, or are not there at all.
        "verulamx.thing.Thing",
        "verulam.nothing.Thing",
        "sklearn.tree._tree.Nothing",
        "Nothing",
        "",
    ],
)
def test_all_else_is_foreign(name):
    assert foreign_types([name]) == [name]
