"""Large margin metrics beside metric-learn's."""

import numpy as np
import pytest
from sklearn.covariance import graphical_lasso
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier

from verulam.kernel import LargeMarginNeighbours
from verulam.kernel._metric.large_margin_problem import find_candidates, margin_loss, margin_problem
from verulam.kernel._metric.sparse_metric import feasible_balance, pair_scatter, sparse_inverse

pytestmark = pytest.mark.peers

X, Y = make_classification(
    1200, 10, n_informative=4, n_redundant=2, n_classes=3, n_clusters_per_class=1, random_state=1
)
TRAIN, TEST = slice(0, 400), slice(400, None)


@pytest.fixture
def metric_learn(monkeypatch):
    """Return metric-learn, mended for arguments that scikit-learn has renamed or dropped."""
    package = pytest.importorskip("metric_learn")
    util = pytest.importorskip("metric_learn._util")

    def renamed(check):
        def call(*arguments, force_all_finite=True, **options):
            return check(*arguments, ensure_all_finite=force_all_finite, **options)

        return call

    for name in ("check_array", "check_X_y"):
        monkeypatch.setattr(util, name, renamed(getattr(util, name)))
    solver = pytest.importorskip("metric_learn.sdml")

    def without_start(*arguments, cov_init=None, **options):
        return graphical_lasso(*arguments, **options)

    monkeypatch.setattr(solver, "graphical_lasso", without_start)
    return package


def score(transform):
    neighbours = KNeighborsClassifier(3).fit(transform(X[TRAIN]), Y[TRAIN])
    return neighbours.score(transform(X[TEST]), Y[TEST])


def test_lower_objective_and_no_lower_accuracy(metric_learn):
    theirs = metric_learn.LMNN(n_neighbors=3, max_iter=300, learn_rate=1e-4)
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


@pytest.mark.filterwarnings("ignore:Function stable_cumsum:FutureWarning")
def test_sparse_metric_of_the_same_pairs(metric_learn):
    """Pairs listed for metric-learn; its loss sums what ours takes the means of."""
    rows, codes = X[:60] / X[:60].std(axis=0), Y[:60]
    lists = {True: [], False: []}
    for place, row in enumerate(rows):
        squares = ((rows - row) ** 2).sum(axis=1)
        squares[place] = np.inf
        for same, pairs in lists.items():
            apart = np.where((codes == codes[place]) == same, squares, np.inf)
            pairs.extend([row, rows[other]] for other in np.argsort(apart)[:2])
    assert len(lists[True]) == len(lists[False]) == 120
    pairs = np.array(lists[True] + lists[False])
    theirs = metric_learn.SDML(balance_param=0.2 / 120, sparsity_param=0.05, prior="identity")
    theirs.fit(pairs, np.repeat([1, -1], 120))
    scatter = pair_scatter(rows, codes, 2)
    assert feasible_balance(np.eye(10), scatter, 0.2) == 0.2
    found, _ = sparse_inverse(np.eye(10) + 0.2 * scatter, 0.05, 200, 1e-4)
    np.testing.assert_allclose(found, theirs.get_mahalanobis_matrix(), atol=1e-3)
