"""Large margin metrics beside metric-learn's."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier

from verulam.kernel import LargeMarginNeighbours
from verulam.kernel._large_margin_problem import find_candidates, margin_loss, margin_problem

pytestmark = pytest.mark.peers

X, Y = make_classification(
    1200, 10, n_informative=4, n_redundant=2, n_classes=3, n_clusters_per_class=1, random_state=1
)
TRAIN, TEST = slice(0, 400), slice(400, None)


@pytest.fixture
def theirs(monkeypatch):
    """Return metric-learn's learner, mended for scikit-learn's new name of one argument."""
    metric_learn = pytest.importorskip("metric_learn")
    util = pytest.importorskip("metric_learn._util")

    def renamed(check):
        def call(*arguments, force_all_finite=True, **options):
            return check(*arguments, ensure_all_finite=force_all_finite, **options)

        return call

    for name in ("check_array", "check_X_y"):
        monkeypatch.setattr(util, name, renamed(getattr(util, name)))
    return metric_learn.LMNN(n_neighbors=3, max_iter=300, learn_rate=1e-4)


def score(transform):
    neighbours = KNeighborsClassifier(3).fit(transform(X[TRAIN]), Y[TRAIN])
    return neighbours.score(transform(X[TEST]), Y[TEST])


def test_lower_objective_and_no_lower_accuracy(theirs):
    theirs.fit(X[TRAIN], Y[TRAIN])
    ours = LargeMarginNeighbours().fit(X[TRAIN], Y[TRAIN])
    problem = margin_problem(X[TRAIN], Y[TRAIN].astype(np.int64), 3, 0.5, nearby=False)
    values = [
        margin_loss(problem, find_candidates(problem, projection), projection).value
        for projection in (ours.components_, theirs.components_)
    ]
    assert values[0] <= values[1] * 1.001
    assert score(ours.transform) >= score(theirs.transform) - 0.005
    assert score(ours.transform) > score(lambda rows: rows)
