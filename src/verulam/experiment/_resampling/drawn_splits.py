"""The splits that were really drawn, in words: rare classes and few groups allow fewer folds."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verulam.experiment._resampling.resampling import Resampling

#: Kinds whose folds become fewer where the rows allow no more.
_BY_FOLDS = ("k-fold", "disjoint")
#: Kinds of which it is worth saying that classes keep their shares.
_STRATIFIED = ("k-fold", "5x2")


def drawn(asked: "Resampling", folds: int, repeats: int | None = None) -> "Resampling":
    """Return a resampling with the numbers of folds and repeats that there were.

    Parameters
    ----------
    asked
        What was asked for.
    folds
        How many folds there are.
    repeats
        How many repeats there were; None where that is still open.

    Examples
    --------
    >>> from verulam.experiment import resampling
    >>> str(drawn(resampling("20-fold"), 11)), str(drawn(resampling("5x2"), 2))
    ('11-fold', '5x2')
    """
    if asked.max_repeats is not None and repeats:
        asked = replace(asked, repeats=repeats, max_repeats=None)
    return replace(asked, folds=folds) if asked.kind in _BY_FOLDS else asked


def drawn_word(asked: "Resampling", folds: Mapping[str, int]) -> str:
    """Return the short form of what was drawn; data sets with fewer folds are named.

    Parameters
    ----------
    asked
        What was asked for.
    folds
        For each data set the number of its folds.

    Examples
    --------
    >>> from verulam.experiment import resampling
    >>> drawn_word(resampling("20-fold"), {"firms": 11})
    '11-fold instead of 20-fold'
    >>> drawn_word(resampling("10-fold"), {"iris": 10, "glass": 9, "wine": 10})
    '10-fold (glass 9-fold)'
    """
    forms = {label: str(drawn(asked, count)) for label, count in folds.items()}
    if len(set(forms.values())) == 1:
        form = next(iter(forms.values()))
        return form if form == str(asked) else f"{form} instead of {asked}"
    others = ", ".join(f"{label} {form}" for label, form in forms.items() if form != str(asked))
    return f"{asked} ({others})"


def drawn_title(
    asked: "Resampling",
    folds: Mapping[str, int],
    tasks: Iterable[str],
    repeats: Mapping[str, int] | None = None,
) -> str:
    """Return how splits were drawn, in words.

    Parameters
    ----------
    asked
        What was asked for.
    folds
        For each data set the number of its folds.
    tasks
        What the data sets ask for, "classification" or "regression".
    repeats
        For each data set the number of its repeats; None where that is still open.

    Examples
    --------
    >>> from verulam.experiment import resampling
    >>> drawn_title(resampling("10-fold"), {"a": 10, "b": 9}, ["classification"] * 2)
    'stratified 10-fold cross-validation (9-fold cross-validation on b)'
    """
    titles = {
        label: drawn(asked, count, (repeats or {}).get(label)).title
        for label, count in folds.items()
    }
    usual = next(iter(titles.values())) if len(set(titles.values())) == 1 else asked.title
    others = [f"{title} on {label}" for label, title in titles.items() if title != usual]
    classes = asked.kind in _STRATIFIED and all(task == "classification" for task in tasks)
    exceptions = f" ({', '.join(others)})" if others else ""
    return f"{'stratified ' if classes else ''}{usual}{exceptions}"
