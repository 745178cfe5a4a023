"""Calibrate a model afterwards, with scikit-learn's own tools, and see whether it helps.

``CalibratedClassifierCV`` learns a map from stated to observed probabilities on held-out folds: a sigmoid, a step
function (isotonic) or one temperature. Any classifier of this package goes in. With ``ensemble=False`` the model itself
stays one model, fitted to all rows, so that lines differ by calibration alone. It does not help every model: compare
before you calibrate.

Run with ``python examples/calibration.py``; it takes half a minute.
"""

from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import countwise as cw
from countwise import datasets
from countwise.evaluate import ece, ece_classwise, log_loss
from countwise.evaluate.results import format_table

METHODS = ("sigmoid", "isotonic", "temperature")


def models() -> dict[str, Any]:
    """One that is too sure of itself, two that are tuned or smoothed for their probabilities, and two forests."""
    forest = RandomForestClassifier(100, random_state=0)
    return {
        "NB, m-estimate": cw.NBClassifier(smoothing="m"),
        "NB, tuned": cw.NBClassifier(),
        "tuned network": cw.TunedKDBClassifier(),
        "random forest": forest,
        "random forest, smoothed": cw.SmoothedTreeClassifier(forest),
    }


def compare(n_rows: int = 4000) -> list[dict[str, str]]:
    """A line for each model and method: log loss and calibration errors of rows that nobody has seen."""
    data = datasets.make_waveform(n_rows, random_state=0)
    X = np.column_stack([column.to_numpy() for column in data.X.columns])
    X_train, X_test, y_train, y_test = train_test_split(X, data.y, test_size=0.5, random_state=0, stratify=data.y)
    lines = []
    for name, model in models().items():
        calibrated = {method: CalibratedClassifierCV(model, method=method, cv=3, ensemble=False) for method in METHODS}
        for method, classifier in {"as it is": model, **calibrated}.items():
            classifier.fit(X_train, y_train)
            scored = y_test, classifier.predict_proba(X_test), classifier.classes_
            figures = {"log loss": log_loss(*scored), "ECE": ece(*scored), "ECE, classwise": ece_classwise(*scored)}
            lines.append({"model": name, "calibration": method} | {k: f"{v:.4f}" for k, v in figures.items()})
    return lines


def main() -> None:
    """Print the table."""
    print("waveform, 2000 rows to learn from and 2000 to test; small is good", end="\n\n")
    print(format_table(compare()))


if __name__ == "__main__":
    main()
