"""Networks in files: the Bayesian interchange format, and DOT for drawing programs."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from verulam.base import DataError, write_whole
from verulam.graphical._graph import DirectedGraph
from verulam.graphical._network.conditionals import Table
from verulam.graphical._network.network import BayesianNetwork, check_network

_WORD = r'"[^"\n]*"|[\w.+\-<>=/:%&\'!?$#@*~^]+'
#: Words, numbers and quoted strings, or one mark; comments are left out beforehand. Marks that the
#: format does not have are taken, too, to be refused where they stand.
_TOKEN = re.compile(_WORD + r"|\S")
_NAME = re.compile(f"({_WORD})$")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z_][\w.\-]*$")


@dataclass(frozen=True)
class _Token:
    text: str
    line: int


class _Reader:
    """Takes one token after the other and says in which line something else was expected."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        # Blanks in place of comments, so that lines stay where they are.
        clean = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        self.tokens = list(_tokens(clean))
        self.place = 0
        if "/*" in clean:
            line = clean[: clean.index("/*")].count("\n") + 1
            self.fail("a comment begins here and does not end.", line)

    def fail(self, message: str, line: int | None = None) -> NoReturn:
        raise DataError(f"{self.name}, line {line or self.line}: {message}")

    @property
    def line(self) -> int:
        """Line of what was taken last."""
        return self.tokens[min(self.place, len(self.tokens)) - 1].line if self.tokens else 1

    @property
    def peek(self) -> str:
        return self.tokens[self.place].text if self.place < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        if self.place >= len(self.tokens):
            self.fail(f"the file ends{f' where {expected!r} was expected' if expected else ''}.")
        text = self.tokens[self.place].text
        self.place += 1
        if expected and text != expected:
            self.fail(f"expected {expected!r}, and there is {text!r}.")
        return text[1:-1] if _NAME.match(text) and text.startswith('"') else text

    def word(self) -> str:
        """Take a name, which may be quoted."""
        if self.place < len(self.tokens) and not _NAME.match(self.peek):
            self.place += 1
            self.fail(f"expected a name, and there is {self.tokens[self.place - 1].text!r}.")
        return self.take()

    def number(self) -> float:
        text = self.take()
        try:
            value = float(text)
        except ValueError:
            self.fail(f"expected a probability, and there is {text!r}.")
        if not 0 <= value <= 1:
            self.fail(f"{value:g} is no probability.")
        return value

    def skip(self, end: str) -> None:
        while self.take() != end:
            pass

    def listed(self, end: str, read: Any) -> list[Any]:
        items = []
        while self.peek != end:
            if self.peek == ",":
                self.take()
                continue
            items.append(read())
        self.take(end)
        return items


def _tokens(text: str) -> Iterator[_Token]:
    for number, line in enumerate(text.split("\n"), start=1):
        for match in _TOKEN.finditer(line):
            yield _Token(match[0], number)


def read_bif(path: str | Path) -> BayesianNetwork:
    """Read a network from a file in the Bayesian interchange format (BIF).

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from verulam.graphical import read_bif, sprinkler, write_bif
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "sprinkler.bif"
    >>> write_bif(sprinkler(), file)
    >>> read_bif(file)
    BayesianNetwork(4 nodes, 4 arcs, 9 parameters)
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path.name}, line {line}: not a text file in UTF-8 ({error.reason})."
        ) from error
    return parse_bif(text, path.name)


def parse_bif(text: str, name: str = "the text") -> BayesianNetwork:
    """Read a network from text in the Bayesian interchange format.

    Parameters
    ----------
    text
        The text.
    name
        What to call it in messages.

    Examples
    --------
    >>> from verulam.graphical import parse_bif
    >>> parse_bif('''network n { }
    ... variable rain { type discrete [ 2 ] { no, yes }; }
    ... probability ( rain ) { table 0.6, 0.4; }''').query("rain")["yes"]
    0.4
    """
    reader = _Reader(text, name)
    states: dict[str, tuple[str, ...]] = {}
    tables: dict[str, Table] = {}
    lines: dict[str, int] = {}
    while reader.peek:
        word, line = reader.take(), reader.line
        if word == "network":
            reader.skip("{")
            _skip_block(reader)
        elif word == "variable":
            node, labels = _variable(reader)
            if node in states:
                reader.fail(f"the variable {node!r} is declared twice.")
            states[node] = labels
        elif word == "probability":
            node, table = _probability(reader, states)
            if node in tables:
                reader.fail(f"the probability of {node!r} was there before.", line)
            tables[node], lines[node] = table, line
        else:
            reader.fail(f"expected network, variable or probability, and there is {word!r}.")
    missing = [node for node in states if node not in tables]
    if missing:
        reader.fail(f"there is no probability of {missing[0]!r}.")
    if not states:
        reader.fail("there is no network in it.")
    try:
        return BayesianNetwork({node: tables[node] for node in states})
    except DataError as error:
        reader.fail(str(error), lines[_closing_node(tables)])


def _closing_node(tables: Mapping[str, Table]) -> str:
    """Return the node whose parents, added in the order of the file, make the first cycle."""
    names = list(tables)

    def has_cycle(n_nodes: int) -> bool:
        known = names[: n_nodes + 1]
        try:
            DirectedGraph({name: tables[name].parents if name in known else () for name in names})
        except DataError:
            return True
        return False

    return names[bisect_left(range(len(names) - 1), True, key=has_cycle)]


def _skip_block(reader: _Reader) -> None:
    depth = 1
    while depth:
        depth += {"{": 1, "}": -1}.get(reader.take(), 0)


def _variable(reader: _Reader) -> tuple[str, tuple[str, ...]]:
    node = reader.word()
    labels: list[str] = []
    reader.take("{")
    while reader.peek != "}":
        if reader.take() != "type":
            reader.skip(";")  # a property
            continue
        reader.take("discrete")
        reader.take("[")
        count = reader.take()
        reader.take("]")
        reader.take("{")
        labels = reader.listed("}", reader.word)
        reader.take(";")
        if str(len(labels)) != count:
            reader.fail(f"{node!r} announces {count} states and lists {len(labels)}.")
        if len(set(labels)) < len(labels):
            reader.fail(f"{node!r} has two states of one name: {', '.join(labels)}.")
    reader.take("}")
    if not labels:
        reader.fail(f"{node!r} has no states.")
    return node, tuple(labels)


def _probability(reader: _Reader, states: dict[str, tuple[str, ...]]) -> tuple[str, Table]:
    reader.take("(")
    names = [reader.word()]
    if reader.peek == "|":
        reader.take()
        names += reader.listed(")", reader.word)
    else:
        reader.take(")")
    if len(set(names)) < len(names):
        reader.fail(f"({' | '.join((names[0], ', '.join(names[1:])))}) names a variable twice.")
    for name in names:
        if name not in states:
            reader.fail(f"there is no variable {name!r}.")
    node, parents = names[0], tuple(names[1:])
    values = _numbers(reader, node, parents, states)
    missing = np.argwhere(np.isnan(values).any(axis=-1))
    if len(missing):
        labels = [states[name][k] for name, k in zip(parents, missing[0], strict=True)]
        reader.fail(f"the table of {node!r} has no row ({', '.join(labels)}).")
    reader.take("}")
    # Files round their numbers: rows are brought to a sum of one.
    return node, Table(states[node], values / values.sum(axis=-1, keepdims=True), parents)


def _numbers(
    reader: _Reader, node: str, parents: tuple[str, ...], states: dict[str, tuple[str, ...]]
) -> np.ndarray:
    shape = tuple(len(states[name]) for name in (*parents, node))
    values = np.full(shape, np.nan)
    rows: set[tuple[int, ...]] = set()
    reader.take("{")
    while reader.peek != "}":
        word = reader.take()
        if word in ("table", "default"):
            numbers = reader.listed(";", reader.number)
            if word == "default" and len(numbers) == shape[-1]:
                values[np.isnan(values).all(axis=-1)] = numbers
            elif len(numbers) == values.size:
                # BIF lists the states of the node slowest.
                values = np.moveaxis(np.reshape(numbers, (shape[-1], *shape[:-1])), 0, -1)
            else:
                reader.fail(f"{node!r} needs {values.size} numbers, and there are {len(numbers)}.")
        elif word == "(":
            row = _row(reader, parents, states)
            numbers = reader.listed(";", reader.number)
            if len(numbers) != shape[-1]:
                reader.fail(f"{node!r} has {shape[-1]} states, and {len(numbers)} numbers follow.")
            if row in rows:
                reader.fail(f"the table of {node!r} has this row twice.")
            rows.add(row)
            values[row] = numbers
        else:
            reader.skip(";")  # a property
        sums = values.sum(axis=-1)
        if (np.abs(sums - 1) > 1e-2).any():
            wrong = sums[np.abs(sums - 1) > 1e-2][0]
            reader.fail(f"a row of the table of {node!r} sums to {wrong:.6g}, not to 1.")
    return values


def _row(
    reader: _Reader, parents: tuple[str, ...], states: dict[str, tuple[str, ...]]
) -> tuple[int, ...]:
    labels = reader.listed(")", reader.word)
    if len(labels) != len(parents):
        reader.fail(f"{len(labels)} states for the parents {', '.join(parents)}.")
    for parent, label in zip(parents, labels, strict=True):
        if label not in states[parent]:
            reader.fail(f"{parent!r} has no state {label!r}.")
    return tuple(states[p].index(label) for p, label in zip(parents, labels, strict=True))


def write_bif(network: BayesianNetwork, path: str | Path) -> None:
    """Write a network to a file in the Bayesian interchange format.

    Parameters
    ----------
    network
        The network; noisy-OR and softmax nodes are written as full tables.
    path
        The file.
    """
    write_whole(Path(path), to_bif(network))


def to_bif(network: BayesianNetwork) -> str:
    """Return a network as text in the Bayesian interchange format.

    Parameters
    ----------
    network
        The network.

    Examples
    --------
    >>> from verulam.graphical import sprinkler, to_bif
    >>> print(to_bif(sprinkler())[:37])
    network unknown {
    }
    variable cloudy {
    """
    check_network(network)
    lines = ["network unknown {", "}"]
    for name, labels in network.states.items():
        shown = ", ".join(_quoted(label) for label in labels)
        lines += [
            f"variable {_quoted(name)} {{",
            f"  type discrete [ {len(labels)} ] {{ {shown} }};",
            "}",
        ]
    for name in network.nodes:
        factor = network.factor(name)
        parents = factor.variables[:-1]
        condition = f" | {', '.join(map(_quoted, parents))}" if parents else ""
        lines.append(f"probability ( {_quoted(name)}{condition} ) {{")
        for place in np.ndindex(factor.values.shape[:-1]):
            numbers = ", ".join(repr(float(value)) for value in factor.values[place])
            row = [factor.states[axis][k] for axis, k in enumerate(place)]
            head = f"({', '.join(map(_quoted, row))})" if parents else "table"
            lines.append(f"  {head} {numbers};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _quoted(label: Any) -> str:
    text = str(label)
    if '"' in text or "\n" in text:
        raise DataError(f"BIF cannot write the name {text!r}: it has a quote or a line break.")
    return text if _PLAIN.match(text) else f'"{text}"'


def to_dot(network: Any) -> str:
    """Return the graph of a network in the DOT language, for programs such as Graphviz.

    Parameters
    ----------
    network
        A Bayesian network, or anything with a directed `graph`.

    Examples
    --------
    >>> from verulam.graphical import sprinkler, to_dot
    >>> print(to_dot(sprinkler()).splitlines()[-2])
      "rain" -> "wet";
    """
    graph = getattr(network, "graph", network)
    if not hasattr(graph, "arcs"):
        raise DataError(f"network: expected a network or graph, not {type(network).__name__}.")
    shapes = getattr(network, "shapes", {})

    def quoted(name: str) -> str:
        return '"' + str(name).replace("\\", "\\\\").replace('"', '\\"') + '"'

    lines = ["digraph {"]
    lines += [f"  {quoted(n)} [shape={shapes.get(n, 'ellipse')}];" for n in graph.nodes]
    lines += [f"  {quoted(parent)} -> {quoted(child)};" for parent, child in graph.arcs]
    return "\n".join([*lines, "}"]) + "\n"
