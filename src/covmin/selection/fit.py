"""A fit in six verbs: plan, look, choose, run, check and present."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from math import comb
from typing import Any

from scipy.sparse import issparse

from covmin.constants import EACH_SIZE_UP_TO, MANY_ROWS, MEMORY_NUMBERS, NOISE, RIDGE_LIMITS
from covmin.core.kernels import Kernel, Mixed
from covmin.core.path import Path, run_path, stage_of
from covmin.core.problem import DEVICE_EFFORT, EFFORT, Problem
from covmin.core.screening import SEARCH
from covmin.data import Table
from covmin.data.blocks.sparse import is_made_dense
from covmin.data.standardize import DistinctRows, PreparedColumns, goes_by_rank, n_features_to_keep
from covmin.plan.formulation import FORMULATIONS, approximation_of, formulation_of
from covmin.plan.look import FirstLook
from covmin.plan.plan import Decision, Plan
from covmin.plan.rules import (
    Size,
    candidate_sizes,
    choose_approximation,
    given_ridges,
    is_by_chance,
    kernel_of,
    mixing_share,
    pair_rows,
    pair_waves,
    paper_ridge,
    ridge_for_noise,
    ridge_for_units,
    search_order,
    with_share,
)
from covmin.remarks import warn
from covmin.runtime.machine import blas_threads, row_threads
from covmin.runtime.run import Run
from covmin.runtime.seeds import seed_of
from covmin.text import listed

from .assemble import Method
from .crossval import (
    FEWEST_SAMPLES,
    CrossValidation,
    beyond_given,
    cross_validate,
    lists_rows,
    splits,
)
from .scoring import estimator_score, warn_if_not_used


@dataclass(frozen=True)
class Settings:
    """The parameters of :class:`covmin.CCMSelector` of the same names, once they are checked."""

    n_features_to_select: Any = "auto"
    cv: Any = None
    estimator: Any = None
    scoring: Any = None
    standardize: Any = True
    kernel: Any = "auto"
    epsilon: Any = "auto"
    formulation: Any = "path"
    interactions: bool | int | str = "auto"
    approximation: Any = "auto"
    device: str | None = None
    n_jobs: int | None = None
    seed: int = 0

    @classmethod
    def of(cls, selector: Any, device: str | None) -> Settings:
        """Return the settings of a selector; invalid ones raise an error."""
        names = [name for name in cls.__dataclass_fields__ if hasattr(selector, name)]
        settings = cls(**{name: getattr(selector, name) for name in names})
        formulation = copy(formulation_of(settings.formulation))
        kernel_of(settings.kernel, formulation)
        # Later changes of the user's objects must not affect the plan.
        kernel = copy(settings.kernel)
        seed = seed_of(selector.random_state)
        return replace(settings, formulation=formulation, kernel=kernel, device=device, seed=seed)


@dataclass(frozen=True)
class Fit:
    """The result of a fit, from which all fitted attributes are derived."""

    plan: Plan
    table: Table  # what remains of the response beyond the given features
    columns: PreparedColumns
    problem: Problem
    path: Path
    m: int
    cross_validation: CrossValidation | None
    device: str | None


def fit(table: Table, columns: PreparedColumns, settings: Settings, run: Run) -> Fit:
    """Select features of a table with prepared columns."""
    method, decisions = plan(table, columns, settings)
    on_host = method.approximation is None and method.device is None
    with blas_threads(columns.n_distinct if on_host else 0, method.n_threads):
        rows = columns.independent(settings.seed)
        table = beyond_given(table, rows, settings.standardize)
        data = method.problem(columns, table.response.Y)
        method, epsilons, first, seen = look(method, data, table, columns, settings)
        described = _described(method, (*decisions, *seen), epsilons, table, columns)
        run.planned(described)
        choice = choose(method, epsilons, table, rows, settings, run)
        problem = method.formulated(data, columns, table.response, choice.epsilon)
        path = run_stages(method, problem, first, choice.m, run)
        path, checked = check(method, problem, path, choice.m, run)
    check_lambda2(method, columns.total_weight, choice.epsilon)
    later = (*choice.decisions, *checked)
    described = replace(described, decisions=(*described.decisions, *later))
    return Fit(
        described,
        table,
        columns,
        problem,
        path,
        choice.m,
        choice.cross_validation,
        settings.device,
    )


def _described(
    method: Method,
    decisions: tuple[Decision, ...],
    epsilons: tuple[float, ...],
    table: Table,
    columns: PreparedColumns,
) -> Plan:
    """Return the plan; of several decisions on a topic the last counts."""
    last = {decision.topic: decision for decision in decisions if decision.topic != "columns"}
    read = [Decision("columns", reading.choice, reading.words) for reading in table.readings]
    return Plan(
        (*read, *last.values()),
        method.task,
        columns.n_distinct,
        columns.index.size,
        method.formulation,
        method.approximation,
        method.kernel,
        epsilons,
        table.readings,
    )


# --- plan ----------------------------------------------------------------------------------------


def plan(
    table: Table, columns: PreparedColumns, settings: Settings
) -> tuple[Method, list[Decision]]:
    """Return what follows from the size of the table and from the settings."""
    formulation = settings.formulation
    kernel = kernel_of(settings.kernel, formulation)
    approximation, n_components = approximation_of(settings.approximation)
    n_components = 2 * -(-n_components // 2)  # cosines and sines
    size = Size(
        columns.n_distinct,
        columns.index.size,
        table.response.Y.shape[1],
        columns.X.dtype.itemsize,
        n_components,
        settings.device is not None,
        EFFORT if (settings.device or "cpu").startswith("cpu") else DEVICE_EFFORT,
    )
    chosen, reason = choose_approximation(approximation, kernel, size)
    what = f"{n_components} random Fourier features" if chosen else "exact kernel matrix"
    if chosen and (kernel.components_are_exact or not kernel.sees_interactions):
        what = "feature map of each column"
    decisions = [Decision("approximation", what, reason)]
    if formulation not in FORMULATIONS.values():
        decisions.append(Decision("formulation", repr(formulation), "as requested"))
    kernel, decision = _mixed(kernel, settings, columns, n_components if chosen else None)
    given = () if isinstance(settings.epsilon, str) else given_ridges(settings.epsilon)
    # A ridge far outside our range needs double precision.
    usual = all(RIDGE_LIMITS[0] <= epsilon <= 1.0 / RIDGE_LIMITS[0] for epsilon in given)
    is_auto = isinstance(settings.kernel, str) and settings.kernel == "auto"
    saves_work = approximation != "exact" and formulation.is_plain and usual
    rows = pair_rows(size.n_samples, size.n_columns, size.n_responses)
    order = search_order(settings.interactions, rows, size.n_columns, size.n_responses)
    method = Method(
        table.response.task,
        formulation,
        kernel,
        chosen,
        n_components,
        settings.device,
        settings.seed,
        n_threads=row_threads() if chosen else 1,
        effort=size.effort if saves_work else None,
        refines=is_auto and formulation.is_plain,
        order=order if kernel.sees_interactions and formulation.is_path else 0,
    )
    decisions += [
        *_of_rows(method, size),
        _of_screening(method, size, settings),
        *_of_table(table, columns, settings.standardize),
        decision,
    ]
    return method, decisions


def _mixed(
    kernel: Kernel, settings: Settings, columns: PreparedColumns, n_components: int | None
) -> tuple[Kernel, Decision]:
    """Set the additive share of a mixed kernel, from the numbers of samples and features.

    D random Fourier features cannot distinguish more than D samples, so D replaces the number of
    samples.
    """
    how = "as requested"
    if isinstance(settings.kernel, str) and settings.kernel == "auto":
        is_path = settings.formulation.is_path
        how = "default of a path" if is_path else "the paper's kernel, for a single solve"
    if isinstance(kernel, Mixed):
        share: Any = kernel.mixing
        if isinstance(share, str):
            n, d = n_components or columns.n_distinct, columns.units.n_features
            share = mixing_share(n, d)
            how = f"{d:g} features, {n} {'Fourier features' if n_components else 'samples'}"
        kernel = with_share(kernel, float(share))
    return kernel, Decision("kernel", _in_words(kernel), how)


def _in_words(kernel: Kernel) -> str:
    if isinstance(kernel, Mixed):
        return f"mixed, {kernel.mixing:.0%} additive"
    changed = repr(kernel).partition("(")[2].rstrip(")")
    return f"{kernel.name}, {changed}" if changed else kernel.name


def _of_rows(method: Method, size: Size) -> list[Decision]:
    decision = Decision("rows", "all at once", f"{size.n_samples} samples in memory")
    if method.approximation and method.device is None:
        decision = Decision("rows", "in blocks", "sized to fit in the cache")
    if method.effort is None:
        return [decision]
    n_components = size.n_components if method.approximation else 0
    rows = size.effort.rows(method.kernel, size.n_columns, n_components)
    few = f"{rows} rows, and single effects on all rows"
    choice = few if rows < size.n_samples else "all rows"
    limit = f"at most {size.effort.work:.0e} multiplications per step"
    return [decision, Decision("first stage", f"{choice}, single precision", limit)]


def _of_screening(method: Method, size: Size, settings: Settings) -> Decision:
    if not method.order:
        reason = "a single solve"
        if settings.interactions in (0, 1) and settings.interactions is not True:
            reason = "as requested"
        elif not method.kernel.sees_interactions:
            reason = f"the {method.kernel.name} kernel cannot represent them"
        return Decision("interactions", "not searched for", reason)
    rows = pair_rows(size.n_samples, size.n_columns, size.n_responses)
    n_waves = pair_waves(rows, size.n_columns, size.n_responses)
    by = f"products of {n_waves} functions of each column" if n_waves > 1 else "products"
    also = ", and features that affect the spread of y" if method.task == "regression" else ""
    reason = "all of them" if rows == size.n_samples else "as many as time and memory allow"
    n_sets = sum(comb(size.n_columns, q) for q in range(2, method.order + 1))
    sets = f"all {n_sets:,} sets of up to {method.order} columns"
    return Decision("interactions", f"{sets}, by {by}{also}, on {rows} rows", reason)


def _of_table(table: Table, columns: PreparedColumns, standardize: Any) -> list[Decision]:
    """Return what was done to samples that repeat, to missing values and to sparse tables."""
    decisions, n_rows = [], columns.p.size
    if n_rows > columns.n_distinct:
        choice = f"{n_rows - columns.n_distinct} of {n_rows} samples merged"
        reason = "a duplicate adds its weight to the sample it repeats"
        decisions.append(Decision("duplicates", choice, reason))
    scores = None if goes_by_rank(standardize) else columns.scores
    if scores is not None:
        far = [name for name, knots in zip(table.column_labels, scores.knots, strict=True) if knots]
        choice = f"clipped in {len(far)} column{'s' if len(far) > 1 else ''}: {listed(far)}"
        reason = "beyond what normal values of so many samples reach, and most of the variance"
        decisions.append(Decision("far values", choice, reason))
    if names := table.columns_with_missing:
        choice = f"{len(names)} column{'s' if len(names) > 1 else ''}: {listed(names)}"
        reason = (
            "set to the mean, with an indicator of missingness that shares the weight of the column"
        )
        decisions.append(Decision("missing values", choice, reason))
    X = table.passed[0]
    if issparse(X):
        n_numbers, made = X.shape[0] * X.shape[1], is_made_dense(X)
        choice = "converted to dense" if made else "converted a few rows or columns at a time"
        reason = f"{n_numbers} numbers, {'at most' if made else 'more than'} {MEMORY_NUMBERS}"
        decisions.append(Decision("sparse table", choice, reason))
    return decisions


# --- look ----------------------------------------------------------------------------------------


def look(
    method: Method, data: Problem, table: Table, columns: PreparedColumns, settings: Settings
) -> tuple[Method, tuple[float, ...], FirstLook, list[Decision]]:
    """Return the kernel and the candidate ridges after a first look at the data."""
    problem = method.formulated(data, columns, table.response, 1.0)
    first = FirstLook(problem, method.task, method.order)
    decisions = list[Decision]()
    is_auto = isinstance(settings.kernel, str) and settings.kernel == "auto"
    if is_auto and method.formulation.is_plain:
        method, first, decisions = _of_rare_values(method, first, columns)
    epsilons, decision = _ridges(method, first, columns, settings)
    return method, epsilons, first, [*decisions, decision]


def _of_rare_values(
    method: Method, first: FirstLook, columns: PreparedColumns
) -> tuple[Method, FirstLook, list[Decision]]:
    """Use the additive kernel if two features rarely take unusual values together.

    An example is two words that rarely occur in the same document. Then too few samples can show
    an interaction, and all other samples are nearly alike: a joint kernel sees little more than how
    unusual a sample is. The additive kernel is used only if no pair stands out and single effects
    predict better than chance.
    """
    n = columns.n_effective
    enough = min(SEARCH.fewest_carriers, SEARCH.carrier_share * n)
    if (
        not method.order
        or first.pair_carriers(n) >= enough
        or first.protected.interactions.share.size
    ):
        return method, first, []
    kernel = with_share(method.kernel, 1.0)
    alone = first.by(kernel)
    if is_by_chance(alone.unpredicted, min(n, NOISE[0])):
        return method, first, []
    why = "features rarely vary together, no pair stands out, and single effects do"
    decisions = [Decision("kernel", _in_words(kernel), why)]
    if method.approximation:
        what = "feature map of each column"
        decisions.append(Decision("approximation", what, "of the additive kernel"))
    return replace(method, kernel=kernel), alone, decisions


def _ridges(
    method: Method, first: FirstLook, columns: PreparedColumns, settings: Settings
) -> tuple[tuple[float, ...], Decision]:
    """Return the candidate values of ε."""
    if not isinstance(settings.epsilon, str):
        given = given_ridges(settings.epsilon)
        return given, Decision("ridge", ", ".join(f"{e:g}" for e in given), "as requested")
    formulation, n = method.formulation, columns.n_effective
    if not formulation.is_path or formulation.inverse != "exact":
        epsilon, reason = paper_ridge(method.task, formulation)
    else:
        n_seen = min(n, NOISE[0])
        epsilon, reason = ridge_for_noise(n, first.unpredicted, first.has_single_effects, n_seen)
    least = ridge_for_units(columns.unit_sizes, columns.n_distinct)
    if least > epsilon:
        epsilon, reason = least, "categories, groups or missing values of different sizes"
    return (epsilon,), Decision("ridge", f"{epsilon:.3g}", reason)


# --- choose --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """The ridge and the number of features, and how they were chosen."""

    epsilon: float
    m: int
    decisions: tuple[Decision, ...]
    cross_validation: CrossValidation | None = None


def choose(
    method: Method,
    epsilons: tuple[float, ...],
    table: Table,
    rows: DistinctRows,
    settings: Settings,
    run: Run,
) -> Choice:
    """Return ε and m, by cross-validation if they are not given."""
    d, wanted = table.layout.n_choices, None
    if settings.n_features_to_select != "auto":
        wanted = n_features_to_keep(settings.n_features_to_select, d)

    def chosen(epsilon: float, m: int, reason: str, found: Any = None) -> Choice:
        decisions: tuple[Decision, ...] = (Decision("features", f"{m} of {d}", reason),)
        if len(epsilons) > 1:
            others = ", ".join(f"{each:g}" for each in epsilons)
            why = f"lowest cross-validated error among {others}"
            decisions = (Decision("ridge", f"{epsilon:g}", why), *decisions)
        return Choice(epsilon, m, decisions, found)

    if len(epsilons) == 1 and wanted is not None:
        warn_if_not_used(settings.estimator)
        return chosen(epsilons[0], wanted, "as requested")
    if table.n_samples < FEWEST_SAMPLES:
        warn(
            "too-few-samples",
            f"{table.n_samples} samples are too few for cross-validation: all features are kept "
            "unless a number was given, and the smallest epsilon is used.",
        )
        return chosen(epsilons[0], wanted or d, "too few samples for cross-validation")
    cv = settings.cv
    if lists_rows(cv):  # equal rows stay on their sides of each split
        cv = list(cv)
        rows = rows.apart(splits(table, cv), table.weight)
    table = table.distinct(rows, MANY_ROWS)
    found = cross_validate(
        table,
        method,
        epsilons,
        candidate_sizes(d) if wanted is None else [wanted],
        standardize=settings.standardize,
        run=run,
        cv=cv,
        n_jobs=settings.n_jobs,
        score=estimator_score(settings.estimator, settings.scoring, table),
    )
    if found is None:
        m = wanted or min(d, EACH_SIZE_UP_TO)
        return chosen(epsilons[0], m, "no time to choose a number")
    best = found.best_epsilon()
    if wanted is not None:
        return chosen(epsilons[best], wanted, "as requested", found)
    m = found.smallest_within_one_standard_error(best)
    reason = f"the smallest set within one standard error of the {found.best}"
    return chosen(epsilons[best], m, reason, found)


# --- run and check -------------------------------------------------------------------------------


def run_stages(method: Method, problem: Problem, first: FirstLook, m: int, run: Run) -> Path:
    """Run the path of a problem down to one feature, with a stage at m features."""
    m = min(m, problem.n_features)
    protected = first.protected if method.order else None
    return run_path(problem, method.budgets(problem.n_features, m), protected, run, m)


def check(
    method: Method, problem: Problem, path: Path, m: int, run: Run
) -> tuple[Path, list[Decision]]:
    """Let tuned regressions decide about the first features, and give them their weights."""
    if not method.refines or run.stop():
        return path, []
    m = min(m, problem.n_features)
    order, n_exchanges = method.refined(problem, path, m)
    kept = next((stage for stage in path.stages if stage.budget == m), None)
    n_new = m if kept is None else len(set(order[:m].tolist()) - set(kept.features.tolist()))
    if kept is None or n_new:
        kept = stage_of(problem, order[:m], run)
    others = [stage for stage in path.stages if stage.budget != m]
    stages = sorted([*others, kept], key=lambda stage: -stage.budget)
    choice = f"{n_new} of {m} features replaced" if n_new else "the set of the path"
    reason = "regressions with a kernel and a ridge for each set"
    if n_exchanges:
        reason += f"; of {n_exchanges} exchanges of a feature, none lowers the error"
    return replace(path, stages=stages, order=order), [Decision("last word", choice, reason)]


def check_lambda2(method: Method, n_samples: float, epsilon: float) -> None:
    """Warn if λ₂ is too small for the inverse-free objective to decrease with dependence."""
    lambda2 = method.formulation.lambda2 if method.formulation.inverse == "free" else None
    floor = 1.0 / (2.0 * n_samples * epsilon)
    if lambda2 is not None and lambda2 < floor:
        warn(
            "small-lambda2",
            f"lambda2={lambda2:g} is below 1/(2nε) = {floor:.4g}: the inverse-free objective may "
            "increase when features explain more of y. Pass a larger lambda2, or None.",
        )
