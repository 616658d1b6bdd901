"""Files that appear when they are complete, and not at all after an error."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """Give the path of a draft that takes the place of a file once it is written.

    Parameters
    ----------
    path
        The file; what was there before stays until the draft is complete.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with draft_of(Path(folder, "words.txt")) as draft:
    ...         _ = draft.write_text("done")
    ...     [(file.name, file.read_text()) for file in Path(folder).iterdir()]
    [('words.txt', 'done')]
    """
    # In the same folder, so that it can be renamed.
    handle, name = tempfile.mkstemp(dir=path.resolve().parent, suffix=".part")
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        # Made for its maker alone; the file is as any other.
        draft.chmod(0o644)
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
