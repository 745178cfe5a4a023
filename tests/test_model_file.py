"""The container: what goes in comes out, and whatever is wrong with a file is a ModelFileError."""

import json
import os
import struct
import zlib

import numpy as np
import pytest

from countwise import model_file
from countwise.errors import ModelFileError
from countwise.model_file import MAGIC, PREFIX, read_model_file, write_model_file

HEADER = {"model": "X", "note": "äöü"}
ARRAYS = {
    "counts": np.arange(7, dtype=np.float64),
    "ids": np.array([[1, -2], [3, 4]], np.int32),
    "flags": np.array([True, False]),
    "none": np.zeros(0, np.int64),
    "codes": np.arange(300, dtype=np.uint16),
    "ascending": np.array([-1, 0, 0, 2, 700], np.int32),
    "one": np.array([-5], np.int64),
    "far": np.array([-(2**31), 2**31 - 1], np.int32),
    "large": np.array([0, 2**40, 3], np.int64),
    "falling": np.array([300, 2, 1], np.int32),
    "whole": np.array([[0.0, 3.0], [65_536.0, 1.0]]),
    "zeros": np.array([-0.0, 0.0]),
    "parts": np.array([0.5, 1.0]),
    "odd": np.array([np.nan, np.inf, 1.0]),
    "huge": np.array([2.0**32, 1.0]),
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.cw"
    write_model_file(path, HEADER, ARRAYS)
    return path


def crafted(path, header, blobs=b"", magic=MAGIC):
    """A file with a header of our own and a checksum that is right."""
    text = header if isinstance(header, bytes) else zlib.compress(json.dumps(header).encode())
    path.write_bytes(magic + PREFIX.pack(len(text), zlib.crc32(text)) + text + blobs)
    return path


def entry(array, **changes):
    raw = array.tobytes()
    blob = zlib.compress(raw)
    facts = {
        "name": "a",
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "bytes": len(blob),
        "crc32": zlib.crc32(raw),
    }
    return facts | changes, blob


def test_round_trip(path):
    header, arrays = read_model_file(path)
    assert header == {"format": 2} | HEADER
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()  # the sign of a zero too
        assert arrays[name].flags.writeable


def test_the_layout_is_as_documented(path):
    data = path.read_bytes()
    assert data.startswith(b"countws\n")
    length, checksum = struct.unpack_from("<QI", data, 8)
    text = data[20 : 20 + length]
    assert zlib.crc32(text) == checksum
    directory = json.loads(zlib.decompress(text))["arrays"]
    first = directory[0]
    assert (first["dtype"], first["stored"]) == ("<f8", "|u1")
    blob = data[20 + length : 20 + length + first["bytes"]]
    np.testing.assert_array_equal(np.frombuffer(zlib.decompress(blob), "|u1"), ARRAYS["counts"])


def test_numbers_are_stored_as_narrow_as_they_are(path):
    data = path.read_bytes()
    length, _ = struct.unpack_from("<QI", data, 8)
    directory = {entry["name"]: entry for entry in json.loads(zlib.decompress(data[20 : 20 + length]))["arrays"]}
    stored = {name: entry.get("stored") for name, entry in directory.items() if "stored" in entry}
    assert stored == {
        "counts": "|u1",
        "ascending": "<u2",
        "one": "|u1",
        "falling": "<u2",
        "whole": "<u4",
    }
    starts = {name: entry["start"] for name, entry in directory.items() if "start" in entry}
    assert starts == {"ascending": -1, "one": -5, "far": -(2**31)}


def test_plain_headers_of_format_1_are_read(path):
    facts, blob = entry(np.arange(4))
    header, arrays = read_model_file(crafted(path, json.dumps({"format": 1, "arrays": [facts]}).encode(), blob))
    assert header == {"format": 1}
    assert arrays["a"].tolist() == [0, 1, 2, 3]


def test_big_endian_arrays_are_stored_little_endian(path):
    write_model_file(path, {}, {"a": np.array([1, 2], ">i4")})
    assert read_model_file(path)[1]["a"].tolist() == [1, 2]


def test_a_file_cut_anywhere_is_refused(path):
    data = path.read_bytes()
    for length in [*range(0, 60), *range(60, len(data), 7), len(data) - 1]:
        path.write_bytes(data[:length])
        with pytest.raises(ModelFileError, match=r"model.cw"):
            read_model_file(path)


def test_a_flipped_bit_anywhere_is_found_or_means_nothing(path):
    """A compressed array ends in up to 7 bits that have no meaning."""
    data = path.read_bytes()
    harmless = 0
    for position in range(len(data)):
        for bit in (1, 128):
            changed = bytearray(data)
            changed[position] ^= bit
            path.write_bytes(changed)
            try:
                header, arrays = read_model_file(path)
            except ModelFileError:
                continue
            harmless += 1
            assert header == {"format": 2} | HEADER
            for name, array in ARRAYS.items():
                np.testing.assert_array_equal(arrays[name], array)
    assert harmless <= len(ARRAYS) * 2


def test_bytes_too_many_are_refused(path):
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(ModelFileError, match="1 bytes too many"):
        read_model_file(path)


def test_foreign_files_are_refused(path):
    for data in (b"", b"PK\x03\x04", b"hello", b"\x80\x04\x95pickle"):
        path.write_bytes(data)
        with pytest.raises(ModelFileError, match="is not a countwise model file"):
            read_model_file(path)


def test_newer_formats_ask_for_an_upgrade(path):
    crafted(path, {"format": 3, "arrays": []})
    with pytest.raises(ModelFileError, match="format 3, this countwise reads up to 2; upgrade countwise"):
        read_model_file(path)


GOOD, BLOB = entry(np.arange(4))


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"not json",
        b"\xff\xfe",
        b"[" * 100_000,
        zlib.compress(b"[" * 100_000),
        zlib.compress(b"{}") + b"x",
        zlib.compress(b"{}")[:-1],
        [],
        None,
        3,
        {},
        {"format": "one", "arrays": []},
        {"format": None, "arrays": []},
        {"format": 1},
        {"format": 1, "arrays": {}},
        {"format": 1, "arrays": [3]},
        {"format": 1, "arrays": [{}]},
        *(
            {"format": 1, "arrays": [GOOD | change]}
            for change in (
                {"dtype": "|O"},
                {"dtype": "<U9"},
                {"dtype": ["<i8"]},
                {"shape": [-4]},
                {"shape": [5]},
                {"shape": [3]},
                {"shape": [2**62, 2**62]},
                {"shape": "4"},
                {"bytes": -1},
                {"bytes": 10**12},
                {"bytes": "9"},
                {"crc32": 0},
                {"name": 3},
                {"stored": "<f8"},
                {"stored": "|u1"},
                {"stored": ["|u1"]},
                {"start": "0"},
                {"start": 0.5},
                {"start": 2**63},
            )
        ),
    ],
    ids=lambda header: repr(header)[:50],
)
def test_crafted_headers_are_refused(path, header):
    crafted(path, header, BLOB)
    with pytest.raises(ModelFileError, match=r"model.cw"):
        read_model_file(path)


def test_a_blob_is_never_unpacked_beyond_its_size(path, monkeypatch):
    bomb = zlib.compress(bytes(50_000_000))
    facts = GOOD | {"bytes": len(bomb)}
    crafted(path, {"format": 1, "arrays": [facts]}, bomb)
    sizes = []
    real = zlib.decompressobj

    class Watched:
        def __init__(self):
            self.inner = real()

        def decompress(self, data, limit):
            out = self.inner.decompress(data, limit)
            sizes.append(len(out))
            return out

        def __getattr__(self, name):
            return getattr(self.inner, name)

    monkeypatch.setattr(model_file.zlib, "decompressobj", Watched)
    with pytest.raises(ModelFileError, match="cannot be unpacked"):
        read_model_file(path)
    assert len(sizes) == 2  # the header first
    assert sizes[1] <= 33
    monkeypatch.setattr(model_file, "MOST_HEADER", 1000)
    with pytest.raises(ModelFileError, match="header that makes no sense"):
        read_model_file(crafted(path, zlib.compress(b" " * 50_000_000)))
    assert sizes[2] <= 1001


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing(path, monkeypatch):
    old = path.read_bytes()

    def fails(*args):
        raise OSError(28, "No space left on device")

    failures = [
        lambda: write_model_file(path, {"x": object()}, {}),
        lambda: write_model_file(path, {}, {"a": np.array(["text"])}),
        lambda: write_model_file(path, {}, {"a": np.array([object()])}),
    ]
    for name in ("fsync", "replace", "chmod"):

        def disk_error(name=name):
            with monkeypatch.context() as patch:
                patch.setattr(os, name, fails)
                write_model_file(path, HEADER, ARRAYS)

        failures.append(disk_error)
    for failure in failures:
        with pytest.raises((TypeError, OSError)):
            failure()
        assert path.read_bytes() == old
        assert list(path.parent.iterdir()) == [path]


def test_a_missing_directory_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_model_file(tmp_path / "nowhere" / "m.cw", {}, {})


def test_the_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    write_model_file(tmp_path / "m.cw", {}, {})
    assert (tmp_path / "m.cw").stat().st_mode == (tmp_path / "plain").stat().st_mode
