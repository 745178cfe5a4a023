import pytest

from countwise.errors import DataError
from countwise.structure import Structure, check_order, given_structure, naive
from countwise.tree.context import Family

NAMES = ["a", "b", "c", "d"]


def test_names_and_positions():
    structure = given_structure(NAMES, {"c": ["a", 1], 0: [], "b": ["a"]})
    assert structure.parents == ((), (0,), (0, 1), ())
    assert structure.order.index(0) < structure.order.index(1) < structure.order.index(2)
    assert set(structure.order) == {0, 1, 2}
    assert set(structure.edges) == {("a", "b"), ("a", "c"), ("b", "c")}


def test_parents_keep_their_order():
    assert given_structure(NAMES, {"a": [], "b": [], "c": ["b", "a"]}).parents[2] == (1, 0)


def test_a_structure_is_taken_as_it_is():
    structure = naive(NAMES)
    assert given_structure(NAMES, structure) is structure
    with pytest.raises(DataError, match="structure is for columns"):
        given_structure(["a", "b"], structure)


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ({"a": ["b"], "b": ["a"]}, r"cycle through \['a', 'b'\]"),
        ({"a": ["c"], "b": ["a"], "c": ["b"], "d": []}, r"cycle through \['a', 'b', 'c'\]"),
        ({"a": ["a"]}, r"structure\['a'\] names a column twice or the attribute itself"),
        ({"a": [], "b": ["a", 0]}, r"structure\['b'\] names a column twice"),
        ({"e": []}, "'e', which is not a column"),
        ({"a": ["e"]}, "'e', which is not a column"),
        ({"a": ["b"]}, r"\['b'\] as parents but does not list them"),
        ({"a": [], "b": "a"}, "must be a list of columns, got the string 'a'"),
        ({4: []}, "holds 4; there are 4 columns"),
        ({-1: []}, "holds -1"),
        ({"a": [], 0: ["b"], "b": []}, "lists column 'a' twice, by name and by position"),
    ],
)
def test_errors(parents, message):
    with pytest.raises(DataError, match=message):
        given_structure(NAMES, parents)


def test_restricted():
    structure = Structure(tuple(NAMES), (2, 0, 3, 1), ((2,), (3, 0, 2), (), (0, 2)))
    part = structure.restricted(3, 1)
    assert part.order == (2, 0, 3)
    assert part.parents == ((2,), (), (), (0,))
    assert part.families == [Family(2, ()), Family(0, (2,)), Family(3, (0,))]
    assert structure.restricted(4, 5) == structure
    assert structure.restricted(0, 2).families == []
    assert structure.restricted(2, 0).parents == ((), (), (), ())


def test_text():
    structure = Structure(tuple(NAMES), (2, 0), ((2,), (), (), ()))
    assert str(structure) == "c <- class\na <- class, c"


def test_order_of_names_and_positions():
    assert check_order(NAMES, ["d", 0]) == [3, 0]
