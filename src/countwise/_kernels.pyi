from collections.abc import Sequence
from typing import Any

from countwise.dtypes import AnyArray, CodeArray, FloatArray, IntArray, OffsetArray

LOSS_UNIT: float

TreeShape = tuple[IntArray, IntArray, OffsetArray, OffsetArray, IntArray]
CountArrays = tuple[IntArray, OffsetArray, OffsetArray, IntArray, FloatArray, int]
SplitShape = tuple[IntArray, IntArray, OffsetArray, IntArray, AnyArray]  # see SplitTable.kernel_arrays
BuiltTree = tuple[IntArray, IntArray, OffsetArray, OffsetArray, IntArray, FloatArray]

def bin_codes(values: FloatArray, cuts: FloatArray, missing: int, out: CodeArray) -> bool: ...
def recode(codes: CodeArray, map: CodeArray, out: CodeArray) -> None: ...
def mdlp_cuts(values: FloatArray, classes: IntArray, weights: FloatArray | None, n_classes: int) -> FloatArray: ...
def random_mdlp_cuts(
    values: FloatArray, classes: IntArray, weights: FloatArray | None, n_classes: int, seed: int
) -> FloatArray: ...
def random_quantiles(values: FloatArray, mass: FloatArray, fewest: float, most: float, seed: int) -> FloatArray: ...
def tree_cuts(
    values: FloatArray,
    classes: IntArray,
    weights: FloatArray | None,
    n_classes: int,
    max_depth: int,
    min_weight: float,
    prune: bool,
) -> FloatArray: ...

class PairLayout:
    def __init__(self, arity: Sequence[int], n_classes: int, begin: int, end: int) -> None: ...
    @property
    def size(self) -> int: ...

def count_pairs(
    layout: PairLayout, columns: Sequence[CodeArray], target: CodeArray | None, n_threads: int, out: AnyArray
) -> None: ...
def count_pairs_weighted(
    layout: PairLayout,
    columns: Sequence[CodeArray],
    target: CodeArray | None,
    weights: FloatArray,
    n_threads: int,
    out: AnyArray,
) -> None: ...
def pair_entropies(layout: PairLayout, counts: AnyArray, n_threads: int, out: FloatArray) -> None: ...
def pair_margins(layout: PairLayout, counts: AnyArray, out: FloatArray) -> None: ...
def build_trees(
    columns: Sequence[CodeArray | None],
    arity: Sequence[int],
    paths: Sequence[Sequence[int]],
    children: Sequence[int],
    weights: FloatArray | None,
    n_threads: int,
) -> list[BuiltTree]: ...
def merge_trees(a: TreeShape, a_count: FloatArray, b: TreeShape, b_count: FloatArray) -> BuiltTree: ...
def link_cells(tree: CountArrays, out: IntArray) -> None: ...
def shrink(
    tree: CountArrays,
    counts: FloatArray,
    strength: FloatArray,
    cell_proba: FloatArray,
    absent: FloatArray,
    precision: FloatArray,
) -> None: ...
def hdp_vb(
    tree: CountArrays,
    group: IntArray,
    prior: tuple[float, float],
    root_concentration: float,
    counts: FloatArray,
    concentration: FloatArray,
) -> int: ...
def hdp_vb_smooth(
    tree: CountArrays,
    group: IntArray,
    prior: tuple[float, float],
    root_concentration: float,
    n_groups: int,
    cell_proba: FloatArray,
    absent: FloatArray,
    precision: FloatArray,
) -> None: ...
def dirichlet_flat(
    tree: CountArrays,
    s: float,
    weight: float,
    learn: bool,
    max_iterations: int,
    base: FloatArray,
    cell_proba: FloatArray,
    absent: FloatArray,
    precision: FloatArray,
) -> tuple[float, float, float, float, float, float, int]: ...
def dirichlet_tree(
    tree: CountArrays,
    s: float,
    weight: float,
    learn: bool,
    max_iterations: int,
    cell_proba: FloatArray,
    absent: FloatArray,
    precision: FloatArray,
) -> tuple[float, float, float, float, float, float, int]: ...
def dirichlet_derivatives(tree: CountArrays, s: float, weight: float, kappa: FloatArray, tau: float) -> FloatArray: ...
def hls_objective(
    tree: CountArrays, counts: FloatArray, prior: float, penalty: float, x: FloatArray, gradient: FloatArray
) -> float: ...
def hls_losses(
    tree: CountArrays,
    counts: FloatArray,
    prior: float,
    penalties: FloatArray,
    held_out: FloatArray | None,
    tolerance: float,
    max_iterations: int,
    out: FloatArray,
) -> None: ...
def hls_fit(
    tree: CountArrays,
    counts: FloatArray,
    prior: float,
    penalty: float,
    tolerance: float,
    max_iterations: int,
    cell_proba: FloatArray,
    absent: FloatArray,
    precision: FloatArray,
) -> float: ...
def hgs_loss(tree: CountArrays, uniform: float, squared: bool, weight: FloatArray, gradient: FloatArray) -> float: ...
def hgs_centres(
    tree: CountArrays, chance: FloatArray, freedom: float, least: float, most: float, out: FloatArray
) -> None: ...
def hgs_fit(
    tree: CountArrays,
    uniform: float,
    squared: bool,
    spread: float,
    tolerance: float,
    max_iterations: int,
    weight: FloatArray,
) -> float: ...
def hgs_smooth(
    tree: CountArrays,
    uniform: float,
    weight: FloatArray,
    cell_proba: FloatArray,
    absent: FloatArray,
    precision: FloatArray,
) -> None: ...
def hdp_gibbs(
    tree: CountArrays,
    group: IntArray,
    shape: float,
    rate: float,
    root_concentration: float,
    n_iter: int,
    burn_in: int,
    seed: int,
    draw_node: int,
    cell_proba: FloatArray,
    absent: FloatArray,
    precision: FloatArray,
    concentration: FloatArray,
    trace: FloatArray,
    draws: FloatArray,
) -> None: ...
def hdp_crt(
    tree: CountArrays,
    group: IntArray,
    shape: float,
    rate: float,
    root_concentration: float,
    n_iter: int,
    burn_in: int,
    seed: int,
    draw_node: int,
    cell_proba: FloatArray,
    absent: FloatArray,
    precision: FloatArray,
    concentration: FloatArray,
    trace: FloatArray,
    draws: FloatArray,
) -> None: ...
def log_stirling(n: OffsetArray, t: OffsetArray, out: FloatArray) -> None: ...
def stirling_ratios(n: int, t: int, over_tables: bool, far: bool, out: FloatArray) -> None: ...
def random_draws(kind: str, a: float, b: float, seed: int, out: FloatArray) -> None: ...
def release_memory() -> None: ...
def softmax_rows(n_rows: int, n_classes: int, n_threads: int, out: FloatArray) -> None: ...

class Lookup:
    def __init__(self, n_classes: int, n_terms: int) -> None: ...
    def set(
        self,
        position: int,
        child: int,
        parents: Sequence[int],
        arity: Sequence[int],
        tree: TreeShape,
        cell_proba: FloatArray,
        absent: FloatArray,
        hierarchical: bool,
        base: FloatArray | None = None,
        sparse_below: int = ...,
        large: int = ...,
        narrow: int = ...,
    ) -> None: ...
    def log_joint(
        self,
        columns: Sequence[CodeArray],
        arity: Sequence[int],
        log_prior: FloatArray,
        factors: FloatArray | None,
        n_rows: int,
        n_threads: int,
        out: FloatArray,
    ) -> None: ...
    def contributions(
        self,
        columns: Sequence[CodeArray],
        arity: Sequence[int],
        factors: FloatArray | None,
        n_rows: int,
        n_threads: int,
        out: FloatArray,
    ) -> None: ...

class LeaveOneOut:
    def __init__(self, class_counts: FloatArray, n_levels: int, m: float, n_terms: int) -> None: ...
    def set(
        self,
        position: int,
        child: int,
        parents: Sequence[int],
        arity: Sequence[int],
        n_classes: int,
        tree: TreeShape,
        cell_count: FloatArray,
        node_count: FloatArray,
    ) -> None: ...
    def losses(
        self,
        columns: Sequence[CodeArray],
        arity: Sequence[int],
        target: CodeArray | None,
        weights: FloatArray | None,
        one_row: FloatArray | None,
        loss: int,
        scale: float,
        n_threads: int,
        out: OffsetArray,
    ) -> None: ...

class PathLoss:
    def __init__(
        self,
        class_counts: FloatArray,
        root_concentration: float,
        n_terms: int,
        n_levels: int,
        target: CodeArray | None,
        weights: FloatArray | None,
        left_out: FloatArray | None,
    ) -> None: ...
    def add_term(
        self,
        position: int,
        family: tuple[int, Sequence[int]],
        columns: Sequence[CodeArray],
        arity: Sequence[int],
        tree: TreeShape,
        cell_count: FloatArray,
        concentration: FloatArray,
    ) -> None: ...
    def group_sums(
        self, strength: FloatArray, group: Sequence[int], n_groups: int, n_threads: int, out: FloatArray
    ) -> None: ...
    @property
    def log_prior(self) -> FloatArray: ...
    def evaluate(
        self,
        strength: FloatArray,
        weight: FloatArray,
        bias: FloatArray,
        n_threads: int,
        d_strength: FloatArray,
        d_weight: FloatArray,
        d_bias: FloatArray,
    ) -> float: ...

SearchRows = tuple[Any, ...]  # codes, arity, target, n_classes, weights and left_out, or None

def gain_parents(rows: SearchRows, order: Sequence[int], n_parents: int, n_candidates: int) -> list[list[int]]: ...
def class_parents(
    rows: SearchRows,
    order: Sequence[int],
    n_parents: int,
    n_candidates: int,
    sequence: Sequence[int],
    scored: Sequence[int],
    n_later: int,
    least_score: float,
) -> list[list[int]]: ...
def left_out_log_proba(
    tree: CountArrays,
    counts: FloatArray,
    strength: FloatArray,
    root_concentration: float,
    factor: float,
    rows: tuple[IntArray, CodeArray | None, FloatArray],
    n_threads: int,
    out: FloatArray,
) -> None: ...
def fit_temperature(
    target: CodeArray,
    weights: FloatArray,
    offset: FloatArray,
    evidence: FloatArray,
    priors: tuple[float, float, float, float],
    log_temperature: float,
    bias: FloatArray,
) -> tuple[float, float]: ...
def fit_weights(
    rows: tuple[CodeArray, FloatArray],
    offset: FloatArray,
    terms: FloatArray,
    group: CodeArray,
    n_groups: int,
    priors: tuple[float, float, float, float],
    n_threads: int,
    weight: FloatArray,
    bias: FloatArray,
) -> float: ...
def grow_tree(
    columns: Sequence[CodeArray],
    arity: Sequence[int],
    n_values: Sequence[int],
    target: CodeArray,
    n_classes: int,
    weights: FloatArray | None,
    n_known: Sequence[int],
    options: tuple[int, float, int, int, int, bool, bool],
    n_threads: int,
) -> tuple[
    IntArray,
    IntArray,
    IntArray,
    IntArray,
    IntArray,
    OffsetArray,
    OffsetArray,
    IntArray,
    FloatArray,
    OffsetArray,
    IntArray,
]: ...
def choose_splits(
    tables: Sequence[FloatArray],
    arity: Sequence[int],
    n_values: Sequence[int],
    n_classes: int,
    options: tuple[int, float, bool, bool, float, bool, int],
    column: IntArray,
    low: IntArray,
    high: IntArray,
) -> tuple[OffsetArray, IntArray]: ...
def sum_upwards(
    parent: IntArray, key: OffsetArray, count: FloatArray, arity: int
) -> tuple[OffsetArray, IntArray, FloatArray]: ...
def reach_nodes(
    columns: Sequence[CodeArray],
    n_values: Sequence[int],
    splits: SplitShape,
    n_threads: int,
    out: IntArray,
) -> None: ...
def spread_rows(
    columns: Sequence[CodeArray],
    n_values: Sequence[int],
    splits: SplitShape,
    spreading: tuple[Sequence[int], FloatArray, bool],
    n_rows: int,
    n_threads: int,
) -> tuple[OffsetArray, IntArray, FloatArray]: ...
def spread_proba(
    columns: Sequence[CodeArray],
    n_values: Sequence[int],
    splits: SplitShape,
    spreading: tuple[Sequence[int], FloatArray, bool],
    proba: FloatArray,
    n_rows: int,
    n_threads: int,
    out: FloatArray,
) -> None: ...
def node_proba(
    tree: CountArrays,
    cell_proba: FloatArray,
    absent: FloatArray,
    base: FloatArray | None,
    hierarchical: bool,
    nodes: IntArray,
    n_threads: int,
    out: FloatArray,
) -> None: ...
