"""Tables and pictures as files."""

import csv

import pytest

from countwise.errors import DataError
from countwise.plots import MeanDotsDisplay
from countwise.report import Column, Page, Picture, Section, Sheet, page_of, write_files
from countwise.report.files import replacing
from countwise.whole_files import write_text


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def small_page(*titles):
    dots = MeanDotsDisplay(["nb", "tan"], [0.1, 0.2])
    table = (Column("Model", ("n,b", "tan"), ("n,b", "tan")), Column("RMSE", (0.123456789, None), ("0.1235", "-")))
    return Page("t", (Section("s", (*(Sheet(t, table) for t in titles), Picture("Dots: all", dots))),))


def test_files_are_named_by_titles_and_hold_values_not_texts(tmp_path):
    paths = write_files(small_page("Means", "means!"), tmp_path / "new" / "folder")
    assert [path.name for path in paths] == ["means.csv", "means-2.csv", "dots-all.svg", "dots-all.png"]
    assert list(csv.reader(paths[0].read_text().splitlines())) == [["Model", "RMSE"], ["n,b", "0.123457"], ["tan", ""]]
    assert paths[2].read_bytes().startswith(b"<?xml")
    assert paths[3].read_bytes().startswith(b"\x89PNG")


def test_a_page_written_again_gives_the_same_bytes_and_leaves_other_files_alone(tmp_path, folds):
    results = folds({"nb": [0.3, 0.2], '<b>&"': [0.2, 0.1]})
    (tmp_path / "mine.txt").write_text("mine")
    write_files(page_of(results, measures=["rmse"]), tmp_path)
    first = content(tmp_path)
    assert {"means-over-data-sets.csv", "rmse-mean-of-every-model.png", "what-was-run.csv", "mine.txt"} <= set(first)
    means = next(csv.DictReader((tmp_path / "means-over-data-sets.csv").read_text().splitlines()))
    assert (means["RMSE"], means["Peak memory, MB"], means["Time to fit, s"]) == ("0.15", "2", "0.5")  # in their units
    write_files(page_of(results, measures=["rmse"]), tmp_path)
    assert content(tmp_path) == first


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "page.html"
    write_text(path, "old\n")

    def fail():
        with replacing(path) as temporary:
            temporary.write_text("ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert content(tmp_path) == {"page.html": b"old\n"}


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(DataError, match="taken: is a file; name a folder"):
        write_files(small_page(), tmp_path / "taken")
