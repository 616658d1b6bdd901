"""Links of the pages Table and Studies: what they hold comes back, anything else is refused."""

import base64
import json
import zlib

import pytest

from verulam.base import DataError
from verulam.lab._studies.questions import StudyQuestion, TableQuestion

KEY = "0123456789abcdef" * 2


def packed(values, mark="#t="):
    return mark + base64.urlsafe_b64encode(zlib.compress(json.dumps(values).encode())).decode()


@pytest.mark.parametrize(
    "question",
    [
        TableQuestion("iris", learners=("naive bayes", "nearest mean"), matters=0.02),
        TableQuestion(
            key=KEY,
            file="my sales.csv",
            target="sold",
            measure="auc",
            drop_missing=True,
            leave_out=("id", "when"),
            categorical=("kind",),
        ),
        StudyQuestion("~/study.sqlite", study="ab12", measure="log_loss", matters=0.0, data="wine"),
        StudyQuestion(key=KEY),
    ],
)
def test_a_link_holds_the_question(question):
    assert type(question).from_link(question.to_link()) == question


@pytest.mark.parametrize(
    "values",
    [
        {"key": "../../etc", "file": "passwd"},
        {"key": KEY, "file": "../secret.csv"},
        {"key": KEY, "file": "a\0b"},
        {"key": KEY},
        {"bundled": "/etc/passwd"},
        {"bundled": "../secret.csv"},
        {"file": "alone.csv"},
        {"matters": -1},
        {"matters": True},
        {"matters": "much"},
        {"learners": [1, 2]},
        {"leave_out": "name"},
        {"categorical": [None]},
        {"drop_missing": 1},
        {"unknown": 1},
        ["iris"],
    ],
)
def test_a_link_that_leads_elsewhere_is_refused(values):
    with pytest.raises(DataError, match="link must hold"):
        TableQuestion.from_link(packed(values))


@pytest.mark.parametrize(
    "link", ["", "#t=", "#t=!!!", "#s=abcd", "#t=" + "A" * 30_000, packed({}, "#c=")]
)
def test_a_damaged_link_is_refused(link):
    with pytest.raises(DataError, match="damaged"):
        TableQuestion.from_link(link)


def test_a_link_cannot_unpack_to_a_huge_text():
    bomb = zlib.compress(b'{"bundled":"' + b"a" * 10_000_000 + b'"}')
    with pytest.raises(DataError, match="damaged"):
        TableQuestion.from_link("#t=" + base64.urlsafe_b64encode(bomb).decode())


def test_a_store_of_the_lab_is_named_within_its_folder():
    with pytest.raises(DataError, match="damaged"):
        StudyQuestion.from_link(packed({"key": KEY, "path": "../x.sqlite"}, "#s="))


def test_the_code_has_only_what_was_asked():
    code = TableQuestion("iris", learners=("naive bayes",), matters=0.05).code("iris")
    assert "learners=['naive bayes']," in code
    assert "matters=0.05," in code
    assert "target" not in code
