"""The container of a saved model: a JSON header and plain arrays in one file. Opening it runs no code.

Layout: 8 bytes of magic, the header's length and CRC-32 (little-endian), the header as UTF-8 JSON, the arrays.
Header and arrays are compressed with zlib; arrays are little-endian, of the narrowest type that holds their values,
each with its CRC-32 in the header. A file is written under a temporary name and renamed, so a reader never sees half
of it.
"""

from __future__ import annotations

import errno
import json
import math
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
from countwise.narrow import NARROW, narrowed, widened
from countwise.parallel import thread_map
from countwise.progress import progress_bar

MAGIC = b"countws\n"
VERSION = 2  # of the whole format; a reader refuses a newer one
PREFIX = struct.Struct("<QI")
DTYPES = {"|u1", "<u2", "<u4", "<i4", "<i8", "<f8", "|b1"}
MOST_HEADER = 2**30  # bytes; a few would unpack to any number of them


def write_model_file(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, AnyArray], threads: int = 1
) -> None:
    """Write header and arrays; on failure the target is untouched and nothing is left behind."""
    target = Path(path)

    def pack(item: tuple[str, AnyArray]) -> tuple[dict[str, Any], bytes]:
        packed = _packed(*item)
        bar.advance()
        return packed

    with progress_bar("saving arrays", len(arrays)) as bar:
        packed = thread_map(pack, arrays.items(), threads)
    facts = {"format": VERSION, **header, "arrays": [entry for entry, _ in packed]}
    text = zlib.compress(json.dumps(facts).encode())
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such directory", str(target.parent))
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(MAGIC + PREFIX.pack(len(text), zlib.crc32(text)) + text)
            for _, blob in packed:
                file.write(blob)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _packed(name: str, array: AnyArray) -> tuple[dict[str, Any], bytes]:
    """An array's entry in the directory, and its bytes."""
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    if plain.dtype.str not in DTYPES:
        raise TypeError(f"array {name} has dtype {plain.dtype}, which the format does not know")
    facts: dict[str, Any] = {"name": name, "dtype": plain.dtype.str, "shape": list(plain.shape)}
    stored, start = narrowed(plain.reshape(-1))
    if stored.dtype != plain.dtype:
        facts["stored"] = stored.dtype.str
    if start is not None:
        facts["start"] = start
    raw = stored.tobytes()
    blob = zlib.compress(raw, 1)
    return facts | {"bytes": len(blob), "crc32": zlib.crc32(raw)}, blob


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
    header, directory = _header(path, text)
    arrays, position = {}, start + length
    for entry in directory:
        blob = data[position : position + entry["bytes"]]
        if len(blob) < entry["bytes"]:
            raise _truncated(path)
        arrays[entry["name"]] = _array(path, entry, blob)
        position += entry["bytes"]
    if position != len(data):
        raise ModelFileError(f"{path} is damaged: {len(data) - position} bytes too many")
    return header, arrays


def _header(path: str | os.PathLike[str], text: bytes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header and its directory of arrays, whose entries have the fields and types that they should."""
    try:
        header = json.loads(text if text.startswith(b"{") else _unpacked(text, MOST_HEADER))  # format 1 is plain
        version = int(header["format"])
    except (zlib.error, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFileError(f"{path} has a header that makes no sense") from error
    if version > VERSION:
        raise ModelFileError(f"{path} has format {version}, this countwise reads up to {VERSION}; upgrade countwise")
    directory = header.pop("arrays", None)
    if not isinstance(directory, list) or not all(_is_entry(entry) for entry in directory):
        raise ModelFileError(f"{path} has a header that makes no sense: its arrays are not described")
    return header, directory


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("name"), str)
        and str(entry.get("dtype")) in DTYPES
        and isinstance(entry.get("shape"), list)
        and all(isinstance(n, int) and n >= 0 for n in [*entry["shape"], entry.get("bytes"), entry.get("crc32")])
        and str(entry.get("stored", entry["dtype"])) in (entry["dtype"], *NARROW)
        and isinstance(entry.get("start", 0), int)
        and abs(entry.get("start", 0)) < 2**63
    )


def _unpacked(blob: bytes, most: int) -> bytes:
    """What was compressed: never more than ``most`` bytes, whatever the blob holds."""
    unpacker = zlib.decompressobj()
    raw = unpacker.decompress(blob, most + 1)
    if len(raw) > most or not unpacker.eof or unpacker.unused_data:
        raise ValueError("not what was compressed")
    return raw


def _array(path: str | os.PathLike[str], entry: dict[str, Any], blob: bytes) -> AnyArray:
    stored = np.dtype(entry.get("stored", entry["dtype"]))
    size = math.prod(entry["shape"]) * stored.itemsize
    try:
        raw = _unpacked(blob, size)
    except (zlib.error, ValueError, OverflowError) as error:
        raise ModelFileError(f"{path} is damaged: array {entry['name']} cannot be unpacked") from error
    if len(raw) != size or zlib.crc32(raw) != entry["crc32"]:
        raise ModelFileError(f"{path} is damaged: array {entry['name']} does not match its checksum")
    array = widened(np.frombuffer(raw, stored), entry.get("start"), entry["dtype"])  # a copy, to be written to
    return array.reshape(entry["shape"])


def _truncated(path: str | os.PathLike[str]) -> ModelFileError:
    return ModelFileError(f"{path} is truncated: it ends before its header says it should")
