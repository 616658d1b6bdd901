"""Notes and caveats."""

from tests.experiment.analysed import RUNS_OF, changed_copy

from verulam.experiment import analyse
from verulam.experiment._words.caveats import ABOUT_THESE_DATA, failure_lines, shortened


def test_complete_studies_have_no_notes(two):
    assert analyse(two).notes == ()


def test_runs_left(two, tmp_path):
    command = "DELETE FROM runs WHERE " + RUNS_OF.format("majority class", "= 0")
    notes = analyse(changed_copy(two, tmp_path / "copy.sqlite", command)).notes
    assert notes[0].startswith("5 of 20 runs are left")
    assert "majority class lacks 5 of 10 splits" in notes[1]


def test_failures_are_counted_by_kind(two, tmp_path):
    command = (
        "UPDATE runs SET status = 'failed', error = 'ValueError: no luck' WHERE "
        + RUNS_OF.format("majority class", "= 1")
    )
    changed = changed_copy(two, tmp_path / "copy.sqlite", command)
    assert failure_lines(changed) == ["majority class: 5 runs failed, ValueError: no luck"]
    assert failure_lines(two) == []


def test_caveats_come_from_splits_tests_and_sense(two):
    caveats = analyse(two).caveats
    assert any("training sets overlap" in text for text in caveats)
    assert caveats[-1] == ABOUT_THESE_DATA
    assert all(text[0].isupper() and text.endswith(".") for text in caveats)
    assert len(set(caveats)) == len(caveats)
    assert sum("overlap" in text for text in caveats) == 1


def test_long_errors_are_cut():
    assert shortened("x" * 200, 10) == "xxxxxxx..."
    assert shortened("short") == "short"
