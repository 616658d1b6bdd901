"""The picture of README, committed as ``docs/images/compare-iris.png``.

It shows scores only, which are the same in each run; times are not drawn.
"""

from pathlib import Path

import matplotlib.pyplot as plt

from verulam import compare

LEARNERS = [
    "nearest mean",
    "naive bayes",
    "parametric.GaussianClassifier",
    "logistic regression",
    "k-nearest neighbours",
]


def draw_readme(folder: Path) -> None:
    """Draw the comparison on iris into the folder beside `folder`, where pictures are kept."""
    figure, ax = plt.subplots(figsize=(7.2, 3.0), layout="constrained")
    compare("iris", LEARNERS, progress=False).plot(ax=ax)
    figure.savefig(folder.with_name("images") / "compare-iris.png", dpi=110)
    plt.close(figure)
