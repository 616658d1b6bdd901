"""Files that outlive a tab: where they are kept, and which of them a browser may have."""

import os
import time
import urllib.error
import urllib.request

import pytest

from verulam.lab._studies.workspace import keep_upload, key_of, plain_name, remove_old, workspace

KEY = "0123456789abcdef" * 2


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
    (tmp_path / KEY).mkdir()
    for file in ("report-0123456789ab.html", "model-0123456789ab.skops", "sales.csv",
                 "model-0123456789ab-card.html", "runs.sqlite", "question.txt"):  # fmt: skip
        (tmp_path / KEY / file).write_text("content")
    assert fetched(lab, f"/kept/{KEY}/{name}", cookie=True) == status
    assert fetched(lab, f"/kept/{KEY}/{name}", cookie=False) == 403


def fetched(lab, place, *, cookie):
    """Return the status of a request, of somebody who was admitted or not."""
    request = urllib.request.Request(f"http://127.0.0.1:{lab.server.port}{place}")
    if cookie:
        guard = lab.server.guard
        request.add_header("Cookie", f"{guard.cookie}={guard.cookie_value}")
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
