"""Learn from files that are never in memory as a whole, then predict them in batches.

Run with ``python examples/larger_than_memory.py``; it takes seconds. A model's counts come from a few passes over
the files; what is held is one batch, the counts, and a summary of each numeric column.
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import countwise as cw
from countwise import datasets

N_FILES, ROWS = 8, 25_000


def write_parts(folder: Path) -> None:
    """Parquet files of poker hands, as if each had come from another machine."""
    for part in range(N_FILES):
        pq.write_table(datasets.make_poker(ROWS, random_state=part).to_arrow(), folder / f"part-{part}.parquet")


def main() -> None:
    """Scan, fit, predict, and check that batches change nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_parts(folder)
        train = cw.scan(folder / "part-*.parquet", target="class", batch_rows=20_000)
        model = cw.SKDBClassifier(k=3, n_jobs=2, max_memory="500MB").fit(train)
        print(f"{N_FILES * ROWS:,} rows in {N_FILES} files, {model.n_passes_} passes after the first look")
        print(
            f"kept {model.n_attributes_} attributes with up to {model.k_} parents, {model.n_parameters_:,} parameters"
        )

        other = cw.SKDBClassifier(k=3, max_memory="500MB").fit(
            cw.scan(folder / "part-*.parquet", target="class", batch_rows=7_000)
        )
        rows = cw.scan(folder / "part-0.parquet", columns=list(model.feature_names_in_))
        same = np.array_equal(model.predict_proba(rows), other.predict_proba(rows))
        print(f"other batches, other threads: the same probabilities: {same}")


if __name__ == "__main__":
    main()
