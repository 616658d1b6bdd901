"""The lab: draw, train, watch and compare in a browser or a notebook (extra ``lab``)."""

from typing import TYPE_CHECKING, Any

from verulam.base import load_later as _load_later
from verulam.base import publish as _publish
from verulam.lab._code import plane_code
from verulam.lab._jobs import Estimate, Picture, estimate, frames, picture
from verulam.lab._lines import Line
from verulam.lab._parameters import ParameterField, parameter_fields, plane_learners
from verulam.lab._state import (
    Generated,
    LearnerSetting,
    PlaneState,
    Points,
    from_json,
    from_link,
    to_json,
    to_link,
)

if TYPE_CHECKING:
    from verulam.lab._notebook import plane
    from verulam.lab._serve import LabServer, serve

__all__ = [
    "Estimate",
    "Generated",
    "LabServer",
    "LearnerSetting",
    "Line",
    "ParameterField",
    "Picture",
    "PlaneState",
    "Points",
    "estimate",
    "frames",
    "from_json",
    "from_link",
    "parameter_fields",
    "picture",
    "plane",
    "plane_code",
    "plane_learners",
    "serve",
    "to_json",
    "to_link",
]


def __getattr__(name: str) -> Any:
    # Pages need Panel and Bokeh, an extra; states, pictures and code do without them.
    try:
        return _load_later(__name__, (), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("panel", "bokeh", "param", "tornado"):
            raise
        raise ImportError(
            f"verulam.lab.{name} needs Panel and Bokeh: pip install 'verulam[lab]'."
        ) from None


_publish(__name__)
