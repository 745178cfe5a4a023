"""Files that appear whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside ``path``: renamed to it at the end, removed if the block fails in any way."""
    temporary = path.with_name(f".{secrets.token_hex(6)}{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file, in UTF-8 and with the same line ends on every system."""
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode())
