"""The page as text: well formed, escaped, and in need of nothing from outside."""

import re
from html.parser import HTMLParser

import pytest

from countwise.report import Column, Page, Paragraph, Section, Sheet, html_text, page_of

VOID = {"meta", "br", "hr", "img", "link", "input"}
NASTY = '<b>&"'


class Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.text, self.tags = [], [], [], [], set()

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in {"href", "src", "xlink:href", "srcset", "action", "data"}:
                self.links.append(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def results(folds):
    return folds({NASTY: [0.3, 0.2], "tan": [0.2, 0.1], "rf": [0.1, 0.3]}, ["<i>", "a&amp;b"])


@pytest.fixture(scope="module")
def text(results):
    return html_text(page_of(results))


def test_every_tag_is_closed_and_every_id_is_there_once(text):
    reader = read(text)
    assert len(reader.ids) == len(set(reader.ids))
    assert "svg" in reader.tags
    assert {link[1:] for link in reader.links} <= set(reader.ids)


def test_names_are_escaped(text):
    reader = read(text)
    cells = [part.strip() for part in reader.text]
    for name in (NASTY, "tan", "rf", "<i>", "a&amp;b"):
        assert name in cells
    assert not reader.tags & {"b", "i"}


def test_nothing_comes_from_outside(text):
    reader = read(text)
    assert all(link.startswith("#") for link in reader.links)
    assert not reader.tags & {"script", "link", "img", "iframe", "object"}
    assert not re.search(r"@import|url\((?!#)", text)


def test_pages_of_training_sizes_and_of_failures_are_well_formed_too(sized, broken):
    for results in (sized(), broken):
        assert "Failures" in read(html_text(page_of(results, measures=["rmse"]))).text


def test_equal_results_give_equal_bytes(results, text):
    assert html_text(page_of(results)) == text


def test_best_values_are_strong_and_folded_tables_are_closed():
    numbers = Column("RMSE", (0.1, 0.2), ("0.1000", "0.2000"), best=frozenset({0}))
    columns = (Column("Model", ("nb", "tan"), ("nb", "tan"), is_text=True), numbers)
    page = Page("t", (Section("s", (Sheet("open", columns, "A note."), Sheet("closed", columns, folded=True))),))
    text = html_text(page)
    assert text.count('<td class="best"><strong>0.1000</strong></td><') == 2
    assert "<td>0.2000</td>" in text
    assert "<details>\n<summary>closed</summary>" in text
    assert '<p class="note">A note.</p>' in text
    assert '<th scope="row">nb</th>' in text


def test_sections_of_one_title_have_places_of_their_own():
    page = Page("t", (Section("Means", (Paragraph("1"),)), Section("Means", (Paragraph("2"),))))
    assert read(html_text(page)).ids == ["means", "means-2"]
