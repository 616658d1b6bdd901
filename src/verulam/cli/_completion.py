"""What the shell offers when the tab key is pressed; heavy imports wait until then."""

from collections.abc import Iterable


def complete_data(incomplete: str) -> list[str]:
    """Return the bundled data sets whose names begin like this; files are the shell's own."""
    from verulam.data import dataset_names

    return _beginning(dataset_names(), incomplete)


def complete_learners(incomplete: str) -> list[str]:
    """Return names of learners, the last one completed, for a list with commas between."""
    from verulam.catalogue import learners

    done, comma, last = incomplete.rpartition(",")
    names = _beginning(learners()["name"], last.lstrip())
    return [f"{done}{comma}{name}" for name in names]


def complete_measure(incomplete: str) -> list[str]:
    """Return the measures whose names begin like this."""
    from verulam.measures import measures

    return _beginning(measures().index, incomplete)


def complete_engine(incomplete: str) -> list[str]:
    """Return the engines that a study can run on."""
    return _beginning(["processes", "serial", "dask", "dask://"], incomplete)


def complete_final(incomplete: str) -> list[str]:
    """Return what may be finalised: a word for the winner, or a learner."""
    return _beginning(["best", "recommended"], incomplete) + complete_learners(incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in map(str, names) if name.startswith(incomplete)]
