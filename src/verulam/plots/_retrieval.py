"""Retrieval as overlapping sets, drawn to scale."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle

from verulam.measures import Retrieval
from verulam.plots._style import axes_or_new, colour


def retrieval_venn(found: Retrieval, *, ax: Axes | None = None) -> Axes:
    """Draw relevant and retrieved records as discs with areas and overlap to scale.

    Parameters
    ----------
    found
        What `verulam.measures.retrieval` returned.
    ax
        Axes to draw on.

    Notes
    -----
    Alpaydin Figure 19.4.

    Examples
    --------
    >>> from verulam.measures import retrieval
    >>> from verulam.plots import retrieval_venn
    >>> retrieval_venn(retrieval({1, 2, 3, 4}, {3, 4, 5})).get_title()
    'precision 0.67, recall 0.50'
    """
    ax = axes_or_new(ax, 4.5, 3.2)
    first, second = (
        float(np.sqrt(max(len(part), 1e-9) / np.pi)) for part in (found.relevant, found.retrieved)
    )
    apart = disc_distance(first, second, len(found.hits))
    for place, radius, tone in ((0.0, first, colour(0)), (apart, second, colour(1))):
        ax.add_patch(Circle((place, 0), radius, facecolor=tone, alpha=0.35, edgecolor="black"))
    shared = max(-first, apart - second), min(first, apart + second)
    centres = (apart - first - second) / 2, sum(shared) / 2, (first + apart + second) / 2
    counts = len(found.missed), len(found.hits), len(found.false_alarms)
    for centre, count in zip(centres, counts, strict=True):
        if count:
            ax.text(centre, 0, str(count), ha="center", va="center")
    top = max(first, second) * 1.15
    ax.text(-first, top, "relevant", ha="left", color=colour(0))
    ax.text(max(first, apart + second), top, "retrieved", ha="right", color=colour(1))
    low, high = min(-first, apart - second), max(first, apart + second)
    ax.set(xlim=(low * 1.05 - 0.1, high * 1.05 + 0.1), ylim=(-top, top * 1.25), aspect="equal")
    ax.set_axis_off()
    ax.set_title(f"precision {found.precision:.2f}, recall {found.recall:.2f}", fontsize="medium")
    return ax


def disc_distance(first: float, second: float, overlap: float) -> float:
    """Return how far apart two discs must be to share the area `overlap`."""
    smaller = np.pi * min(first, second) ** 2
    if overlap >= smaller * (1 - 1e-9):
        return 0.9 * abs(first - second)
    if overlap <= 0:
        return 1.05 * (first + second)
    low, high = abs(first - second), first + second
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if shared_area(first, second, middle) > overlap else (low, middle)
        )
    return (low + high) / 2


def shared_area(first: float, second: float, apart: float) -> float:
    """Return the area that two overlapping discs share."""
    one = np.clip((apart**2 + first**2 - second**2) / (2 * apart * first), -1, 1)
    other = np.clip((apart**2 + second**2 - first**2) / (2 * apart * second), -1, 1)
    kite = max(
        0.0,
        (-apart + first + second)
        * (apart + first - second)
        * (apart - first + second)
        * (apart + first + second),
    )
    return float(first**2 * np.arccos(one) + second**2 * np.arccos(other) - 0.5 * np.sqrt(kite))
