"""read: the format is known by suffix or by content."""

import numpy as np
import pandas as pd
import pytest

from verulam.data import Dataset, dataset, read


@pytest.fixture
def files(tmp_path):
    frame = pd.DataFrame({"x1": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]})
    Dataset.from_frame(frame).to_parquet(tmp_path / "table.parquet")
    frame.to_csv(tmp_path / "table.csv", index=False)
    np.savez(tmp_path / "table.npz", x1=frame["x1"], y=np.array(["a", "b", "a"]))
    text = "% c\n@relation r\n@attribute x1 real\n@attribute y {a,b}\n@data\n1,a\n2,b\n3,a\n"
    (tmp_path / "table.arff").write_text(text)
    return tmp_path


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz", "arff"])
@pytest.mark.parametrize("known_suffix", [True, False])
def test_formats(files, suffix, known_suffix):
    path = files / f"table.{suffix}"
    if not known_suffix:
        path = path.rename(files / "unknown")
    data = read(path, target="y")
    assert data.inputs["x1"].tolist() == [1, 2, 3]
    assert data.classes == ["a", "b"]
    assert data.task == "classification"


def test_frame():
    frame = dataset("iris").table
    assert read(frame, target="species").content_hash == dataset("iris").content_hash
