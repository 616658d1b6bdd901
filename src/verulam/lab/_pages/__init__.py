"""The pages of the lab, in the order in which they are listed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import panel as pn
from panel.viewable import Viewable

from verulam.lab._pages.chapters import chapters_page
from verulam.lab._pages.plane_view import plane_page
from verulam.lab._pages.studies import studies_page
from verulam.lab._pages.table import table_page
from verulam.lab._pool import Pool
from verulam.lab._shell import Session, framed, tones_of_request
from verulam.lab._studies.workspace import USER_COOKIE, folder_of_user


@dataclass(frozen=True)
class Page:
    """A page of the lab.

    Attributes
    ----------
    title
        As it stands in the list of pages.
    build
        Returns what the page shows to a session.
    """

    title: str
    build: Callable[[Session], Viewable]


#: By their places in the address; the first one opens.
PAGES: dict[str, Page] = {
    "plane": Page("Plane", plane_page),
    "table": Page("Table", table_page),
    "studies": Page("Studies", studies_page),
    "chapters": Page("Chapters", chapters_page),
}


def make_page(slug: str, pool: Pool, sessions: dict[str, Session]) -> pn.Template:
    """Return a page for the tab that asks, and remember its session.

    Parameters
    ----------
    slug
        Place of the page in the address.
    pool
        Processes that work.
    sessions
        Those that are open, by their names.
    """
    tones = tones_of_request()
    document: Any = pn.state.curdoc
    session = Session(pool, document, tones)
    session.folder = folder_of_user(pn.state.cookies.get(USER_COOKIE))
    sessions[session.id] = session
    titles = {name: page.title for name, page in PAGES.items()}
    return framed(PAGES[slug].build(session), slug, titles, tones)
