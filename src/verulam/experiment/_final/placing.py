"""Placing a model, its pages and its record so that an interruption leaves the old or the new.

Three files and a row of the store cannot be changed in one step. So all of it is prepared in a
folder beside the model; one renaming of that folder decides; and what is left to be moved after
an interruption is moved when the study is finalised again.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from verulam.base import DataError, keep_on_disk
from verulam.experiment._final.card import ModelCard
from verulam.experiment._final.model_file import sealed_model
from verulam.experiment._store.test_set_log import close_locked_part

_RECORD = "record.json"
#: Where room is made for the model, before the locked part is looked at.
_ROOM = "room"
#: More than the pages, the card and the record take.
_PAGES_BYTES = 2**18


@dataclass(frozen=True)
class PlacedModel:
    """What a store is told of a model once its files are certain to be placed.

    Attributes
    ----------
    store
        The store.
    request
        What was asked for: learner and data set.
    number
        The use of a locked test part; None where nothing was locked.
    response
        The figure, in words.
    seal
        Seal of the model file.
    pages
        Names of the pages beside the model.
    """

    store: str
    request: Sequence[str | None]
    number: int | None
    response: str
    seal: str
    pages: Sequence[str]


class Staging:
    """A folder in which the files of a model are prepared.

    Parameters
    ----------
    file
        The model file.
    folder
        The folder.
    """

    def __init__(self, file: Path, folder: Path) -> None:
        self._file, self._folder = file, folder

    def make_room(self, content: bytes) -> None:
        """Write as much as the model takes: a full disk is told before anything is used up."""
        with _named(self._file):
            _write(self._folder / _ROOM, content + bytes(_PAGES_BYTES))

    def commit(
        self,
        packed: bytes,
        card: ModelCard,
        store: Path,
        number: int | None,
        request: Sequence[str | None],
    ) -> None:
        """Write the model and its pages; from here on they are certain to be placed.

        Parameters
        ----------
        packed
            The learner, as `packed_learner` gives it.
        card
            Its card.
        store
            The store that is told of the model.
        number
            The use of a locked test part; None where nothing was locked.
        request
            What was asked for: learner and data set.
        """
        html, markdown = (page.name for page in card_paths(self._file))
        sealed = sealed_model(packed, card)
        placed = PlacedModel(
            str(store.resolve()),
            request,
            number,
            str(card.response),
            sealed.seal,
            [html, markdown],
        )
        contents = {
            self._file.name: sealed.content,
            html: card.to_html().encode(),
            markdown: card.to_markdown().encode(),
            _RECORD: json.dumps(asdict(placed)).encode(),
        }
        with _named(self._file):
            (self._folder / _ROOM).unlink(missing_ok=True)
            for name, content in contents.items():
                _write(self._folder / name, content)
            keep_on_disk(self._folder)
            os.rename(self._folder, _ready(self._file))
            keep_on_disk(self._file.resolve().parent)


def card_paths(file: Path) -> tuple[Path, Path]:
    """Return where the card of a model file is to be read: as HTML and as Markdown.

    Parameters
    ----------
    file
        The model file.
    """
    html, markdown = (file.with_name(f"{file.stem}-card{ending}") for ending in (".html", ".md"))
    return html, markdown


@contextmanager
def staging_for(file: Path) -> Iterator[Staging]:
    """Give a folder for the files of a model; it is removed where something fails before the end.

    Parameters
    ----------
    file
        The model file.
    """
    parent = file.resolve().parent
    for left in parent.glob(f".{file.name}.*.part"):
        shutil.rmtree(left, ignore_errors=True)
    with _named(file):
        folder = Path(tempfile.mkdtemp(dir=parent, prefix=f".{file.name}.", suffix=".part"))
    try:
        yield Staging(file, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def place(file: Path, store: Path) -> PlacedModel | None:
    """Put prepared files in their place and tell the store; return what was told, if anything.

    Parameters
    ----------
    file
        The model file.
    store
        The store of the study that it is made from.

    Raises
    ------
    DataError
        If the files were prepared for another study.
    """
    ready = _ready(file)
    if not (ready / _RECORD).is_file():
        return None
    placed = PlacedModel(**json.loads((ready / _RECORD).read_text(encoding="utf-8")))
    if Path(placed.store) != store.resolve():
        raise DataError(
            f"{file} was being made from {placed.store} when that was interrupted; finalise that "
            f"store again with the same file, or remove {ready}."
        )
    if placed.number is not None:
        close_locked_part(store, placed.number, response=placed.response, model=placed.seal)
    with _named(file):
        # The model between the pages: no page stands beside a model that it is not of.
        if (ready / file.name).is_file():
            for name in placed.pages:
                file.with_name(name).unlink(missing_ok=True)
            os.replace(ready / file.name, file.resolve())
        for name in placed.pages:
            if (ready / name).is_file():
                os.replace(ready / name, file.with_name(name))
        # Emptied under a name that is no longer looked for.
        emptied = ready.with_name(f".{file.name}.placed.part")
        os.rename(ready, emptied)
    shutil.rmtree(emptied, ignore_errors=True)
    return placed


def _ready(file: Path) -> Path:
    return file.resolve().parent / f".{file.name}.ready"


def _write(draft: Path, content: bytes) -> None:
    draft.write_bytes(content)
    keep_on_disk(draft)
    draft.chmod(0o644)


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """Let errors of the system name the model file, not what it is prepared in."""
    try:
        yield
    except OSError as error:
        raise type(error)(error.errno, error.strerror or str(error), str(file)) from error
