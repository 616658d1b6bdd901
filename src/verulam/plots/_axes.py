"""The axes that a picture is drawn on, by the name that pictures of studies use."""

from verulam.plots._style import axes_or_new as axes_of_size

__all__ = ["axes_of_size"]
