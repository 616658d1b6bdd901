"""Files that outlive a tab: where they are kept, and which of them a browser may have."""

import os
import time
import urllib.error
import urllib.request

import pytest

from verulam.lab._studies.workspace import (
    USER_COOKIE,
    documentation,
    folder_of_user,
    is_user,
    keep_upload,
    key_of,
    new_user,
    plain_name,
    remove_old,
    workspace,
)

KEY = "0123456789abcdef" * 2
USER, OTHER = "a1" * 16, "b2" * 16


def test_the_same_content_has_the_same_place(tmp_path):
    first = keep_upload(tmp_path, "sales.csv", b"a,b\n1,2\n")
    assert first == keep_upload(tmp_path, "sales.csv", b"a,b\n1,2\n")
    assert first.parent.name == key_of(b"a,b\n1,2\n")
    assert first.read_bytes() == b"a,b\n1,2\n"
    assert keep_upload(tmp_path, "sales.csv", b"a,b\n1,3\n").parent != first.parent
    assert first.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("../../etc/passwd.csv", "passwd.csv"),
        ("C:\\data\\my table.csv", "my table.csv"),
        ("..csv", "csv"),
        ("a\0;b.csv", "a__b.csv"),
        ("größe.csv", "größe.csv"),
        ("", "table.csv"),
    ],
)
def test_names_of_files_stay_within_their_folder(name, plain):
    assert plain_name(name) == plain


def test_folders_that_nobody_used_for_long_are_removed(tmp_path):
    path = keep_upload(tmp_path, "old.csv", b"x\n1\n")
    (tmp_path / "notes").mkdir()
    long_ago = time.time() - 90 * 86_400
    for folder in (path.parent, tmp_path / "notes"):
        os.utime(folder, (long_ago, long_ago))
    remove_old(tmp_path)
    assert [folder.name for folder in tmp_path.iterdir()] == ["notes"]


def test_old_folders_of_other_users_are_removed_with_one_s_own(monkeypatch, tmp_path):
    monkeypatch.setenv("VERULAM_LAB", str(tmp_path))
    mine, theirs = folder_of_user(USER), folder_of_user(OTHER)
    paths = [keep_upload(root, "old.csv", b"x\n1\n") for root in (mine, theirs)]
    long_ago = time.time() - 90 * 86_400
    os.utime(paths[1].parent, (long_ago, long_ago))
    before = tmp_path / KEY
    before.mkdir()
    os.utime(before, (long_ago, long_ago))
    remove_old(mine)
    assert [path.is_file() for path in paths] == [True, False]
    assert not before.exists()


def test_every_browser_has_a_folder_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("VERULAM_LAB", str(tmp_path))
    assert is_user(new_user())
    mine = folder_of_user(USER)
    assert mine == folder_of_user(USER) != folder_of_user(OTHER)
    assert mine.parent == tmp_path
    # Reports show the path: whoever reads it must not learn the cookie.
    assert USER not in str(mine)
    for name in (None, "", "../secret", USER + "/..", USER.upper()):
        assert not is_user(name)
        # Who says no name of ours shares a folder with nobody.
        assert folder_of_user(name).parent == tmp_path
        assert folder_of_user(name) != folder_of_user(name)


def test_the_folder_is_that_of_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("VERULAM_LAB", str(tmp_path))
    assert workspace() == tmp_path
    monkeypatch.delenv("VERULAM_LAB")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert workspace() == tmp_path / "verulam" / "lab"


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("report-0123456789ab.html", 200),
        ("model-0123456789ab.skops", 200),
        ("model-0123456789ab-card.html", 200),
        ("sales.csv", 404),
        ("runs.sqlite", 404),
        ("question.txt", 404),
        ("../report-0123456789ab.html", 404),
        ("report-ffffffffffff.html", 404),
    ],
)
def test_reports_and_models_are_served_and_nothing_else(lab, monkeypatch, tmp_path, name, status):
    monkeypatch.setenv("VERULAM_LAB", str(tmp_path))
    folder = folder_of_user(USER) / KEY
    folder.mkdir(parents=True)
    for file in ("report-0123456789ab.html", "model-0123456789ab.skops", "sales.csv",
                 "model-0123456789ab-card.html", "runs.sqlite", "question.txt"):  # fmt: skip
        (folder / file).write_text("content")
    assert fetched(lab, f"/kept/{KEY}/{name}", user=USER) == status
    assert fetched(lab, f"/kept/{KEY}/{name}", cookie=False, user=USER) == 403
    for user in (OTHER, "", f"{OTHER}/../user-{USER}"):
        assert fetched(lab, f"/kept/{KEY}/{name}", user=user) == 404


def test_the_documentation_is_served_where_it_was_built(lab, monkeypatch, tmp_path):
    monkeypatch.setenv("VERULAM_DOCS", str(tmp_path / "site"))
    assert documentation() is None
    assert fetched(lab, "/docs/gallery.html") == 404
    (tmp_path / "site").mkdir()
    (tmp_path / "secret.html").write_text("content")
    (tmp_path / "site" / "gallery.html").write_text("content")
    assert fetched(lab, "/docs/gallery.html") == 200
    assert fetched(lab, "/docs/gallery.html", cookie=False) == 403
    assert fetched(lab, "/docs/../secret.html") in (403, 404)


def fetched(lab, place, *, cookie=True, user=""):
    """Return the status of a request, of somebody who was admitted or not."""
    request = urllib.request.Request(f"http://127.0.0.1:{lab.server.port}{place}")
    guard = lab.server.guard
    cookies = [f"{USER_COOKIE}={user}"] if user else []
    cookies += [f"{guard.cookie}={guard.cookie_value}"] if cookie else []
    request.add_header("Cookie", "; ".join(cookies))
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
