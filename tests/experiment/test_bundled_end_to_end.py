"""Ten bundled data sets from a first look to predictions."""

import numpy as np
import pytest

from verulam.cli import main
from verulam.data import dataset
from verulam.experiment import compare, finalise, predict

CLASSES = ["iris", "wine", "penguins", "titanic", "german_credit", "breast_cancer"]
NUMBERS = ["auto_mpg", "diabetes", "stackloss", "engel"]
LEARNERS = {
    "classification": ["majority class", "logistic regression", "decision tree"],
    "regression": ["mean predictor", "linear regression", "regression tree"],
}


@pytest.mark.parametrize("name", CLASSES + NUMBERS)
def test_from_a_first_look_to_predictions(name, tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["describe", name])
    assert not caught.value.code
    assert f"Dataset '{name}'" in capsys.readouterr().out
    data = dataset(name)
    comparison = compare(
        name, LEARNERS[str(data.task)], resampling="2-fold", store=tmp_path / "s.sqlite",
        progress=False, drop_missing_target=True,
    )  # fmt: skip
    assert comparison.failures.empty
    if name in ("iris", "engel"):
        page = comparison.report(tmp_path / "report.html").read_text(encoding="utf-8")
        assert "Worst errors" in page
    learner = LEARNERS[str(data.task)][1]
    made = finalise(comparison.analysis.results, learner, path=tmp_path / "m.skops")
    assert made.card.insight.coefficients
    assert made.card.insight.dependences
    predicted = predict(made.path, data.inputs)["prediction"]
    assert len(predicted) == data.n_rows
    if data.task == "classification":
        known = data.target_values.notna()
        hits = predicted[known].astype(str) == data.target_values[known].astype(str)
        assert hits.mean() > data.target_values.value_counts(normalize=True).max()
    else:
        errors = predicted - data.target_values.astype(float)
        assert np.sqrt(np.mean(errors**2)) < data.target_values.std()
