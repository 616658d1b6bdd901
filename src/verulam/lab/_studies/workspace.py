"""Where the lab keeps what outlives a tab: copies of files, stores of runs, reports, models."""

import hashlib
import os
import re
import secrets
import shutil
import time
from pathlib import Path

from tornado.web import HTTPError, StaticFileHandler

from verulam.base import write_whole

#: Days that nothing was done with a folder before it is removed.
KEPT_DAYS = 60
#: What a browser may fetch; copies of files that were sent are not among it.
_SERVED = re.compile(
    r"[0-9a-f]{32}/(report-[0-9a-f]{12}\.html|model-[0-9a-f]{12}(\.skops|-card\.html))"
)
#: Name of the cookie that tells one browser from another, and what it may hold.
USER_COOKIE, _USER = "verulam_lab_user", re.compile(r"[0-9a-f]{32}")
_KEY = re.compile(r"[0-9a-f]{32}")
#: Names of the store in a folder, and of what was asked last.
RUNS, QUESTION = "runs.sqlite", "question.txt"


def workspace() -> Path:
    """Return the folder of the lab: VERULAM_LAB, or one among the user's own data.

    Examples
    --------
    >>> workspace().name != ""
    True
    """
    named = os.environ.get("VERULAM_LAB")
    if named:
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(data) if data else Path.home() / ".local" / "share") / "verulam" / "lab"


def new_user() -> str:
    """Return a name for a browser that comes for the first time; nobody can guess it."""
    return secrets.token_hex(16)


def is_user(name: str | None) -> bool:
    """Whether a cookie holds a name of ours, which is then safe in a path."""
    return name is not None and _USER.fullmatch(name) is not None


def folder_of_user(name: str | None) -> Path:
    """Return the folder of one browser, where the others have none of theirs.

    Parameters
    ----------
    name
        What its cookie holds; without a name of ours, an empty folder is meant.
    """
    secret = name if name is not None and is_user(name) else new_user()
    # Reports and cards show this path: it must not tell the name that opens the folder.
    return workspace() / f"user-{key_of(secret.encode())}"


def key_of(content: bytes) -> str:
    """Return what a file is kept under: the same content has the same place.

    Examples
    --------
    >>> key_of(b"a,b")
    '1eb7c54d52831bbfe8942af0b1c56b74'
    """
    return hashlib.sha256(content).hexdigest()[:32]


def folder_of(root: Path, key: str) -> Path:
    """Return the folder of a key, made where it is not there yet."""
    folder = root / key
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.mkdir(exist_ok=True, mode=0o700)
    os.utime(folder)
    return folder


def keep_upload(root: Path, name: str, content: bytes) -> Path:
    """Write a file that was sent into its folder, and return its path.

    Parameters
    ----------
    root
        What `workspace` returned.
    name
        As the user calls the file.
    content
        Its bytes.
    """
    remove_old(root)
    path = folder_of(root, key_of(content)) / plain_name(name)
    if not path.is_file() or path.stat().st_size != len(content):
        write_whole(path, content)
    return path


def plain_name(name: str) -> str:
    """Return the name of a file without anything that a file system may take amiss.

    Examples
    --------
    >>> plain_name("../my sales (2).csv")
    'my sales (2).csv'
    """
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w .()+-]", "_", last).lstrip(". ")[-80:] or "table.csv"


def remove_old(root: Path) -> None:
    """Remove the folders of all users that nothing was done with for long.

    Parameters
    ----------
    root
        Folder of one of the users.
    """
    if not root.is_dir():
        return
    oldest = time.time() - KEPT_DAYS * 86_400
    # Beside the folders of users there may be some from before browsers were told apart.
    for folder in [*root.iterdir(), *workspace().glob("*"), *workspace().glob("user-*/*")]:
        if _KEY.fullmatch(folder.name) and folder.is_dir() and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


class KeptFiles(StaticFileHandler):
    """Gives a browser the reports and models that it has asked for, and nothing else."""

    def initialize(
        self,
        path: str = "",
        default_filename: str | None = None,
        allowed_symlink_directory: str | list[str] | None = None,
    ) -> None:
        """Look where the files of this browser are."""
        folder = path or str(folder_of_user(self.get_cookie(USER_COOKIE)))
        super().initialize(folder, default_filename, allowed_symlink_directory)

    def parse_url_path(self, url_path: str) -> str:
        """Refuse whatever is not a report or a model."""
        if not _SERVED.fullmatch(url_path):
            raise HTTPError(404)
        return super().parse_url_path(url_path)

    def set_extra_headers(self, path: str) -> None:
        """Have models saved, not shown."""
        self.set_header("Cache-Control", "no-store")
        if path.endswith(".skops"):
            self.set_header("Content-Type", "application/octet-stream")
            self.set_header("Content-Disposition", f'attachment; filename="{Path(path).name}"')


#: Where the server shows the documentation.
DOCUMENTATION = "/docs"


def documentation() -> Path | None:
    """Return the folder of the documentation: VERULAM_DOCS, or what was built in a checkout."""
    named = os.environ.get("VERULAM_DOCS")
    site = Path(named) if named else Path(__file__).parents[4] / "site"
    return site if (site / "gallery.html").is_file() else None


class Pages(StaticFileHandler):
    """Gives browsers the pages of the documentation, where they were built."""

    def initialize(
        self,
        path: str = "",
        default_filename: str | None = "index.html",
        allowed_symlink_directory: str | list[str] | None = None,
    ) -> None:
        """Look where the pages are now."""
        site = documentation()
        self._is_built = site is not None
        super().initialize(path or str(site or "."), default_filename, allowed_symlink_directory)

    def parse_url_path(self, url_path: str) -> str:
        """Refuse everything where no pages were built."""
        if not self._is_built:
            raise HTTPError(404)
        return super().parse_url_path(url_path)


#: Patterns of addresses for the server.
KEPT_PATTERNS = [(r"/kept/(.*)", KeptFiles), (rf"{DOCUMENTATION}/(.*)", Pages)]
