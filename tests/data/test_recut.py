"""Cut points chosen among finer ones: as if the discretiser had seen the bins' numbers row by row."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from countwise.data.codec import CategoryCodec, Codec, NumberCodec
from countwise.data.coded import CodedBatch
from countwise.data.discretise import EqualFrequency, RandomMDLP, RandomQuantiles
from countwise.data.recut import recut_codec

CLASSES = np.array(["a", "b", "c"])


def table(seed, n_rows=300, weighted=False):
    """Numbers whose class changes at 0 and 1, one without cuts, one that is all missing, and words."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n_rows)
    target = ((x > 0).astype(int) + (x > 1) + (rng.random(n_rows) < 0.1)) % 3
    x[rng.random(n_rows) < 0.1] = np.nan
    fine = Codec(
        (
            NumberCodec("x", np.unique(rng.normal(size=60)), 0, True),
            NumberCodec("constant", np.empty(0), 1, False),
            NumberCodec("empty", np.empty(0), 0, True),
            CategoryCodec("w", pa.array(["p", "q"]), False),
        ),
        CLASSES,
    )
    fine = replace(fine, columns=(replace(fine.columns[0], n_bins=len(fine.columns[0].cuts) + 1), *fine.columns[1:]))
    given = [x, np.ones(n_rows), np.full(n_rows, np.nan), pa.array(rng.choice(["p", "q"], n_rows))]
    codes = [column.encode(values) for column, values in zip(fine.columns, given, strict=True)]
    weights = rng.integers(1, 4, n_rows).astype(float) if weighted else None
    return fine, CodedBatch(codes, target.astype(np.uint8), weights, n_rows), x


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("tells", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_discretiser_on_the_bins_of_every_row(seed, tells, weighted):
    """Random MDLP where the column tells something about the class, quantiles where it does not."""
    fine, rows, _ = table(seed, weighted=weighted)
    if not tells:
        rows = replace(rows, target=np.random.default_rng(seed).permutation(rows.target))
    random_mdlp, otherwise = RandomMDLP(5), RandomQuantiles(6)
    own = recut_codec(fine, rows, random_mdlp, otherwise)
    discretiser = random_mdlp if tells else otherwise
    assert own.columns[1:] == fine.columns[1:]
    codes, met = rows.codes[0].astype(float), rows.codes[0] < fine.columns[0].n_bins
    weights = None if rows.weights is None else rows.weights[met]
    direct = discretiser.for_column(0).cuts(codes[met], rows.target[met].astype(np.int32), weights, 3)
    number = own.columns[0]
    assert (number.n_bins, number.has_missing) == (len(direct) + 1, True)
    assert len(direct) >= 1
    # The same rows fall together, whether cut by codes or by values.
    np.testing.assert_array_equal(
        np.searchsorted(number.cuts, np.append(fine.columns[0].cuts, np.inf))[rows.codes[0][met]],
        np.searchsorted(direct, codes[met]),
    )


def test_a_sharp_threshold_is_found():
    fine, rows, x = table(0)
    target = np.where(np.isnan(x), 2, x > fine.columns[0].cuts[40]).astype(np.uint8)
    own = recut_codec(fine, replace(rows, target=target), RandomMDLP(), EqualFrequency())
    assert fine.columns[0].cuts[40] in own.columns[0].cuts


def test_no_rows():
    fine, rows, _ = table(0)
    own = recut_codec(fine, rows.select(np.empty(0, int)), RandomMDLP(), EqualFrequency())
    assert [column.arity for column in own.columns] == [2, 1, 1, 2]
