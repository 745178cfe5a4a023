"""Files: bytes that repeat, sizes, and SVG that can stand beside other SVG on a page."""

import re
import xml.etree.ElementTree as ET

import pytest

pytest.importorskip("matplotlib")

from PIL import Image

from countwise.errors import DataError
from countwise.plots import save, svg_text
from plots.pictures import one_of_each


@pytest.fixture(scope="module")
def figures():
    displays = one_of_each()
    return displays["scatter"].figure(), displays["critical_difference"].figure()


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_file_is_the_same_each_time(figures, tmp_path, ending):
    save(figures[0], tmp_path / f"a.{ending}")
    save(one_of_each()["scatter"].figure(), tmp_path / f"b.{ending.upper()}")
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending.upper()}").read_bytes()


def test_png_has_200_dots_per_inch(figures, tmp_path):
    save(figures[0], str(tmp_path / "a.png"))
    with Image.open(tmp_path / "a.png") as image:
        width, height = figures[0].get_size_inches()
        assert image.size == (int(200 * width), int(200 * height))


def test_svg_has_no_date_no_version_and_no_fonts(figures, tmp_path):
    save(figures[0], tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert not re.search(r"<dc:date>|Matplotlib v|<text", text)


def test_other_endings_are_refused(figures, tmp_path):
    with pytest.raises(DataError, match=r"a\.jpg: the ending '\.jpg' is not known; use \.svg, \.pdf, \.png"):
        save(figures[0], tmp_path / "a.jpg")


def test_ids_of_two_pictures_on_a_page_differ_and_references_hold(figures):
    one, other = (svg_text(figure) for figure in figures)
    ids = [set(re.findall(r'\bid="([^"]+)"', text)) for text in (one, other)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for text, own in zip((one, other), ids, strict=True):
        used = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text)
        assert used
        assert {a or b for a, b in used} <= own


def test_one_picture_twice_gets_prefixes(figures):
    one, other = svg_text(figures[0], prefix="a"), svg_text(figures[0], prefix="b")
    assert one.replace('"a-', '"b-').replace("#a-", "#b-") == other != one


def test_svg_text_is_one_element_that_styles_nothing_else(figures):
    text = svg_text(figures[0], label='1 < 2 & "so"')
    root = ET.fromstring(text)
    assert root.tag.endswith("svg")
    assert root.get("aria-label") == '1 < 2 & "so"'
    assert "<style" not in text
    assert "<?xml" not in text
    assert "stroke-linejoin: round" in root.get("style")
