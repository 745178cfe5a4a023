"""The tables and pictures of a page as files: CSV, PNG and SVG, each appearing whole or not at all."""

import os
from pathlib import Path

from countwise.errors import DataError
from countwise.evaluate.compare import csv_text
from countwise.plots import save
from countwise.progress import progress_bar
from countwise.report.names import Names
from countwise.report.page import Facts, Page, Paragraph, Picture, Sheet
from countwise.whole_files import replacing, write_text


def write_files(page: Page, folder: str | os.PathLike[str]) -> list[Path]:
    r"""Write every table as CSV and every picture as PNG and SVG; the paths, in the order of the page.

    The names come from the titles. Equal pages give equal bytes. Files of the same names are replaced, others in the
    folder are left alone.

    >>> import tempfile
    >>> from countwise.report.page import Column, Section
    >>> sheet = Sheet("Mean RMSE", (Column("Model", ("nb",), ("nb",)), Column("RMSE", (0.25,), ("0.2500",))))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (path,) = write_files(Page("t", (Section("s", (sheet,)),)), folder)
    ...     path.name, path.read_text()
    ('mean-rmse.csv', 'Model,RMSE\nnb,0.25\n')
    """
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise DataError(f"{target}: is a file; name a folder")
    target.mkdir(parents=True, exist_ok=True)
    names, paths = Names(), []
    items = [item for item in page.items if not isinstance(item, Paragraph)]
    with progress_bar("files", len(items)) as bar:
        for item in items:
            name = names.new(item.title)
            paths += _write(item, target, name)
            bar.advance()
    return paths


def _write(item: Facts | Sheet | Picture, folder: Path, name: str) -> list[Path]:
    if not isinstance(item, Picture):
        path = folder / f"{name}.csv"
        write_text(path, as_csv(item))
        return [path]
    figure = item.display.figure()
    paths = [folder / f"{name}.svg", folder / f"{name}.png"]
    for path in paths:
        with replacing(path) as temporary:
            save(figure, temporary)
    return paths


def as_csv(table: Sheet | Facts) -> str:
    r"""A table as CSV: values, not their texts.

    >>> as_csv(Facts("Facts", (("Seed", "0"), ("Protocol", "5x2, by class"))))
    'fact,value\nSeed,0\nProtocol,"5x2, by class"\n'
    """
    if isinstance(table, Facts):
        return csv_text(["fact", "value"], table.pairs)
    rows = list(zip(*(column.values for column in table.columns), strict=True))
    return csv_text([column.heading for column in table.columns], rows)
