"""How far a reader walks who follows a comparison from its call to its report.

*Files* are the modules of the library in which some function is called. *Hops* are the distinct
pairs of a function and one that it calls in another file; comprehensions and lambdas belong to the
function around them, calls through other libraries do not count. Both are those of a second call,
so that nothing is counted that happens once in a process. The numbers are bounds: whoever needs
more has scattered an idea, or written a function that only passes on. Beside them stands the
longest chain of imports between the modules of the experiment.
"""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest

import verulam
from verulam.experiment import compare

LIBRARY = Path(verulam.__file__).parent
EXPERIMENT = LIBRARY / "experiment"
MOST_FILES, MOST_HOPS, LONGEST_CHAIN = 120, 720, 12
WITHIN = re.compile(r"\.<locals>\..*|\.?<(?:listcomp|dictcomp|setcomp|genexpr|lambda)>.*")


def walked(call):
    """Return the functions that a call visits, and the pairs of them that call one another."""
    functions, pairs = set(), set()

    def named(code):
        return code.co_filename, WITHIN.sub("", code.co_qualname)

    def ours(code):
        return code.co_filename.startswith(str(LIBRARY)) and code.co_filename.endswith(".py")

    def look(frame, event, _):
        if event == "call" and ours(frame.f_code):
            functions.add(named(frame.f_code))
            if frame.f_back is not None and ours(frame.f_back.f_code):
                pairs.add((named(frame.f_back.f_code), named(frame.f_code)))

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return functions, pairs


@pytest.mark.skipif(sys.gettrace() is not None, reason="a debugger is looking on")
def test_a_comparison_stays_within_few_files(tmp_path):
    def call():
        comparison = compare("iris", progress=False)
        assert str(comparison)
        comparison.report(tmp_path / "report.html")

    call()
    functions, pairs = walked(call)
    files = {file for file, _ in functions}
    hops = [pair for pair in pairs if pair[0][0] != pair[1][0]]
    assert len(files) <= MOST_FILES
    assert len(hops) <= MOST_HOPS


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
