"""How far a reader walks who follows a comparison from its call to its report.

*Files* are the modules of the experiment in which some function is called; what the learners do
inside is theirs. *Changes* are counted along the functions in the order of their first calls: how
often the reader, who reads each function once, goes from one file of the experiment to another.
Comprehensions and lambdas belong to the function around them. Both are those of a second call, so
that nothing is counted that happens once in a process. The numbers are bounds: whoever needs more
has scattered an idea, or asks a module for what the caller knows already. Beside them stands the
longest chain of imports between the modules of the experiment.
"""

import ast
import re
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import verulam
from verulam.experiment import compare

LIBRARY = Path(verulam.__file__).parent
EXPERIMENT = LIBRARY / "experiment"
#: The report refits and explains the recommended learner, as finalising does.
MOST_FILES, MOST_CHANGES, LONGEST_CHAIN = 74, 294, 12
WITHIN = re.compile(r"\.<locals>\..*|\.?<(?:listcomp|dictcomp|setcomp|genexpr|lambda)>.*")


def walked(call):
    """Return the functions of the library that a call visits, in the order of their first calls."""
    functions = {}

    def look(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(LIBRARY)):
            functions[code.co_filename, WITHIN.sub("", code.co_qualname)] = None

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(functions)


@pytest.mark.skipif(sys.gettrace() is not None, reason="a debugger is looking on")
def test_a_comparison_stays_within_few_files(tmp_path):
    def call():
        comparison = compare("iris", progress=False)
        assert str(comparison)
        comparison.report(tmp_path / "report.html")

    call()
    files = [file for file, _ in walked(call) if Path(file).is_relative_to(EXPERIMENT)]
    assert len(set(files)) <= MOST_FILES
    assert sum(here != there for here, there in pairwise(files)) <= MOST_CHANGES


def imports():
    """Return for each module of the experiment those that it imports when it is loaded."""
    paths = {
        ".".join(path.relative_to(LIBRARY.parent).with_suffix("").parts): path
        for path in EXPERIMENT.rglob("*.py")
        if path.name != "__init__.py"
    }
    return {
        module: {
            node.module
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.ImportFrom) and node.module in paths
        }
        for module, path in paths.items()
    }


def test_no_chain_of_imports_is_long():
    imported = imports()

    @cache
    def longest(module):
        return (module, *max(map(longest, imported[module]), key=len, default=()))

    chain = max(map(longest, imported), key=len)
    assert len(chain) <= LONGEST_CHAIN, chain
