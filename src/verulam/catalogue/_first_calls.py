"""The first call of each learner, which compiles its loops, and all of them ahead of use."""

import io
import signal
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from itertools import chain, zip_longest
from multiprocessing import get_context
from typing import Any

from numba.core.event import Listener, install_listener

from verulam.base import unknown_name
from verulam.catalogue._entries import Entry, entry, our_entries
from verulam.testing._samples import Sample, sample_for

#: What a fitted learner is asked for, where it can answer.
_ANSWERS = ("predict", "predict_proba", "transform", "score_samples")


@dataclass(frozen=True)
class FirstCall:
    """What the first call of a learner took.

    Attributes
    ----------
    name
        The learner.
    seconds
        Processor time of `fit` and of the first predictions.
    compiled
        Names of the functions that were compiled, Numba's own as well, each with how often.
    error
        What went wrong; empty if nothing did.
    """

    name: str
    seconds: float
    compiled: tuple[tuple[str, int], ...]
    error: str = ""

    @property
    def n_compilations(self) -> int:
        """Number of compilations, one for each function and types of its arguments."""
        return sum(count for _, count in self.compiled)


class _Compilations(Listener):
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        self.counts[f"{function.__module__}.{function.__name__}"] += 1

    def on_end(self, event: Any) -> None:
        pass


def first_call(name: str) -> FirstCall:
    """Fit a learner as it is made without arguments and predict, on a few rows that suit it.

    Parameters
    ----------
    name
        Name of the learner.

    Examples
    --------
    >>> first_call("linear.MinimumSquaredError").n_compilations
    0
    """
    item = entry(name)
    example = item.example()
    sample = sample_for(example)
    listener, error, start = _Compilations(), "", time.process_time()
    with (
        install_listener("numba:compile", listener),
        warnings.catch_warnings(),
        redirect_stderr(io.StringIO()),
    ):
        # Of a few rows, much can be said that does not matter here.
        warnings.simplefilter("ignore")
        try:
            _call_plainly(item, example, sample)
        # One learner that fails does not keep the others from being compiled.
        except Exception as fault:
            error = f"{type(fault).__name__}: {fault}"
    seconds = time.process_time() - start
    return FirstCall(item.name, seconds, tuple(sorted(listener.counts.items())), error)


def _call_plainly(item: Entry, example: Any, sample: Sample) -> None:
    try:
        learner = item.make()
        learner.fit(*sample.arguments)
    except (TypeError, ValueError):
        # Some parameter has no default, or one that does not suit the rows.
        learner = example
    for part in _parts(sample):
        learner.fit(*part.arguments)
        for method in _ANSWERS:
            if hasattr(learner, method):
                getattr(learner, method)(part.inputs)


def _parts(sample: Sample) -> list[Sample]:
    """Return the sample, and its first two classes where it has more: many learners part these."""
    if sample.targets is None or sample.targets.dtype.kind not in "US":
        return [sample]
    first_two = sorted(set(sample.targets.tolist()))[:2]
    rows = [place for place, label in enumerate(sample.targets) if label in first_two]
    return [sample, sample.rows(rows)] if len(rows) < len(sample.targets) else [sample]


def warm(names: Sequence[str] = (), processes: int | None = None) -> Iterator[FirstCall]:
    """Compile the loops of learners ahead of use, and yield each first call as it ends.

    Numba compiles one function at a time in a process, so the work is divided among processes.
    What they compile stays in Numba's cache.

    Parameters
    ----------
    names
        Packages such as "tree", and learners by name; all learners where empty.
    processes
        How many processes work; None for as many as there are cores.
    """
    learners = learners_named(names)
    with get_context("spawn").Pool(processes, _ignore_interrupts) as pool:
        yield from pool.imap_unordered(first_call, learners)


def learners_named(names: Sequence[str]) -> list[str]:
    """Return the learners of packages, and others by name, so that neighbours share little.

    Learners of one package share loops, which are compiled twice if two processes meet them at the
    same time; so packages take turns.

    Examples
    --------
    >>> learners_named(["decision", "naive Bayes"])
    ['decision.MinimumRisk', 'parametric.NaiveBayes', 'decision.OneVersusRestReject']
    """
    packages: dict[str, list[str]] = {}
    for item in our_entries():
        packages.setdefault(item.name.partition(".")[0], []).append(item.name)
    groups = [_group(name, packages) for name in names] or list(packages.values())
    turns = chain.from_iterable(zip_longest(*groups))
    return list(dict.fromkeys(name for name in turns if name is not None))


def _group(name: str, packages: dict[str, list[str]]) -> list[str]:
    if name in packages:
        return packages[name]
    item = entry(name)
    if item.source == "borrowed":
        raise unknown_name("learner or package of ours", name, sorted(packages))
    return [item.name]


def _ignore_interrupts() -> None:
    # The first process ends the others; a traceback of each would tell nothing.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
