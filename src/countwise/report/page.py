"""What is on a page, as plain data: sections of paragraphs, facts, tables and pictures.

Texts are as people read them, not yet escaped; a picture is a Display, not yet drawn.
"""

from dataclasses import dataclass
from typing import Any

from countwise.plots.display import Display


@dataclass(frozen=True)
class Paragraph:
    """A sentence or two."""

    text: str


@dataclass(frozen=True)
class Facts:
    """Pairs of a name and what there is to say of it."""

    title: str
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table: ``values`` for programs, ``texts`` for people, one of each per line.

    ``best`` holds the positions of the lines that are marked; ``is_text``: to the left, and may be wrapped.
    """

    heading: str
    values: tuple[Any, ...]
    texts: tuple[str, ...]
    is_text: bool = False
    best: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table; the first column names the lines. ``folded``: closed until the reader opens it."""

    title: str
    columns: tuple[Column, ...]
    note: str = ""
    folded: bool = False


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture with what it shows."""

    title: str
    display: Display
    caption: str = ""


Item = Paragraph | Facts | Sheet | Picture


@dataclass(frozen=True, eq=False)
class Section:
    """A heading and what is under it; ``level`` 3 is a part of the section of level 2 before it."""

    title: str
    items: tuple[Item, ...]
    level: int = 2


@dataclass(frozen=True, eq=False)
class Page:
    """A title and sections.

    Examples
    --------
    >>> page = Page("Two models", (Section("Means", (Paragraph("They are equal."),)),))
    >>> [section.title for section in page.sections]
    ['Means']

    """

    title: str
    sections: tuple[Section, ...]

    @property
    def items(self) -> list[Item]:
        """All that is on the page, from the top."""
        return [item for section in self.sections for item in section.items]
