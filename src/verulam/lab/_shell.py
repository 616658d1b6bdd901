"""What all pages share: the session with its work, the frame around a page, and Show code."""

import html
import re
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import panel as pn
from bokeh.events import DocumentReady
from panel.io.state import set_curdoc
from panel.theme import DarkTheme, DefaultTheme
from panel.viewable import Viewable

from verulam.lab._pool import Outcome, Pool
from verulam.lab._studies.workspace import workspace
from verulam.lab._style import DARK, LIGHT, LabDesign, Tones, page_style

#: Seconds that a page waits before it writes its state into the address: writing takes time.
LINK_DELAY = 600
_UPLOAD_MEGABYTES = 50


def upload_limit() -> int:
    """Return the number of bytes that a file may have."""
    return _UPLOAD_MEGABYTES * 1_000_000


class Session:
    """One tab: its name, its work, and the way back to its page.

    Parameters
    ----------
    pool
        Processes that work for all sessions.
    document
        Bokeh's document of a tab; None in a notebook.
    tones
        Colours of the page.

    Examples
    --------
    >>> from verulam.lab._pool import Pool
    >>> Session(Pool()).tones.name
    'light'
    """

    def __init__(self, pool: Pool, document: Any = None, tones: Tones = LIGHT) -> None:
        self.pool = pool
        self.document = document
        self.tones = tones
        context = getattr(document, "session_context", None)
        self.id = context.id if context is not None else secrets.token_hex(8)
        #: Where its files are kept.
        self.folder = workspace()
        self.seen = False
        self.view: Any = None
        self.root: Viewable | None = None

    def start(
        self,
        kind: str,
        function: Callable[..., Any],
        *arguments: Any,
        deliver: Callable[[Outcome], None],
        urgent: bool = True,
        limit: float | None = None,
    ) -> None:
        """Have a job done; a newer one of the same kind takes its place.

        Parameters
        ----------
        kind
            Which job of the page it is.
        function, arguments
            A function of a module, and what to call it with.
        deliver
            Called with each outcome, when the page may be changed.
        urgent
            Whether somebody waits for it.
        limit
            Seconds that it may take.
        """
        self.pool.submit(
            self.id,
            kind,
            function,
            *arguments,
            deliver=partial(self.call, deliver),
            urgent=urgent,
            limit=limit,
        )

    def call(self, change: Callable[..., None], *arguments: Any) -> None:
        """Change the page from outside of its own events."""
        if self.document is None:
            change(*arguments)
            if self.root is not None:
                pn.io.push_notebook(self.root)
        else:
            # A model may be changed only while its document is locked.
            self.document.add_next_tick_callback(partial(self._in_document, change, *arguments))

    def after(self, milliseconds: int, change: Callable[[], None]) -> Any:
        """Change the page once, later."""
        if self.document is None:
            change()
            return None
        return self.document.add_timeout_callback(partial(self._in_document, change), milliseconds)

    def every(self, milliseconds: int, change: Callable[[], None]) -> Any:
        """Change the page again and again; None outside of a server."""
        if self.document is None:
            return None
        return self.document.add_periodic_callback(partial(self._in_document, change), milliseconds)

    def _in_document(self, change: Callable[..., None], *arguments: Any) -> None:
        # Panel looks up where it is; outside of its own events somebody must say so.
        with set_curdoc(self.document), self.together():
            change(*arguments)

    def together(self) -> AbstractContextManager[None]:
        """Return a block whose changes of the page go to the browser as one message."""
        return nullcontext() if self.document is None else pn.io.unlocked()

    def forget(self, kind: str) -> None:
        """Hear no more of the jobs of one kind; what runs may end by itself."""
        self.pool.forget(self.id, kind)

    def stop(self, kind: str | None = None) -> None:
        """End the jobs of one kind, or all."""
        self.pool.cancel(self.id, kind)

    def close(self) -> None:
        """End all work, because nobody looks any more."""
        self.seen = False
        self.pool.cancel(self.id)


_TEMPLATE = """
{% extends base %}
{% block preamble %}
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{{ lab_style }}</style>
<script>
  const known = document.cookie.includes("verulam_theme=");
  function paint(theme) {
    document.cookie = "verulam_theme=" + theme + "; path=/; SameSite=Strict; max-age=31536000";
    location.reload();
  }
  if (!known && matchMedia("(prefers-color-scheme: dark)").matches) paint("dark");
  // Sliders of Bokeh have no name for screen readers: they get that of the title above them.
  const watcher = new MutationObserver(changes => {
    for (const root of new Set(changes.map(change => change.target.getRootNode()))) {
      const title = root.querySelector(".bk-slider-title");
      const name = title && title.textContent.split(":")[0].trim();
      for (const handle of name ? root.querySelectorAll(".noUi-handle") : []) {
        if (handle.getAttribute("aria-label") !== name) handle.setAttribute("aria-label", name);
      }
      // Nor have the buttons that count a number up and down.
      for (const [way, word] of [["up", "Increase"], ["down", "Decrease"]]) {
        const unnamed = `.bk-spin-btn-${way}:not([aria-label])`;
        root.querySelectorAll(unnamed).forEach(item => item.setAttribute("aria-label", word));
      }
      // Nor do titles that fold say whether what they fold is shown.
      for (const title of root.querySelectorAll("button.card-header")) {
        const open = String(!title.querySelector(".icon-tabler-chevron-right"));
        if (title.getAttribute("aria-expanded") !== open) title.setAttribute("aria-expanded", open);
      }
    }
  });
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options);
    watcher.observe(root, {childList: true, subtree: true, characterData: true});
    return root;
  };
</script>
{% endblock %}
{% block contents %}
<a class="skip" href="#main">Go to the page</a>
<header>
  <strong>Verulam lab</strong>
  <nav aria-label="Pages">
  {% for slug, title in lab_pages %}
    <a href="/{{ slug }}" {% if slug == lab_page %}aria-current="page"{% endif %}>{{ title }}</a>
  {% endfor %}
  </nav>
  <button type="button" onclick="paint('{{ lab_other }}')">{{ lab_other|capitalize }} colours
  </button>
</header>
<main id="main">{{ embed(roots.main) }}</main>
{{ embed(roots.location) }}
{% endblock %}
"""


def framed(content: Viewable, slug: str, titles: dict[str, str], tones: Tones) -> pn.Template:
    """Return a page: the list of pages above, the content below.

    Parameters
    ----------
    content
        What the page shows.
    slug
        Its place in the address.
    titles
        Titles of all pages by their places.
    tones
        Colours.
    """
    theme = DarkTheme if tones is DARK else DefaultTheme
    frame = pn.Template(_TEMPLATE, design=LabDesign, theme=theme, location=True)
    frame.add_variable("lab_style", page_style(tones))
    frame.add_variable("lab_pages", list(titles.items()))
    frame.add_variable("lab_page", slug)
    frame.add_variable("lab_other", "light" if tones is DARK else "dark")
    frame.add_panel("main", content)
    return frame


def tones_of_request() -> Tones:
    """Return the colours that the browser asked for."""
    return DARK if pn.state.cookies.get("verulam_theme") == "dark" else LIGHT


class CodeDrawer:
    """A button that shows the Python which gives what the page shows.

    Parameters
    ----------
    code
        Called for the code when it is shown.

    Examples
    --------
    >>> CodeDrawer(lambda: "print(1)").view.css_classes
    ['code-drawer']
    """

    def __init__(self, code: Callable[[], str]) -> None:
        self._code = code
        self._button = pn.widgets.Toggle(label="Show code", width=110)
        self._text = pn.pane.HTML("", sizing_mode="stretch_width", visible=False)
        self._button.param.watch(self._show, "value")
        self.view = pn.Column(
            self._button, self._text, sizing_mode="stretch_width", css_classes=["code-drawer"]
        )

    def refresh(self) -> None:
        """Show the code of what the page shows now, where it is shown at all."""
        if self._button.value:
            self._text.object = f"<pre tabindex=0 data-code>{html.escape(self._code())}</pre>"

    def _show(self, event: Any) -> None:
        self._button.label = "Hide code" if event.new else "Show code"
        self._text.visible = event.new
        self.refresh()


class LinkKeeper:
    """Keeps the state of a page in the part of its address that is not sent to servers.

    Parameters
    ----------
    session
        Of the tab.
    restore
        Called with the end of the address when the tab has been opened with one.
    """

    def __init__(self, session: Session, restore: Callable[[str], None]) -> None:
        self._session, self._restore = session, restore
        self._location = pn.state.location if session.document is not None else None
        self._link = ""
        self._pending = False
        self._has_begun = False
        self._is_drawn = False
        self._waiting = ""
        if self._location is not None:
            self._waiting = self._location.hash
            self._location.param.watch(self._arrived, "hash")
            session.document.on_event(DocumentReady, self._drawn)

    def keep(self, link: Callable[[], str]) -> None:
        """Write a state into the address, a moment later.

        The state that a page begins with is not written: the address may hold another, which has
        not arrived yet.
        """
        has_begun, self._has_begun = self._has_begun, True
        if self._location is None or self._pending or not has_begun:
            return
        self._pending = True
        self._session.after(LINK_DELAY, partial(self._write, link))

    def _write(self, link: Callable[[], str]) -> None:
        self._pending = False
        self._link = link()
        if self._location is not None:
            self._location.hash = self._link

    def _arrived(self, event: Any) -> None:
        if event.new and event.new != self._link:
            self._link = self._waiting = event.new
            if self._is_drawn:
                self._restore(event.new)

    def _drawn(self, _: Any) -> None:
        # Parts that are replaced while a browser draws them for the first time stay as they were.
        self._is_drawn = True
        if self._waiting:
            self._session.call(self._restore, self._waiting)


def words(text: str, kind: str = "") -> str:
    """Return text for a page; nothing in it is taken for markup."""
    spoken = html.escape(re.sub(r"\s+", " ", text).strip())
    return f'<span class="{kind}">{spoken}</span>' if kind else spoken
