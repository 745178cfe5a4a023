"""Examples whose figures mean something run on fewer rows."""

import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_calibration():
    lines = runpy.run_path(str(EXAMPLES / "calibration.py"))["compare"](n_rows=600)
    loss = {(line["model"], line["calibration"]): float(line["log loss"]) for line in lines}
    assert len(loss) == len(lines) == 20
    assert loss["NB, m-estimate", "temperature"] < loss["NB, m-estimate", "as it is"]  # it is far too sure of itself
    assert all(0.0 < value < 2.0 for value in loss.values())
