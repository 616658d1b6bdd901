"""The server of the lab: one machine, one token, known hosts and origins, limited messages."""

import asyncio
import contextlib
import hmac
import logging
import secrets
import signal
import socket
import webbrowser
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit

from bokeh.server.server import BaseServer
from bokeh.server.tornado import BokehTornado
from panel.io.application import build_applications
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPHeaders, HTTPServerRequest
from tornado.ioloop import IOLoop
from tornado.iostream import StreamClosedError
from tornado.web import OutputTransform, RequestHandler
from tornado.websocket import WebSocketClosedError

from verulam.base import DataError
from verulam.lab._pages import PAGES, make_page
from verulam.lab._pool import Pool
from verulam.lab._shell import Session
from verulam.lab._studies.workspace import KEPT_PATTERNS, USER_COOKIE, is_user, new_user

LOCAL = "127.0.0.1"
#: Bytes of one message from a browser: a file comes in pieces of less.
LARGEST_MESSAGE = 12_000_000
LARGEST_BODY = 100_000
#: Seconds that a browser remembers who it is.
LASTING = 400 * 86_400
#: Milliseconds between two looks at which tabs are still there.
LOOK = 400

# Bokeh makes functions of text that it has got from its own server, and styles in the page; all
# else comes from this server alone.
POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class _SafeHeaders(OutputTransform):
    def __init__(self, request: HTTPServerRequest) -> None:
        self.request = request

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        for name, value in HEADERS.items():
            headers[name] = value
        return status_code, headers, chunk


class _Refusal(RequestHandler):
    """Answers a request that did not pass the guard."""

    def initialize(self, status: int, reason: str) -> None:
        self.status, self.words = status, reason

    def prepare(self) -> None:
        self.set_status(self.status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(self.words + "\n")


class _Admission(RequestHandler):
    """Takes the token out of the address, and leaves a cookie in its place."""

    def initialize(self, cookie: str, value: str) -> None:
        self.cookie, self.value = cookie, value

    def get(self) -> None:
        safe: dict[str, Any] = {"httponly": True, "samesite": "Strict", "path": "/"}
        self.set_cookie(self.cookie, self.value, **safe)
        if not is_user(self.get_cookie(USER_COOKIE)):
            self.set_cookie(USER_COOKIE, new_user(), max_age=LASTING, **safe)
        rest = {name: self.get_query_argument(name) for name in self.request.query_arguments}
        rest.pop("token", None)
        self.redirect(self.request.path + ("?" + urlencode(rest) if rest else ""))


class Guard:
    """Who may talk to the server: known hosts and origins, with the token or its cookie.

    Parameters
    ----------
    hosts
        Names and ports under which the server is reached.
    token
        Secret of this run.

    Examples
    --------
    >>> from tornado.httputil import HTTPHeaders, HTTPServerRequest
    >>> guard = Guard(["127.0.0.1:5007"], "secret")
    >>> headers = HTTPHeaders({"Host": "evil.example"})
    >>> guard.refusal(HTTPServerRequest("GET", "/", headers=headers, host="evil.example"))
    (400, 'This host name is not known here.')
    """

    def __init__(self, hosts: Sequence[str], token: str) -> None:
        self.hosts = frozenset(host.lower() for host in hosts)
        self.token = token
        self.cookie = "verulam_lab_" + secrets.token_hex(4)
        # The cookie is not the token: who reads one does not have the other.
        self.cookie_value = secrets.token_urlsafe(32)

    def refusal(self, request: HTTPServerRequest) -> tuple[int, str] | None:
        """Return status and reason where a request is refused, None where it may pass."""
        if request.headers.get("Host", "").lower() not in self.hosts:
            return 400, "This host name is not known here."
        origin = request.headers.get("Origin")
        upgrade = request.headers.get("Upgrade", "").lower() == "websocket"
        if origin is None and (upgrade or request.method not in ("GET", "HEAD")):
            return 403, "A request of this kind must say its origin."
        if origin is not None and urlsplit(origin).netloc.lower() not in self.hosts:
            return 403, "This origin is not known here."
        if not self.has_token(request) and not self.has_cookie(request):
            return 403, "Open the address with the token that verulam lab has printed."
        return None

    def has_token(self, request: HTTPServerRequest) -> bool:
        """Whether the address has the token."""
        tokens = request.query_arguments.get("token", [])
        return bool(tokens) and hmac.compare_digest(tokens[-1], self.token.encode())

    def has_cookie(self, request: HTTPServerRequest) -> bool:
        """Whether the browser was admitted before."""
        cookie = request.cookies.get(self.cookie)
        if cookie is None:
            return False
        return hmac.compare_digest(cookie.value.encode(), self.cookie_value.encode())


class _GuardedTornado(BokehTornado):
    def __init__(self, *arguments: Any, guard: Guard, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._guard = guard
        self.add_transform(_SafeHeaders)

    def find_handler(self, request: HTTPServerRequest, **options: Any) -> Any:
        refused = self._guard.refusal(request)
        if refused is not None:
            status, reason = refused
            return self.get_handler_delegate(
                request, _Refusal, {"status": status, "reason": reason}
            )
        if request.method == "GET" and self._guard.has_token(request):
            admission = {"cookie": self._guard.cookie, "value": self._guard.cookie_value}
            return self.get_handler_delegate(request, _Admission, admission)
        return super().find_handler(request, **options)


class LabServer:
    """The pages of the lab on a port of this machine.

    Parameters
    ----------
    port
        Port to listen on; 0 takes a free one.
    host
        Address to listen on; anything but this machine alone opens the lab to the network, for
        those who have the token.
    pool
        Processes that work; None makes some.

    Examples
    --------
    >>> LabServer.__name__
    'LabServer'
    """

    def __init__(self, port: int = 0, host: str = LOCAL, pool: Pool | None = None) -> None:
        if not isinstance(port, int) or not 0 <= port <= 65535:
            raise DataError(f"port must be a whole number from 0 to 65535, not {port!r}.")
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            listener = socket.create_server((host, port), family=family)
        except OSError as error:
            raise DataError(
                f"port {port} of {host} cannot be used ({error.strerror}); 0 takes a free one."
            ) from None
        self.host = host
        listener.setblocking(False)
        self.port = listener.getsockname()[1]
        self.pool = Pool() if pool is None else pool
        names = {host, "localhost", LOCAL}
        hosts = [f"{name}:{self.port}" for name in names]
        self.guard = Guard(hosts, secrets.token_urlsafe(32))
        self._sessions: dict[str, Session] = {}
        applications = build_applications(
            {f"/{slug}": self._page(slug) for slug in PAGES},
            title={f"/{slug}": f"{page.title} · Verulam lab" for slug, page in PAGES.items()},
        )
        self._tornado = _GuardedTornado(
            applications,
            guard=self.guard,
            extra_websocket_origins=hosts,
            websocket_max_message_size_bytes=LARGEST_MESSAGE,
            redirect_root=True,
            index=None,
            extra_patterns=[(r"/", _ToFirstPage), *KEPT_PATTERNS],
        )
        http = HTTPServer(self._tornado, max_body_size=LARGEST_BODY)
        http.add_sockets([listener])
        self._server = BaseServer(IOLoop.current(), self._tornado, http)

    @property
    def address(self) -> str:
        """Where a browser finds the lab, with the token."""
        name = LOCAL if self.host in ("", "0.0.0.0", "::") else self.host  # noqa: S104
        return f"http://{name}:{self.port}/{next(iter(PAGES))}?token={self.guard.token}"

    def _page(self, slug: str) -> Callable[[], Any]:
        def make() -> Any:
            return make_page(slug, self.pool, self._sessions)

        return make

    def start(self) -> None:
        """Begin to answer, on the event loop that runs."""
        self._forgive_closed_tabs()
        self.pool.start()
        self._server.start()
        self._watch()

    def stop(self) -> None:
        """End the processes and answer no more."""
        self._server.stop()
        self._server.unlisten()
        self.pool.close()

    def _forgive_closed_tabs(self) -> None:
        """Keep a message that met a tab just closed from being reported as an error."""
        loop = asyncio.get_running_loop()
        before = loop.get_exception_handler()

        def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            if isinstance(context.get("exception"), StreamClosedError | WebSocketClosedError):
                return
            if before is None:
                loop.default_exception_handler(context)
            else:
                before(loop, context)

        loop.set_exception_handler(handle)

    def _watch(self) -> None:
        """End the work of tabs that were closed."""
        connected = {session.id: session.connection_count for session in self._open_sessions()}
        for name, session in list(self._sessions.items()):
            if connected.get(name, 0) > 0:
                session.seen = True
            elif session.seen or name not in connected:
                session.close()
                if name not in connected:
                    del self._sessions[name]
        IOLoop.current().call_later(LOOK / 1000, self._watch)

    def views(self) -> list[Any]:
        """Return what the open tabs show."""
        return [session.view for session in list(self._sessions.values()) if session.seen]

    def _open_sessions(self) -> list[Any]:
        return [item for slug in PAGES for item in self._server.get_sessions(f"/{slug}")]


class _ToFirstPage(RequestHandler):
    def get(self) -> None:
        self.redirect(f"/{next(iter(PAGES))}")


def serve(
    port: int = 0,
    *,
    host: str = LOCAL,
    open_browser: bool = True,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve the lab until it is interrupted.

    Parameters
    ----------
    port
        Port to listen on; 0 takes a free one.
    host
        Address to listen on.
    open_browser
        Whether to show the first page in a browser.
    announce
        Called with lines for people.
    """

    async def run() -> None:
        server = LabServer(port, host)
        server.start()
        announce(f"The lab is at {server.address}")
        announce("Ctrl-C ends it.")
        if host not in (LOCAL, "localhost", "::1"):
            announce("Others on the network who have this address can use the lab, unencrypted.")
        if open_browser:
            webbrowser.open(server.address)
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError):
                loop.add_signal_handler(name, ended.set)
        try:
            await ended.wait()
        finally:
            server.stop()

    logging.getLogger("bokeh").setLevel(logging.ERROR)
    asyncio.run(run())
