"""Stable paths: what a package defines lives under the package, in whatever module it stands."""

import sys
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

#: The classes of each package by name, as far as it has loaded its modules.
_CLASSES: dict[str, dict[str, type[Any]]] = {}


def publish(package: str) -> None:
    """Let classes and public functions say that they live in their package, not in its modules.

    Run ids, seeds and model files hold these paths, so that modules can be moved and renamed
    without changing any of them. Classes that are not public are found under the package too,
    because fitted learners hold some; they are not among its names.

    Parameters
    ----------
    package
        Name of a package, which calls this once it has imported its modules.

    Examples
    --------
    >>> from verulam.parametric import NaiveBayes
    >>> NaiveBayes.__module__
    'verulam.parametric'
    """
    module = sys.modules[package]
    # What a package has yet to load is published when it does.
    public = {id(vars(module).get(name)) for name in getattr(module, "__all__", ())}
    classes = _CLASSES.setdefault(package, {})
    for name, loaded in list(sys.modules.items()):
        if not name.startswith(f"{package}.") or loaded is None:
            continue
        for thing in list(vars(loaded).values()):
            if getattr(thing, "__module__", None) != name:
                continue  # defined elsewhere, and only imported here
            if isinstance(thing, type):
                _claim(thing, package, classes, name)
            elif callable(thing) and id(thing) in public:
                thing.__module__ = package
    _find_by_name(module, classes)


def load_later(package: str, rooms: tuple[str, ...], name: str) -> Any:
    """Load the modules of a package when one of their names is first asked for, and return that.

    Parameters
    ----------
    package
        The package whose ``__getattr__`` calls this; its ``__all__`` has the names.
    rooms
        Folders of the package whose modules are loaded; none for its own.
    name
        What was asked for.
    """
    if name.startswith("__"):  # what others ask of any module
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    known = _CLASSES.get(package, {})
    if name in known:  # a class that a pickle names, of a module that is there: no need of the rest
        return known[name]
    module = sys.modules[package]
    folders = [f"{package}.{room}" for room in rooms] or [package]
    for folder in folders:
        for part in iter_modules(import_module(folder).__path__):
            loaded = import_module(f"{folder}.{part.name}")
            shared = [public for public in module.__all__ if hasattr(loaded, public)]
            vars(module).update({public: getattr(loaded, public) for public in shared})
    vars(module).pop("__getattr__", None)
    publish(package)
    return getattr(module, name)


def _claim(thing: type[Any], package: str, classes: dict[str, type[Any]], place: str) -> None:
    other = classes.setdefault(thing.__qualname__, thing)
    if other is not thing:
        raise ImportError(
            f"{package} has two classes {thing.__qualname__!r}, one of them in {place}: files "
            "could not tell them apart."
        )
    thing.__module__ = package


def _find_by_name(module: ModuleType, classes: dict[str, type[Any]]) -> None:
    """Let a package give its classes by name, also those that are not among its names."""

    def find(name: str) -> type[Any]:
        if name in classes:
            return classes[name]
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    module.__dict__.setdefault("__getattr__", find)
