"""Experiments on decision trees: paper 004, chapter 5."""

from functools import partial
from typing import Final

from countwise.evaluate.experiments import Average, Experiment, Versus
from countwise.evaluate.papers.printed import mean, wdl
from countwise.evaluate.protocols import RepeatedFolds

of_chapter: Final = partial(Experiment, sets="hgs143", n_sets=143, protocol=RepeatedFolds(1, 10))


def paper004_trees() -> list[Experiment]:
    """Zhang 2020, chapter 5: hierarchical gradient smoothing."""
    printed = {
        "MLE": ("c45-mle", mean(0.2596, 0.2093), wdl("69-22-52", "108-2-33")),
        "Laplace": ("c45-laplace", mean(0.2499, 0.2093), wdl("68-22-53", "111-4-28")),
        "M-estimation": ("c45-m", mean(0.2485, 0.2068), wdl("66-23-54", "98-4-41")),
        "M-branch": ("c45-mbranch", mean(0.2428, 0.2062), wdl("59-32-52", "96-3-44")),
        "HDP": ("c45-gibbs", mean(0.2436, 0.2078), wdl("64-21-58", "92-1-50")),
    }
    hgs = Average("HGS", "c45-hgs", mean(0.2410, 0.2059))
    tables = {16: ("MLE", "Laplace", "M-estimation"), 18: ("M-branch", "HDP")}
    found = []
    for number, rivals in tables.items():
        versus = tuple(Versus(f"HGS vs {r}", "c45-hgs", printed[r][0], printed[r][2]) for r in rivals)
        averages = (*(Average(r, *printed[r][:2]) for r in rivals), hgs)
        title = f"HGS against {', '.join(rivals)} in C4.5 trees (paper 004, Table"
        found += [
            of_chapter(
                f"paper004-table{number}",
                f"{title} {number})",
                versus=versus,
                picture="scatter",
            ),
            of_chapter(
                f"paper004-table{number + 1}",
                f"{title} {number + 1})",
                averages=averages,
                picture="means",
            ),
        ]
    return found
