"""Files are written whole or not at all, and a full disk is told with the path."""

import errno
import os
import re
import stat
import threading
from pathlib import Path

import pytest

import verulam
from verulam.base import draft_of, write_whole

SOURCE = Path(verulam.__file__).parent
#: What writes a file at once, on which the disk may be full half-way.
DIRECT = re.compile(
    r"\.write_(text|bytes)\(|\.savefig\((?!draft|buffer)|\.to_(csv|parquet|json|html)\((path|file|csv)"
    r"|open\([^)]*[\"'][wax]b?[\"']|np\.save|\.write_table\([^)]*path"
)
#: Lines that write to a draft, to memory, or to what is no file of the user.
ALLOWED = (
    "draft.write_bytes(",
    'draft.open("w',
    "np.savez(",  # into the draft that is open
    "axes.figure.savefig(",
    "figure.savefig(file, dpi=DOTS",  # into memory
    "path.write_bytes(content)",  # an upload, in a folder that ends with its reading
)


def test_what_was_there_stays_until_the_draft_is_complete(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("before", encoding="utf-8")
    with draft_of(path) as draft:
        draft.write_text("after", encoding="utf-8")
        assert draft.suffix == ".txt"
        assert path.read_text(encoding="utf-8") == "before"
    assert path.read_text(encoding="utf-8") == "after"
    assert [file.name for file in tmp_path.iterdir()] == ["words.txt"]


def test_who_may_read_a_file_stays_as_it_was(tmp_path):
    path = tmp_path / "words.txt"
    write_whole(path, "before")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    path.chmod(0o600)
    write_whole(path, "after")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_where_a_link_leads_to_is_written(tmp_path):
    (tmp_path / "there").mkdir()
    link = tmp_path / "link.txt"
    link.symlink_to(tmp_path / "there" / "words.txt")
    write_whole(link, "ä")
    assert link.is_symlink()
    assert (tmp_path / "there" / "words.txt").read_bytes() == "ä".encode()


def test_pipes_take_what_comes(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = []
    reader = threading.Thread(target=lambda: content.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_whole(pipe, b"words")
    reader.join(10)
    assert content == [b"words"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_of_a_draft_that_failed(tmp_path, error):
    with pytest.raises(error), draft_of(tmp_path / "words.txt"):
        raise error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("call", ["os.fsync", "os.replace", "pathlib.Path.write_bytes"])
def test_a_full_disk_is_told_with_the_path(tmp_path, monkeypatch, call):
    path = tmp_path / "words.txt"
    path.write_text("before", encoding="utf-8")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(call, full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_whole(path, "after")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    assert path.read_text(encoding="utf-8") == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["words.txt"]


def test_errors_about_other_files_stay_as_they_are(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, draft_of(tmp_path / "words.txt"):
        (tmp_path / "none.csv").read_text(encoding="utf-8")
    assert caught.value.filename == str(tmp_path / "none.csv")
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(tmp_path / "no" / "words.txt", "")
    assert caught.value.filename == str(tmp_path / "no" / "words.txt")


def test_nobody_writes_files_otherwise():
    """Every file that the library writes is a draft first."""
    lines = [
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for path in SOURCE.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if DIRECT.search(line) and not line.lstrip().startswith((">>> ", "... "))
    ]
    assert [line for line in lines if not any(words in line for words in ALLOWED)] == []
