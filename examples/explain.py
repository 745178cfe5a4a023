"""Read a model: its network, its counts, and the exact reasons of a prediction.

Run with ``python examples/explain.py``; it takes seconds.
"""

import numpy as np

import countwise as cw
from countwise import datasets


def show_reasons(model: cw.SKDBClassifier | cw.PoolClassifier, rows: object, n_shown: int = 3) -> None:
    """The parts of the log-odds, the largest first; together they are the prediction."""
    proba, why = model.predict_proba(rows), model.explain(rows)
    scores = np.exp(why.scores())
    assert np.allclose(scores / scores.sum(axis=1, keepdims=True), proba)
    for i, p in enumerate(proba):
        parts = why.log_odds("positive")[i]
        print(f"row {i}: P(positive) = {p[list(model.classes_).index('positive')]:.3f}")
        for a in np.argsort(-np.abs(parts))[:n_shown]:
            print(f"  {parts[a]:+.2f}  {why.names[a]} = {rows.column(why.names[a])[i].as_py()}")


def main() -> None:
    """Fit, then look inside."""
    X, y = datasets.load("tic-tac-toe")
    model = cw.SKDBClassifier(k=2).fit(X, y)
    print("the network (the class is a parent of every attribute):")
    print(model.structure_, end="\n\n")
    print("leave-one-out RMSE by attributes (down) and parents (across):")
    print(model.loss_surface_.round(3), end="\n\n")
    print("natural logarithms of odds, positive against negative:")
    show_reasons(model, X.take([0, 500, 957]))
    changed = X.take([0]).set_column(0, X.column_names[0], [["never seen"]])
    print("\nthe first row with a value that training never met:")
    show_reasons(model, changed)
    pool = cw.PoolClassifier().fit(X, y)
    print("\na pool of networks and trees; what it says is split by Aumann-Shapley values, which add up just as well:")
    show_reasons(pool, X.take([0, 500, 957]))


if __name__ == "__main__":
    main()
