"""The best single learner."""

import numpy as np
from sklearn.linear_model import LinearRegression

from verulam.data import dataset
from verulam.ensemble import BestSingleClassifier, BestSingleRegressor, out_of_fold_outputs
from verulam.parametric import LeastSquares, NaiveBayes, NearestMean
from verulam.tree import DecisionTreeRegressor

WINE, MPG = dataset("wine"), dataset("auto_mpg")


def test_the_classifier_with_the_fewest_errors_is_taken():
    members = [("means", NearestMean()), ("bayes", NaiveBayes())]
    best = BestSingleClassifier(members, random_state=0).fit(WINE.inputs, WINE.target_values)
    assert best.best_name_ == "bayes"
    assert best.errors_[1] < best.errors_[0]
    alone = NaiveBayes().fit(WINE.inputs, WINE.target_values)
    assert np.allclose(best.predict_proba(WINE.inputs), alone.predict_proba(WINE.inputs))
    assert best.evaluations_ == 1
    outputs = out_of_fold_outputs(members, WINE.inputs, WINE.target_values, random_state=0)
    wrong = (outputs.labels != np.asarray(WINE.target_values)).mean(axis=1)
    assert np.allclose(best.errors_, wrong)


def test_the_regressor_with_the_least_squared_error_is_taken():
    rows = np.linspace(0, 1, 40)[:, None]
    line = BestSingleRegressor([LinearRegression(), DecisionTreeRegressor()], random_state=0)
    assert line.fit(rows, 3 * rows[:, 0]).best_name_ == "LinearRegression"
    step = BestSingleRegressor([LeastSquares(), DecisionTreeRegressor()], random_state=0)
    step.fit(rows, (rows[:, 0] > 0.5).astype(float))
    assert step.best_name_ == "DecisionTreeRegressor"
    assert np.allclose(step.predict(rows), rows[:, 0] > 0.5)
