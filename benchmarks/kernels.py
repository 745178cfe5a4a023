"""What a unit of work costs in each kernel, beside the machine's copy bandwidth: ``python -m benchmarks.kernels``.

The reference column holds the costs that prototypes of this project reached on one core of a machine whose copy
bandwidth was 18 GB/s; ``--`` where there is none. Compare bandwidths before comparing costs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rivals import versions
from benchmarks.timing import copy_bandwidth, fastest, show
from countwise import KDBClassifier, _kernels, datasets
from countwise.data.codec import CategoryCodec, NumberCodec
from countwise.data.coded import CodedBatch, encode_batch
from countwise.data.source import MemorySource
from countwise.infer.network import Network, smooth_network
from countwise.smooth import HDP, MEstimate
from countwise.structure import Structure
from countwise.tree.context import build_trees

REFERENCE_BANDWIDTH = 18.0  # GB/s


@dataclass(frozen=True)
class Cost:
    """Nanoseconds per unit, of one thread and of two."""

    kernel: str
    unit: str
    one: float
    two: float | None
    reference: str


@dataclass(frozen=True)
class Bench:
    """How large and how often."""

    n_rows: int
    repeats: int

    def cost(
        self,
        kernel: str,
        unit: str,
        n_units: float,
        work: Callable[[int], Any],
        reference: str = "--",
        both: bool = True,
    ) -> Cost:
        """Time ``work(threads)``, which does ``n_units`` units."""
        one, *two = (fastest(lambda t=t: work(t), self.repeats) / n_units * 1e9 for t in ((1, 2) if both else (1,)))
        return Cost(kernel, unit, one, two[0] if two else None, reference)


def random_codes(arity: Sequence[int], n_rows: int, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, values, n_rows, dtype=np.uint8) for values in arity]


def pair_counts(bench: Bench) -> Iterator[Cost]:
    """Updates: one for each row and pair of attributes."""
    n = 30
    for values, reference in ((5, "0.28"), (10, "0.55")):
        codes = random_codes([values] * n, bench.n_rows, 0)
        target = random_codes([2], bench.n_rows, 1)[0]
        layout = _kernels.PairLayout([values] * n, 2, 0, n)
        counts = np.zeros(layout.size, np.uint32)

        def work(
            threads: int, layout: Any = layout, codes: Any = codes, target: Any = target, out: Any = counts
        ) -> None:
            _kernels.count_pairs(layout, codes, target, threads, out)

        updates = bench.n_rows * n * (n - 1) / 2
        yield bench.cost(f"pair counts, {values} values", "update", updates, work, reference)


def sampled(n_rows: int, k: int, n_classes: int = 2) -> tuple[KDBClassifier, CodedBatch]:
    """A kDB-k of rows of a random network (fitted on a part of them), and all rows as codes."""
    dataset, _ = datasets.sample_network(n_rows, random_state=0, n_classes=n_classes)
    part = slice(0, min(n_rows, 200_000))
    model = KDBClassifier(k=k).fit(dataset.X.slice(0, part.stop), dataset.y[part])
    raw = next(MemorySource(dataset.X).batches())
    target = np.searchsorted(model.classes_, dataset.y).astype(np.uint8)
    coded = encode_batch(raw, model.codec_)
    return model, CodedBatch(coded.codes, target, None, coded.n_rows)


def tree_levels(structure: Structure) -> int:
    """Levels below the roots of all trees: the class, and each parent."""
    return sum(1 + len(family.parents) for family in structure.families)


def tree_build(bench: Bench) -> Iterator[Cost]:
    """Levels: one for each row and each branching variable of each tree."""
    model, batch = sampled(bench.n_rows, k=5)
    arity, families = model.codec_.arity, model.structure_.families
    uniform = CodedBatch(random_codes(arity, bench.n_rows, 2), batch.target, None, bench.n_rows)
    for name, rows in (("network rows", batch), ("uniform codes", uniform)):

        def work(threads: int, rows: CodedBatch = rows) -> None:
            build_trees(rows, families, arity, 2, threads)

        levels = bench.n_rows * tree_levels(model.structure_)
        yield bench.cost(f"tree build, kDB-5, {name}", "row and level", levels, work, "1 - 2")


def prediction(bench: Bench) -> Iterator[Cost]:
    """Log joint of codes; and the leave-one-out pass of selective kDB."""
    for n_classes in (2, 10):
        model, batch = sampled(bench.n_rows, 3, n_classes)
        parameters = smooth_network(model.trees_, model.class_counts_, MEstimate(), 0, 1)
        network = Network(model.trees_, parameters, model.codec_.arity)
        units = bench.n_rows * len(model.trees_) * n_classes
        unit = "row, attribute, class"
        label = f"{n_classes} classes"
        yield bench.cost(
            f"prediction, k=3, {label}", unit, units, lambda t, n=network, b=batch: n.log_joint(b, t), "0.7 - 2"
        )
    yield leave_one_out(bench)


def compiling(bench: Bench) -> Iterator[Cost]:
    """Smoothed trees to look-ups: few classes side by side, many where they have been seen."""
    for n_classes in (2, 26):
        model, batch = sampled(bench.n_rows, 3, n_classes)
        parameters = smooth_network(model.trees_, model.class_counts_, HDP(), 0, 1)
        shape = (model.trees_, parameters, model.codec_.arity)
        cells = sum(tree.counts.n_cells for tree in model.trees_)
        label, unit = f"k=3, {n_classes} classes", "row, attribute, class"
        yield bench.cost(f"compiling, {label}", "cell", cells, lambda t, s=shape: Network(*s, t))
        network, units = Network(*shape), bench.n_rows * len(model.trees_) * n_classes
        yield bench.cost(f"prediction, HDP, {label}", unit, units, lambda t, n=network, b=batch: n.log_joint(b, t))


def leave_one_out(bench: Bench) -> Cost:
    model, batch = sampled(bench.n_rows, 5)
    arity = model.codec_.arity
    trees = build_trees(batch, model.structure_.families, arity, 2)  # every row must be in the counts
    kernel = _kernels.LeaveOneOut(np.bincount(batch.target, minlength=2).astype(float), 6, 1.0, len(trees))
    for position, tree in enumerate(trees):
        family, counts = tree.family, tree.counts
        shape = (family.child, list(family.parents), arity, 2, tree.kernel_arrays)
        kernel.set(position, *shape, counts.cell_count, counts.total)
    out = np.zeros((len(trees) + 1) * 6, np.int64)
    units = bench.n_rows * tree_levels(model.structure_) * 2
    return bench.cost(
        "leave-one-out, k=5",
        "row, level, class",
        units,
        lambda threads: kernel.losses(batch.codes, arity, batch.target, None, 0, 1.0, threads, out),
    )


def reading(bench: Bench) -> Iterator[Cost]:
    """Cut points and codes of one column."""
    import pyarrow as pa

    rng = np.random.default_rng(3)
    classes = rng.integers(0, 3, bench.n_rows, dtype=np.int32)
    values = rng.normal(size=bench.n_rows) + classes
    yield bench.cost("MDLP", "row", bench.n_rows, lambda _: _kernels.mdlp_cuts(values, classes, None, 3), both=False)
    random = lambda _: _kernels.random_mdlp_cuts(values, classes, None, 3, 0)  # noqa: E731
    yield bench.cost("random MDLP", "row", bench.n_rows, random, both=False)
    for n_cuts in (7, 63):
        number = NumberCodec("x", np.linspace(-2, 4, n_cuts), n_cuts + 1, False)
        yield bench.cost(
            f"encode numbers, {n_cuts} cuts", "value", bench.n_rows, lambda _, c=number: c.encode(values), both=False
        )
    names = pa.array([f"value {i}" for i in range(10)])
    column = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 10, bench.n_rows, dtype=np.int8)), names)
    category = CategoryCodec("x", names, False)
    text = column.cast(pa.string())
    for name, raw in (("dictionary", column), ("text", text)):
        yield bench.cost(
            f"encode {name}, 10 values", "value", bench.n_rows, lambda _, r=raw: category.encode(r), both=False
        )


KERNELS: dict[str, Callable[[Bench], Iterator[Cost]]] = {
    "pairs": pair_counts,
    "trees": tree_build,
    "prediction": prediction,
    "compiling": compiling,
    "reading": reading,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5, help="the fastest counts")
    parser.add_argument("--kernels", default=",".join(KERNELS), help="names, separated by commas")
    parser.add_argument("--json", type=Path, help="write everything here too")
    options = parser.parse_args()
    bandwidth = copy_bandwidth()
    print(f"copy bandwidth {bandwidth:.1f} GB/s here (read + written), {REFERENCE_BANDWIDTH:.0f} GB/s of the reference")
    print(f"{options.rows:,} rows, fastest of {options.repeats}; ns per unit", end="\n\n")
    bench = Bench(options.rows, options.repeats)
    costs = [cost for name in options.kernels.split(",") for cost in KERNELS[name](bench)]
    show(
        [
            {
                "kernel": cost.kernel,
                "unit": cost.unit,
                "1 thread": f"{cost.one:.2f}",
                "2 threads": None if cost.two is None else f"{cost.two:.2f}",
                "speed-up": None if cost.two is None else f"{cost.one / cost.two:.2f}",
                "reference": cost.reference,
            }
            for cost in costs
        ]
    )
    if options.json:
        facts = {"copy_gb_per_s": bandwidth, "n_rows": options.rows, "versions": versions()}
        options.json.write_text(json.dumps(facts | {"costs": [asdict(cost) for cost in costs]}, indent=1))


if __name__ == "__main__":
    main()
