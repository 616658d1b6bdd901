"""Pictures of the page about the answer."""

from pathlib import Path

import matplotlib.pyplot as plt

from verulam import compare


def draw_answer(folder: Path) -> None:
    """Draw what a comparison knows: intervals, a difference, and who may be the best."""
    comparison = compare("german_credit", n_jobs=-1, progress=False)
    drawings = {
        "intervals": comparison.plot_intervals,
        "difference": comparison.plot_difference,
        "probabilities": comparison.plot_probabilities,
    }
    for name, draw in drawings.items():
        axes = draw()
        axes.figure.savefig(folder / f"answer-{name}.png", dpi=150, bbox_inches="tight")
        plt.close(axes.figure)
