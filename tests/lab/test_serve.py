"""Who may talk to the server, how much, and what it says about itself."""

import http.client
import re
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
from tornado.websocket import WebSocketClosedError

from verulam.base import DataError
from verulam.lab import LabServer, serve
from verulam.lab._serve import LARGEST_BODY, LARGEST_MESSAGE, LOCAL


@pytest.fixture
def ask(lab):
    """Send a request with headers of one's own and return status, headers and body."""
    port = lab.server.port

    def send(path="/plane", method="GET", body=None, **headers):
        connection = http.client.HTTPConnection(LOCAL, port, timeout=300)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body=body, headers=named)
        answer = connection.getresponse()
        outcome = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return outcome

    return send


@pytest.fixture
def cookie(lab):
    return f"{lab.server.guard.cookie}={lab.server.guard.cookie_value}"


def upgrade(lab, **more):
    key = "dGhlIHNhbXBsZSBub25jZQ=="
    return {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": key, **more,
    }  # fmt: skip


def test_no_token_no_page(lab, ask):
    status, headers, body = ask()
    assert status == 403
    assert b"token" in body
    assert ask("/static/js/bokeh.min.js")[0] == 403
    assert ask("/plane?token=wrong")[0] == 403
    assert ask(Cookie=f"{lab.server.guard.cookie}=wrong")[0] == 403
    assert lab.server.guard.token not in str(headers)


def test_only_a_tab_closed_in_the_middle_is_no_error(lab):
    def report(error):
        lab.loop.call_exception_handler({"message": "a write failed", "exception": error})

    lab.call(report, WebSocketClosedError())
    assert lab.complaints == []
    lab.call(report, ValueError("too few points"))
    assert "too few points" in lab.complaints.pop()


def test_the_token_is_exchanged_for_a_cookie(lab, ask):
    status, headers, _ = ask(f"/plane?token={lab.server.guard.token}&theme=dark")
    assert status == 302
    assert headers["Location"] == "/plane?theme=dark"
    assert "HttpOnly" in headers["Set-Cookie"]
    assert "SameSite=Strict" in headers["Set-Cookie"]
    assert lab.server.guard.token not in headers["Set-Cookie"]


def test_pages_carry_a_policy(ask, cookie):
    status, headers, body = ask(Cookie=cookie)
    assert status == 200
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert b"https://cdn" not in body


def test_other_hosts_are_refused(ask, cookie):
    assert ask(Cookie=cookie, Host="evil.example")[0] == 400
    assert ask(Cookie=cookie, Host="127.0.0.1:1")[0] == 400


def test_sockets_need_a_known_origin(lab, ask, cookie):
    ours = f"http://{LOCAL}:{lab.server.port}"
    assert ask("/plane/ws", Cookie=cookie, **upgrade(lab))[0] == 403
    assert ask("/plane/ws", Cookie=cookie, Origin="http://evil.example", **upgrade(lab))[0] == 403
    assert ask("/plane/ws", Cookie=cookie, Origin="null", **upgrade(lab))[0] == 403
    assert ask("/plane/ws", Origin=ours, **upgrade(lab))[0] == 403


def test_posts_need_an_origin_and_large_bodies_are_refused(lab, ask, cookie):
    assert ask(method="POST", body=b"x", Cookie=cookie)[0] == 403
    with socket.create_connection((LOCAL, lab.server.port), timeout=300) as raw:
        head = (
            f"POST /plane HTTP/1.1\r\nHost: {LOCAL}:{lab.server.port}\r\nCookie: {cookie}\r\n"
            f"Origin: http://{LOCAL}:{lab.server.port}\r\nContent-Length: 1000000000\r\n\r\n"
        )
        raw.sendall(head.encode())
        answer = raw.recv(200)
    assert b"200" not in answer[:20]
    assert answer.startswith(b"HTTP/1.1 4") or answer == b""
    assert 0 < LARGEST_BODY < 1_000_000
    assert LARGEST_MESSAGE < 20_000_000


def test_one_session_does_not_see_another(lab, ask, cookie):
    first, second = (ask(Cookie=cookie)[2] for _ in range(2))
    tokens = [re.search(rb'"token": ?"([^"]+)"', body)[1] for body in (first, second)]
    assert tokens[0] != tokens[1]


def test_bad_ports_are_refused(lab):
    with pytest.raises(DataError, match="port must be a whole number from 0 to 65535, not 70000"):
        LabServer(70000)
    with pytest.raises(DataError, match=f"port {lab.server.port} of 127.0.0.1 cannot be used"):
        LabServer(lab.server.port)
    # The browser's tests hold the loop of the main thread.
    with ThreadPoolExecutor(1) as threads, pytest.raises(DataError, match="whole number"):
        threads.submit(serve, "x", open_browser=False).result(300)
