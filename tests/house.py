"""How the rules of the house are checked: functions of parsed source, for `test_house.py`."""

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

#: Words that say nothing of what a variable holds.
EMPTY_WORDS = frozenset(
    {"found", "given", "said", "chosen", "told", "wanted", "kept", "own", "each"}
)

#: A keyword alone is English; with what must follow it, it is SQL.
SQL = re.compile(
    r"\s*(?:SELECT\s.+\sFROM\s|INSERT\s+(?:OR\s+\w+\s+)?INTO\s|REPLACE\s+INTO\s|UPDATE\s+\S+\s+SET\s"
    r"|DELETE\s+FROM\s|(?:CREATE|DROP)\s+(?:TEMP\w*\s+|UNIQUE\s+)?(?:TABLE|INDEX|VIEW|TRIGGER)\s"
    r"|ALTER\s+TABLE\s|PRAGMA\s+\w+|WITH\s+(?:RECURSIVE\s+)?\w+\s+AS\s*\(|VACUUM\b\s*(?:INTO|$)"
    r"|(?:BEGIN|COMMIT|ROLLBACK)\s*(?:IMMEDIATE|EXCLUSIVE|TRANSACTION|;|$)|ATTACH\s+DATABASE\s)",
    re.IGNORECASE | re.DOTALL,
)


def empty_names(tree: ast.Module) -> list[str]:
    """Return the variables and parameters of a module that are named by an empty word."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append((node.lineno, node.id))
        elif isinstance(node, ast.arg):
            names.append((node.lineno, node.arg))
    return [f"{line}: {name}" for line, name in sorted(names) if name.strip("_") in EMPTY_WORDS]


def sql_statements(tree: ast.Module) -> list[str]:
    """Return the string constants of a module that are SQL; docstrings do not count."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inside = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    statements = []
    for node in ast.walk(tree):
        if id(node) in prose or id(node) in inside:
            continue
        if isinstance(node, ast.JoinedStr):
            # What is filled in later is some name.
            string = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "name"
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            string = node.value
        else:
            continue
        if SQL.match(string):
            statements.append(f"{node.lineno}: {string.strip().splitlines()[0]}")
    return statements


def inner_imports(tree: ast.Module) -> list[str]:
    """Return the imports of our own modules inside of functions."""
    return sorted(
        {
            f"{node.lineno}: {name}"
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            for node in ast.walk(function)
            for name in _imported(node)
            if name.split(".")[0] in {"verulam", ""}
        }
    )


def _imported(node: ast.AST) -> list[str]:
    """Return the modules that a statement imports; relative ones begin with a full stop."""
    if isinstance(node, ast.ImportFrom):
        return ["." * node.level + (node.module or "")]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def private_imports(tree: ast.Module) -> list[str]:
    """Return the imports of scikit-learn's private modules and names."""
    return [
        f"{node.lineno}: {module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (module := node.module or "").startswith("sklearn")
        for alias in node.names
        if any(part.startswith("_") for part in (*module.split("."), alias.name))
    ]


def module_name(path: Path, source: Path) -> str:
    """Return the dotted name of the module in a file below the folder `source`."""
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def fragments(texts: Mapping[str, str], packages: set[str], most_lines: int) -> dict[str, str]:
    """Return the short modules that one other alone imports and no package publishes.

    Parameters
    ----------
    texts
        Module to its source.
    packages
        Those among them that are an ``__init__``: what they import is published.
    most_lines
        From this length on a module may stand alone.
    """
    importers = defaultdict(set)
    for module, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            for name in _imported(node):
                # `from package import module` imports the module.
                inner = [f"{name}.{alias.name}" for alias in getattr(node, "names", ())]
                targets = [part for part in inner if part in texts] or [name]
                for target in targets:
                    importers[target].add(module)
    return {
        module: next(iter(importers[module]))
        for module, text in texts.items()
        if module not in packages
        and len(importers[module]) == 1
        and not importers[module] & packages
        and len(text.splitlines()) < most_lines
    }


def public_callables(name: str, member: object) -> Iterator[tuple[str, object]]:
    """Yield a public function, or a class (for its constructor) and its public methods."""
    yield name, member
    if not inspect.isclass(member):
        return
    for part, value in inspect.getmembers(member, callable):
        if not part.startswith("_") and str(getattr(value, "__module__", "")).startswith("verulam"):
            yield f"{name}.{part}", value


def parameter_names(member: object) -> list[str]:
    """Return the names of a callable's parameters, without self, *args, **options."""
    try:
        parameters = inspect.signature(member).parameters.values()
    except (TypeError, ValueError):
        return []
    return [
        parameter.name
        for parameter in parameters
        if parameter.kind not in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}
        and parameter.name not in {"self", "cls"}
    ]
