"""read_csv: layouts, missing markers, and errors that name the file and the line."""

import gzip
import time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError
from verulam.data import read_csv, stream
from verulam.data._readers import csv as csv_reader


@pytest.fixture
def write(tmp_path):
    def writer(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return writer


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
def test_delimiters_are_found(write, delimiter):
    rows = [["a", "b", "c"], ["1", "2.5", "x"], ["3", "4.5", "y"]]
    data = read_csv(write("\n".join(delimiter.join(row) for row in rows)))
    assert list(data.table.columns) == ["a", "b", "c"]
    assert_array_equal(data.table["a"], [1, 3])
    assert_allclose(data.table["b"], [2.5, 4.5])


def test_runs_of_spaces_are_one_delimiter(write):
    data = read_csv(write("  a   b\n 1.0  2.0\n10.0 20.0 \n"))
    assert_allclose(data.table.to_numpy(), [[1, 2], [10, 20]])


def test_a_column_of_texts_is_one_column(write):
    data = read_csv(write("title\nto be or not\nthat is\nthe question here\n"))
    assert list(data.table.columns) == ["title"]
    assert data.n_rows == 3


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252", "latin-1"]
)
def test_encodings_are_found(write, encoding):
    data = read_csv(write("name,size\nZoë,1\nÉmile,2\nZoë,3\n".encode(encoding)))
    assert list(data.table.columns) == ["name", "size"]
    assert data.table["name"].tolist() == ["Zoë", "Émile", "Zoë"]


def test_an_odd_byte_far_from_the_start_is_still_decoded(write):
    content = b"name,size\n" + b"plain,1\n" * 20_000 + "café,2\n".encode("cp1252")
    assert read_csv(write(content)).table["name"].iloc[-1] == "café"


def test_bytes_outside_of_windows_1252_fall_back_to_latin_1(write):
    assert read_csv(write(b"name,size\n\x81\xe9,1\nb,2\n")).table["name"][0] == "\x81é"


def test_undecodable_bytes_with_a_given_encoding(write):
    path = write(b"name,size\ncaf\xe9,1\n")
    with pytest.raises(
        DataError, match=r"table\.csv, line 2: cannot be decoded .*0xe9.*its encoding"
    ):
        read_csv(path, encoding="utf-8")
    path = write(b"name,size\n" + b"plain,1\n" * 20_000 + b"caf\xe9,1\n")
    with pytest.raises(
        DataError, match=r"table\.csv, line 20002: cannot be decoded .*0xe9.*its encoding"
    ):
        read_csv(path, encoding="utf-8")


def test_unknown_encoding(write):
    with pytest.raises(ValueError, match="encoding='klingon'"):
        read_csv(write("a,b\n1,2\n"), encoding="klingon")


def test_binary_content(write):
    with pytest.raises(DataError, match="zero bytes"):
        read_csv(write(b"\x89PNG\r\n\x00\x00\x01\x02"))


def test_quotes_hold_delimiters_newlines_and_quotes(write):
    data = read_csv(write('name,size\n"a, b",1\n"two\nlines",2\n"say ""hi""",3\n'))
    assert data.table["name"].tolist() == ["a, b", "two\nlines", 'say "hi"']


def test_decimal_comma(write):
    data = read_csv(write("size;price\n1,5;10,25\n-2,5;1e3\n"))
    assert_allclose(data.table.to_numpy(), [[1.5, 10.25], [-2.5, 1000]])


@pytest.mark.parametrize("marker", ["?", "NA", "N/A", "-", "", "null", "NaN", "None", "."])
def test_missing_markers(write, marker):
    data = read_csv(write(f"a, b\n1, x\n{marker}, {marker}\n3, y\n"))
    assert data.missing == {"a": 1, "b": 1}
    assert data.kinds == {"a": "numeric", "b": "categorical"}


@pytest.mark.parametrize("word", ["none", "missing"])
def test_words_for_nothing_are_values_among_words_and_gaps_among_numbers(write, word):
    path = write(f"size,when,fault,code\n1,2020-01-02,{word},01067\n{word},{word},rust,{word}\n")
    data = read_csv(path, target="fault")
    assert data.missing == {"size": 1, "when": 1, "code": 1}
    assert data.target_values.tolist() == [word, "rust"]
    assert data.table["code"].iloc[0] == "01067"
    (inputs, target), *_ = stream(path, target="fault")
    assert target.tolist() == [word, "rust"]
    assert inputs["size"].isna().tolist() == [False, True]


def test_words_for_nothing_are_gaps_among_infinite_numbers_and_truth_values(write):
    data = read_csv(write("size,sold\n1,true\ninf,none\nnone,False\n2.5,true\n"))
    assert data.table["size"].tolist()[:2] == [1.0, np.inf]
    assert data.missing == {"size": 1, "sold": 1}


def test_a_rare_word_far_down_leaves_none_a_value(write):
    data = read_csv(write("a,y\n" + "1,none\n" * 30_000 + "2,fraud\n"), target="y")
    assert data.missing == {}
    assert data.target_values.value_counts().to_dict() == {"none": 30_000, "fraud": 1}


def test_own_missing_markers_take_the_place_of_the_usual_ones(write):
    data = read_csv(write("a,b\n-99,?\n1,x\n"), missing_values=["-99"])
    assert data.missing == {"a": 1}
    assert data.table["b"].tolist() == ["?", "x"]


def test_no_header(write):
    data = read_csv(write("5.1,setosa\n4.9,setosa\n7.0,versicolor\n"))
    assert list(data.table.columns) == ["column_1", "column_2"]
    assert data.n_rows == 3


def test_header_can_be_said(write):
    path = write("1,2\n3,4\n")
    assert read_csv(path, header=True).n_rows == 1
    assert read_csv(path, header=False).n_rows == 2


def test_gzip(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n3,4\n"))
    data = read_csv(path)
    assert (data.name, data.n_rows) == ("table", 2)


def test_damaged_gzip(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 10_000)[:-20])
    with pytest.raises(DataError, match=r"table\.csv\.gz: cannot be read"):
        read_csv(path)
    path.write_bytes(b"not gzip")
    with pytest.raises(DataError, match=r"table\.csv\.gz: cannot be read"):
        read_csv(path)


@pytest.mark.parametrize(
    ("content", "line", "n_fields"),
    [
        ("a,b,c\n1,2,3\n4,5\n", 3, 2),
        ("a,b,c\n1,2,3\n4,5,6,7\n", 3, 4),
        ("a,b,c\n1,2,3,4\n5,6,7,8\n", 2, 4),
        ('a,b,c\n"x\ny",2,3\n\n4,5\n', 5, 2),
        ("a b\n1 2\n3\n4 5\n6 7\n8 9\n1 2\n3 4\n5 6\n7 8\n9 1\n2 3\n", 3, 1),
    ],
)
def test_ragged_line_is_named(write, content, line, n_fields):
    expected = content.split("\n")[0].replace(",", " ").count(" ") + 1
    message = rf"table\.csv, line {line}: expected {expected} fields, found {n_fields}\."
    with pytest.raises(DataError, match=message):
        read_csv(write(content))


def test_ragged_line_far_from_the_start(write):
    content = "a,b\n" + "1,2\n" * 50_000 + "3\n" + "4,5\n" * 10
    with pytest.raises(DataError, match=r"line 50002: expected 2 fields, found 1"):
        read_csv(write(content))


def test_unclosed_quote(write):
    with pytest.raises(DataError, match=r"line 3: .*quote"):
        read_csv(write('a,b\n1,x\n2,"y\n3,z\n4,w\n'))
    with pytest.raises(DataError, match=r"line 3: expected 2 fields, found 1.*quote"):
        read_csv(write('a,b\n1,x\n"2,y\n3,z\n4,w\n'))


def test_a_field_too_long_for_any_table(write):
    with pytest.raises(DataError, match=r"line 3: .*quote left open"):
        read_csv(write('a,b\n1,2\n"' + "x\n" * 100_000))


def test_delimiter_of_two_characters(write):
    with pytest.raises(ValueError, match="delimiter=',,'; expected one character"):
        read_csv(write("a,,b\n1,,2\n"), delimiter=",,")


def test_huge_field(write):
    text = "z" * 3_000_000
    data = read_csv(write(f"a,b\n1,{text}\n2,y\n"))
    assert data.table["b"][0] == text


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "the file is empty"),
        ("\n \n", "nothing but white space"),
        ("a,b,c\n", "a header and no rows: a, b, c"),
        ("a,b,a\n1,2,3\n", "Duplicate column names: a. Each must be unique"),
    ],
)
def test_files_without_a_table(write, content, problem):
    with pytest.raises(DataError, match=rf"table\.csv.*{problem}"):
        read_csv(write(content), header=True)


def test_repeated_names_are_no_row_of_data(write):
    with pytest.raises(DataError, match=r"line 1: Duplicate column names: a"):
        read_csv(write("a,a\n1,2\n"))


def test_one_row(write):
    data = read_csv(write("size,colour\n1.5,red\n"))
    assert data.n_rows == 1
    assert data.kinds == {"size": "numeric", "colour": "categorical"}


def test_unnamed_columns_get_a_name(write):
    assert list(read_csv(write(",b\nx,1\ny,2\nz,3\n")).table.columns) == ["column_1", "b"]


def test_numbers_are_read_exactly(write):
    values = np.random.default_rng(0).normal(size=500) * 10.0 ** np.arange(-250, 250)
    path = write("a\n" + "\n".join(repr(float(value)) for value in values))
    assert_array_equal(read_csv(path).table["a"], values)


def test_iso_dates_become_dates(write):
    data = read_csv(write("day,size\n2024-02-29,1\n2024-03-01,2\n"))
    assert data.kinds["day"] == "date"
    assert data.table["day"][0] == pd.Timestamp("2024-02-29")


def test_target_and_options_are_passed_on(write):
    data = read_csv(write("code,kind\n1,a\n2,b\n"), target="kind", categorical=["code"], name="n")
    assert (data.task, data.kinds["code"], data.name) == ("classification", "categorical", "n")


@pytest.mark.slow
def test_a_hundred_megabytes_take_seconds(tmp_path):
    path = tmp_path / "large.csv"
    block = pd.DataFrame(np.random.default_rng(0).normal(size=(50_000, 10))).to_csv(index=False)
    header, _, body = block.partition("\n")
    with path.open("w") as file:
        file.write(header.replace("0", "x0", 1) + "\n")
        for _ in range(11):
            file.write(body)
    assert path.stat().st_size > 1e8
    start = time.perf_counter()
    assert read_csv(path, header=True).n_rows == 550_000
    assert time.perf_counter() - start < 30


def test_zeros_in_front_are_kept(write):
    data = read_csv(write("place,size\n01067,1\n80331,2\n01067,3\n80331,4\n"))
    assert data.kinds["place"] == "categorical"
    assert data.table["place"].tolist() == ["01067", "80331", "01067", "80331"]


def test_a_header_of_ten_thousand_columns(write):
    names = [f"measurement_{number}" for number in range(10_000)]
    row = ",".join(f"{number % 7}.5" for number in range(10_000))
    path = write("\n".join([",".join(names), row, row, row]) + "\n")
    assert path.read_text().index("\n") > 2**17
    data = read_csv(path)
    assert data.table.columns.tolist() == names
    assert data.n_rows == 3
    assert_allclose(data.table["measurement_9999"], 9999 % 7 + 0.5)


def test_one_wide_line_without_a_line_end(write):
    path = write(",".join("1234567890.25" for _ in range(5_000)))
    assert read_csv(path).table.shape == (1, 5_000)
    assert [chunk.shape for chunk in stream(path)] == [(1, 5_000)]


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_excels_first_line_names_the_delimiter(write, first, encoding):
    path = write(f"{first}\r\nname;size, in m\r\nZo\u00eb;1,5\r\nb;2,5\r\n".encode(encoding))
    data = read_csv(path)
    assert data.table.columns.tolist() == ["name", "size, in m"]
    assert_allclose(data.table["size, in m"], [1.5, 2.5])
    assert [len(chunk) for chunk in stream(path, chunk_rows=1)] == [1, 1]


def test_lines_are_counted_with_excels_first_one(write):
    with pytest.raises(DataError, match=r"line 4: expected 2 fields, found 3"):
        read_csv(write("sep=|\na|b\n1|2\n1|2|3\n"))
    with pytest.raises(DataError, match=r"line 2: Duplicate column names: a"):
        read_csv(write("sep=|\na|a\n1|2\n"))
    with pytest.raises(DataError, match=r"line 3: a quote is opened here"):
        read_csv(write('sep=|\na|b\n1|"2\n'))


def test_a_given_delimiter_beats_excels_first_line(write):
    assert read_csv(write("sep=;\na,b\n1,2\n"), delimiter=",").table.columns.tolist() == ["a", "b"]


LONG = "90071992547409931234"


@pytest.mark.parametrize("n_short", [0, 20_000])
@pytest.mark.parametrize("long", [LONG, LONG[:17], "9007199254740993"])
def test_codes_of_more_digits_than_a_float_holds_stay_text(write, long, n_short):
    codes = [*(str(number) for number in range(10_000, 10_000 + n_short)), long, "123", long + "1"]
    path = write("id,size\n" + "".join(f"{code},1.5\n" for code in codes))
    data = read_csv(path)
    assert data.table["id"].tolist() == codes
    chunks = list(stream(path, chunk_rows=15_000))
    assert [code for chunk in chunks for code in chunk["id"]] == codes


def test_codes_with_gaps_stay_text(write):
    data = read_csv(write(f"id,size\n{LONG},1\n,2\n{LONG}1,3\n"))
    assert data.table["id"].dropna().tolist() == [LONG, LONG + "1"]


def test_large_numbers_stay_numbers(write):
    path = write("a,b,c\n1e20,9007199254740992,1\n2.5e20,-9007199254740991,2\n")
    data = read_csv(path)
    assert set(data.kinds.values()) == {"numeric"}
    assert_allclose(data.table["a"], [1e20, 2.5e20])
    (chunk,) = stream(path)
    assert set(chunk.dtypes.map(lambda dtype: dtype.kind)) <= set("if")


def notes(path, **options):
    return read_csv(path, **options).summary()["note"].to_dict()


def test_a_number_beyond_floats_is_told(write):
    path = write("a,b\n1e400,inf\n2,3\n")
    assert notes(path) == {
        "a": "1 infinite, 1e400 is too large for a number: read as infinite",
        "b": "1 infinite",
    }


def test_lost_zeros_are_told(write):
    path = write("id,size,code\n007,0.5,01\n12,00.5,02\n0345,1,13\n")
    assert notes(path) == {
        "id": "numbers that were written with zeros in front, such as 007",
        "size": "",
        "code": "codes of digits",
    }


def test_missing_marks_among_words_are_told(write):
    path = write("country,born,size\nNA,None,NA\nDE,Python,1\nNA,Java,2\nFR,Java,3\n")
    assert notes(path) == {
        "country": "'NA' among words: read as missing, or as missing_values says",
        "born": "'None' among words: read as missing, or as missing_values says",
        "size": "",
    }
    assert notes(path, missing_values=["?"])["country"] == ""


def test_spaces_around_values_are_told(write):
    path = write('colour,kind,size\n"red ",a,1\nred,a,2\nblue,"b\t",3\nblue,"b\t",4\n')
    assert notes(path) == {
        "colour": "'red ' and 'red' differ by spaces alone",
        "kind": "spaces around values, such as 'b\\t'",
        "size": "",
    }


def test_hints_stay_with_the_data(write, tmp_path):
    data = read_csv(write("id,size\n007,1.5\n12,2.5\n"))
    assert data.with_target("size").hints == data.hints
    assert data.with_table(data.table.head(1)).summary().loc["id", "note"].endswith("007")


PLAIN = [
    "a,b,c\n1,2.5,red\n2,,blue\n3,1e-30,red\n",
    "a;b\n1,5;2\n2,5;3\n",
    "a,b\n1,NA\n?,x\n3,none\n",
    "a,b\n 1, x\n2 , y \n",
    "code,b\n007,1\n012,2\n",
    "a,b\n12345678901234567890,1\n2,3\n",
    "a,b\n\n1,2\n\n3,4\n",
    "a,b\r\n1,2\r\n3,4\r\n",
    "a,b\nTrue,2\nFalse,4\n",
    "1,2\n3,4\n5,6\n",
    "naïve,b\né,2\nü,4\n",
    "a\tb\n1\tx y\n2\tz\n",
]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_files_are_read_alike_in_one_pass(tmp_path, text, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode())
    quick = read_csv(path)
    monkeypatch.setattr(csv_reader, "plain_content", lambda *_: None)
    slow = read_csv(path)
    pd.testing.assert_frame_equal(quick.table, slow.table)
    assert quick.hints == slow.hints
    assert quick.content_hash == slow.content_hash


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2,3\n4\n",  # as many delimiters as there should be
        "a,b\n1\n2,3,4\n",
        'a,b\n"1",2\n',
        "a b\n1 2\n",
    ],
)
def test_what_is_not_plain_is_left_to_the_careful_way(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text(text)
    layout = csv_reader.csv_layout(path)
    content = csv_reader.plain_content(path, layout)
    assert content is None or csv_reader.plain_frame(content, layout) is None
    assert content is None or csv_reader.quick_frame(content, layout) is None


def test_columns_of_several_types_are_left_to_the_careful_way(tmp_path):
    path = tmp_path / "table.csv"
    rows = [f"{number},{number}" for number in range(300_000)]
    path.write_text("\n".join(["a,b", *rows, "word,1"]) + "\n")
    layout = csv_reader.csv_layout(path)
    quick = csv_reader.plain_frame(path.read_bytes(), layout)
    assert quick is None or pd.api.types.is_string_dtype(quick["a"])
    assert read_csv(path).table["a"].iloc[-2:].tolist() == ["299999", "word"]


def test_wide_tables_keep_their_types(tmp_path):
    path = tmp_path / "wide.csv"
    frame = pd.DataFrame({f"c{k}": [k, k + 1] if k % 2 else [k / 2, 1.5] for k in range(300)})
    frame.to_csv(path, index=False)
    pd.testing.assert_frame_equal(read_csv(path).table, frame)


@pytest.mark.parametrize("late", ["none", "missing", "NA", "?"])
def test_markers_that_are_words_are_missing_among_numbers_though_another_column_has_words(
    tmp_path, late
):
    path = tmp_path / "table.csv"
    rows = [f"{number},{'none' if number % 3 else 'rash'}" for number in range(5000)]
    path.write_text("\n".join(["a,illness", *rows, f"{late},rash"]) + "\n")
    table = read_csv(path).table
    assert pd.api.types.is_float_dtype(table["a"])
    assert table["a"].isna().tolist() == [False] * 5000 + [True]
    assert set(table["illness"]) == {"none", "rash"}


def test_a_character_cut_by_the_end_of_a_block_is_still_decoded(tmp_path):
    """The first byte of a character ends one block, and plain letters begin the next."""
    path = tmp_path / "table.csv"
    head = b"a,b\n" + b"1,x\n" * 2**18
    path.write_bytes(head[: 2**20 - 1] + b"\xc3" + b"\n1,y\n")
    assert csv_reader.csv_layout(path).encoding == "cp1252"


@pytest.mark.parametrize("number", ["9007199254740993", "-9007199254740993", "1e300"])
def test_large_numbers_are_found_beside_missing_ones(tmp_path, number):
    frame = pd.DataFrame({"a": [1.0, np.nan, float(number)], "b": [1.0, 2.0, 3.0]})
    assert csv_reader._large_columns(frame) == (["a"] if abs(float(number)) > 2**53 else [])
