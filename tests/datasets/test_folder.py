import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from countwise.datasets import UnknownDatasetError, load_balance_scale, load_folder
from countwise.errors import DataError


@pytest.fixture
def path(tmp_path):
    pq.write_table(load_balance_scale().to_arrow(), tmp_path / "scale.parquet")
    labels = pa.array(["yes", "no", "yes"]).dictionary_encode()
    pq.write_table(pa.table({"class": labels, "a": [1, None, 3]}), tmp_path / "car.parquet")
    pq.write_table(pa.table({"a": [1, 2], "label": [7, 8]}), tmp_path / "other.parquet")
    (tmp_path / "manifest.csv").write_text('name,rows,source,notes\ncar,3,"a shop, far away",tiny\nscale,625,UCI,\n')
    (tmp_path / "README.md").write_text("not a data set")
    return tmp_path


def test_it_is_a_sorted_mapping(path):
    folder = load_folder(str(path))
    assert folder.names == list(folder) == ["car", "other", "scale"]
    assert len(folder) == 3
    assert "car" in folder
    assert "manifest" not in folder
    assert folder.get("nothing") is None
    assert repr(folder).endswith("3 data sets)")


def test_a_data_set_comes_back_as_it_was_written(path):
    original, read = load_balance_scale(), load_folder(path)["scale"]
    assert read.name == "scale"
    assert read.X.equals(original.X)
    assert np.array_equal(read.y, original.y)
    assert read.description == "UCI"


def test_class_column_anywhere_with_nulls_and_dictionaries(path):
    car = load_folder(path)["car"]
    assert car.y.tolist() == ["yes", "no", "yes"]
    assert car.attributes == ["a"]
    assert car.X["a"].null_count == 1
    assert car.description == "a shop, far away; tiny"


def test_another_target_and_numeric_labels(path):
    other = load_folder(path, target="label")["other"]
    assert other.y.tolist() == ["7", "8"]
    assert other.target == "label"


def test_manifest_is_a_table_or_none(path):
    assert load_folder(path).manifest.num_rows == 2
    (path / "manifest.csv").unlink()
    assert load_folder(path).manifest is None
    assert load_folder(path)["car"].description == ""


def test_a_manifest_without_names_or_with_ragged_rows(path):
    (path / "manifest.csv").write_text("set,rows\ncar,3\n")
    assert load_folder(path)["car"].description == ""
    (path / "manifest.csv").write_text("name,rows\ncar,3,4,5\n")
    with pytest.raises(DataError, match=r"manifest\.csv.*not a readable CSV"):
        load_folder(path)["car"]


def test_a_missing_or_empty_folder(path):
    with pytest.raises(DataError, match=r"no folder .*nowhere"):
        load_folder(path / "nowhere")
    with pytest.raises(DataError, match="no folder"):
        load_folder(path / "car.parquet")
    (path / "empty").mkdir()
    with pytest.raises(DataError, match="no Parquet file"):
        load_folder(path / "empty")


def test_an_unknown_name_suggests_the_nearest(path):
    with pytest.raises(UnknownDatasetError, match=r"^no data set 'scales' .*did you mean 'scale'\?") as caught:
        load_folder(path)["scales"]
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, DataError)
    with pytest.raises(KeyError, match="Known: car, other, scale"):
        load_folder(path)["zzzzzzzzz"]


def test_a_file_without_the_class_column(path):
    with pytest.raises(DataError, match=r"other\.parquet.*no class column 'class'.*a, label"):
        load_folder(path)["other"]


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b"PAR1" + b[4:-40] + b[-36:]])
def test_a_damaged_file(path, damage):
    file = path / "scale.parquet"
    file.write_bytes(damage(file.read_bytes()))
    folder = load_folder(path)
    with pytest.raises(DataError, match=r"scale\.parquet.*damaged or not Parquet"):
        folder["scale"]
    assert folder["car"].n_rows == 3  # the others stay readable


def test_a_missing_class_value(path):
    pq.write_table(pa.table({"a": [1, 2], "class": ["x", None]}), path / "hole.parquet")
    with pytest.raises(DataError, match=r"hole\.parquet.*missing in 1 row"):
        load_folder(path)["hole"]


def test_manifest_agrees_with_the_real_files(real_data):
    """Rows, attributes and classes of every small set are those that its manifest states."""
    facts = {row["name"]: row for row in real_data.manifest.to_pylist()}
    assert set(facts) == set(real_data)
    small = [name for name in real_data if facts[name]["rows"] < 3000]
    assert len(small) > 50
    for name in small:
        dataset = real_data[name]
        found = (dataset.n_rows, len(dataset.attributes), len(dataset.class_counts()))
        assert found == tuple(facts[name][key] for key in ("rows", "attributes", "classes"))
        assert facts[name]["source"] in dataset.description


def test_a_selection_keeps_its_order_and_refuses_strangers(path):
    folder = load_folder(path)
    part = folder.select(["scale", "car"])
    assert part.names == list(part) == ["scale", "car"]
    assert part["car"].n_rows == 3
    assert part.n_rows("scale") == 625
    with pytest.raises(UnknownDatasetError, match="nothing"):
        folder.select(["nothing"])


def test_the_manifest_says_which_paper_lists_which_set(path):
    (path / "manifest.csv").write_text("name,seed_tables\ncar,one;two\nscale,two\nother,\n")
    folder = load_folder(path)
    assert folder.tables == ["one", "two"]
    assert folder.listed_in("two") == ["car", "scale"]
    with pytest.raises(DataError, match="no set of table 'three'; the manifest names one, two"):
        folder.listed_in("three")
    (path / "manifest.csv").unlink()
    assert load_folder(path).tables == []
