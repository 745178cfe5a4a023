"""``countwise inspect``: what is in a model file."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from countwise.cli.describe import describe, structure_line
from countwise.cli.failure import Debug, failure, guarded

SHOWN_VALUES = 40


@guarded
def inspect(
    model: Annotated[Path, typer.Argument(help="Model file of `countwise fit`.")],
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

    facts = describe(countwise.load(model)) | {"file": str(model), "bytes": model.stat().st_size}
    facts["format"] = _format(model)
    if attribute is not None:
        facts = _attribute(facts, attribute)
    if as_json:
        typer.echo(json.dumps(facts))
    elif attribute is not None:
        _show_attribute(facts)
    else:
        _show(facts)


def _format(path: Path) -> int:
    from countwise.model_file import read_model_file

    return int(read_model_file(path)[0]["format"])


def _attribute(facts: dict[str, Any], name: str) -> dict[str, Any]:
    for attribute in facts["attributes"]:
        if attribute["name"] == name:
            found: dict[str, Any] = attribute
            return found
    known = ", ".join(attribute["name"] for attribute in facts["attributes"][:20])
    raise failure(f"the model has no attribute {name!r}", f"it has {known}")


def _show(facts: dict[str, Any]) -> None:
    console = Console(highlight=False, width=None if Console().is_terminal else 160)
    params = ", ".join(f"{key}={value!r}" for key, value in facts["params"].items())
    lines = {
        "kind": f"{facts['kind']}({params})",
        "file": f"{facts['file']}, {facts['bytes']:,} bytes, format {facts['format']}",
        "network": structure_line(facts),
        "parameters": "-" if facts["n_parameters"] is None else f"{facts['n_parameters']:,}",
        "classes": _classes(facts),
    }
    for key, value in lines.items():
        console.print(f"{key:<12}{value}", markup=False, soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for name in ("place", "attribute", "kind", "values", "parents"):
        table.add_column(name, justify="right" if name in {"place", "values"} else "left")
    unused = len(facts["attributes"])
    for a in sorted(facts["attributes"], key=lambda a: unused if a["place"] is None else a["place"]):
        place = "-" if a["place"] is None else str(a["place"] + 1)
        table.add_row(place, a["name"], a["kind"], str(a["n_values"]), ", ".join(a["parents"]))
    console.print()
    console.print(table)


def _classes(facts: dict[str, Any]) -> str:
    if facts["prior"] is None:
        return ", ".join(map(str, facts["classes"]))
    return ", ".join(f"{label} ({p:.3g})" for label, p in zip(facts["classes"], facts["prior"], strict=True))


def _show_attribute(attribute: dict[str, Any]) -> None:
    values = attribute.get("cuts", attribute.get("categories", []))
    shown = ", ".join(map(str, values[:SHOWN_VALUES]))
    rest = len(values) - SHOWN_VALUES
    lines = {
        "attribute": f"{attribute['name']} ({attribute['kind']}, {attribute['n_values']} values)",
        "cuts" if "cuts" in attribute else "categories": shown + (f" and {rest} more" if rest > 0 else ""),
        "parents": ", ".join(["the class", *attribute["parents"]])
        if attribute["place"] is not None
        else "not used",
    }
    for key, value in lines.items():
        typer.echo(f"{key:<12}{value}")
