"""Mutants of a function: its source with one expression changed."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
COMPARISONS = {
    ast.Lt: ast.GtE, ast.LtE: ast.Lt, ast.Gt: ast.LtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
OPPOSITES = {"min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin", "sum": "mean"}


@dataclass(frozen=True)
class Mutant:
    """One changed expression."""

    file: str
    function: str
    line: int
    kind: str
    before: str
    after: str
    start: int
    stop: int


def mutants_of(source: str, file: str, function: str) -> list[Mutant]:
    """Return every mutant of one function of a source."""
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line.encode()))
    nodes = dict(functions(ast.parse(source)))
    if function not in nodes:
        return []
    results = []
    for node in _breakable(nodes[function]):
        for kind, changed in _changes(node):
            start = lines[node.lineno - 1] + node.col_offset
            stop = lines[node.end_lineno - 1] + node.end_col_offset
            before, after = ast.unparse(node), ast.unparse(changed)
            if before != after:
                after = f"({after})"
                results.append(
                    Mutant(file, function, node.lineno, kind, before, after, start, stop)
                )
    return results


def _breakable(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield the expressions of a function, without errors, warnings, words and annotations."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.FunctionDef):
            continue
        if isinstance(node, ast.If) and (
            isinstance(node.body[-1], ast.Raise) or all(_is_complaint(part) for part in node.body)
        ):
            pending += node.orelse
            continue
        if isinstance(node, ast.keyword) and node.arg == "strict":
            continue  # a check of the programmer, which never fails
        if isinstance(node, ast.Expr) and _is_complaint(node):
            continue
        if isinstance(node, ast.expr):
            yield node
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list"}:
                continue
            parts = value if isinstance(value, list) else [value]
            pending += [part for part in parts if isinstance(part, ast.AST)]


def _is_complaint(node: ast.stmt) -> bool:
    if isinstance(node, ast.Raise):
        return True
    return isinstance(node, ast.Expr) and (
        isinstance(node.value, ast.Constant) or "warn" in ast.unparse(node.value)
    )


def _changes(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield what an expression may be broken into."""
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        swapped = ARITHMETIC[type(node.op)]()
        yield (
            "sign" if isinstance(node.op, ast.Add | ast.Sub) else "operator",
            ast.BinOp(node.left, swapped, node.right),
        )
        yield "dropped term", node.left
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield "sign", node.operand
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        changed = [COMPARISONS[type(node.ops[0])](), *node.ops[1:]]
        yield "comparison", ast.Compare(node.left, changed, node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield "ignored condition", node.values[0]
    elif isinstance(node, ast.IfExp):
        yield "ignored variant", node.body
        yield "ignored variant", node.orelse
    elif isinstance(node, ast.Constant) and type(node.value) is int and node.value <= 3:
        yield "off by one", ast.Constant(node.value + 1)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "ignored variant", ast.Constant(not node.value)
    elif isinstance(node, ast.Call):
        yield from _changed_calls(node)


def _changed_calls(node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    if ast.unparse(node.func) in {"isinstance", "hasattr", "getattr"}:
        return  # they refuse swapped arguments, which shows no test's strength
    plain = [isinstance(part, ast.Name | ast.Attribute) for part in node.args[:2]]
    if len(plain) == 2 and all(plain):
        swapped = [node.args[1], node.args[0], *node.args[2:]]
        yield "swapped arguments", ast.Call(node.func, swapped, node.keywords)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if name in OPPOSITES:
        function = ast.Attribute(node.func.value, OPPOSITES[name], ast.Load())
        yield "opposite", ast.Call(function, node.args, node.keywords)


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions of a module by their qualified names."""
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending:
        prefix, node = pending.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                yield prefix + child.name, child
                pending.append((f"{prefix}{child.name}.<locals>.", child))
            elif isinstance(child, ast.ClassDef):
                pending.append((f"{prefix}{child.name}.", child))
            elif isinstance(child, ast.If | ast.With | ast.Try | ast.For):
                pending.append((prefix, child))
