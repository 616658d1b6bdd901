"""The axes that a picture is drawn on."""

from typing import Any


def axes_of_size(ax: Any, width: float, height: float) -> Any:
    """Return the given Matplotlib axes, or those of a new figure of so many inches."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]
