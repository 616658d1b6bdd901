"""What the pages Table and Studies are asked: records, their links, and the Python that answers."""

import base64
import json
import re
import zlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

from verulam.base import DataError
from verulam.data import list_datasets

#: Characters of a link that is read at all, and bytes that it may hold.
LONGEST_LINK, LARGEST_LINK = 20_000, 200_000
_KEY = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class _Question:
    """What a page asks; it can be written into a link and read from one."""

    @classmethod
    def mark(cls) -> str:
        """Return what a link of this kind begins with."""
        return f"#{cls.__name__[0].lower()}="

    def to_link(self) -> str:
        """Return it as the end of an address; what is as usual is left out."""
        usual = type(self)()
        values = {
            name: value for name, value in asdict(self).items() if value != getattr(usual, name)
        }
        packed = zlib.compress(json.dumps(values, separators=(",", ":")).encode())
        return self.mark() + base64.urlsafe_b64encode(packed).decode().rstrip("=")

    @classmethod
    def from_link(cls, link: str) -> Self:
        """Return what a link holds; anything else is refused.

        Parameters
        ----------
        link
            What `to_link` returned.
        """
        _, _, packed = link.partition(cls.mark())
        try:
            if not packed or len(packed) > LONGEST_LINK:
                raise ValueError
            raw = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
            text = zlib.decompressobj().decompress(raw, LARGEST_LINK)
            values = json.loads(text)
            known = {field.name for field in fields(cls)}
            if not isinstance(values, dict) or not set(values) <= known:
                raise ValueError
            values = {
                name: tuple(value) if isinstance(value, list) else value
                for name, value in values.items()
            }
            return cls(**values)
        except (ValueError, TypeError, zlib.error):
            raise DataError(
                f"link must hold what {cls.mark()} of this page wrote; this one is damaged."
            ) from None


@dataclass(frozen=True)
class TableQuestion(_Question):
    """What a comparison is about.

    Attributes
    ----------
    bundled
        Name of a bundled data set; empty where a file was opened.
    key, file
        Where the copy of an opened file is kept, and its name; empty for a bundled data set.
    target
        The column to predict; empty where the data set says it.
    learners
        The contestants; none stands for one of each kind.
    measure
        What decides; empty for the usual.
    matters
        Difference below which learners are as good as equal; None for the usual.
    drop_missing
        Whether rows without a target are left out.
    leave_out
        Columns that are no inputs.
    categorical
        Columns of numbers that are names of classes.

    Examples
    --------
    >>> question = TableQuestion("iris", learners=("naive bayes", "nearest mean"))
    >>> TableQuestion.from_link(question.to_link()) == question
    True
    """

    bundled: str = ""
    key: str = ""
    file: str = ""
    target: str = ""
    learners: tuple[str, ...] = ()
    measure: str = ""
    matters: float | None = None
    drop_missing: bool = False
    leave_out: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        texts = (self.bundled, self.key, self.file, self.target, self.measure, *self.learners)
        texts = (*texts, *self.leave_out, *self.categorical)
        if not all(isinstance(text, str) for text in texts):
            raise TypeError
        for names in (self.learners, self.leave_out, self.categorical):
            if not isinstance(names, tuple):
                raise TypeError
        # A name of a file is put behind that of a folder: it must not lead out of it.
        # Not a path either, where a name of ours is meant.
        if self.bundled and self.bundled not in list_datasets().index:
            raise ValueError
        if self.key and not _KEY.fullmatch(self.key):
            raise ValueError
        if (
            self.file != Path(self.file).name
            or "\0" in self.file
            or bool(self.key) != bool(self.file)
        ):
            raise ValueError
        _check_margin(self.matters)
        if not isinstance(self.drop_missing, bool):
            raise TypeError

    @property
    def title(self) -> str:
        """What the data are called."""
        return self.bundled or self.file

    def arguments(self) -> dict[str, Any]:
        """Return what `compare` is called with, beside the data."""
        asked = {
            "learners": list(self.learners) or None,
            "target": self.target or None,
            "measure": self.measure or None,
            "matters": self.matters,
            "drop_missing_target": self.drop_missing or None,
            "leave_out": list(self.leave_out) or None,
            "categorical": list(self.categorical) or None,
        }
        return {name: value for name, value in asked.items() if value is not None}

    def code(self, source: str) -> str:
        """Return a program that makes the comparison and prints its conclusion.

        Parameters
        ----------
        source
            Name of the data set, or path of the file.
        """
        lines = [f"    {name}={value!r}," for name, value in self.arguments().items()]
        return "\n".join(
            [
                "from verulam import compare",
                "",
                "comparison = compare(",
                f"    {source!r},",
                *lines,
                "    progress=False,",
                ")",
                "print(comparison.conclusion)",
                "",
            ]
        )


@dataclass(frozen=True)
class StudyQuestion(_Question):
    """What is asked of a store.

    Attributes
    ----------
    path
        The store, on the machine that serves the page.
    key
        Folder of the lab that has the store, which `path` then names within it; empty for a path
        of the user's own.
    study
        Key of the study; empty for the last one.
    measure
        What decides; empty for what the study says.
    matters
        Difference below which contestants are as good as equal; None for the usual.
    data
        Label of the data set whose pictures are shown; empty for the first.

    Examples
    --------
    >>> print(StudyQuestion("wine.sqlite", matters=0.05).code("wine.sqlite"))
    from verulam.experiment import Results, analyse
    <BLANKLINE>
    analysis = analyse(Results('wine.sqlite'), matters=0.05)
    print(analysis.answer.sentence)
    <BLANKLINE>
    """

    path: str = ""
    key: str = ""
    study: str = ""
    measure: str = ""
    matters: float | None = None
    data: str = ""

    def __post_init__(self) -> None:
        if not all(
            isinstance(text, str)
            for text in (self.path, self.key, self.study, self.measure, self.data)
        ):
            raise TypeError
        if (self.key and not _KEY.fullmatch(self.key)) or "\0" in self.path:
            raise ValueError
        if self.key and self.path != Path(self.path).name:
            raise ValueError
        _check_margin(self.matters)

    def code(self, source: str) -> str:
        """Return a program that reads the store and prints the answer.

        Parameters
        ----------
        source
            Path of the store.
        """
        study = f", {self.study!r}" if self.study else ""
        asked = {"measure": self.measure or None, "matters": self.matters}
        options = "".join(
            f", {name}={value!r}" for name, value in asked.items() if value is not None
        )
        return (
            "from verulam.experiment import Results, analyse\n\n"
            f"analysis = analyse(Results({source!r}{study}){options})\n"
            "print(analysis.answer.sentence)\n"
        )


def _check_margin(matters: Any) -> None:
    if matters is None:
        return
    if isinstance(matters, bool) or not isinstance(matters, int | float):
        raise TypeError
    if not 0.0 <= matters < float("inf"):
        raise ValueError
