"""Tasks that several parts of the library answer together: few labels, drift, retrieval."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from verulam.association import RuleRecommender
from verulam.cluster import ClusterFeatures, KMeans, OnlineGaussianMixture
from verulam.numerics import distances
from verulam.parametric import GaussianClassifier


def groups(seed=0):
    random = np.random.default_rng(seed)
    codes = np.arange(150) % 3
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    return centres[codes] + random.normal(size=(150, 2)), codes


def test_few_labels_spread_to_the_rest():
    X, codes = groups()
    partly = np.where(np.arange(150) < 9, codes, -1)
    taught = SelfTrainingClassifier(GaussianClassifier()).fit(X, partly)
    spread = LabelSpreading(gamma=1.0).fit(X, partly)
    assert taught.score(X, codes) > 0.95
    assert spread.score(X, codes) > 0.95
    # Clusters of all rows, and labels of a few.
    features = ClusterFeatures(KMeans(3, n_init=5, random_state=0)).fit(X)
    learner = LogisticRegression(C=100.0).fit(features.transform(X[:9]), codes[:9])
    assert learner.score(features.transform(X), codes) > 0.95


def test_rows_are_ranked_by_similarity_and_items_by_rules():
    X, codes = groups()
    order = np.argsort(distances(X[:1], X)[0], kind="stable")
    assert order[0] == 0
    lengths = np.linalg.norm(X[order] - X[0], axis=1)
    assert np.all(np.diff(lengths) >= 0)
    assert np.mean(codes[order[1:11]] == codes[0]) > 0.9
    baskets = [["beer", "chips"]] * 7 + [["beer"]] * 3 + [["salsa"]] * 5
    ranking = RuleRecommender().fit(baskets).recommend(["beer"])
    assert list(ranking["item"]) == ["chips", "salsa"]


def test_a_learner_goes_on_where_data_drift():
    random = np.random.default_rng(0)
    follower = OnlineGaussianMixture(1, retention=0.95, random_state=0)
    rigid = OnlineGaussianMixture(1, random_state=0)
    for middle in np.linspace(0.0, 10.0, 50):
        batch = middle + random.normal(size=(20, 1))
        follower.partial_fit(batch)
        rigid.partial_fit(batch)
    assert abs(follower.means_[0, 0] - 10.0) < 1.0
    assert rigid.means_[0, 0] < 7.0
