"""Pictures of the page about reports."""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from verulam.experiment import DataChoice, LearnerChoice, Study, learning_surface, run
from verulam.plots import response_surface


def draw_report(folder: Path) -> None:
    """Draw the error of polynomials over their degree and the rows they learn from."""
    random = np.random.default_rng(3)
    x = random.uniform(-2, 2, 400)
    table = pd.DataFrame({"x": x, "y": x**3 - 2 * x + random.normal(0, 1.0, 400)})
    learner = LearnerChoice("polynomial regression", factors={"degree": [1, 2, 3, 4, 5, 6, 7, 8]})
    study = Study(
        "trade-off",
        [DataChoice(table, target="y", label="cubic")],
        [learner],
        training_shares=[0.08, 0.15, 0.3, 0.6, 1.0],
        resampling="5x2",
    )
    with tempfile.TemporaryDirectory() as store:
        results = run(study, Path(store) / "runs.sqlite", engine="serial", progress=False)
        surface = learning_surface(results, "degree")
    ax = response_surface(
        surface, factor="degree of the polynomial", label="root mean squared error"
    )
    ax.figure.savefig(folder / "report-surface.png", dpi=150)
    plt.close(ax.figure)
