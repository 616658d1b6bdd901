"""read_npz: arrays to columns, and never a pickle."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from verulam.base import DataError
from verulam.data import read_npz


class Boom:
    """Would print if it were ever unpickled."""

    def __reduce__(self):
        return (print, ("unpickled",))


def test_x_and_y(tmp_path):
    X = np.arange(12.0).reshape(6, 2)
    np.savez(tmp_path / "a.npz", X=X, y=np.array([0, 1, 0, 1, 0, 1]))
    data = read_npz(tmp_path / "a.npz")
    assert_array_equal(data.inputs, X)
    assert (data.target, data.task, data.name) == ("y", "classification", "a")


def test_named_columns(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", size=[1.0, 2.0, 3.0], kind=["a", "b", "a"])
    data = read_npz(tmp_path / "a.npz", target="size")
    assert data.kinds == {"size": "numeric", "kind": "categorical"}
    assert data.task == "regression"


def test_objects_are_refused_without_running_them(tmp_path, capsys):
    np.savez(tmp_path / "a.npz", X=np.array([[Boom()]], dtype=object))
    with pytest.raises(DataError, match=r"a\.npz: holds Python objects"):
        read_npz(tmp_path / "a.npz")
    assert capsys.readouterr().out == ""


def test_pickle_instead_of_archive(tmp_path, capsys):
    import pickle

    (tmp_path / "a.npz").write_bytes(pickle.dumps(Boom()))
    with pytest.raises(DataError, match=r"a\.npz: holds Python objects"):
        read_npz(tmp_path / "a.npz")
    assert capsys.readouterr().out == ""


def test_damaged_archive(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.ones((50, 2)))
    whole = (tmp_path / "a.npz").read_bytes()
    for content in (whole[: len(whole) // 2], b"PK\x03\x04 nonsense", b"nonsense"):
        (tmp_path / "a.npz").write_bytes(content)
        with pytest.raises(DataError, match=r"a\.npz: "):
            read_npz(tmp_path / "a.npz")


def test_single_array(tmp_path):
    with (tmp_path / "a.npz").open("wb") as file:
        np.save(file, np.ones(3))
    with pytest.raises(DataError, match="single array"):
        read_npz(tmp_path / "a.npz")


def test_lengths_and_dimensions(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.ones((3, 2)), y=np.ones(4))
    with pytest.raises(DataError, match=r"differ in length: .*'y': 4"):
        read_npz(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", images=np.ones((3, 2, 2)))
    with pytest.raises(DataError, match="'images' has 3 dimensions"):
        read_npz(tmp_path / "a.npz")


@pytest.mark.parametrize("code", [0xD800, 0x110000, 0xFFFFFFFF])
def test_characters_that_unicode_does_not_know(tmp_path, code):
    words = np.array(["ab", "cd", "\U0010ffff"])
    np.savez(tmp_path / "a.npz", words=words)
    assert read_npz(tmp_path / "a.npz").n_rows == 3
    words.view(np.uint32)[0] = code
    np.savez(tmp_path / "a.npz", words=words)
    with pytest.raises(DataError, match=r"a\.npz: array 'words' has characters that Unicode"):
        read_npz(tmp_path / "a.npz")
