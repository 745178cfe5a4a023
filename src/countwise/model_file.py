"""The container of a saved model: a JSON header and plain arrays in one file. Opening it runs no code.

Layout: 8 bytes of magic, the header's length and CRC-32 (little-endian), the header as UTF-8 JSON, the arrays.
Arrays are little-endian, compressed with zlib, each with its CRC-32 in the header. A file is written under a
temporary name and renamed, so a reader never sees half of it.
"""

from __future__ import annotations

import json
import os
import struct
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from countwise.dtypes import AnyArray
from countwise.errors import ModelFileError

MAGIC = b"countws\n"
VERSION = 1  # of the whole format; a reader refuses a newer one
PREFIX = struct.Struct("<QI")
DTYPES = {"|u1", "<u2", "<u4", "<i4", "<i8", "<f8", "|b1"}


def write_model_file(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Write header and arrays; on failure the target is untouched and nothing is left behind."""
    target = Path(path)
    directory, blobs = [], []
    for name, array in arrays.items():
        plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        if plain.dtype.str not in DTYPES:
            raise TypeError(f"array {name} has dtype {plain.dtype}, which the format does not know")
        raw = plain.tobytes()
        blob = zlib.compress(raw, 1)
        directory.append(
            {
                "name": name,
                "dtype": plain.dtype.str,
                "shape": list(plain.shape),
                "bytes": len(blob),
                "crc32": zlib.crc32(raw),
            }
        )
        blobs.append(blob)
    text = json.dumps({"format": VERSION, **header, "arrays": directory}).encode()
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(MAGIC + PREFIX.pack(len(text), zlib.crc32(text)) + text)
            for blob in blobs:
                file.write(blob)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_model_file(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Header and arrays of a file, checked; anything wrong is a :class:`ModelFileError`."""
    data = Path(path).read_bytes()
    if not data.startswith(MAGIC):
        raise ModelFileError(f"{path} is not a countwise model file")
    start = len(MAGIC) + PREFIX.size
    if len(data) < start:
        raise _truncated(path)
    length, checksum = PREFIX.unpack_from(data, len(MAGIC))
    text = data[start : start + length]
    if len(text) < length:
        raise _truncated(path)
    if zlib.crc32(text) != checksum:
        raise ModelFileError(f"{path} is damaged: its header does not match its checksum")
    header = json.loads(text)
    if header.get("format", 0) > VERSION:
        raise ModelFileError(
            f"{path} has format {header['format']}, this countwise reads up to {VERSION}; upgrade countwise"
        )
    arrays, position = {}, start + length
    for entry in header.pop("arrays"):
        blob = data[position : position + entry["bytes"]]
        if len(blob) < entry["bytes"]:
            raise _truncated(path)
        arrays[entry["name"]] = _array(path, entry, blob)
        position += entry["bytes"]
    if position != len(data):
        raise ModelFileError(f"{path} is damaged: {len(data) - position} bytes too many")
    return header, arrays


def _array(path: str | os.PathLike[str], entry: dict[str, Any], blob: bytes) -> AnyArray:
    try:
        raw = zlib.decompress(blob)
    except zlib.error as error:
        raise ModelFileError(f"{path} is damaged: array {entry['name']} cannot be unpacked") from error
    if zlib.crc32(raw) != entry["crc32"] or entry["dtype"] not in DTYPES:
        raise ModelFileError(f"{path} is damaged: array {entry['name']} does not match its checksum")
    array = np.frombuffer(raw, entry["dtype"]).reshape(entry["shape"])
    return array.astype(array.dtype.newbyteorder("="))  # a copy that can be written to


def _truncated(path: str | os.PathLike[str]) -> ModelFileError:
    return ModelFileError(f"{path} is truncated: it ends before its header says it should")
