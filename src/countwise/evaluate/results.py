"""Results of cross-validation: rows, pooled summaries, tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from countwise.evaluate.scores import pool

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]
MEAN = "(mean)"  # the "data set" of the averages


@dataclass(frozen=True, eq=False)
class Results:
    """One row for each (data set, model, repeat, fold): ``n_train``, ``n_test``, seconds, scores, ``error``.

    A row of a fold that failed has the message as its ``error`` and None for its scores.

    Examples
    --------
    >>> row = {"dataset": "d", "model": "nb", "repeat": 0, "n_train": 4}
    >>> row |= {"fit_seconds": 0.5, "predict_seconds": 0.1}
    >>> rows = [row | {"fold": 0, "n_test": 6, "rmse": 0.0, "error": None},
    ...         row | {"fold": 1, "n_test": 2, "rmse": 0.4, "error": None}]
    >>> print(Results(rows, ("rmse",)))
    dataset  model    rmse  fit_seconds  predict_seconds  n_cells  n_failed
    -----------------------------------------------------------------------
    d        nb     0.2000       0.5000           0.1000        2         0

    """

    rows: list[Row]
    scores: tuple[str, ...]

    @property
    def failures(self) -> list[Row]:
        """The rows of the folds that failed."""
        return [row for row in self.rows if row["error"] is not None]

    def summary(self) -> list[Row]:
        """One row per (data set, model); then, for several data sets, one per model with the plain means.

        Scores are those of all test predictions put together: the squared errors are averaged over the rows
        of all folds before the root (``ece``, whose bins belong to a fold, is the mean over folds by size).
        Seconds are means per fold. The means over data sets take those on which no model failed,
        ``n_datasets`` of them.
        """
        datasets, models = self._distinct("dataset"), self._distinct("model")
        lines = []
        for dataset in datasets:
            for model in models:
                rows = [row for row in self.rows if row["dataset"] == dataset and row["model"] == model]
                lines.append({"dataset": dataset, "model": model} | self._pooled(rows))
        return lines + (self._means(lines, models) if len(datasets) > 1 else [])

    def to_arrow(self) -> "pa.Table":
        """The rows as a ``pyarrow.Table``."""
        import pyarrow as pa

        floats = {"fit_seconds", "predict_seconds", *self.scores}
        names = list(self.rows[0]) if self.rows else []
        types = {"error": pa.string()} | dict.fromkeys(floats, pa.float64())
        return pa.table({name: pa.array([row[name] for row in self.rows], types.get(name)) for name in names})

    def to_pandas(self) -> Any:
        """The rows as a ``pandas.DataFrame``; pandas must be installed."""
        try:
            import pandas  # noqa: F401
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("to_pandas needs pandas: pip install pandas, or use to_arrow()") from error
        return self.to_arrow().to_pandas()

    def __str__(self) -> str:
        lines = self.summary()
        text = format_table(lines)
        failed = self.failures
        if failed:
            first = failed[0]
            text += (
                f"\n{len(failed)} of {len(self.rows)} cells failed; the first: {first['model']} on "
                f"{first['dataset']}: {first['error']}"
            )
        return text

    def _distinct(self, name: str) -> list[str]:
        return list(dict.fromkeys(row[name] for row in self.rows))

    def _pooled(self, rows: list[Row]) -> Row:
        good = [row for row in rows if row["error"] is None]
        n_test = [row["n_test"] for row in good]
        line: Row = {s: pool(s, [row[s] for row in good], n_test) if good else None for s in self.scores}
        for name in ("fit_seconds", "predict_seconds"):
            line[name] = float(np.mean([row[name] for row in good])) if good else None
        return line | {"n_cells": len(rows), "n_failed": len(rows) - len(good)}

    def _means(self, lines: list[Row], models: list[str]) -> list[Row]:
        bad = {line["dataset"] for line in lines if line["n_failed"] or not line["n_cells"]}
        means = []
        for model in models:
            own = [line for line in lines if line["model"] == model]
            good = [line for line in own if line["dataset"] not in bad]
            mean: Row = {"dataset": MEAN, "model": model}
            for name in (*self.scores, "fit_seconds", "predict_seconds"):
                mean[name] = float(np.mean([line[name] for line in good])) if good else None
            mean |= {name: sum(line[name] for line in own) for name in ("n_cells", "n_failed")}
            means.append(mean | {"n_datasets": len(good)})
        return means


def format_table(lines: Sequence[Row], columns: Iterable[str] | None = None) -> str:
    """Dictionaries as a text table: text to the left, numbers to the right, 4 digits, None as ``-``.

    >>> print(format_table([{"model": "nb", "rmse": 0.25}, {"model": "tan", "rmse": None}]))
    model    rmse
    -------------
    nb     0.2500
    tan         -
    """
    names = list(columns) if columns is not None else list(dict.fromkeys(k for line in lines for k in line))
    cells = [[format_value(line.get(name)) for name in names] for line in lines]
    is_text = [any(isinstance(line.get(name), str) for line in lines) for name in names]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]

    def joined(parts: Sequence[str]) -> str:
        padded = (p.ljust(w) if t else p.rjust(w) for p, w, t in zip(parts, widths, is_text, strict=True))
        return "  ".join(padded).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    return "\n".join([joined(names), rule, *map(joined, cells)])


def format_value(value: Any) -> str:
    """A table's cell as text."""
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
