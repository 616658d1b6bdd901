"""The rules of the house, checked file by file."""

import ast
import inspect
import re
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

import pytest

from verulam.testing import documented_names, quoted_defaults

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "verulam"
MODULES = sorted(SOURCE.rglob("*.py"))
FOLDERS = sorted({path.parent for path in MODULES})
PACKAGES = sorted(path.parent for path in SOURCE.glob("*/__init__.py"))

FUNCTION_LINES = 80
#: A folder is one idea: more modules than this need a reason.
MOST_MODULES = 15
#: Folders with more of them, each with the reason.
LARGER_FOLDERS: dict[str, str] = {}

#: Packages for authors of learners: contracts and shared numerics, shown at work in the learners.
FOR_AUTHORS = ("base", "numerics")

NOT_IN_SOURCE = re.compile(r"/(?:work|tmp|home|root|Users)/|\b(?:TODO|FIXME|XXX|HACK)\b")


def shown(path):
    return str(path.relative_to(ROOT))


def function_lines(node):
    """Return the lines of a function without its docstring."""
    length = node.end_lineno - node.lineno + 1
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        length -= first.end_lineno - first.lineno + 1
    return length


def public_objects():
    """Yield (name, object) for every name in the `__all__` of a package, each object once."""
    seen = set()
    for package in PACKAGES:
        module = import_module(f"verulam.{package.name}")
        for name in getattr(module, "__all__", ()):
            found = getattr(module, name)
            if id(found) not in seen and str(getattr(found, "__module__", "")).startswith(
                "verulam"
            ):
                seen.add(id(found))
                yield f"{package.name}.{name}", found


PUBLIC = list(public_objects())
CLASSES = [pytest.param(found, id=name) for name, found in PUBLIC if inspect.isclass(found)]


def documented_callables():
    """Yield every public function, class and public method whose docstring lists parameters."""
    for name, found in PUBLIC:
        parts = [(name, found)]
        if inspect.isclass(found):
            parts += [
                (f"{name}.{part}", getattr(found, part))
                for part, value in vars(found).items()
                if not part.startswith("_") and (inspect.isfunction(value) or _is_bound(value))
            ]
        for part_name, part in parts:
            if callable(part) and documented_names(part.__doc__ or "", "Parameters"):
                yield pytest.param(part, id=part_name)


def _is_bound(value):
    return isinstance(value, classmethod | staticmethod)


def parameters_of(found):
    names = dict(inspect.signature(found).parameters)
    if not inspect.isclass(found) and next(iter(names), "") == "self":
        del names["self"]
    return names


@pytest.mark.parametrize("path", MODULES, ids=shown)
def test_sizes(path):
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert function_lines(node) <= FUNCTION_LINES, node.name


@pytest.mark.parametrize("path", MODULES, ids=shown)
def test_source_speaks_of_itself_alone(path):
    text = path.read_text(encoding="utf-8")
    assert not NOT_IN_SOURCE.findall(text)
    assert ast.get_docstring(ast.parse(text)), "a module says what it is for"


@pytest.mark.parametrize("package", PACKAGES, ids=shown)
def test_table_of_contents(package):
    """`__all__` is complete, importable and in ruff's order; modules are private."""
    module = import_module(f"verulam.{package.name}")
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    imported = [
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if not (alias.asname or "").startswith("_")
    ]
    assert sorted(module.__all__) == sorted(imported)
    assert module.__all__ == sorted(module.__all__, key=contents_key)
    assert all(hasattr(module, name) for name in module.__all__)
    assert all(path.name.startswith("_") for path in package.glob("*.py"))


def contents_key(name):
    """Constants, then classes, then functions."""
    return (not name.isupper(), not name[0].isupper(), name)


@pytest.mark.parametrize("folder", FOLDERS, ids=shown)
def test_a_folder_is_one_idea(folder):
    modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    inside = str(folder.relative_to(SOURCE))
    assert (len(modules) > MOST_MODULES) == (inside in LARGER_FOLDERS)
    below = [path.name for path in folder.iterdir() if (path / "__init__.py").exists()]
    assert folder == SOURCE or all(name.startswith("_") for name in below)


@pytest.mark.parametrize("folder", FOLDERS, ids=shown)
def test_tests_mirror_the_source_by_folder(folder):
    parts = [part.lstrip("_") for part in folder.relative_to(SOURCE).parts]
    assert list((ROOT / "tests").joinpath(*parts).rglob("test_*.py"))


@pytest.mark.parametrize(
    "found",
    [
        case
        for case in CLASSES
        if not is_dataclass(case.values[0]) and str(case.id).partition(".")[0] not in FOR_AUTHORS
    ],
)
def test_public_classes_have_an_example(found):
    """Records are shown by the functions that return them."""
    assert ">>> " in (found.__doc__ or "")


@pytest.mark.parametrize("found", list(documented_callables()))
def test_documented_parameters_are_those_of_the_signature(found):
    accepted = parameters_of(found)
    documented = documented_names(found.__doc__, "Parameters")
    assert set(documented) == set(accepted)
    for name, value in quoted_defaults(found.__doc__).items():
        assert accepted[name].default == value, name


@pytest.mark.parametrize("found", [case for case in CLASSES if is_dataclass(case.values[0])])
def test_documented_attributes_are_the_fields(found):
    documented = documented_names(found.__doc__ or "", "Attributes")
    listed = {field.name for field in fields(found)}
    own = listed | {name for name in dir(found) if not name.startswith("_")}
    assert set(documented) <= own
    if documented:
        assert listed <= set(documented)
