"""Tables in files: every format gives the same model, and every broken file an error that names it."""

import gzip
import os
import resource
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import countwise as cw
from countwise.data import readers
from countwise.errors import ColumnTypeError, DataError


def make_table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    word = rng.choice(["u", "v", "w"], n)
    number = rng.normal(size=n).round(3)
    label = np.where((word == "u") ^ (number > 0.3) ^ (rng.random(n) < 0.1), "yes", "no")
    return pa.table(
        {
            "word": pa.array([None if i % 31 == 0 else value for i, value in enumerate(word)]),
            "number": number,
            "zip": rng.choice(["01234", "04567", "10001"], n),
            "label": label,
        }
    )


TABLE = make_table()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fit(path, **options):
    return cw.NBClassifier().fit(cw.scan(path, **({"target": "label"} | options)))


def write_stream(table, path):
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=100)


def write_feather(table, path):
    pyarrow.feather.write_feather(table, path, chunksize=100)


def write_dictionaries(table, path):
    columns = {n: table.column(n).dictionary_encode() if n != "number" else table.column(n) for n in table.column_names}
    pq.write_table(pa.table(columns), path, row_group_size=70)


WRITERS = {
    "t.parquet": lambda table, path: pq.write_table(table, path, row_group_size=100),
    "t.pq": write_dictionaries,
    "t.csv": pyarrow.csv.write_csv,
    "t.csv.gz": lambda table, path: table.to_pandas().to_csv(path, index=False),
    "t.csv.bz2": lambda table, path: table.to_pandas().to_csv(path, index=False),
    "t.tsv": lambda table, path: table.to_pandas().to_csv(path, index=False, sep="\t"),
    "t.feather": write_feather,
    "t.arrow": write_stream,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_model(folder, name):
    WRITERS[name](TABLE, name)
    X, y = TABLE.drop_columns(["label"]), TABLE.column("label")
    expected = cw.NBClassifier().fit(X, y)
    for batch_rows in (None, 37):
        model = fit(name, batch_rows=batch_rows)
        assert model.codec_.same_as(expected.codec_)
        np.testing.assert_array_equal(model.class_counts_, expected.class_counts_)
        new = cw.scan(name, columns=model.feature_names_in_, batch_rows=batch_rows)
        np.testing.assert_allclose(model.predict_proba(new), expected.predict_proba(X), rtol=1e-12)
    assert max(batch.n_rows for batch in cw.scan(name, batch_rows=37).batches()) <= 37


def test_paths_globs_folders_and_lists(folder):
    (folder / "parts").mkdir()
    for i in range(3):
        pq.write_table(TABLE.slice(i * 200, 200), f"parts/p{i}.parquet")
    whole = [fit("parts"), fit("parts/*.parquet"), fit(folder / "parts"), fit("**/p?.parquet")]
    whole.append(fit(["parts/p0.parquet", folder / "parts" / "p1.parquet", "parts/p[2].parquet"]))
    for model in whole:
        assert model.class_counts_.sum() == 600
    assert fit("parts/p1.parquet").class_counts_.sum() == 200


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nope.csv", "no file matches nope.csv"),
        (["t.csv", "nope.csv"], "no file matches nope.csv"),
        ([], "empty list"),
        ("t.txt", "t.txt: unknown file type; known: .*.parquet"),
        (["t.csv", "t.parquet"], "several formats"),
        ("bare", r"folder bare holds no file of a known type.*bare/\*\*/\*.parquet"),
    ],
)
def test_wrong_paths(folder, path, message):
    (folder / "bare").mkdir()
    (folder / "t.txt").write_text("a")
    WRITERS["t.csv"](TABLE, "t.csv")
    WRITERS["t.parquet"](TABLE, "t.parquet")
    with pytest.raises(DataError, match=message):
        cw.scan(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "lable"}, "target column 'lable' is not in t.parquet; columns: .*'label'"),
        ({"weight": "w"}, "weight column 'w' is not in t.parquet"),
        ({"columns": ["nope"]}, r"\['nope'\] are not in t.parquet"),
        ({"columns": "word"}, r"columns must be a list of texts, got 'word'; write \['word'\]"),
        ({"columns": ["word", "label"]}, "columns names 'label', which is the target"),
        ({"columns": ["word", "word"]}, "duplicate column name.*'word'"),
        ({"columns": []}, "no column is left"),
        ({"weight": "label"}, "'label' cannot be both"),
        ({"batch_rows": 0}, "batch_rows must be at least 1, got 0"),
        ({"null_values": "NA"}, r"null_values must be a list of texts, got 'NA'"),
    ],
)
def test_wrong_options(folder, options, message):
    WRITERS["t.parquet"](TABLE, "t.parquet")
    with pytest.raises(DataError, match=message):
        cw.scan("t.parquet", **({"target": "label"} | options))


def test_weights(folder):
    weights = np.arange(600) % 3
    pq.write_table(TABLE.append_column("w", pa.array(weights)), "t.parquet")
    model = fit("t.parquet", weight="w")
    repeated = TABLE.take(np.repeat(np.arange(600), weights))
    expected = cw.NBClassifier().fit(repeated.drop_columns(["label"]), repeated.column("label"))
    np.testing.assert_allclose(model.class_counts_, expected.class_counts_)
    assert "w" not in model.feature_names_in_
    for column, message in (("number", "must not be negative"), ("zip", "'zip' should hold numbers")):
        with pytest.raises((DataError, ColumnTypeError), match=message):
            fit("t.parquet", weight=column)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.csv.gz", "t.csv.bz2", "t.arrow"])
@pytest.mark.parametrize("part", [0.0, 0.02, 0.5, 0.97])
def test_files_that_end_early_are_named(folder, name, part):
    WRITERS[name](make_table(20_000), name)
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[: int(len(data) * part)])
    with pytest.raises(DataError, match=name):
        fit(name)


def test_the_broken_one_of_several_files_is_named(folder):
    for name in ("a.parquet", "b.parquet"):
        WRITERS["t.parquet"](TABLE, name)
    data = bytearray((folder / "b.parquet").read_bytes())
    data[40:400] = bytes(360)
    (folder / "b.parquet").write_bytes(data)
    with pytest.raises(DataError, match=r"b\.parquet cannot be read to its end"):
        fit("*.parquet")


def test_foreign_files_are_named(folder):
    for name in ("t.parquet", "t.feather", "t.csv.gz"):
        (folder / name).write_bytes(b"hello world" * 20)
        with pytest.raises(DataError, match=f"{name} cannot be read as"):
            cw.scan(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.csv is empty"),
        ("a,label\n", "no rows"),
        ("a,b,label\n1,2,y\n1,2,3,n\n", "t.csv cannot be read as CSV.*Expected 3 columns, got 4"),
        ("a,a,label\n1,2,y\n1,3,n\n", "duplicate column name.*'a'"),
        ("a;label\n1;y\n2;n\n", "'label' is not in t.csv.*say delimiter=';'"),
        ("a,label\n1,y\n2,\n3,n\n", "target 'label' is missing .* in 1 row"),
        ("a,label\n1,y\n2,y\n", "only one class .'y'"),
    ],
)
def test_bad_csv(folder, text, message):
    (folder / "t.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        fit("t.csv")


def test_text_that_is_not_utf8_is_named(folder):
    (folder / "t.csv").write_bytes("a,label\né,y\nü,n\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"t.csv: column 'a' is not UTF-8 text.*iconv"):
        fit("t.csv")


def test_csv_options(folder):
    (folder / "t.csv").write_text("a;b;label\n1;?;y\n2;x;n\n3;?;n\n")
    model = fit("t.csv", delimiter=";", null_values=["?"], types={"a": "text"})
    assert [c.labels for c in model.codec_.columns] == [["1", "2", "3"], ["x", "(missing)"]]
    with pytest.raises(DataError, match=r"types=.*'a': 'float'"):
        fit("t.csv", types={"a": "float"})


def test_quotes_newlines_and_byte_order_mark(folder):
    (folder / "t.csv").write_text('\ufeffa,label\n"x\ny",y\n"z, ""q""",n\n', encoding="utf-8")
    assert fit("t.csv").codec_.columns[0].labels == ["x\ny", 'z, "q"']


def test_leading_zeros_stay(folder):
    (folder / "t.csv").write_text("zip,n,zero,label\n01234,10,0,y\n99999,20,0,n\n,30,0,n\n")
    model = fit("t.csv")
    assert [c.kind for c in model.codec_.columns] == ["category", "number", "number"]
    assert model.codec_.columns[0].labels == ["01234", "99999", "(missing)"]


def late_csv(last, n=400):
    """Whole numbers and gaps for many blocks, then one other row."""
    return "n,e,label\n" + "".join(f"{i % 7},,{'yn'[i % 2]}\n" for i in range(n)) + last


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(readers, "CSV_BLOCK", 256)


def test_later_rows_widen_what_the_first_ones_suggest(folder, small_blocks):
    (folder / "t.csv").write_text(late_csv("2.5,text,y\n"))
    for categorical in ("from_dtype", ["n"]):
        model = cw.KDBClassifier(k=1, categorical_features=categorical).fit(cw.scan("t.csv", "label"))
        assert model.class_counts_.sum() == 401
        assert model.codec_.columns[1].labels == ["text", "(missing)"]
    assert 2.5 in model.codec_.columns[0].categories.to_pylist()


def test_later_rows_that_contradict_are_named_with_the_ways_out(folder, small_blocks):
    (folder / "t.csv").write_text(late_csv("none,,y\n"))
    with pytest.raises(DataError, match=r"t.csv, row 402: column 'n' holds 'none', which is not a number") as failure:
        fit("t.csv")
    assert "types={'n': 'text'}" in str(failure.value)
    assert "null_values=['none']" in str(failure.value)
    assert "none" in fit("t.csv", types={"n": "text"}).codec_.columns[0].labels
    assert fit("t.csv", null_values=["none"]).codec_.columns[0].labels[-1] == "(missing)"


def test_prediction_reads_csv_as_the_model_knows_it(folder):
    days = ["2020-01-01", "2020-06-01", "2021-01-01", "2021-06-01"] * 20
    frame = pd.DataFrame(
        {"code": ["1", "2", "x", "1"] * 20, "n": [1, 2, 3, 4] * 20, "day": days, "label": list("ynyn") * 20}
    )
    frame.to_csv("t.csv", index=False)
    model = fit("t.csv")
    assert [c.kind for c in model.codec_.columns] == ["category", "number", "number"]
    frame[["code", "n", "day"]].query("code != 'x'").to_csv("new.csv", index=False)  # codes look like numbers now
    expected = model.predict_proba(cw.scan("t.csv", "label"))[frame["code"] != "x"]
    np.testing.assert_array_equal(model.predict_proba(cw.scan("new.csv")), expected)
    (folder / "bad.csv").write_text("code,n,day\n1,2,2020-01-01\n1,many,2020-01-01\n")
    with pytest.raises(DataError, match=r"bad.csv, row 3: column 'n' holds 'many'"):
        model.predict_proba(cw.scan("bad.csv"))


def test_prediction_columns(folder):
    WRITERS["t.parquet"](TABLE, "t.parquet")
    model = fit("t.parquet")
    with pytest.raises(DataError, match=r"\['label'\] that the model does not know.*columns=model.feature_names_in_"):
        model.predict_proba(cw.scan("t.parquet"))
    with pytest.raises(DataError, match=r"lacks column\(s\) \['zip'\]"):
        model.predict_proba(cw.scan("t.parquet", columns=["word", "number"]))
    with pytest.raises(DataError, match="another order"):
        model.predict_proba(cw.scan("t.parquet", columns=["zip", "word", "number"]))
    pq.write_table(TABLE.slice(0, 0), "none.parquet")
    assert model.predict_proba(cw.scan("none.parquet", "label")).shape == (0, 2)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_column_that_one_file_lacks_is_named(folder, suffix):
    write = pyarrow.csv.write_csv if suffix == "csv" else pq.write_table
    write(TABLE, f"a.{suffix}")
    write(TABLE.drop_columns(["zip"]), f"b.{suffix}")
    with pytest.raises(DataError, match=rf"\['zip'\] are not in b\.{suffix}"):
        fit(f"*.{suffix}")


def test_files_may_differ_in_how_they_store_a_column(folder):
    label = ["y", "n"]
    pq.write_table(pa.table({"n": [1, 2], "w": ["a", "b"], "e": pa.nulls(2), "label": label}), "a.parquet")
    word = pa.array(["b", "c"]).dictionary_encode()
    pq.write_table(pa.table({"n": [1.5, 2.5], "w": word, "e": [0.5, 1.5], "label": label}), "b.parquet")
    model = fit("*.parquet")
    assert [c.kind for c in model.codec_.columns] == ["number", "category", "number"]
    assert model.codec_.columns[1].labels == ["a", "b", "c"]
    pq.write_table(pa.table({"n": ["one", "two"], "w": word, "e": [0.5, 1.5], "label": label}), "b.parquet")
    with pytest.raises(ColumnTypeError, match="'n' should hold numbers"):
        fit("*.parquet")


# Streams


def test_streams_that_can_be_read_again():
    parts = [TABLE.slice(i, 200) for i in (0, 200, 400)]
    sources = [
        parts,
        TABLE,  # has __arrow_c_stream__
        lambda: TABLE.to_reader(max_chunksize=150),
        lambda: (part.to_pandas() for part in parts),
    ]
    expected = cw.KDBClassifier(k=1).fit(TABLE.drop_columns(["label"]), TABLE.column("label"))
    for source in sources:
        model = cw.KDBClassifier(k=1).fit(cw.StreamSource(source, target="label"))
        np.testing.assert_array_equal(model.class_counts_, expected.class_counts_)
        assert model.codec_.same_as(expected.codec_)


def test_streams_that_can_be_read_only_once_are_refused():
    for once in (iter([TABLE]), TABLE.to_reader()):
        with pytest.raises(DataError, match="only once"):
            cw.StreamSource(once, target="label")
    for once in (TABLE.to_reader(), iter([TABLE, TABLE])):
        with pytest.raises(DataError, match="only once"):
            cw.KDBClassifier().fit(cw.StreamSource(lambda once=once: once, target="label"))


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        ([], "no batch"),
        ([TABLE.drop_columns(["label"])], "target column 'label' is not in the stream"),
        ([TABLE, TABLE.drop_columns(["zip"])], r"lacks column\(s\) \['zip'\]"),
    ],
)
def test_bad_streams(batches, message):
    with pytest.raises(DataError, match=message):
        cw.NBClassifier().fit(cw.StreamSource(batches, target="label"))


MEASURE = """
import resource, sys
import countwise as cw
cw.KDBClassifier, cw.scan
import pyarrow.compute, pyarrow.parquet
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
cw.KDBClassifier(k=2).fit(cw.scan(sys.argv[1], target="label"))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.skipif(not hasattr(resource, "getrusage"), reason="no getrusage")
def test_memory_does_not_grow_with_the_file(tmp_path):
    rng = np.random.default_rng(0)
    n_rows, path = 250_000, tmp_path / "big.parquet"
    y = rng.integers(0, 3, n_rows).astype(np.int32)
    words = {
        f"c{i}": pa.DictionaryArray.from_arrays(
            ((rng.integers(0, 8, n_rows) + y) % 8).astype(np.int32), list("abcdefgh")
        )
        for i in range(12)
    }
    table = pa.table(words | {"label": pa.DictionaryArray.from_arrays(y, ["x", "y", "z"])})
    with pq.ParquetWriter(path, table.schema) as writer:
        for _ in range(6):
            writer.write_table(table)
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run([sys.executable, "-c", MEASURE, path], env=env, capture_output=True, text=True, check=True)
    assert int(run.stdout) < 250  # megabytes; in memory the table would take 6 * 12 MB and its strings far more


def test_gzip_is_read_as_it_grows(folder):
    """Two gzip members in one file, as log rotation makes them."""
    head, rest = b"a,label\n1,y\n", b"2,n\n3,n\n"
    (folder / "t.csv.gz").write_bytes(gzip.compress(head) + gzip.compress(rest))
    assert fit("t.csv.gz").class_counts_.tolist() == [2.0, 1.0]
