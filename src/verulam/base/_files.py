"""Files that are written whole or not at all."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def draft_of(path: str | Path) -> Iterator[Path]:
    """Give the path of a draft that takes the place of a file once it is written.

    Parameters
    ----------
    path
        The file; what was there before stays until the draft is complete. The draft has the same
        ending, by which some writers know the format.

    Raises
    ------
    OSError
        If the draft cannot be written, as on a full disk; it names the file, not its draft.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with draft_of(Path(folder, "words.txt")) as draft:
    ...         _ = draft.write_text("done")
    ...     [(file.name, file.read_text()) for file in Path(folder).iterdir()]
    [('words.txt', 'done')]
    """
    path = Path(path)
    # Where a link leads to is written, and the link stays.
    target = path.resolve()
    if target.exists() and not target.is_file():
        # A pipe or a device, which takes what comes.
        yield path
        return
    draft = None
    try:
        # In the same folder, so that it can be renamed.
        handle, name = tempfile.mkstemp(dir=target.parent, suffix=f".part{path.suffix}")
        os.close(handle)
        draft = Path(name)
        yield draft
        keep_on_disk(draft)
        # Made for its maker alone; the file is as it was before, or as any other.
        draft.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644)
        os.replace(draft, target)
    except BaseException as error:
        if draft is not None:
            draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and _is_about(error, draft):
            raise type(error)(error.errno, error.strerror, str(path)) from error
        raise


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file as a whole or not at all.

    Parameters
    ----------
    path
        The file; what was there before is replaced.
    content
        What to write; text is written as UTF-8.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "words.txt"), "done")
    ...     Path(folder, "words.txt").read_text()
    'done'
    """
    with draft_of(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


def keep_on_disk(path: Path) -> None:
    """Have the system write a file or a folder to the disk (fsync), which it may put off.

    Parameters
    ----------
    path
        The file or folder.
    """
    # A disk may turn out to be full only here.
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _is_about(error: OSError, draft: Path | None) -> bool:
    """Return whether an error came from writing the draft, which writers may not say."""
    named = error.filename
    return bool(error.errno and error.strerror) and (
        draft is None or named is None or str(named) == str(draft)
    )
