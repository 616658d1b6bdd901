"""The picture of README.

Only README's picture is committed: copy it to ``docs/images`` when it has changed.
"""

from pathlib import Path

import matplotlib.pyplot as plt

from verulam import compare


def draw_readme(folder: Path) -> None:
    """Draw the comparison on iris into `folder`."""
    figure, ax = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
    compare("iris", progress=False).plot_intervals(ax=ax)
    figure.savefig(folder / "compare-iris.png", dpi=110)
    plt.close(figure)
