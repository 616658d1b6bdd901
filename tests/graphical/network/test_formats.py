"""BIF files, read and written, whole and broken; DOT."""

from pathlib import Path

import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.graphical import (
    BayesianNetwork,
    NoisyOr,
    Table,
    asia,
    parse_bif,
    read_bif,
    sprinkler,
    to_bif,
    to_dot,
    write_bif,
)

DATA = Path(__file__).parents[1] / "data"
SMALL = """network n { property author me; }
// the weather
variable rain { type discrete [ 2 ] { no, yes }; }
variable wet { type discrete [ 2 ] { no, yes }; property position = 3; }
probability ( rain ) { table 0.6, 0.4; }
probability ( wet | rain ) {
  (no) 0.8, 0.2;
  (yes) 0.1, 0.9;
}
"""


def test_networks_of_the_literature(alarm, insurance):
    assert (len(alarm.nodes), len(alarm.graph.arcs), alarm.n_parameters) == (37, 46, 509)
    assert (len(insurance.nodes), len(insurance.graph.arcs)) == (27, 52)
    assert insurance.n_parameters == 1008
    assert insurance.junction_tree.plan.largest_size == 28_800


def test_asia_file_is_ours():
    theirs = read_bif(DATA / "asia.bif")
    assert_allclose(
        theirs.query("lung", {"dysp": "yes", "xray": "yes"})["yes"],
        asia().query("cancer", {"dyspnoea": "yes", "x-ray": "yes"})["yes"],
    )


def test_small_file():
    network = parse_bif(SMALL)
    assert_allclose(network.query("rain", {"wet": "yes"})["yes"], 0.75)


def test_table_lists_the_child_slowest():
    text = SMALL.replace("(no) 0.8, 0.2;\n  (yes) 0.1, 0.9;", "table 0.8, 0.1, 0.2, 0.9;")
    assert_allclose(parse_bif(text).factor("wet").values, [[0.8, 0.2], [0.1, 0.9]])
    text = SMALL.replace("(no) 0.8, 0.2;", "default 0.5, 0.5;")
    assert_allclose(parse_bif(text).factor("wet").values, [[0.5, 0.5], [0.1, 0.9]])


def test_written_files_read_back(tmp_path, alarm):
    odd = BayesianNetwork(
        {
            "first node": Table(("not at all", "yes"), [1 / 3, 2 / 3]),
            "second": NoisyOr({"first node": 0.7}, leak=0.1),
        }
    )
    for network in (sprinkler(), alarm, odd):
        write_bif(network, tmp_path / "file.bif")
        again = read_bif(tmp_path / "file.bif")
        assert again.states == {k: tuple(map(str, v)) for k, v in network.states.items()}
        for name in network.nodes:
            assert again.factor(name).variables == network.factor(name).variables
            assert_allclose(again.factor(name).values, network.factor(name).values, atol=1e-15)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("variable wet {", "variable wet [", r"line 4: expected '{', and there is '\['"),
        ("type discrete [ 2 ] { no, yes }; property", "type discrete [ 3 ] { no, yes }; property",
         "line 4: 'wet' announces 3 states and lists 2"),
        ("0.6, 0.4", "0.6, x", "line 5: expected a probability, and there is 'x'"),
        ("0.6, 0.4", "0.6, 1.4", "line 5: 1.4 is no probability"),
        ("0.6, 0.4", "0.6", "line 5: 'rain' needs 2 numbers, and there are 1"),
        ("(yes) 0.1, 0.9;", "(maybe) 0.1, 0.9;", "line 8: 'rain' has no state 'maybe'"),
        ("(yes) 0.1, 0.9;", "", r"line 7: the table of 'wet' has no row \(yes\)"),
        ("(no) 0.8, 0.2;", "(no) 0.6, 0.2;", "line 7: a row of the table of 'wet' sums to 0.8"),
        ("(yes) 0.1, 0.9;", "(no) 0.1, 0.9;", "line 8: the table of 'wet' has this row twice"),
        ("(yes) 0.1, 0.9;", "(yes) 0.1;", "line 8: 'wet' has 2 states, and 1 numbers follow"),
        ("(yes) 0.1, 0.9;", "(yes, no) 0.1, 0.9;", "line 8: 2 states for the parents rain"),
        ("wet | rain", "wet | snow", "line 6: there is no variable 'snow'"),
        ("probability ( rain ) { table 0.6, 0.4; }", "", "there is no probability of 'rain'"),
        ("network", "netwrok", "line 1: expected network, variable or probability"),
        ("variable wet", "variable rain", "line 4: the variable 'rain' is declared twice"),
        ("type discrete [ 2 ] { no, yes }; property", "property", "line 4: 'wet' has no states"),
        ("(yes) 0.1, 0.9;\n}\n", "(yes) 0.1, 0.9;\n", "line 8: the file ends"),
        ("(yes) 0.1, 0.9;\n}\n", "(yes) 0.1, 0.9;\n}\nprobability ( rain ) { table 0.5, 0.5; }\n",
         "line 10: the probability of 'rain' was there before"),
        ("( rain ) { table 0.6, 0.4; }", "( rain | wet ) { (no) 0.6, 0.4; (yes) 0.5, 0.5; }",
         "line 6: The graph has a cycle: rain -> wet -> rain"),
        ("wet | rain", "wet | wet", r"line 6: \(wet \| wet\) names a variable twice"),
        ("{ no, yes }; property", "{ yes, yes }; property", "line 4: 'wet' has two states of one"),
        ("// the weather", "/* the weather", "line 2: a comment begins here and does not end"),
        ("variable wet", 'variable "wet', "line 4: expected a name, and there is '\"'"),
        ("variable wet {", "variable wet § {", "line 4: expected '{', and there is '§'"),
    ],
)  # fmt: skip
def test_broken_files_are_refused_by_line(old, new, message):
    assert old in SMALL
    with pytest.raises(DataError, match=message):
        parse_bif(SMALL.replace(old, new, 1))


def test_other_files_are_refused(tmp_path):
    with pytest.raises(DataError, match="there is no network in it"):
        parse_bif("")
    (tmp_path / "noise.bif").write_bytes(bytes(range(128, 256)))
    with pytest.raises(DataError, match=r"noise\.bif, line 1: not a text file"):
        read_bif(tmp_path / "noise.bif")
    (tmp_path / "late.bif").write_bytes(b"network n { }\n// no letter: \xff\n")
    with pytest.raises(DataError, match=r"late\.bif, line 2: not a text file"):
        read_bif(tmp_path / "late.bif")
    with pytest.raises(DataError, match="expected a BayesianNetwork, not int"):
        to_bif(3)
    with pytest.raises(DataError, match="BIF cannot write"):
        to_bif(BayesianNetwork({'a "quoted" name': Table(("x", "y"), [0.5, 0.5])}))


def test_dot():
    text = to_dot(sprinkler())
    assert text.startswith("digraph {")
    assert '"cloudy" -> "rain";' in text
    assert text.count("->") == 4
    with pytest.raises(DataError, match="expected a network or graph"):
        to_dot("x")
