"""Rules for compiled loops: what would make the first call of a learner slow.

Numba compiles a function again into each one that calls it, and some calls that look cheap bring a
whole library of its own along: an assignment to a slice or a sort costs a second or more.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "verulam"
MOST_LINES = 80
DEEPEST_CALLS = 2
SORTS = frozenset({"argsort", "sort", "unique", "partition", "argpartition"})
#: Scratch and results come from outside, where NumPy makes them.
ALLOCATIONS = frozenset({"empty", "empty_like"})
#: Files that break a rule, each with the reason.
EXCEPTIONS = {
    "association/_search_loops.py": "lists of sets grow while they are searched",
    "association/_transactions_loops.py": "how large its tables are is known when it has counted",
    "bayes/_features/factor_loops.py": "a number is drawn within a feature, a row and a sweep",
    "cluster/_hierarchy/single_link_loops.py": "distances of the rows that wait are scratch",
    "cluster/_partition/medoids_loops.py": "a swap looks for its best partner, which measures",
    "graphical/_inference/junction_loops.py": "scratch of one query takes longer from outside",
    "kernel/_object_kernels/strings_loops.py": "a row of costs for pairs of any two lengths",
    "neural/_network/online_loops.py": "row after row, layer after layer",
    "nonparametric/_additive/spline.py": "bands of the inverse",
    "nonparametric/_neighbours/dissimilarity_index.py": "one table of distances",
    "nonparametric/_smoothing/local_line_loops.py": "moments of each window are scratch",
    "nonparametric/_windows/window_sums_loops.py": "cells, blocks and rows, one inside another",
    "rule/_learning/description_length_loops.py": "lengths of rules within those of lists",
    "rule/_learning/grow_loops.py": "a conjunction grows by conditions, these by cuts",
    "sequence/_dynamics/kalman_loops.py": "steps of matrix products",
    "sequence/_recursions/inference_loops.py": "messages of one step are scratch",
    "sequence/_recursions/symbol_loops.py": "states are padded to whole registers",
    "sequence/_recursions/viterbi_loops.py": "paths are traced back through what was best",
    "tree/_nodes/oblique_loops.py": "counts on both sides of an interval",
    "tree/_structure/tree_loops.py": "one array of leaves, and shares of rows with gaps",
}
#: Packages with loops that `numba.njit` itself compiles. The list gets shorter, never longer.
NUMBA_ITSELF = ("tree",)

MODULES = {
    str(path.relative_to(SOURCE)): ast.parse(text)
    for path in SOURCE.rglob("*.py")
    if "jit" in (text := path.read_text())
}


def is_compiled(function: ast.FunctionDef) -> bool:
    heads = [d.func if isinstance(d, ast.Call) else d for d in function.decorator_list]
    return any(getattr(head, "id", getattr(head, "attr", "")) == "njit" for head in heads)


def loops_of(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {function.name: function for function in functions if is_compiled(function)}


def imported_loops(tree: ast.Module, trees: dict[str, ast.Module]) -> dict[str, tuple[str, str]]:
    """Return where the names come from that a module imports from others of ours."""
    places = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("verulam."):
            file = "/".join(node.module.split(".")[1:]) + ".py"
            if file in trees:
                places |= {name.asname or name.name: (file, name.name) for name in node.names}
    return places


def depth_of(place: tuple[str, str], trees: dict[str, ast.Module], above: tuple = ()) -> int:
    """Return how many loops stand one inside another from this one on, itself included."""
    file, name = place
    loop = loops_of(trees[file]).get(name)
    if loop is None or place in above:
        return 0
    imported = imported_loops(trees[file], trees)
    called = {
        node.func.id
        for node in ast.walk(loop)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    places = [imported.get(callee, (file, callee)) for callee in called]
    return 1 + max((depth_of(p, trees, (*above, place)) for p in places), default=0)


def offences_of(loop: ast.FunctionDef) -> Iterator[str]:
    """Yield what a loop holds that takes long to compile."""
    body = loop.body[1:] if ast.get_docstring(loop) else loop.body
    if loop.end_lineno - body[0].lineno >= MOST_LINES:
        yield f"more than {MOST_LINES} lines"
    for node in ast.walk(loop):
        if isinstance(node, ast.JoinedStr):
            yield "a formatted string"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in SORTS | ALLOCATIONS:
                yield f"a call of {node.func.attr}"
            elif any(keyword.arg == "axis" for keyword in node.keywords):
                yield f"{node.func.attr} along an axis"
        elif isinstance(node, ast.Assign):
            yield from (
                f"an array assigned to a slice: {ast.unparse(target)}"
                for target in node.targets
                if is_slice(target) and not is_scalar(node.value)
            )


def is_slice(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and any(
        isinstance(part, ast.Slice) for part in ast.walk(target.slice)
    )


def is_scalar(value: ast.expr) -> bool:
    """Tell a number, or a name in capitals, which stands for one."""
    if isinstance(value, ast.UnaryOp):
        return is_scalar(value.operand)
    if isinstance(value, ast.Attribute):
        return value.attr in ("inf", "nan")
    if isinstance(value, ast.Call):
        return getattr(value.func, "attr", "") in ("float64", "int64", "uint64", "int32")
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id.isupper())


def offences_in(file: str, trees: dict[str, ast.Module]) -> list[str]:
    offences = []
    for name, loop in loops_of(trees[file]).items():
        offences += [f"{name}: {offence}" for offence in offences_of(loop)]
        depth = depth_of((file, name), trees)
        if depth > DEEPEST_CALLS:
            offences.append(f"{name}: calls {depth} deep")
    return offences


@pytest.mark.parametrize("file", sorted(file for file in MODULES if loops_of(MODULES[file])))
def test_loops_are_quick_to_compile(file):
    offences = offences_in(file, MODULES)
    if file in EXCEPTIONS:
        assert offences, f"{file} breaks no rule any more: take it off the list."
    else:
        assert offences == []


def test_exceptions_are_of_files_that_exist():
    assert sorted(EXCEPTIONS) == sorted(set(EXCEPTIONS) & set(MODULES))
    assert all(EXCEPTIONS.values())


def test_loops_are_compiled_by_our_decorator():
    """Only this one keeps machine code under a name that holds all that it depends on."""
    packages = {
        file.partition("/")[0]
        for file, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "numba"
        if {"njit", "jit"} & {name.name for name in node.names}
    }
    assert sorted(packages) == sorted(NUMBA_ITSELF)


@pytest.mark.parametrize(
    ("text", "offence"),
    [
        ("order = np.argsort(x)", "a call of argsort"),
        ("x.sort()", "a call of sort"),
        ("y = np.empty(3)", "a call of empty"),
        ("y = x.sum(axis=1)", "sum along an axis"),
        ("x[1:] = y", "an array assigned to a slice: x[1:]"),
        ("raise ValueError(f'{x}')", "a formatted string"),
        ("\n    ".join(["x += 1"] * (MOST_LINES + 1)), f"more than {MOST_LINES} lines"),
    ],
)
def test_a_broken_rule_is_seen(text, offence):
    tree = ast.parse(f"@njit()\ndef loop(x, y):\n    {text}\n")
    assert list(offences_of(loops_of(tree)["loop"])) == [offence]


@pytest.mark.parametrize("text", ["x[:] = 0.0", "x[1:] = -np.inf", "x[:] = BEYOND", "x.sum()"])
def test_what_is_quick_is_allowed(text):
    tree = ast.parse(f"@njit()\ndef loop(x, y):\n    {text}\n")
    assert list(offences_of(loops_of(tree)["loop"])) == []


def test_deep_calls_are_seen_across_files():
    trees = {
        "a_loops.py": ast.parse(
            "from verulam.b_loops import inner\n"
            "@njit()\ndef outer(x):\n    return middle(x)\n"
            "@njit()\ndef middle(x):\n    return inner(x)\n"
        ),
        "b_loops.py": ast.parse("@njit()\ndef inner(x):\n    return inner(x - 1)\n"),
    }
    assert offences_in("a_loops.py", trees) == ["outer: calls 3 deep"]
    assert offences_in("b_loops.py", trees) == []
