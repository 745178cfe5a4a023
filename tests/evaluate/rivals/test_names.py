"""Names, packages, and what they cost to import."""

import subprocess
import sys

import pytest

from countwise.errors import DataError
from countwise.evaluate import rivals
from countwise.evaluate.rivals.names import RIVAL_NAMES, missing_package

OPTIONAL = {name: package for name, (_, package) in RIVAL_NAMES.items() if package is not None}


def test_names_and_registry_agree():
    assert list(RIVAL_NAMES) == list(rivals.RIVALS)
    for name, (line, package) in RIVAL_NAMES.items():
        assert line
        if package is None:
            assert missing_package(name) is None
            assert rivals.RIVALS[name](0, None).get_params()


def test_names_are_listed_without_slow_modules():
    slow = {"sklearn.ensemble", "sklearn.linear_model", *OPTIONAL.values()}
    code = f"import sys, countwise.evaluate.rivals.names; print(sorted({slow!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", OPTIONAL)
@pytest.mark.parametrize("other", [None, "pandas"])
def test_a_missing_package_is_named_with_the_way_to_get_it(name, other, monkeypatch):
    if other is not None:
        pytest.importorskip(OPTIONAL[name], reason=f"rival {name!r} needs {OPTIONAL[name]}")
    package = other or OPTIONAL[name]
    monkeypatch.setitem(sys.modules, package, None)
    assert missing_package(name) == package
    with pytest.raises(ModuleNotFoundError) as caught:
        rivals.RIVALS[name](0, None)
    assert str(caught.value) == f"model {name!r} needs the package {package}: pip install 'countwise[rivals]'"
    assert caught.value.name == package
    assert rivals.RIVALS["rf"](0, None) is not None


def test_an_unknown_name_is_told_the_known_ones():
    with pytest.raises(DataError, match="'svm' is not known; there are rf, rf-coded"):
        missing_package("svm")
