"""Write the golden models of the present format and what they predict: ``python tests/golden/make.py``.

Run once for each model, when what it holds was new; files that are there are left alone. That they keep loading, and
keep predicting the same, is what tests/estimators/test_persist.py holds.
"""

import json
from pathlib import Path

import pyarrow as pa

import countwise as cw
from countwise.model_file import VERSION

HERE = Path(__file__).parent


def with_gaps(table: pa.Table, label: list) -> tuple[pa.Table, list]:
    """Every 11th value of the first column is missing."""
    name = table.column_names[0]
    values = [None if i % 11 == 4 else value for i, value in enumerate(table.column(name).to_pylist())]
    return table.set_column(0, name, pa.array(values)), label


MODELS = {
    "iris-kdb": ("iris", cw.KDBClassifier(k=2, smoothing=cw.MEstimate(m=0.5))),
    "tic-tac-toe-skdb": ("tic-tac-toe", cw.SKDBClassifier(k=2, smoothing="m-branch")),
    "iris-tan-tuned": ("iris", cw.TANClassifier(smoothing="hdp", tune="loo")),
    "tic-tac-toe-nb-dirichlet": ("tic-tac-toe", cw.NBClassifier(smoothing=cw.HierarchicalDirichlet(s=2.0))),
    "iris-pool": ("iris", cw.PoolClassifier(n_members=2, n_parts=2, k=1, n_trees=0)),
    "iris-pool-trees": ("iris", cw.PoolClassifier(n_members=2, n_parts=2, k=1, n_trees=2)),
    "iris-tree": ("iris", cw.ProbabilityTreeClassifier(smoothing="m-branch", pruning=cw.Pessimistic(0.4))),
    "tic-tac-toe-forest": ("tic-tac-toe", cw.ProbabilityForestClassifier(2, smoothing="laplace", max_depth=4)),
    "iris-eskdb": ("iris", cw.ESKDBClassifier(n_estimators=2, k=1)),
    "iris-kdb-gibbs": ("iris", cw.KDBClassifier(k=1, smoothing=cw.HDP("gibbs", n_iter=50, burn_in=10))),
}


def main() -> None:
    for name, (dataset, model) in MODELS.items():
        if (HERE / f"v{VERSION}-{name}.cw").exists():
            continue
        X, y = with_gaps(*cw.datasets.load(dataset))
        model.fit(X, y).save(HERE / f"v{VERSION}-{name}.cw")
        every = X.take(list(range(0, len(X), 40)))
        facts = {
            "origin": f"countwise {cw.__version__}, {model!r} on the computed data set {dataset!r} with gaps",
            "rows": every.to_pydict(),
            "classes": [str(label) for label in model.classes_],
            "proba": model.predict_proba(every).tolist(),
        }
        (HERE / f"v{VERSION}-{name}.json").write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
