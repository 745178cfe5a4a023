"""From lists of dictionaries to tables for people: headings, digits, and which values are the best."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from countwise.evaluate.compare import Table
from countwise.evaluate.measures import Measure, measure_of
from countwise.report.page import Column, Sheet

MEGABYTE = 1e6
NONE = "-"  # of a value that is not there


def sheet(
    table: Table,
    *,
    headings: Mapping[str, str] | None = None,
    text: Iterable[str] = (),
    folded: bool = False,
) -> Sheet:
    """A table of ``countwise.evaluate.compare`` as it is; its first column and those named in ``text`` are texts.

    >>> made = sheet(Table("t", [{"model": "nb", "average rank": 1.5}]), headings={"model": "Model"})
    >>> [(column.heading, column.texts, column.is_text) for column in made.columns]
    [('Model', ('nb',), True), ('average rank', ('1.5000',), False)]
    """
    names = list(dict.fromkeys(name for line in table.lines for name in line))
    as_text = {*names[:1], *text}
    columns = [
        plain_column((headings or {}).get(name, name), [line.get(name) for line in table.lines], name in as_text)
        for name in names
    ]
    return Sheet(table.title, tuple(columns), table.note, folded)


def plain_column(heading: str, values: Sequence[Any], is_text: bool = False) -> Column:
    """Values as they are: 4 decimals, thousands apart."""
    return Column(heading, tuple(values), tuple(map(value_text, values)), is_text)


def measure_column(name: str, values: Sequence[float | None], heading: str | None = None) -> Column:
    """Values of a measure, in the unit of the heading: bytes become MB.

    >>> column = measure_column("model_bytes", [5_063_000.0, None])
    >>> column.heading, column.values, column.texts
    ('Size of the model, MB', (5.063, None), ('5.06', '-'))
    """
    measure = measure_of(name)
    scaled = [None if value is None else value / MEGABYTE if measure.unit == "bytes" else value for value in values]
    texts = tuple(measure_text(measure, value) for value in scaled)
    return Column(measure_heading(measure) if heading is None else heading, tuple(scaled), texts)


def measure_heading(measure: Measure) -> str:
    """Title and unit.

    >>> measure_heading(measure_of("fit_seconds")), measure_heading(measure_of("rmse"))
    ('Time to fit, s', 'RMSE')
    """
    unit = {"bytes": "MB"}.get(measure.unit, measure.unit)
    return f"{measure.title}, {unit}" if unit else measure.title


def measure_text(measure: Measure, value: float | None) -> str:
    """A value with as many digits as mean something: 4 decimals of a score, 3 digits of a cost.

    >>> measure_text(measure_of("rmse"), 0.25), measure_text(measure_of("fit_seconds"), 0.012345)
    ('0.2500', '0.0123')
    """
    if value is None or math.isnan(value):
        return NONE
    return three_digits(value) if measure.log_scale else f"{value:.4f}"


def three_digits(value: float) -> str:
    """A number with 3 significant digits, never with an exponent.

    >>> three_digits(0.000123456), three_digits(1.5), three_digits(99.96), three_digits(123_456.7)
    ('0.000123', '1.50', '100', '123,457')
    """
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    size = math.floor(math.log10(float(f"{abs(value):.2e}")))  # after rounding: 99.96 is 100
    return f"{value:,.{max(0, 2 - size)}f}"


def value_text(value: Any) -> str:
    """A cell as people read it.

    >>> value_text(12345), value_text(0.5), value_text(None), value_text("41-4-23"), value_text(True)
    ('12,345', '0.5000', '-', '41-4-23', 'True')
    """
    if value is None:
        return NONE
    if isinstance(value, bool):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}" if isinstance(value, float) else str(value)


def mark_columns(columns: Sequence[Column], names: Sequence[str]) -> tuple[Column, ...]:
    """The best value of every column; ``names`` are the columns' measures."""
    return tuple(
        replace(column, best=frozenset(best_of(column.values, column.texts, measure_of(name).higher_is_better)))
        for column, name in zip(columns, names, strict=True)
    )


def mark_lines(columns: Sequence[Column], higher_is_better: bool) -> tuple[Column, ...]:
    """The best value of every line."""
    best: list[set[int]] = [set() for _ in columns]
    for i in range(len(columns[0].values) if columns else 0):
        values, texts = [column.values[i] for column in columns], [column.texts[i] for column in columns]
        for j in best_of(values, texts, higher_is_better):
            best[j].add(i)
    return tuple(replace(column, best=frozenset(own)) for column, own in zip(columns, best, strict=True))


def best_of(values: Sequence[float | None], texts: Sequence[str], higher_is_better: bool) -> set[int]:
    """Positions of the best value and of all that look the same; of less than two values none is the best.

    >>> best_of([0.12341, 0.2, 0.12344, None], ["0.1234", "0.2000", "0.1234", "-"], higher_is_better=False)
    {0, 2}
    """
    there = {i: value for i, value in enumerate(values) if value is not None and not math.isnan(value)}
    if len(there) < 2:
        return set()
    best = (max if higher_is_better else min)(there, key=lambda i: there[i])
    return {i for i in there if texts[i] == texts[best]}
