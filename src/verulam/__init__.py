"""Every learner in the textbook, and the experiments to choose between them."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verulam.data import Dataset
    from verulam.experiment import Comparison

__all__ = ["compare", "dataset", "learner"]


def learner(name: str, **parameters: Any) -> Any:
    """Return a new learner by name; see `verulam.catalogue.learner`."""
    from verulam.catalogue import learner as make

    return make(name, **parameters)


def dataset(name: str) -> "Dataset":
    """Return a bundled data set by name; see `verulam.data.dataset`."""
    from verulam.data import dataset as load

    return load(name)


def compare(data: Any, learners: Any = None, **options: Any) -> "Comparison":
    """Compare learners on a data set by cross-validation; see `verulam.experiment.compare`."""
    from verulam.experiment import compare as run

    return run(data, learners, **options)


def __getattr__(name: str) -> Any:
    from importlib import import_module
    from importlib.metadata import version
    from importlib.util import find_spec

    if name == "__version__":
        return version("verulam")
    # Packages load when they are named, so that `import verulam` stays quick.
    if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
