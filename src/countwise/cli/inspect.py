"""``countwise inspect``: what is in a model file."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from countwise.cli.describe import describe, structure_line, value_counts
from countwise.cli.failure import Debug, failure, guarded

SHOWN_VALUES = 20
PIPED_WIDTH = 160  # columns of a table that goes to a file


@guarded
def inspect(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file of `countwise fit`.")],
    attribute: Annotated[str | None, typer.Option(help="Show this attribute's values and parents.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    debug: Debug = False,
) -> None:
    """Show what MODEL is: parameters, classes, attributes and the network between them.

    \b
    Examples:
      countwise inspect label.cw
      countwise inspect label.cw --attribute age
      countwise inspect label.cw --json | jq .classes
    """  # noqa: D301
    import countwise

    loaded = countwise.load(model)
    facts = describe(loaded) | {"file": str(model), "bytes": model.stat().st_size, "format": _format(model)}
    if attribute is not None:
        facts = _attribute(loaded, facts, attribute)
    if as_json:
        typer.echo(json.dumps(facts))
    elif attribute is not None:
        _show_attribute(facts)
    else:
        _show(facts, repr(loaded))


def _format(path: Path) -> int:
    from countwise.model_file import read_model_file

    return int(read_model_file(path)[0]["format"])


def _attribute(model: Any, facts: dict[str, Any], name: str) -> dict[str, Any]:
    names = [attribute["name"] for attribute in facts["attributes"]]
    if name not in names:
        raise failure(f"the model has no attribute {name!r}", f"it has {', '.join(names[:20])}")
    i = names.index(name)
    found: dict[str, Any] = facts["attributes"][i]
    column = model.codec_.columns[i]
    edges = {"edges": column.edges} if column.kind == "number" else {}
    return found | edges | {"classes": facts["classes"], "table": value_counts(model, i)}


MOST = ("most values", "most parents")


def _show(facts: dict[str, Any], title: str) -> None:
    console = _console()
    lines = {
        "model": " ".join(title.split()),
        "file": f"{facts['file']}, {facts['bytes']:,} bytes, format {facts['format']}",
        "trees" if "n_leaves" in facts else "network": structure_line(facts),
        "smoothing": facts["smoother"] + _tuning(facts["tuning"]),
        "parameters": f"{facts['n_parameters']:,}",
        "rows": f"{sum(facts['class_counts']):,.10g}{' by weight' if facts['weighted'] else ''}",
        "classes": _classes(facts),
    }
    for key, value in lines.items():
        console.print(f"{key:<12}{value}", markup=False, soft_wrap=True)
    console.print()
    attributes = facts["attributes"]
    shown = _splits if "splits" in attributes[0] else _places if "place" in attributes[0] else _uses
    console.print(shown(attributes))


def _places(attributes: list[dict[str, Any]]) -> Table:
    weighed = any("weight" in a for a in attributes)
    table = _table("place", "attribute", "kind", "values", *["weight"] * weighed, "parents")
    unused = len(attributes)
    for a in sorted(attributes, key=lambda a: unused if a["place"] is None else a["place"]):
        place = "-" if a["place"] is None else str(a["place"] + 1)
        weight = [f"{a['weight']:.2f}" if "weight" in a else "-"] if weighed else []
        table.add_row(place, escape(a["name"]), a["kind"], str(a["n_values"]), *weight, escape(", ".join(a["parents"])))
    return table


def _uses(attributes: list[dict[str, Any]]) -> Table:
    grown = "trees" in attributes[0]
    table = _table("networks" if grown else "members", *["trees"] * grown, "attribute", "kind", *MOST)
    for a in sorted(attributes, key=lambda a: (-a["members"], -a.get("trees", 0))):
        uses = [str(a["members"]), str(a["trees"])] if grown else [str(a["members"])]
        table.add_row(*uses, escape(a["name"]), a["kind"], str(a["most_values"]), str(a["most_parents"]))
    return table


def _splits(attributes: list[dict[str, Any]]) -> Table:
    table = _table("splits", "attribute", "kind", "values")
    for a in sorted(attributes, key=lambda a: -a["splits"]):
        table.add_row(str(a["splits"]), escape(a["name"]), a["kind"], str(a["n_values"]))
    return table


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in names:
        table.add_column(name, justify="left" if name in {"attribute", "kind", "parents"} else "right")
    return table


def _tuning(tuning: dict[str, Any] | None) -> str:
    if tuning is None:
        return ""
    factors = ", ".join(f"{factor:.3g}" for factor in tuning["level_factor"])
    levels = " by level" * (len(tuning["level_factor"]) > 1)
    return f", tuned: concentrations times {factors}{levels}, evidence times {tuning['temperature']:.3g}"


def _console() -> Console:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    return console


def _classes(facts: dict[str, Any]) -> str:
    total = sum(facts["class_counts"])
    pairs = zip(facts["classes"], facts["class_counts"], strict=True)
    return ", ".join(f"{label} ({count / total:.1%})" for label, count in pairs)


def _show_attribute(attribute: dict[str, Any]) -> None:
    """What it is, and the rows of each class with each value: the top of its probability table."""
    console = _console()
    of_members = "members" in attribute
    values = f"at most {attribute['most_values']}" if of_members else attribute["n_values"]
    lines = {"attribute": f"{attribute['name']} ({attribute['kind']}, {values} values)"}
    if of_members:
        is_used, network = attribute["members"] > 0, "network" if "trees" in attribute else "member"
        lines[f"{network}s"] = f"{attribute['members']} use it, with at most {attribute['most_parents']} parents"
        if "trees" in attribute:
            lines["trees"] = f"{attribute['trees']} split on it"
        if "cuts" in attribute and is_used:
            lines["bins"] = f"each {network} has its own; here are those of the first"
    elif "splits" in attribute:
        is_used = False  # a grown tree counts no table of an attribute
        lines["splits"] = str(attribute["splits"])
        if "cuts" in attribute:
            lines["cuts"] = ", ".join(attribute["edges"]) or "none"
    else:
        is_used = attribute["place"] is not None
        lines["parents"] = ", ".join(["the class", *attribute["parents"]]) if is_used else "not used"
        if "cuts" in attribute:
            lines["cuts"] = ", ".join(attribute["edges"]) or "none: one bin"
    for key, value in lines.items():
        console.print(f"{key:<12}{value}", markup=False, soft_wrap=True)
    if not is_used:
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("rows with")
    for label in attribute["classes"]:
        table.add_column(escape(str(label)), justify="right")
    for row in attribute["table"][:SHOWN_VALUES]:
        table.add_row(escape(row["value"]), *(f"{count:,.10g}" for count in row["counts"]))
    console.print()
    console.print(table)
    rest = len(attribute["table"]) - SHOWN_VALUES
    if rest > 0:
        console.print(f"and {rest} more values")
