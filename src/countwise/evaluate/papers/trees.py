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
    validation = Average("Validation", "c45-mle(validation=true)", mean(0.2653, 0.2353))
    title = "HGS against counts of rows that did not choose the splits (paper 004, Table 20)"
    found.append(of_chapter("paper004-table20", title, averages=(validation, hgs), picture="means"))
    against = {
        "MLE": wdl("70-4-69", "84-11-48"),
        "Laplace": wdl("92-1-50", "84-11-48"),
        "M-estimation": wdl("92-2-49", "84-11-48"),
        "HDP": wdl("93-2-48", "84-9-50"),
        "M-branch": wdl("120-1-22", "92-11-40"),
        "HGS": wdl("123-1-19", "95-12-36"),
    }
    models = {name: of[0] for name, of in printed.items()} | {"HGS": "c45-hgs"}
    pruned = "c45-mle(pruning=reduced-error)"
    versus = tuple(Versus(f"{name} vs pruning", models[name], pruned, of) for name, of in against.items())
    title = "smoothing against reduced-error pruning in C4.5 trees (paper 004, Table 21)"
    return [*found, of_chapter("paper004-table21", title, versus=versus, picture="scatter")]
