"""What the source of the library says of itself: who imports, derives and compiles what."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from mutants import functions

Place = tuple[str, str]
"""A file below src, and the qualified name of a function in it."""


def outside(source: Path, where: str, place: Place) -> bool:
    """Tell whether the row's objects cannot call a function, or another public class owns it."""
    file, function = place
    names = [tuple(f"{name}.".split(".")[1:3]) for name in where.split(";")]
    if not any(file in _files_behind(source, *name) for name in names):
        return True
    package, owner = file.split("/")[1], function.split(".")[0]
    if owner == function or owner not in _public_names(source, package):
        return False
    return all(owner not in _ancestors(source, package, name) for _, name in names)


@cache
def _files_behind(source: Path, package: str, name: str) -> frozenset[str]:
    """Return the files of a package that define a name, and those that they import from."""
    files = {file for file, _ in _definitions(source, package, name)}
    size = 0
    while size < len(files):
        size = len(files)
        files |= {other for file in files for other in _imports(source, file)}
    return frozenset(file for file in files if file.startswith(f"verulam/{package}/"))


def _definitions(source: Path, package: str, name: str) -> Iterator[tuple[str, ast.stmt]]:
    for path in (source / "verulam" / package).rglob("*.py"):
        file = str(path.relative_to(source))
        for node in _tree(source, file).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
                yield file, node


@cache
def _public_names(source: Path, package: str) -> frozenset[str]:
    for node in _tree(source, f"verulam/{package}/__init__.py").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return frozenset(ast.literal_eval(node.value))
    return frozenset()


@cache
def _ancestors(source: Path, package: str, name: str) -> frozenset[str]:
    """Return the name of a class and of those of its package that it is derived from."""
    names = {name}
    for _, node in _definitions(source, package, name):
        for base in node.bases if isinstance(node, ast.ClassDef) else ():
            names |= _ancestors(source, package, ast.unparse(base).split("[")[0])
    return frozenset(names)


def with_compiled(source: Path, called: set[Place]) -> set[Place]:
    """Add the compiled functions that the called ones name, which no profiler sees."""
    places = set(called)
    pending = list(called)
    while pending:
        file, function = pending.pop()
        names = _names_in(source, file, function)
        for place in _compiled_places(source, [file, *_imports(source, file)]):
            if place not in places and place[1] in names:
                places.add(place)
                pending.append(place)
    return places


@cache
def _tree(source: Path, file: str) -> ast.Module:
    return ast.parse((source / file).read_text(encoding="utf-8"))


def _names_in(source: Path, file: str, function: str) -> set[str]:
    for name, node in functions(_tree(source, file)):
        if name == function:
            return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return set()


@cache
def _imports(source: Path, file: str) -> frozenset[str]:
    """Return the files of the library that a file imports from, packages opened."""
    files: set[str] = set()
    for node in ast.walk(_tree(source, file)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("verulam."):
            path = node.module.replace(".", "/")
            door = f"{path}/__init__.py"
            if (source / door).exists():
                files |= {door, *(_imports(source, door) if door != file else ())}
            else:
                files.add(f"{path}.py")
    return frozenset(files)


def _compiled_places(source: Path, files: Iterable[str]) -> Iterator[Place]:
    """Yield the functions of files that a decorator has Numba compile."""
    for path in files:
        for name, function in functions(_tree(source, path)):
            if any(
                "jit" in (decorator := ast.unparse(part)) or "loop" in decorator
                for part in function.decorator_list
            ):
                yield path, name
