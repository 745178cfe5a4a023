"""The data sets of a run: those of a folder, or computed ones where there is none."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from countwise.cli.failure import failure
from countwise.cli.models import parse_list

if TYPE_CHECKING:
    from countwise.datasets.dataset import Dataset
    from countwise.evaluate.results import Results

N_QUICK, QUICK_ROWS = 12, range(100, 1001)  # small sets of a quick look


def computed() -> dict[str, Callable[[], "Dataset"]]:
    """Twelve sets that need no files: complete tables, samples and those that come with scikit-learn."""
    from countwise import datasets
    from countwise.datasets.registry import DATASETS

    sets = {name: DATASETS[name] for name in DATASETS if name != "kr-vs-k"}  # it takes a while to compute
    return sets | {
        "led": lambda: datasets.make_led(1000, random_state=0),
        "waveform": lambda: datasets.make_waveform(1000, random_state=0),
        "poker": lambda: datasets.make_poker(1000, random_state=0),
    }


class Computed(Mapping[str, Any]):
    """Computed sets by name, made when they are asked for."""

    def __init__(self, names: list[str] | None = None) -> None:
        known = computed()
        unknown = [name for name in names or () if name not in known]
        if unknown:
            raise failure(
                f"data set {unknown[0]!r} is not among the computed ones: {', '.join(known)}",
                "name a folder of Parquet files with --data",
            )
        self._makers = {name: known[name] for name in names or known}

    def __getitem__(self, name: str) -> Any:
        return self._makers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def choose(
    folder: Path | None, sets: str | None, wanted: str | tuple[str, ...] | None, quick: bool
) -> Mapping[str, Any]:
    """The sets to use, the smallest first.

    ``sets`` is what the user named: names, a table of the manifest, ``development``, ``confirmation`` or ``all``;
    ``wanted`` is an experiment's.
    """
    if folder is None:
        if wanted is not None and sets is None:
            raise failure(
                "the experiment's data sets are not part of countwise", "name a folder of Parquet files with --data"
            )
        return Computed(parse_list(sets) or None)
    from countwise.datasets import load_folder

    found = load_folder(folder)
    names = _names(found, sets, wanted)
    rows = {name: found.n_rows(name) for name in names}
    names = sorted(names, key=lambda name: (rows[name], name))
    if quick:
        small = [name for name in names if rows[name] in QUICK_ROWS] or names
        step = max(1.0, len(small) / N_QUICK)
        names = [small[int(i * step)] for i in range(min(N_QUICK, len(small)))]
    return found.select(names)


def names_in(folder: Path, wanted: str | tuple[str, ...]) -> list[str]:
    """The names of an experiment's sets."""
    from countwise.datasets import load_folder

    return _names(load_folder(folder), None, wanted)


def restricted(results: "Results", sets: str | None, folder: Path | None) -> "Results":
    """Results of the sets that a user named; tables of papers are those of the folder's manifest."""
    from countwise.datasets import load_folder
    from countwise.evaluate.split_sets import SPLIT_NAMES, split_sets

    if sets is None or sets == "all":
        return results
    known = split_sets(results.datasets) | {name: [name] for name in results.datasets}
    if folder is not None:
        found = load_folder(folder)
        known |= {table: found.listed_in(table) for table in found.tables}
    asked = parse_list(sets)
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise failure(
            f"--sets: the results have no data set {unknown[0]!r}",
            f"{', '.join(SPLIT_NAMES)} and all are known too, and with --data the tables of the folder's manifest",
        )
    listed = {name for one in asked for name in known[one]}
    kept = [name for name in results.datasets if name in listed]
    if not kept:
        raise failure(f"--sets {sets}: none of these is in the results", f"they have {', '.join(results.datasets)}")
    return results.only(datasets=kept)


def _names(found: Any, sets: str | None, wanted: str | tuple[str, ...] | None) -> list[str]:
    if sets is None and wanted is None:
        return list(found.names)
    asked = parse_list(sets) if sets is not None else [wanted] if isinstance(wanted, str) else list(wanted or ())
    if asked == ["all"]:
        return list(found.names)
    names: list[str] = []
    for name in asked:
        names += _named(found, name)
    return list(dict.fromkeys(names))


def _named(found: Any, name: str) -> list[str]:
    """One set, those of a table of the manifest, or one part of the folder."""
    from countwise.evaluate.split_sets import split_sets

    if name in found:
        return [name]
    listed = found.listed_in(name) if name in found.tables else split_sets(found.names).get(name)
    return listed or _unknown(found, name)


def _unknown(found: Any, name: str) -> list[str]:
    raise failure(
        f"{str(found.path)!r} has no data set {name!r}, nor is it a table of the manifest",
        f"tables: {', '.join(found.tables) or 'none'}; names of sets are those of the files, or: all, development, "
        "confirmation",
    )
