"""A page as one HTML text that needs nothing else: no scripts, fonts, style sheets or pictures from outside."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Final

from countwise.plots import svg_text
from countwise.progress import progress_bar
from countwise.report.names import Names
from countwise.report.page import Column, Facts, Item, Page, Paragraph, Picture, Section, Sheet
from countwise.report.style import STYLE

TEMPLATE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<nav aria-label="Sections">
<ul>
{links}
</ul>
</nav>
</header>
<main>
{sections}
</main>
<footer><p>Made by countwise {version}.</p></footer>
</body>
</html>
"""
WIDTH: Final = re.compile(r'\bwidth="([0-9.]+pt)"')
MANY_COLUMNS: Final = 9  # from so many on, a table is printed in small letters


def html_text(page: Page) -> str:
    """The page as HTML; equal pages give equal texts.

    >>> text = html_text(Page("a < b", (Section("Means", (Paragraph("5 & 6"),)),)))
    >>> "<title>a &lt; b</title>" in text, "<p>5 &amp; 6</p>" in text
    (True, True)
    """
    from countwise import __version__

    names = Names()
    places = [names.new(section.title) for section in page.sections]
    links = [
        f'<li><a href="#{place}">{escape(section.title)}</a></li>'
        for place, section in zip(places, page.sections, strict=True)
        if section.level == 2
    ]
    pictures = _draw([item for item in page.items if isinstance(item, Picture)])
    parts = [_section(section, place, pictures) for place, section in zip(places, page.sections, strict=True)]
    return TEMPLATE.format(
        title=escape(page.title),
        style=STYLE,
        links="\n".join(links),
        sections="\n".join(parts),
        version=escape(__version__),
    )


def _draw(pictures: Sequence[Picture]) -> dict[Picture, str]:
    """Each picture as an ``<svg>`` element with ids of its own."""
    drawn = {}
    with progress_bar("pictures", len(pictures)) as bar:
        for number, item in enumerate(pictures, start=1):
            drawn[item] = svg_text(item.display.figure(), label=item.title, prefix=f"picture{number}")
            bar.advance()
    return drawn


def _section(section: Section, place: str, pictures: Mapping[Picture, str]) -> str:
    """A heading and its items; pictures and tables that follow each other stand side by side where there is room."""
    parts = [f"<h{section.level}>{escape(section.title)}</h{section.level}>"]
    for is_wide, group in groupby(section.items, key=_has_line_of_its_own):
        made = [
            _figure(item, pictures[item]) if isinstance(item, Picture) else _text(item, section.title) for item in group
        ]
        parts += made if is_wide else ['<div class="row">', *made, "</div>"]
    return f'<section id="{place}">\n' + "\n".join(parts) + "\n</section>"


def _has_line_of_its_own(item: Item) -> bool:
    return not isinstance(item, Picture | Sheet) or (isinstance(item, Sheet) and item.folded)


def _text(item: Paragraph | Facts | Sheet, above: str) -> str:
    """Anything but a picture; a title that is that of the section ``above`` is not said again."""
    if isinstance(item, Paragraph):
        return f"<p>{escape(item.text)}</p>"
    title = "" if item.title == above else f'<p class="title">{escape(item.title)}</p>\n'
    return _facts(item, title) if isinstance(item, Facts) else _sheet(item, title)


def _figure(item: Picture, svg: str) -> str:
    caption = f"<strong>{escape(item.title)}.</strong>" + (f" {escape(item.caption)}" if item.caption else "")
    width = WIDTH.search(svg)
    natural = f' style="--natural: {width[1]}"' if width else ""
    # The card scrolls where the screen is too narrow for the picture's letters to be read.
    return f'<figure>\n<div class="card"{natural}>{svg}</div>\n<figcaption>{caption}</figcaption>\n</figure>'


def _facts(item: Facts, title: str) -> str:
    pairs = [f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in item.pairs]
    return f'{title}<dl aria-label="{escape(item.title)}">\n' + "\n".join(pairs) + "\n</dl>"


def _sheet(item: Sheet, title: str) -> str:
    """A table in a box that scrolls by itself, with its title and note; behind a summary if it is folded."""
    many = " many" if len(item.columns) >= MANY_COLUMNS else ""
    name = escape(item.title)
    box = f'<div class="table{many}" role="region" aria-label="{name}" tabindex="0">\n{_table(item)}\n</div>'
    note = f'\n<p class="note">{escape(item.note)}</p>' if item.note else ""
    if item.folded:
        return f"<details>\n<summary>{name}</summary>\n{box}{note}\n</details>"
    return f'<div class="sheet">\n{title}{box}{note}\n</div>'


def _table(item: Sheet) -> str:
    classes = [' class="text"' if column.is_text else "" for column in item.columns]
    head = "".join(
        f'<th scope="col"{kind}>{escape(column.heading)}</th>'
        for column, kind in zip(item.columns, classes, strict=True)
    )
    lines = [f"<thead><tr>{head}</tr></thead>", "<tbody>"]
    n_lines = len(item.columns[0].texts) if item.columns else 0
    for i in range(n_lines):
        first, *others = item.columns
        cells = [f'<th scope="row">{escape(first.texts[i])}</th>']
        cells += [_cell(column, i, kind) for column, kind in zip(others, classes[1:], strict=True)]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join(["<table>", *lines, "</tbody>", "</table>"])


def _cell(column: Column, i: int, kind: str) -> str:
    text = escape(column.texts[i])
    return f'<td class="best"><strong>{text}</strong></td>' if i in column.best else f"<td{kind}>{text}</td>"
