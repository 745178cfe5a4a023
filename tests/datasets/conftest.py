from pathlib import Path

import pytest

from countwise.datasets import Folder, load_folder

REAL_DATA = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Folder:
    """UCI's files beside the repository; a checkout without them skips the comparisons."""
    if not REAL_DATA.is_dir():
        pytest.skip("no folder ../shared/data beside the repository: nothing to compare with")
    return load_folder(REAL_DATA)
