"""Model files: a fitted learner and its card, written atomically and read without trust."""

import io
import json
import sys
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator

from verulam.base import DataError, DataWarning, draft_of, keep_on_disk, write_whole
from verulam.experiment._final.card import ModelCard
from verulam.experiment._final.explanation import Explanation, explain_row
from verulam.experiment._final.file_checks import (
    MOST_BYTES,
    check_loaded,
    check_schema,
    checked_sizes,
)
from verulam.experiment._identity import digest, digest_bytes
from verulam.experiment._store.environment import changed_packages

CARD = "card.json"
#: Our packages where files are opened or processes started: of these only learners are accepted.
#: The classes and functions of the others compute and do nothing else.
_NOT_PURE = frozenset(
    {"catalogue", "cli", "data", "design", "experiment", "plots", "statistics", "testing"}
)
#: Where scikit-learn keeps what its fitted learners hold, beside learners themselves.
_SKLEARN_PARTS = (
    "sklearn._loss.",
    "sklearn.ensemble._hist_gradient_boosting.",
    "sklearn.gaussian_process.kernels",
    "sklearn.linear_model._sgd_fast",
    "sklearn.metrics._dist_metrics",
    "sklearn.neighbors._ball_tree",
    "sklearn.neighbors._kd_tree",
    "sklearn.neural_network._stochastic_optimizers",
    "sklearn.tree._tree",
)
#: Of other libraries: how numbers are kept, and a function with some arguments given, whose
#: function is looked at by itself.
_PLAIN = frozenset(
    {
        "functools.partial",
        "numpy.dtype",
        "sklearn.model_selection._split.KFold",
        # What turns texts and dates into numbers.
        "skrub._datetime_encoder.DatetimeEncoder",
        "skrub._datetime_encoder._CircularEncoder",
        "skrub._string_encoder.StringEncoder",
        "skrub._to_str.ToStr",
    }
)
#: Functions of ours that write files.
_WRITERS = frozenset(f"{f.__module__}.{f.__name__}" for f in (draft_of, keep_on_disk, write_whole))
#: Modules that do something when they are imported.
_NEVER = frozenset({"__main__", "conftest", "setup", "tests"})


class UntrustedModelError(DataError):
    """A model file holds types that are not known to be harmless.

    Attributes
    ----------
    types
        Their dotted names.

    Examples
    --------
    >>> error = UntrustedModelError("model.skops", ["os.system"])
    >>> print(str(error).partition('. ')[0])
    model.skops holds types that are neither Verulam's nor scikit-learn's: os.system
    """

    def __init__(self, path: str | Path, types: Sequence[str]) -> None:
        self.types = tuple(types)
        super().__init__(
            f"{path} holds types that are neither Verulam's nor scikit-learn's: "
            f"{', '.join(types)}. Nothing was loaded. If you know the maker of the file, name each "
            "type as trusted."
        )


@dataclass(frozen=True, eq=False, repr=False)
class SavedModel:
    """A fitted learner with its card.

    Attributes
    ----------
    card
        What to know about it.
    estimator
        The fitted learner; a pipeline where columns are prepared.
    """

    card: ModelCard
    estimator: Any

    def explain(self, row: Any) -> Explanation:
        """Return what speaks for the prediction of one row.

        Parameters
        ----------
        row
            A mapping of columns to values, or a row of a table.
        """
        return explain_row(self.card, self.estimator, row)

    def __str__(self) -> str:
        return str(self.card)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.card._repr_html_()


def save_model(model: SavedModel, path: str | Path) -> str:
    """Write a model file with skops, and return the hash that tells whether it is changed.

    Parameters
    ----------
    model
        The fitted learner and its card.
    path
        The file; what was there before is replaced at once or not at all.
    """
    packed = packed_learner(model.estimator, model.card.learner)
    sealed = sealed_model(packed, model.card)
    write_whole(path, sealed.content)
    return sealed.seal


class SealedModel(NamedTuple):
    """The content of a model file, and the hash that tells whether it is changed."""

    content: bytes
    seal: str


def packed_learner(estimator: Any, name: str) -> bytes:
    """Return a fitted learner as skops keeps it.

    Parameters
    ----------
    estimator
        The fitted learner.
    name
        What it is called, for the message.

    Raises
    ------
    DataError
        If it cannot be saved.
    """
    import skops.io

    try:
        return skops.io.dumps(estimator, compression=zipfile.ZIP_DEFLATED)
    # Learners may define how they are saved, and so raise anything.
    except Exception as error:
        kind = type(estimator).__name__
        raise DataError(f"{name} ({kind}) cannot be saved: {error}") from error


def sealed_model(packed: bytes, card: ModelCard) -> SealedModel:
    """Return what a model file holds.

    Parameters
    ----------
    packed
        The learner, as `packed_learner` gives it.
    card
        Its card.
    """
    content = io.BytesIO(packed)
    described = card.to_dict()
    with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as archive:
        seal = digest([card_text(described), _content_hash(archive)])
        archive.writestr(CARD, json.dumps({"card": described, "seal": seal}, ensure_ascii=False))
    return SealedModel(content.getvalue(), seal)


def load_model(
    path: str | Path, *, trusted: Iterable[str] = (), max_bytes: int = MOST_BYTES
) -> SavedModel:
    """Read a model file; nothing in it is executed.

    Parameters
    ----------
    path
        The file.
    trusted
        Dotted names of types that are accepted beside Verulam's and scikit-learn's own.
    max_bytes
        Bytes that the model may take when it is unpacked.

    Raises
    ------
    UntrustedModelError
        If there are other types; they are listed.
    DataError
        If the file is no model, is damaged, was changed after it was written, is too large, or
        holds arrays that do not fit together.
    """
    import skops.io

    path = Path(path)
    content = _read(path)
    card = read_card(path, max_bytes=max_bytes)
    try:
        unknown = skops.io.get_untrusted_types(data=content)
    # A file from anywhere may break any expectation of the reader.
    except Exception as error:
        raise DataError(f"{path} cannot be read as a model: {_sentence(error)}") from error
    accepted = set(trusted)
    if refused := foreign_types(name for name in unknown if name not in accepted):
        raise UntrustedModelError(path, refused)
    if changed := changed_packages([json.dumps(card.environment)]):
        warnings.warn(
            f"{path} was made with {', '.join(changed)}; its predictions may differ.",
            DataWarning,
            stacklevel=2,
        )
    with _fitting_together(path), zipfile.ZipFile(io.BytesIO(content)) as archive:
        sizes = checked_sizes(path, archive, max_bytes)
        check_schema(json.loads(archive.read("schema.json")), sizes)
    try:
        estimator = skops.io.loads(content, trusted=unknown)
    except Exception as error:
        raise DataError(f"{path} cannot be loaded: {_sentence(error)}") from error
    with _fitting_together(path):
        check_loaded(estimator)
    return SavedModel(card, estimator)


@contextmanager
def _fitting_together(path: Path) -> Iterator[None]:
    try:
        yield
    # Of a forged file anything may be missing.
    except Exception as error:
        words = str(error) if isinstance(error, DataError) else _sentence(error)
        raise DataError(
            f"{path} holds arrays that do not fit together ({words.rstrip('.')}); nothing was "
            "computed with them. Do not use it; finalise the study again."
        ) from error


def read_card(path: str | Path, *, max_bytes: int = MOST_BYTES) -> ModelCard:
    """Return the card of a model file, without loading the model itself.

    Parameters
    ----------
    path
        The file.
    max_bytes
        Bytes that the file may take when it is unpacked.
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(io.BytesIO(_read(path))) as archive:
            checked_sizes(path, archive, max_bytes)
            if CARD not in archive.namelist():
                raise DataError(f"{path} has no card; only models that Verulam saved can be used.")
            stored = json.loads(archive.read(CARD))
            seal = digest([card_text(stored["card"]), _content_hash(archive)])
            stored_seal = stored["seal"]
    except DataError:
        raise
    # A file from anywhere may break any expectation of the reader: of zlib, of tokens of a header.
    except Exception as error:
        words = _sentence(error).rstrip(".")
        raise DataError(f"{path} is not a model file, or it is damaged ({words}).") from error
    if seal != stored_seal:
        raise DataError(
            f"{path} was changed after it was written: its seal does not fit. Do not use it; "
            "finalise the study again."
        )
    return ModelCard.from_dict(stored["card"])


def foreign_types(names: Iterable[str]) -> list[str]:
    """Return the types that are neither ours nor scikit-learn's parts of fitted learners.

    Nothing is imported but modules of the two libraries.

    Parameters
    ----------
    names
        Dotted names of types.

    Examples
    --------
    >>> foreign_types(["sklearn.tree._tree.Tree", "os.system", "verulam.experiment.Store"])
    ['os.system', 'verulam.experiment.Store']
    """
    return [name for name in names if not _is_harmless(name)]


def _is_harmless(path: str) -> bool:
    if path in _PLAIN:
        return True
    module, _, name = path.rpartition(".")
    package, _, rest = module.partition(".")
    if package not in ("sklearn", "verulam") or _NEVER.intersection(rest.split(".")):
        return False
    if path in _WRITERS:
        return False
    thing = _loaded(module, name)
    # What a module has merely imported, such as a function of the operating system, is not its.
    if getattr(thing, "__module__", None) != module:
        return False
    if isinstance(thing, type) and issubclass(thing, BaseEstimator):
        return True
    if package == "sklearn":
        return isinstance(thing, type) and module.startswith(_SKLEARN_PARTS)
    return isinstance(thing, type | FunctionType) and rest.partition(".")[0] not in _NOT_PURE


def _loaded(module: str, name: str) -> Any:
    try:
        library = sys.modules.get(module) or import_module(module)
    except ImportError:
        return None
    return getattr(library, name, None)


def card_text(card: Any) -> str:
    """Return a card as JSON in the one form that is hashed."""
    return json.dumps(card, sort_keys=True, ensure_ascii=False)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"There is no model file {path}.") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; a model is a file.") from None


def _content_hash(archive: zipfile.ZipFile) -> str:
    """Return the hash of everything but the card."""
    names = sorted(name for name in archive.namelist() if name != CARD)
    return digest([[name, digest_bytes(archive.read(name))] for name in names])


def _sentence(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
