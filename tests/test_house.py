"""The rules of the house, checked over all files; a test names every file that breaks its rule."""

import ast
import csv
import inspect
import random
import re
from collections import defaultdict
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import all_estimators
from tests.house import (
    empty_names,
    fragments,
    inner_imports,
    module_name,
    parameter_names,
    private_imports,
    public_callables,
    sql_statements,
)

from verulam.kernel import Kernel
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

#: A module with one importer and no public name belongs to that importer, up to this length.
FRAGMENT_LINES = 150
#: Shorter ones that stand alone, each with the reason.
SHORT_MODULES = {
    "verulam.catalogue._agents": "the list of agents, apart from what is done with it",
    "verulam.catalogue._names": "what classes are called in words, apart from the list of them",
    "verulam.cli._lab_command": "a command that serves pages, apart from those that print",
    "verulam.cli._warm_command": "a command that compiles, apart from those that look things up",
    "verulam.experiment._report.task_figures": "pictures of agents, apart from predictions",
    "verulam.experiment._run.dask": "the one module that needs Dask, which is optional",
    "verulam.experiment._run.sequential": "a search that adds runs, apart from carrying them out",
    "verulam.experiment._words.overlap_text": "sentences, which stand apart from what they tell",
    "verulam.neural._network.workspace": "one pass over a batch, apart from the weights",
    "verulam.statistics._datasets.studentised_range": "a distribution, apart from the tests by it",
    "verulam.tree._structure.link_checks": "what a forged file may hold, apart from the walk",
}
#: Modules that import our own inside of a function, each with the reason.
INNER_IMPORTS: dict[str, str] = {}
#: What changes in private helpers of scikit-learn is mended in one module.
PRIVATE_USERS = ("base/_protocol.py",)
#: The packages of learners, whose parameters the glossary names.
LEARNER_PACKAGES = (
    "bayes", "cluster", "decision", "ensemble", "graphical", "kernel", "linear", "local",
    "neural", "nonparametric", "parametric", "reduction", "rule", "sequence", "tree",
)  # fmt: skip

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
            member = getattr(module, name)
            if id(member) not in seen and str(getattr(member, "__module__", "")).startswith(
                "verulam"
            ):
                seen.add(id(member))
                yield f"{package.name}.{name}", member


PUBLIC = list(public_objects())
CLASSES = [(name, member) for name, member in PUBLIC if inspect.isclass(member)]


def documented_callables():
    """Yield every public function, class and public method whose docstring lists parameters."""
    for name, member in PUBLIC:
        parts = [(name, member)]
        if inspect.isclass(member):
            parts += [
                (f"{name}.{part}", getattr(member, part))
                for part, value in vars(member).items()
                if not part.startswith("_") and (inspect.isfunction(value) or _is_bound(value))
            ]
        for part_name, part in parts:
            if callable(part) and documented_names(part.__doc__ or "", "Parameters"):
                yield part_name, part


def _is_bound(value):
    return isinstance(value, classmethod | staticmethod)


def parameters_of(member):
    names = dict(inspect.signature(member).parameters)
    if not inspect.isclass(member) and next(iter(names), "") == "self":
        del names["self"]
    return names


def broken_rules(path, text, tree):
    """Yield each rule that a module breaks, and how."""
    inside = path.relative_to(SOURCE)
    for node in ast.walk(tree):
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function and function_lines(node) > FUNCTION_LINES:
            yield "size", node.name
    if str(inside) not in PRIVATE_USERS:
        for name in private_imports(tree):
            yield "private", name
    for words in NOT_IN_SOURCE.findall(text):
        yield "speech", words
    if not ast.get_docstring(tree):
        yield "speech", "a module says what it is for"
    for name in empty_names(tree):
        yield "names", name
    if not path.is_relative_to(SOURCE / "experiment" / "_store"):
        for statement in sql_statements(tree):
            yield "SQL", statement
    if inside.parts[0] not in {"cli", "plots"} and path.name != "__init__.py":
        # Drawing is imported where it is asked for: Matplotlib takes longer than a small study.
        late = [line for line in inner_imports(tree) if not re.search(r": verulam\.plots\b", line)]
        if bool(late) != (str(inside) in INNER_IMPORTS):
            yield "imports", str(late)


@pytest.fixture(scope="module")
def broken():
    """Return the modules that break a rule, by rule: all are read once."""
    by_rule = defaultdict(list)
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        for rule, how in broken_rules(path, text, ast.parse(text)):
            by_rule[rule].append(f"{shown(path)}: {how}")
    return by_rule


@pytest.mark.parametrize("rule", ["size", "speech", "names", "SQL", "imports", "private"])
def test_modules_keep_the_rules(rule, broken):
    assert not broken[rule]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("size", '"""Say."""\ndef f():\n' + "    x = 1\n" * FUNCTION_LINES),
        ("speech", '"""Say."""\n# TODO'),
        ("speech", "x = 1"),
        ("names", '"""Say."""\nfound = 1'),
        ("SQL", '"""Say."""\nq = "PRAGMA journal_mode=WAL"'),
        ("imports", '"""Say."""\ndef f():\n    from verulam.base import clone'),
        ("private", '"""Say."""\nfrom sklearn.utils import _safe_indexing'),
        ("private", '"""Say."""\nfrom sklearn.utils._tags import get_tags'),
    ],
)
def test_a_module_that_breaks_a_rule_is_seen(rule, text):
    path = SOURCE / "tree" / "_some.py"
    assert [broken for broken, _ in broken_rules(path, text, ast.parse(text))] == [rule]


@pytest.mark.parametrize("package", PACKAGES, ids=shown)
def test_table_of_contents(package):
    """`__all__` is complete, importable and in ruff's order; modules are private."""
    module = import_module(f"verulam.{package.name}")
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    imported = [
        alias.asname or alias.name
        for node in (*tree.body, *loaded_later(tree))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("verulam.")
        for alias in node.names
        if not (alias.asname or "").startswith("_")
    ]
    assert sorted(module.__all__) == sorted(imported)
    assert module.__all__ == sorted(module.__all__, key=contents_key)
    assert all(hasattr(module, name) for name in module.__all__)
    assert all(path.name.startswith("_") for path in package.glob("*.py"))


def loaded_later(tree):
    """Return the imports of a package that types need at once, and programs when they use them."""
    guarded = [node for node in tree.body if isinstance(node, ast.If)]
    return [inner for node in guarded for inner in node.body]


def contents_key(name):
    """Constants, then classes, then functions."""
    return (not name.isupper(), not name[0].isupper(), name)


def test_a_folder_is_one_idea():
    for folder in FOLDERS:
        modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        inside = str(folder.relative_to(SOURCE))
        assert (len(modules) > MOST_MODULES) == (inside in LARGER_FOLDERS), inside
        below = [path.name for path in folder.iterdir() if (path / "__init__.py").exists()]
        assert folder == SOURCE or all(name.startswith("_") for name in below), inside


def test_tests_mirror_the_source_by_folder():
    mirrors = [
        (ROOT / "tests").joinpath(*(part.lstrip("_") for part in folder.relative_to(SOURCE).parts))
        for folder in FOLDERS
    ]
    assert [shown(mirror) for mirror in mirrors if not any(mirror.rglob("test_*.py"))] == []


def test_public_classes_have_an_example():
    """Records are shown by the functions that return them."""
    without = [
        name
        for name, member in CLASSES
        if not is_dataclass(member) and name.partition(".")[0] not in FOR_AUTHORS
        if ">>> " not in (member.__doc__ or "")
    ]
    assert without == []


def test_documented_parameters_are_those_of_the_signature():
    for name, function in documented_callables():
        accepted = parameters_of(function)
        documented = documented_names(function.__doc__, "Parameters")
        assert set(documented) == set(accepted), name
        for parameter, value in quoted_defaults(function.__doc__).items():
            assert accepted[parameter].default == value, f"{name}({parameter})"


def test_documented_attributes_are_the_fields():
    for name, record in CLASSES:
        if not is_dataclass(record):
            continue
        documented = documented_names(record.__doc__ or "", "Attributes")
        listed = {field.name for field in fields(record)}
        public = listed | {name for name in dir(record) if not name.startswith("_")}
        assert set(documented) <= public, name
        assert not documented or listed <= set(documented), name


def test_no_module_is_a_fragment():
    texts = {module_name(path, SOURCE.parent): path.read_text(encoding="utf-8") for path in MODULES}
    packages = {module_name(path, SOURCE.parent) for path in MODULES if path.stem == "__init__"}
    alone = {
        module: importer
        for module, importer in fragments(texts, packages, FRAGMENT_LINES).items()
        if not module.endswith(("_loops", "._tuning"))
    }
    assert set(alone) == set(SHORT_MODULES), alone


@cache
def words_of_the_tests():
    """Return every word of every test file."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    return {word for text in texts for word in re.findall(r"\w+", text)}


@pytest.mark.parametrize("package", PACKAGES, ids=shown)
def test_every_public_name_is_named_in_a_test(package):
    names = import_module(f"verulam.{package.name}").__all__
    untested = [name for name in names if name not in words_of_the_tests()]
    assert not untested


def glossary():
    """Return the rows of the glossary of parameters."""
    with (ROOT / "docs" / "glossary.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def learner_parameters():
    """Return each parameter of a learner's constructor, with the learners that have it."""
    owners = defaultdict(list)
    for name, member in PUBLIC:
        # Kernels are parts of learners: each documents its own few parameters.
        if not inspect.isclass(member) or issubclass(member, Kernel):
            continue
        if hasattr(member, "fit") or hasattr(member, "get_params"):
            for parameter in parameter_names(member.__init__):
                owners[parameter].append(name)
    return owners


def test_the_glossary_has_the_parameters_of_all_learners():
    rows = glossary()
    names = [row["name"] for row in rows]
    assert list(rows[0]) == ["name", "meaning", "scikit_learn", "instead_of"]
    assert names == sorted(set(names)), "in order of the alphabet, each once"
    assert all(row["meaning"].strip() for row in rows)
    owners = learner_parameters()
    unknown = {name: owners[name] for name in owners if name not in names}
    assert not unknown, "parameters that docs/glossary.csv does not have"
    assert set(names) <= set(owners), "names that no learner has"


def test_the_glossary_is_right_about_scikit_learn():
    theirs = dict(all_estimators())
    for row in glossary():
        for place in row["scikit_learn"].split():
            learner, _, parameter = place.partition(".")
            assert parameter == row["name"]
            assert parameter in inspect.signature(theirs[learner]).parameters, place


def test_no_parameter_has_a_refused_name():
    refused = {word: row["name"] for row in glossary() for word in row["instead_of"].split()}
    assert not set(refused) & {row["name"] for row in glossary()}
    offenders = [
        f"{callable_name}({parameter}): call it {refused[parameter]}"
        for name, member in PUBLIC
        if name.partition(".")[0] in LEARNER_PACKAGES
        for callable_name, function in public_callables(name, member)
        for parameter in parameter_names(function)
        if parameter in refused
    ]
    assert not offenders


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (empty_names, "found = 1"),
        (empty_names, "def f(_given): ..."),
        (empty_names, "[each for each in 'ab']"),
        (sql_statements, 'q = "select name from runs where id = 1"'),
        (sql_statements, "q = f'INSERT OR IGNORE INTO {table} VALUES (1)'"),
        (sql_statements, "q = 'PRAGMA journal_mode=WAL'"),
        (sql_statements, "q = 'BEGIN IMMEDIATE'"),
        (inner_imports, "def f():\n    from verulam.base import clone"),
        (inner_imports, "class A:\n    def f(self):\n        import verulam.base"),
        (inner_imports, "def f():\n    from . import other"),
    ],
)
def test_a_broken_rule_is_seen(check, text):
    assert check(ast.parse(text))


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (empty_names, "f(found=1)"),
        (sql_statements, '"""Select rows from a table."""'),
        (sql_statements, "hint = 'Update the package, or begin again.'"),
        (inner_imports, "from verulam.base import clone\ndef f():\n    import pandas"),
    ],
)
def test_a_rule_that_holds_is_not_reported(check, text):
    assert not check(ast.parse(text))


def test_a_fragment_is_seen():
    texts = {
        "a": "from a._b import public",
        "a._b": "from a._c import helper\nfrom a import _d",
        "a._c": "helper = 1",
        "a._d": "x = 1\n" * 200,
    }
    assert fragments(texts, {"a"}, 150) == {"a._c": "a._b"}
    assert not fragments({**texts, "a._e": "from a import _c"}, {"a"}, 150)


def test_chance_without_a_seed_is_that_of_the_name_of_the_test(request):
    entropy = random.Random(request.node.nodeid)
    legacy, plain, first, second = (entropy.getrandbits(bits) for bits in (32, 32, 128, 128))
    seeds = [np.random.default_rng().bit_generator.seed_seq.entropy for _ in range(2)]
    assert seeds == [first, second]
    assert np.random.random() == np.random.RandomState(legacy).random()  # noqa: NPY002
    assert random.random() == random.Random(plain).random()
