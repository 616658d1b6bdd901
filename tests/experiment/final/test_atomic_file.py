"""Files that appear complete or not at all."""

import stat

import pytest

from verulam.experiment._final.atomic_file import draft_of


def test_what_was_there_stays_until_the_draft_is_complete(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("before", encoding="utf-8")
    with draft_of(path) as draft:
        draft.write_text("after", encoding="utf-8")
        assert path.read_text(encoding="utf-8") == "before"
    assert path.read_text(encoding="utf-8") == "after"
    assert [each.name for each in tmp_path.iterdir()] == ["words.txt"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_of_a_draft_that_failed(tmp_path, error):
    with pytest.raises(error), draft_of(tmp_path / "words.txt"):
        raise error
    assert list(tmp_path.iterdir()) == []
