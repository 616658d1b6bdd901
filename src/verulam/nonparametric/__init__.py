"""Nonparametric methods: the data speak for themselves, within a neighbourhood."""

from verulam.nonparametric._windows import WINDOWS, Window, ball_volume

__all__ = [
    "WINDOWS",
    "Window",
    "ball_volume",
]
