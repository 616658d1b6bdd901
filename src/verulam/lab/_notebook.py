"""The plane in a notebook."""

import asyncio
from typing import Any

import panel as pn

from verulam.base import DataError
from verulam.lab._pages.plane_view import PlaneView
from verulam.lab._pool import Pool
from verulam.lab._shell import Session
from verulam.lab._state import PlaneState
from verulam.lab._style import DARK, LIGHT, LabDesign

_POOLS: list[Pool] = []
#: Planes that were made, so that their work is not forgotten while they are shown.
OPEN: list[Session] = []


def plane(state: PlaneState | None = None, *, dark: bool = False) -> Any:
    """Return the plane, to be shown as the last line of a cell.

    Parameters
    ----------
    state
        What it shows first; None for two clouds and their nearest neighbours.
    dark
        Whether the ground is dark.

    Notes
    -----
    It works on the event loop of the notebook; in a plain program, use ``verulam lab``.
    """
    if state is not None and not isinstance(state, PlaneState):
        raise DataError(f"state must be a PlaneState or None, not {type(state).__name__}.")
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise DataError(
            "plane() is for notebooks: elsewhere, use the command verulam lab."
        ) from None
    pn.extension(design=LabDesign)
    if not _POOLS:
        _POOLS.append(Pool())
    session = Session(_POOLS[0], None, DARK if dark else LIGHT)
    session.root = PlaneView(session, state).view
    OPEN.append(session)
    return session.root
