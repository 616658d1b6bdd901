"""Where the boxes of a drawn tree go: as close as their texts allow, and none over another."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

#: Characters on a line of a box, unless one word is longer; a word may have up to `LONGEST_WORD`.
LINE_LENGTH = 16
LONGEST_WORD = 20
MOST_LINES = 5
#: All lengths are in units of the font size.
LINE_HEIGHT = 1.3
PADDING = 0.45
SIDE_GAP = 0.6
LABEL_GAP = 0.35
BRANCH_GAP = 1.8
MEASURED_SIZE = 10.0
#: Height of a row of boxes and of the labels above it, with one line in each.
LEAST_ROW = 2 * LINE_HEIGHT + 2 * PADDING + LABEL_GAP + BRANCH_GAP


@dataclass(frozen=True)
class DrawnNode:
    """What is written of a node.

    Attributes
    ----------
    text
        In its box.
    label
        On the line that leads to it.
    depth
        Tests above it.
    children
        Numbers of the nodes below it that are drawn.
    """

    text: str
    label: str
    depth: int
    children: Sequence[int] = ()


@dataclass(frozen=True)
class Layout:
    """Places of a tree's nodes, from the upper left corner to the right and down.

    Attributes
    ----------
    across
        Middle of each node.
    boxes, bottoms
        Middle and lower end of the row of boxes of each depth.
    labels, tops
        Middle and upper end of the row of labels above them.
    width, height
        Of the whole tree.
    """

    across: dict[int, float]
    boxes: list[float]
    bottoms: list[float]
    labels: list[float]
    tops: list[float]
    width: float
    height: float


def folded_text(text: str) -> str:
    """Return a text on short lines; of more than fit a box, the first and last and "...".

    The end stays, because a formula ends in the relation that makes it a question.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in _words(paragraph):
            if line and len(line) + len(word.rstrip()) > LINE_LENGTH:
                lines.append(line.rstrip())
                line = ""
            line += word
        lines.append(line.rstrip())
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES // 2], "...", *lines[-(MOST_LINES // 2) :]]
    return "\n".join(lines)


def _words(text: str) -> list[str]:
    """Return the words with the blanks behind them; long ones in pieces.

    A sign or relation is one word with the number behind it.
    """
    pieces: list[str] = []
    for word in re.findall(r"(?:(?:[-+<>]|<=)\s+(?=\d))?\S+\s*", text):
        parts = re.findall(r"[^_\-/,;]*[_\-/,;]+\s*|[^_\-/,;]+$", word)
        whole = [word] if len(word.rstrip()) <= LONGEST_WORD else parts
        for piece in whole:
            pieces += [
                piece[first : first + LONGEST_WORD] for first in range(0, len(piece), LONGEST_WORD)
            ]
    return pieces


@lru_cache(maxsize=8192)
def text_size(text: str) -> tuple[float, float]:
    """Return the width and height of a text, without any padding."""
    font = FontProperties(size=MEASURED_SIZE)
    lines = text.split("\n")
    widths = [text_to_path.get_text_width_height_descent(line, font, False)[0] for line in lines]
    return max(widths) / MEASURED_SIZE, LINE_HEIGHT * len(lines)


def arrange(nodes: Mapping[int, DrawnNode]) -> Layout:
    """Return a layout in which no box and no label touches another.

    Parents come before their children in `nodes`; the first is the root. Subtrees are moved
    together until their outlines touch, and a node stands above the middle of its children.
    """
    n_rows = 1 + max(node.depth for node in nodes.values())
    box_heights, label_heights, widths = [0.0] * n_rows, [0.0] * n_rows, {}
    for number, node in nodes.items():
        width, height = text_size(node.text)
        label_width, label_height = text_size(node.label) if node.label else (0.0, 0.0)
        widths[number] = max(width + 2 * PADDING, label_width) + SIDE_GAP
        box_heights[node.depth] = max(box_heights[node.depth], height + 2 * PADDING)
        label_heights[node.depth] = max(label_heights[node.depth], label_height)
    across = _horizontal(nodes, widths)
    leftmost = min(across[number] - widths[number] / 2 for number in nodes)
    rightmost = max(across[number] + widths[number] / 2 for number in nodes)
    boxes, bottoms, labels, tops = [], [], [], []
    bottom = -BRANCH_GAP - LABEL_GAP
    for box_height, label_height in zip(box_heights, label_heights, strict=True):
        tops.append(bottom + BRANCH_GAP)
        labels.append(tops[-1] + label_height / 2)
        boxes.append(tops[-1] + label_height + LABEL_GAP + box_height / 2)
        bottom = boxes[-1] + box_height / 2
        bottoms.append(bottom)
    places = {number: place - leftmost for number, place in across.items()}
    return Layout(places, boxes, bottoms, labels, tops, rightmost - leftmost, bottom)


def _horizontal(nodes: Mapping[int, DrawnNode], widths: Mapping[int, float]) -> dict[int, float]:
    """Return the middle of each node, the root's at 0."""
    # From the leaves up: subtrees are pushed together until their outlines meet at some level, and
    # a node stands over the middle of its children (Reingold and Tilford).
    offsets: dict[int, float] = {}
    outlines: dict[int, tuple[list[float], list[float]]] = {}
    for number in reversed(list(nodes)):
        left: list[float] = []
        right: list[float] = []
        children = nodes[number].children
        for child in children:
            lefts, rights = outlines.pop(child)
            contours = zip(right, lefts, strict=False)
            offsets[child] = max((end - start for end, start in contours), default=0.0)
            rights = [offsets[child] + end for end in rights]
            left += [offsets[child] + start for start in lefts[len(left) :]]
            right = rights + right[len(rights) :]
        middle = (offsets[children[0]] + offsets[children[-1]]) / 2 if children else 0.0
        for child in children:
            offsets[child] -= middle
        half = widths[number] / 2
        outlines[number] = (
            [-half, *(start - middle for start in left)],
            [half, *(end - middle for end in right)],
        )
    across: dict[int, float] = {}
    for number in nodes:
        across.setdefault(number, 0.0)
        for child in nodes[number].children:
            across[child] = across[number] + offsets[child]
    return across
