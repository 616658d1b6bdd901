"""Files of partially observable processes in Cassandra's format, read and written."""

import re
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError, write_whole
from verulam.reinforcement._checks import check_type
from verulam.reinforcement._partial.process import PartiallyObservableProcess

_HEADS = ("discount", "values", "states", "actions", "observations", "start", "T", "O", "R")
_HEAD = re.compile(
    r"^[ \t]*(discount|values|states|actions|observations|start|T|O|R)\b[^:]*:", re.M
)


def read_pomdp(path: str | Path) -> PartiallyObservableProcess:
    """Read a process from a file in Cassandra's format.

    Parameters
    ----------
    path
        The file.

    Notes
    -----
    Probabilities and rewards may be given one by one, by rows or by matrices, with ``*`` for all,
    ``uniform`` and ``identity``; later lines replace earlier ones. Rewards that depend on the next
    state and on what is seen there become their expectation, and costs become negative rewards.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from verulam.reinforcement import classic_tiger, read_pomdp, write_pomdp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_pomdp(classic_tiger(), Path(folder, "tiger.POMDP"))
    ...     read_pomdp(Path(folder, "tiger.POMDP"))
    PartiallyObservableProcess(2 states, 3 actions, 2 observations, discount 0.95)
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}: line {line} is not text in UTF-8.") from None
    try:
        return _Reader(text).process()
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def write_pomdp(process: PartiallyObservableProcess, path: str | Path) -> None:
    """Write a process to a file in Cassandra's format.

    Parameters
    ----------
    process
        The process; actions that end episodes have no place in the format and are refused.
    path
        The file.
    """
    check_type("process", process, PartiallyObservableProcess)
    if process.ending.any():
        raise DataError("process has actions that end the episode, which the format cannot say.")
    states, actions = (
        [_word(name, prefix) for name in names]
        for names, prefix in ((process.state_names, "s"), (process.action_names, "a"))
    )
    seen = [_word(name, "o") for name in process.observations or ()]
    lines = [
        f"discount: {process.discount!r}",
        "values: reward",
        f"states: {' '.join(states)}",
        f"actions: {' '.join(actions)}",
        f"observations: {' '.join(seen)}",
        f"start: {_numbers(process.start)}",
    ]
    for code, action in enumerate(actions):
        lines += [f"\nT: {action}", *map(_numbers, process.transitions[code])]
        lines += [f"\nO: {action}", *map(_numbers, process.observation_shares[code])]
    lines.append("")
    for code, action in enumerate(actions):
        for place, state in enumerate(states):
            lines.append(f"R: {action} : {state} : * : * {float(process.rewards[place, code])!r}")
    write_whole(path, "\n".join(lines) + "\n")


def _word(name: Hashable, prefix: str) -> str:
    word = re.sub(r"[^\w.-]", "-", str(name))
    return word if word[:1].isalpha() else f"{prefix}{word}"


def _numbers(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)


class _Reader:
    """The parts of a file, taken in turn."""

    def __init__(self, text: str) -> None:
        plain = re.sub(r"#.*", "", text)
        marks = [*_HEAD.finditer(plain)]
        if not marks:
            raise DataError("no line begins with one of " + ", ".join(_HEADS) + ".")
        ends = [mark.start() for mark in marks[1:]] + [len(plain)]
        self.parts = [
            (
                mark.group(1),
                plain[mark.start() : end].partition(":"),
                plain.count("\n", 0, mark.start()) + 1,
            )
            for mark, end in zip(marks, ends, strict=True)
        ]
        heads = {name: body.strip() for name, (_, _, body), _ in self.parts}
        for name in ("states", "actions", "observations"):
            if name not in heads:
                raise DataError(f"there is no line of {name}.")
        self.names = {
            name: self._listed(name, heads[name]) for name in ("states", "actions", "observations")
        }
        n_states, n_actions, n_seen = (len(part) for part in self.names.values())
        self.moves = np.zeros((n_actions, n_states, n_states))
        self.seen = np.zeros((n_actions, n_states, n_seen))
        self.gains = np.zeros((n_actions, n_states, n_states, n_seen))
        self.start: NDArray[np.float64] = np.full(n_states, 1.0 / n_states)
        self.discount, self.sign = 1.0, 1.0

    @staticmethod
    def _listed(name: str, body: str) -> tuple[str, ...]:
        words = body.split()
        if len(words) == 1 and words[0].isdigit():
            return tuple(str(number) for number in range(int(words[0])))
        if not words:
            raise DataError(f"the line of {name} names none.")
        return tuple(words)

    def process(self) -> PartiallyObservableProcess:
        for name, (head, _, body), line in self.parts:
            try:
                self._take(name, head.strip(), body.strip())
            except DataError as error:
                raise DataError(f"line {line}: {error}") from None
        rewards = self.sign * np.einsum("ast,ato,asto->sa", self.moves, self.seen, self.gains)
        return PartiallyObservableProcess(
            self.moves, self.seen, rewards, self.discount, self.start,
            states=self.names["states"], actions=self.names["actions"],
            observations=self.names["observations"],
        )  # fmt: skip

    def _take(self, name: str, head: str, body: str) -> None:
        if name == "discount":
            self.discount = self._floats(body, (1,))[0]
        elif name == "values":
            if body not in ("reward", "cost"):
                raise DataError(f"values is {body!r}; expected reward or cost.")
            self.sign = 1.0 if body == "reward" else -1.0
        elif name == "start":
            self._take_start(head, body)
        elif name == "T":
            self._fill(self.moves, body, ("actions", "states", "states"))
        elif name == "O":
            self._fill(self.seen, body, ("actions", "states", "observations"))
        elif name == "R":
            self._fill(self.gains, body, ("actions", "states", "states", "observations"))

    def _take_start(self, head: str, body: str) -> None:
        words, names = body.split(), self.names["states"]
        if head != "start":
            listed = {self._index("states", word) for word in words}
            exclude = "exclude" in head
            picked = np.array([(code in listed) != exclude for code in range(len(names))])
            self.start = picked / max(1, picked.sum())
        elif words == ["uniform"]:
            self.start = np.full(len(names), 1.0 / len(names))
        elif len(words) == 1 and (words[0] in names or len(names) > 1):
            self.start = np.eye(len(names))[self._index("states", words[0])]
        else:
            self.start = self._floats(body, (len(names),))

    def _fill(self, table: NDArray[np.float64], body: str, axes: Sequence[str]) -> None:
        """Put numbers where the names before them say; fewer names stand for rows and matrices."""
        fields = [field.strip() for field in body.split(":")]
        first, *rest = fields[-1].split(maxsplit=1)
        names, numbers = [*fields[:-1], first], rest[0] if rest else ""
        if len(names) > len(axes):
            raise DataError(f"{len(names)} names, but there are {len(axes)} to give.")
        place = tuple(
            slice(None) if word == "*" else self._index(axis, word)
            for axis, word in zip(axes, names, strict=False)
        )
        shape = table.shape[len(names) :]
        table[place] = self._values(numbers, shape)

    def _values(self, text: str, shape: tuple[int, ...]) -> Any:
        word = text.strip()
        if word == "uniform" and shape:
            return np.full(shape, 1.0 / shape[-1])
        if word == "identity" and len(shape) == 2 and shape[0] == shape[1]:
            return np.eye(shape[0])
        return self._floats(text, shape or (1,)).reshape(shape)

    @staticmethod
    def _floats(text: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        try:
            numbers = np.array([float(word) for word in text.split()])
        except ValueError as error:
            raise DataError(f"{error}.") from None
        if len(numbers) != int(np.prod(shape)):
            raise DataError(f"{len(numbers)} numbers where {int(np.prod(shape))} are expected.")
        return numbers.reshape(shape)

    def _index(self, axis: str, word: str) -> int:
        names = self.names[axis]
        if word in names:
            return names.index(word)
        if word.isdigit() and int(word) < len(names):
            return int(word)
        raise DataError(f"{word!r} is none of the {axis}: {', '.join(names[:8])}.")
