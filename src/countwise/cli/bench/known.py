"""``countwise bench list``: what can be run by name."""

import typer
from rich.console import Console

from countwise.cli.failure import Debug, guarded


@guarded
def known(debug: Debug = False) -> None:
    """Show the names of experiments, models, protocols and preparations.

    \b
    Examples:
      countwise bench list
    """  # noqa: D301
    from countwise.estimators.names import NETWORKS, SMOOTHINGS
    from countwise.evaluate.experiments import absent_models
    from countwise.evaluate.papers import EXPERIMENTS
    from countwise.evaluate.prepare import PREPARATIONS
    from countwise.evaluate.rivals.names import RIVAL_NAMES, missing_package

    lines = ["Experiments:"]
    for name, one in EXPERIMENTS.items():
        absent = absent_models(one)
        lines.append(f"  {name:18} {one.title}" + (f" [not there yet: {', '.join(absent)}]" if absent else ""))
    lines += ["", f"Networks: {', '.join(NETWORKS)}"]
    lines += [f"Smoothings that may follow, as in tan-hdp: {', '.join(SMOOTHINGS)}; without one: the default (tuned)"]
    lines += ["Behind a network's name, @all learns the structure from all rows; (name=value,...) sets parameters", ""]
    lines.append("Rivals:")
    for name, (text, _) in RIVAL_NAMES.items():
        package = missing_package(name)
        lines.append(
            f"  {name:18} {text}" + (f" [needs {package}: pip install 'countwise[rivals]']" if package else "")
        )
    lines += ["", "Protocols: 5x2 (any RxF), 10-fold, sizes (paper 003), curve (paper 000, Fig. 7)"]
    lines.append(f"Preparations of whole tables: {', '.join(PREPARATIONS)}")
    console = Console(highlight=False, soft_wrap=True)
    for line in lines:
        console.print(line, markup=False)
    raise typer.Exit
