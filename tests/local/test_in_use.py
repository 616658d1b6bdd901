"""Local models inside of other parts: tuned, compared, boosted, in a cascade."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from verulam.data import four_spirals
from verulam.design import Factor
from verulam.ensemble import AdaBoostClassifier, CascadeClassifier
from verulam.experiment import TunedLearner, compare
from verulam.linear import LogisticDiscriminant
from verulam.local import MixtureOfExpertsClassifier, RBFNetworkClassifier, RBFNetworkRegressor
from verulam.neural import MLPClassifier

RANDOM = np.random.default_rng(0)
LINE = RANDOM.uniform(-1, 1, size=(90, 1))
WAVE = np.sin(6 * LINE[:, 0]) + 0.3 * RANDOM.normal(size=90)


def test_the_number_of_units_is_chosen_by_cross_validation():
    space = (Factor("n_units", (1, 40), "log", whole=True),)
    learner = RBFNetworkRegressor(alpha=1e-8, random_state=0)
    tuned = TunedLearner(learner, space, method="grid", budget=8, random_state=0).fit(LINE, WAVE)
    assert 2 < tuned.best_setting_["n_units"] < 40
    assert tuned.best_estimator_.n_parameters_ == tuned.best_setting_["n_units"] + 1


def test_neighbours_perceptrons_radial_networks_and_experts_are_compared():
    """Error, epochs, time and memory in one table (Alpaydin 12.8.2, 12.10; Lee, 1991)."""
    digits, labels = load_digits(return_X_y=True)
    table = pd.DataFrame(digits[:400] / 16).add_prefix("p").assign(digit=labels[:400].astype(str))
    learners = {
        "neighbours": KNeighborsClassifier(),
        "perceptron": MLPClassifier(16, solver="lbfgs", tol=0.01, random_state=0),
        "radial": RBFNetworkClassifier(60, bandwidth=2.0, random_state=0),
        "experts": MixtureOfExpertsClassifier(2, alpha=1.0, tol=0.01, random_state=0),
    }
    comparison = compare(
        table, learners, target="digit", resampling="2-fold", random_state=0, progress=False
    )
    ranking = comparison.ranking()
    assert set(ranking.index) == set(learners)
    assert (ranking["mean"] < 0.25).all()
    assert (ranking[["fit_seconds", "predict_seconds"]] > 0).all(axis=None)
    # Neighbours have all rows with them; networks are smaller.
    sizes = ranking["model_size"]
    assert sizes.drop("neighbours").max() < sizes["neighbours"]
    rows, digit = table.drop(columns="digit").to_numpy(), labels[:400]
    fitted = {name: learners[name].fit(rows, digit) for name in ("perceptron", "radial", "experts")}
    # Outputs of fixed units are solved for at once; descent and expectation-maximisation go on.
    assert fitted["radial"].n_iter_ == 1
    assert 1 < fitted["experts"].n_iter_ < 10 < fitted["perceptron"].n_iter_
    assert fitted["radial"].n_parameters_ == 61 * 10
    stored = fitted["radial"].n_parameters_ + fitted["radial"].centers_.size
    assert stored < rows.size


def test_radial_networks_can_be_boosted():
    """Bartkowiak's RBF_Network with K centres and a linear layer, as a weak learner."""
    spirals = four_spirals(200, random_state=0)
    rows, labels = spirals.inputs.to_numpy(), spirals.target_values
    weak = RBFNetworkClassifier(init=rows[:12])
    boost = AdaBoostClassifier(weak, n_estimators=5, random_state=0).fit(rows, labels)
    alone = weak.fit(rows, labels, sample_weight=np.ones(len(labels)))
    assert boost.member_errors_[0] == pytest.approx(np.mean(alone.predict(rows) != labels))
    assert boost.training_errors_.min() <= boost.member_errors_[0]


def test_a_cascade_has_a_rule_first_and_local_exceptions_after():
    rows = np.random.default_rng(0).uniform(-1, 1, size=(1000, 2))
    labels = (rows[:, 0] > 0) ^ (((rows - [0.5, 0.5]) ** 2).sum(axis=1) < 0.1)
    training, unseen = (rows[:700], labels[:700]), (rows[700:], labels[700:])
    cascade = CascadeClassifier(
        [LogisticDiscriminant(), RBFNetworkClassifier(20, random_state=0)], random_state=0
    ).fit(*training)  # fmt: skip
    rule, exceptions = (learner.score(*unseen) for _, learner in cascade.estimators_)
    # Neither does alone what both do together.
    assert cascade.score(*unseen) > max(rule, exceptions) + 0.02
    joint = RBFNetworkClassifier(20, linear_part=True, training="gradient", random_state=0)
    assert joint.fit(*training).score(*unseen) > rule + 0.02


def test_real_tables_by_name():
    comparison = compare(
        "auto_mpg",
        ["RBF network regressor", "mixture of experts regressor"],
        resampling="2-fold",
        random_state=0,
        progress=False,
    )
    assert (comparison.ranking()["mean"] < 5).all()
