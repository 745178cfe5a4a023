"""One page on a run: results become plain data, and these become HTML, CSV files and pictures.

``page_of(results)`` says what is on the page, ``html_text(page)`` is the page itself, ``write_files(page, folder)``
writes its tables and pictures one by one. Pictures are drawn by matplotlib: ``pip install 'countwise[plot]'``.

>>> page = Page("A run", (Section("Means", (Paragraph("All models are equal."),)),))
>>> html_text(page)[:15]
'<!DOCTYPE html>'
"""

from countwise.report.contents import page_of
from countwise.report.files import write_files
from countwise.report.html import html_text
from countwise.report.page import Column, Facts, Item, Page, Paragraph, Picture, Section, Sheet

__all__ = [
    "Column",
    "Facts",
    "Item",
    "Page",
    "Paragraph",
    "Picture",
    "Section",
    "Sheet",
    "html_text",
    "page_of",
    "write_files",
]
