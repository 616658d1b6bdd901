"""Compiled loops on disk, each under a name that holds all that its machine code depends on.

Numba knows a cached function by the file that it stands in, and so does not notice when a constant
or a function of another file changes. Here the name of a cache file is a hash of the code of the
function and of everything that it reaches. One file is one specialisation, complete in itself and
written whole, so processes that compile at the same time cannot mix up each other's.
"""

import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar
from uuid import uuid4

import numba
import numpy as np
from numba.core.caching import CacheImpl, FunctionCache, NullCache, _CacheLocator
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps
from numba.core.types import Type

from verulam.numerics._compiling import pause_collector

Loop = TypeVar("Loop", bound=Callable[..., Any])

_PACKAGE = __name__.partition(".")[0]
_FOLDER = Path(__file__).parents[1]
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype, Type)
_VERSIONS = (numba.__version__, version("llvmlite"), tuple(sys.version_info[:3]))

#: Classes that Numba asks in turn for the place of a function's cache.
_LOCATOR_CLASSES: list[Any] = CacheImpl._locator_classes
#: Endings of files with loops, with records that loops take, and with constants of tuning.
_STAMPED = ("_loops.py", "records.py", "_tuning.py")

pause_collector()


def njit(*, nogil: bool = True, cache: bool = True, **options: Any) -> Callable[[Loop], Loop]:
    """Compile a function at its first call, as `numba.njit` does, and keep it on disk.

    Parameters
    ----------
    nogil
        Whether other threads may run meanwhile.
    cache
        Whether the machine code outlives the process.
    **options
        Other options of `numba.njit`.

    Examples
    --------
    >>> from verulam.numerics import njit
    >>> @njit(cache=False)
    ... def cube(x):
    ...     return x * x * x
    >>> cube(3)
    27
    """

    def decorate(function: Loop) -> Loop:
        loop: Any = numba.njit(nogil=nogil, **options)(function)
        # Where NUMBA_DISABLE_JIT is set, it is the function itself.
        if cache and isinstance(loop, Dispatcher):
            vars(loop)["_cache"] = _cache_of(loop)
        return loop

    return decorate


def cache_folder() -> Path | None:
    """Return the folder of this module's compiled loops, None where nothing can be kept.

    The loops of other modules are in folders beside it, or beside their modules.
    """
    cache = _cache_of(numba.njit(_is_ours))
    return None if isinstance(cache, NullCache) else Path(cache.cache_path)


def _cache_of(loop: Dispatcher) -> FunctionCache | NullCache:
    try:
        return LoopCache(loop)
    except RuntimeError:
        # No folder can be written to; each process compiles for itself.
        return NullCache()


@cache
def source_stamp() -> str:
    """Return a hash of all files of the package that loops in other files may depend on."""
    return sha256(b"".join(path.read_bytes() for path in stamped_files())).hexdigest()


def stamped_files() -> list[Path]:
    """Return the files with loops, with records that loops take, and with constants of tuning."""
    files = []
    for folder, subfolders, names in os.walk(_FOLDER):
        # Caches have more files than all the rest.
        subfolders[:] = [name for name in subfolders if name != "__pycache__"]
        files += [Path(folder, name) for name in names if name.endswith(_STAMPED)]
    return sorted(files)


class PackageLocator(_CacheLocator):
    """Numba's place for a file of this package, with a stamp that covers all loops.

    It is for loops that `numba.njit` itself compiles; Numba's stamp is that of one file.
    """

    def __init__(self, locator: _CacheLocator) -> None:
        self._locator = locator

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "PackageLocator | None":
        """Return the locator of a function of ours, None for others, which Numba goes on to."""
        if not Path(py_file).is_relative_to(_FOLDER):
            return None
        for locator_class in _LOCATOR_CLASSES:
            if locator_class is not cls:
                locator = locator_class.from_function(py_func, py_file)
                if locator is not None:
                    return cls(locator)
        return None

    def get_cache_path(self) -> str:
        """Return the folder of the cache."""
        return self._locator.get_cache_path()

    def ensure_cache_path(self) -> None:
        """Make the folder, and raise where it cannot be written to."""
        self._locator.ensure_cache_path()

    def get_source_stamp(self) -> tuple[str, Any]:
        """Return what changes with the loops of the package and with the function's file."""
        return source_stamp(), self._locator.get_source_stamp()

    def get_disambiguator(self) -> str | None:
        """Return what tells functions of one name apart."""
        return self._locator.get_disambiguator()


_LOCATOR_CLASSES.insert(0, PackageLocator)


class LoopCache(FunctionCache):
    """Numba's cache of a function, in the folder that Numba takes, with files of ours."""

    def __init__(self, loop: Dispatcher) -> None:
        super().__init__(loop.py_func)
        self._cache_file: Any = LoopFiles(loop, Path(self.cache_path), self._impl.filename_base)


class LoopFiles:
    """The cache files of one function, a file for each specialisation.

    Parameters
    ----------
    loop
        The compiled function.
    folder
        Where the files are.
    name
        How their names begin.
    """

    def __init__(self, loop: Dispatcher, folder: Path, name: str) -> None:
        self.loop, self.folder = loop, folder
        # Without the line, so that functions may move within their file.
        self.name = name.rpartition("-")[0]

    def load(self, key: Any) -> Any:
        """Return what was saved for a key, or None."""
        identity = (_VERSIONS, fingerprint(self.loop), key)
        try:
            content = self._path(identity).read_bytes()
            stored_identity, data = pickle.loads(content)  # noqa: S301 (our own folder, as Numba's)
        # A file that was cut off or is not ours can make pickle raise anything; it is replaced.
        except Exception:
            return None
        return data if stored_identity == identity else None

    def save(self, key: Any, data: Any) -> None:
        """Save data under a key, in place of what earlier versions of the function left."""
        identity = (_VERSIONS, fingerprint(self.loop), key)
        path = self._path(identity)
        draft = path.with_suffix(f".{uuid4().hex}.part")
        # A full disk is no reason to fail: the loop has been compiled.
        with suppress(OSError):
            try:
                draft.write_bytes(dumps((identity, data)))
                os.replace(draft, path)
            finally:
                draft.unlink(missing_ok=True)
            for file in self.folder.glob(f"{self.name}.*.nbc"):
                if not file.name.startswith(f"{self.name}.{identity[1][:16]}."):
                    file.unlink(missing_ok=True)

    def flush(self) -> None:
        """Delete all files of the function."""
        for file in self.folder.glob(f"{self.name}.*.nbc"):
            file.unlink(missing_ok=True)

    def _path(self, identity: tuple[Any, str, Any]) -> Path:
        digest = sha256(repr(identity).encode()).hexdigest()
        return self.folder / f"{self.name}.{identity[1][:16]}.{digest[:16]}.nbc"


def fingerprint(loop: Dispatcher) -> str:
    """Return a hash of the code of a loop, of all loops that it calls and of their constants."""
    parts: dict[str, str] = {}
    name_and_options = _describe(loop, parts)
    return sha256(repr((name_and_options, sorted(parts.items()))).encode()).hexdigest()


def _describe(value: Any, parts: dict[str, str]) -> str:
    """Return a text that differs where the value does; functions put their code into `parts`."""
    if isinstance(value, Dispatcher):
        options = sorted((name, _describe(o, parts)) for name, o in value.targetoptions.items())
        return f"{_describe_function(value.py_func, parts)} {options}"
    if isinstance(value, FunctionType) and _is_ours(value.__module__):
        # A stub has implementations beside it, which only Numba could connect with it.
        beside = vars(sys.modules[value.__module__]).values()
        for function in (v for v in beside if isinstance(v, FunctionType)):
            if function.__module__ == value.__module__:
                _describe_function(function, parts)
        return _describe_function(value, parts)
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__} {[_describe(item, parts) for item in value]}"
    if isinstance(value, set | frozenset):
        return str(sorted(_describe(item, parts) for item in value))
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', ())}"
    return f"{type(value).__name__} {value!r}" if isinstance(value, _PLAIN) else ""


def _describe_function(function: Any, parts: dict[str, str]) -> str:
    place = f"{function.__module__}.{function.__qualname__}"
    if place in parts:
        return place
    # Entered first, for functions may call themselves.
    parts[place] = ""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    codes = list(_nested(function.__code__))
    values = [_describe(value, parts) for value in (*cells, *(function.__defaults__ or ()))]
    for name in sorted({name for code in codes for name in code.co_names}):
        value = function.__globals__.get(name)
        values.append(f"{name} {_describe(value, parts)}")
        if isinstance(value, ModuleType) and _is_ours(value.__name__):
            attributes = {name for code in codes for name in code.co_names}
            values += [_describe(getattr(value, a, None), parts) for a in sorted(attributes)]
    parts[place] = repr(([_code_text(code, parts) for code in codes], values))
    return place


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _code_text(code: CodeType, parts: dict[str, str]) -> str:
    constants = [_describe(c, parts) for c in code.co_consts if not isinstance(c, CodeType)]
    return repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants))


def _is_ours(module: str | None) -> bool:
    return (module or "").partition(".")[0] == _PACKAGE
