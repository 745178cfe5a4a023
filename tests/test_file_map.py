"""CONTRIBUTING.md ends with one line per file; this holds it to the files there are."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SUFFIXES = {".py", ".pyi", ".cpp", ".hpp", ".md"}
MAPPED = re.findall(r"^- `([^`]+)`: \S", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize("folder", ["src", "benchmarks"])
def test_every_source_file_is_in_the_map(folder: str) -> None:
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES}
    assert files, folder
    assert sorted(files - set(MAPPED)) == []


def test_every_mapped_file_exists_and_is_named_once() -> None:
    assert [name for name in MAPPED if not (ROOT / name).is_file()] == []
    assert len(MAPPED) == len(set(MAPPED))
