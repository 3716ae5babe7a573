"""A fit in six verbs: plan, look, choose, run, check and present."""

import sys
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral
from types import SimpleNamespace
from typing import Any

import numpy as np

from covmin import constants
from covmin.core.arrays import to_numpy
from covmin.core.kernels.additive import Additive
from covmin.core.path import Path, run_path, stage_of
from covmin.core.problem import EFFORT, Problem
from covmin.core.screening import SEARCH, Screening
from covmin.data import Table
from covmin.data.standardize import PreparedColumns
from covmin.plan import Decision, Plan, rules
from covmin.plan.formulation import FORMULATIONS, approximation_of, formulation_of
from covmin.plan.look import FirstLook
from covmin.remarks import InputError, warn
from covmin.runtime.machine import blas_threads, row_threads
from covmin.runtime.run import Run
from covmin.runtime.seeds import seed_of
from covmin.text import count_of, listed

from .assemble import problem_of, refined
from .crossval import CrossValidation, beyond_given, cross_validate, held_out_shares, is_found
from .splits import FEWEST_SAMPLES, lists_rows, splits

# Samples from which a product of two features stands out among a thousand.
_SHOW_PAIRS = 100


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
    lost_without: dict[int, float]  # rise of the error without a feature of the problem
    errors: np.ndarray  # of the last word, for the first one, two, … features; or none


def settings_of(selector: Any) -> SimpleNamespace:
    """Return the parameters of a :class:`covmin.CCMSelector`, checked and in their final form.

    Of the user's objects they hold copies: later changes must not affect the plan.
    """
    settings = SimpleNamespace(**selector.get_params(deep=False))
    asked = settings.n_features_to_select
    if isinstance(asked, tuple | list):
        whole = len(asked) == 2 and all(isinstance(size, Integral) for size in asked)
        if not whole or not 1 <= asked[0] <= asked[1]:
            text = "n_features_to_select as a range has two integers, such as (2, 20)"
            raise InputError(f"{text}; got {asked!r}.", "n_features_to_select")
    settings.formulation = copy(formulation_of(settings.formulation))
    settings.any_kernel = settings.kernel == "auto"
    settings.kernel = copy(rules.kernel_of(settings.kernel, settings.formulation))
    settings.approximation, settings.n_components = approximation_of(settings.approximation)
    is_auto = isinstance(settings.epsilon, str)
    epsilons = np.unique(np.asarray([] if is_auto else settings.epsilon, dtype=np.float64))
    if not is_auto and not (epsilons.size and ((epsilons > 0.0) & (epsilons < np.inf)).all()):
        text = f"epsilon must be positive and finite, got {settings.epsilon!r}"
        raise ValueError(f'{text}; epsilon="auto" chooses a value that suits the data.')
    settings.epsilons = tuple(epsilons.tolist())  # increasing; none for "auto"
    settings.seed = seed_of(settings.random_state)
    return settings


def fit(table: Table, columns: PreparedColumns, settings: SimpleNamespace, run: Run) -> Fit:
    """Select features of a table with prepared columns: plan, look, choose, run, check."""
    is_one = settings.task == "auto" and table.response.labels is not None
    if is_one and table.response.classes.dtype.kind in "iuf":
        few = columns.distinct(settings.seed).first[: constants.SAMPLE_ROWS]
        seen = to_numpy(columns.X.take(few))
        table = replace(table, response=table.response.with_order(seen, few, table.weight))
    plan = make_plan(table, columns, settings)
    # Blocks of rows have threads of their own.
    in_one_piece = plan.approximation is None or plan.device is not None
    with blas_threads(columns.distinct(0).p.size if in_one_piece else 0, plan.n_threads):
        if table.layout.given.any():
            rows = columns.independent(settings.seed)
            table = beyond_given(table, rows, settings.standardize)
        plan, first = look(plan, table, columns, settings)
        if run.bar.tells:  # before the choice of m, which may take long
            print(plan, file=sys.stderr)
        plan, epsilon, m, found, samples = choose(plan, table, columns, settings, run)
        formulation, response = plan.formulation, table.response
        problem = formulation.applied_to(first.problem, epsilon, columns, response)
        d, is_path = columns.units.size, formulation.strategy == "path"
        most = min(m, d)
        budgets = rules.path_budgets(d, plan.last_budget) if is_path else [most]
        # The last word decides about so few features, whatever the path says about their number.
        wanted = None if most <= plan.last_budget else most
        path = run_path(problem, budgets, first.protected, run, wanted)
        plan, path, lost, errors = check(plan, problem, path, m, run, first)
        if settings.cv is not None or table.groups is not None:  # one row shows others of a group
            kept, lost = columns.unit_index[list(lost)], {} if found is None else lost
            if lost:
                sets = [kept, *(kept[kept != unit] for unit in kept)]
                every, *without = held_out_shares(samples, settings.cv, sets, settings.standardize)
                lost = {unit: share - every for unit, share in zip(lost, without, strict=True)}
    return Fit(plan, table, columns, problem, path, m, found, lost, errors)


def make_plan(table: Table, columns: PreparedColumns, settings: SimpleNamespace) -> Plan:
    """Return what follows from the size of the table and from the settings."""
    task, formulation, device = table.response.task, settings.formulation, settings.device
    n, d, k = columns.distinct(0).p.size, columns.index.size, table.response.Y.shape[1]
    n_features, n_components = columns.units.n_features, 2 * -(-settings.n_components // 2)
    approximation, reason = rules.choose_approximation(
        settings.approximation,
        settings.kernel,
        (n, d),
        itemsize=columns.X.dtype.itemsize,
        n_responses=k,
        n_components=n_components,  # cosines and sines
        on_device=device is not None,
    )
    # D Fourier features cannot distinguish more than D samples.
    told, noun = (n_components, "Fourier features") if approximation else (n, "samples")
    is_path = formulation.strategy == "path"
    how = "as requested"
    if getattr(settings.kernel, "mixing", None) == "auto":
        how = f"{n_features:g} features, {told} {noun}"
    elif settings.any_kernel:
        how = "default of a path" if is_path else "the paper's kernel, for a single solve"
    kernel, on_kernel = rules.with_share(settings.kernel, told, n_features, how)
    order, search = 0, Decision("interactions", "not searched for", "a single solve")
    if is_path or not settings.interactions:
        order, search = rules.search_order(settings.interactions, kernel, task, (n, d, k))
        seen = rules.pair_search((n, d, k))[0]
        if order and seen < min(n, _SHOW_PAIRS):
            text = f"Pairs of {d:,} columns are searched on {seen} of {n:,} samples, as time allows"
            warn("few-rows", f"{text}: weak ones are not found. Pass fewer columns.")
    what = f"{n_components} random Fourier features" if approximation else "exact kernel matrix"
    if approximation and (kernel.components_are_exact or not kernel.sees_interactions):
        what = "feature map of each column"
    # A ridge far outside our range needs double precision.
    least = constants.RIDGE_LIMITS[0]
    usual = all(least <= epsilon <= 1.0 / least for epsilon in settings.epsilons)
    is_plain = is_path and (formulation.constraint, formulation.inverse) == ("hard", "exact")
    saves_work = is_plain and usual and settings.approximation != "exact"

    decisions = [Decision("columns", each.choice, each.words) for each in table.readings]
    decisions.append(Decision("approximation", what, reason))
    if formulation not in FORMULATIONS.values():
        decisions.append(Decision("formulation", repr(formulation), "as requested"))
    if saves_work:
        seen = EFFORT.rows_of_stage(kernel, d, n_components if approximation else 0, n)
        part = f"{seen} rows, and single effects on all rows" if seen < n else "all rows"
        limit = f"at most {EFFORT.work:.0e} multiplications per step"
        decisions.append(Decision("first stage", f"{part}, single precision", limit))
    decisions += [search, *_on_table(table, columns, settings.standardize)]
    refines = settings.any_kernel and is_plain
    # With samples for all candidates of the last word, it decides about so few features.
    ends_early = refines and n >= constants.CANDIDATES[1] * constants.CANDIDATES[2]
    return Plan(
        (*decisions, on_kernel),
        task,
        n,
        d,
        formulation,
        approximation,
        kernel,
        readings=table.readings,
        n_components=n_components,
        device=device,
        seed=settings.seed,
        n_threads=row_threads() if approximation else 1,
        effort=EFFORT if saves_work else None,
        order=order,
        refines=refines,
        last_budget=constants.CANDIDATES[0] if ends_early else 1,
    )


def _on_table(table: Table, columns: PreparedColumns, standardize: Any) -> Iterator[Decision]:
    """Yield what was done to samples that repeat, and to far and missing values."""
    n_rows = columns.p.size
    if table.response.is_ordered:
        choice = "classes, and their order with half of the variance"
        reason = "a feature explains the order better than 95% of other numberings"
        yield Decision("response", choice, reason)
    if table.response.by_ranks:
        reason = "far values are most of its variance; errors are shares of that of the scores"
        yield Decision("response", "normal scores of its ranks", reason)
    if n_copies := n_rows - columns.distinct(0).p.size:
        choice = f"{n_copies} of {n_rows} samples merged"
        reason = "a duplicate adds its weight to the sample it repeats"
        yield Decision("duplicates", choice, reason)
    scores = None if standardize == "rank" else columns.scores
    if scores is not None:
        far = table.column_labels[[bool(knots) for knots in scores.knots]].tolist()
        choice = f"clipped in {count_of(len(far), 'column')}: {listed(far)}"
        reason = "beyond what normal values of so many samples reach, and most of the variance"
        yield Decision("far values", choice, reason)
    if table.layout.indicators.size:
        names = table.column_labels[table.layout.indicators].tolist()
        choice = f"{count_of(len(names), 'column')}: {listed(names)}"
        reason = "set to the mean, with an indicator of missingness that shares the weight of the"
        yield Decision("missing values", choice, f"{reason} column")


def look(
    plan: Plan, table: Table, columns: PreparedColumns, settings: SimpleNamespace
) -> tuple[Plan, FirstLook]:
    """Return the plan with the kernel and the candidate ridges after a first look at the data.

    The additive kernel is used if two features rarely take unusual values together, such as two
    words that rarely occur in the same document. Then too few samples can show an interaction, and
    all other samples are nearly alike: a joint kernel sees little more than how unusual a sample
    is. No pair must stand out, however, and single effects must predict better than chance.
    """
    data = problem_of(plan, columns, table.response.Y)
    first, p = FirstLook(data, plan.task, plan.order), columns.distinct(0).p
    n = float(p.sum() ** 2 / (p @ p))  # as if all rows had equal weight
    n_seen = min(n, constants.NOISE[0])
    enough = min(SEARCH.fewest_carriers, SEARCH.carrier_share * n)
    is_rare = False
    if plan.refines and plan.order:
        # Ranks have a deviation of ½√(s(1 − s)) if all but a share s of the samples are equal; of
        # distinct values, s is ½.
        unequal = 4.0 * first.screening.ranked.spread**2
        share = float((0.5 - np.sqrt(np.maximum(0.25 - unequal, 0.0))).mean())
        is_rare = n * share**2 < enough
    if is_rare and not first.protected.interactions.share.size:
        alone = first.by(Additive(bandwidth=plan.kernel.bandwidth))
        if not rules.is_by_chance(alone.unpredicted, n_seen):
            first, kernel = alone, alone.problem.kernel
            why = "features rarely vary together, no pair stands out, and single effects do"
            plan = plan.deciding(Decision("kernel", kernel.name, why), kernel=kernel)
            if plan.approximation:
                what, why = "feature map of each column", "of the additive kernel"
                plan = plan.deciding(Decision("approximation", what, why))
    if epsilons := settings.epsilons:
        said = Decision("ridge", ", ".join(f"{e:g}" for e in epsilons), "as requested")
        return plan.deciding(said, epsilons=epsilons), first
    is_path = plan.formulation.strategy == "path"
    if is_path and plan.formulation.inverse == "free" and plan.task != "classification":
        epsilon, reason = constants.RIDGE_LIMITS[2], "the inverse-free form on a path"
    elif not is_path or plan.formulation.inverse == "free":
        epsilon, reason = constants.PAPER_RIDGE[plan.task], f"the paper's value for {plan.task}"
    else:
        stands_out = lambda: first.screening.singles.size > 0  # noqa: E731 (searched if asked)
        epsilon, reason = rules.ridge_for_noise(n, first.unpredicted, stands_out, n_seen)
    # By chance, a category with twenty levels, or a group of twenty columns, fits twenty directions
    # where a single column fits a few. A ridge of one sample for each column in excess of the
    # smallest feature compensates for this.
    excess = float(np.ptp(columns.unit_sizes)) if columns.units.size else 0.0
    least = min(excess / columns.distinct(0).p.size, constants.RIDGE_LIMITS[3])
    if least > epsilon:
        epsilon, reason = least, "categories, groups or missing values of different sizes"
    return plan.deciding(Decision("ridge", f"{epsilon:.3g}", reason), epsilons=(epsilon,)), first


def choose(
    plan: Plan, table: Table, columns: PreparedColumns, settings: SimpleNamespace, run: Run
) -> tuple[Plan, float, int, CrossValidation | None, Table]:
    """Return the plan with ε and m, by cross-validation if they are not given, of a table."""
    epsilons, d, found = plan.epsilons, table.layout.n_choices, None
    asked, wanted, fewest, most = settings.n_features_to_select, None, 1, None
    if isinstance(asked, tuple | list):
        fewest, most = rules.n_features_to_keep(asked[0], d), asked[1]
    elif asked != "auto":
        wanted = rules.n_features_to_keep(asked, d)
    epsilon, m, reason = epsilons[0], wanted or d, "as requested"
    if len(epsilons) == 1 and wanted is not None:
        if settings.estimator is not None:
            text = "The number of features and epsilon are given, so the estimator is not used."
            warn("estimator-not-used", text, advice='n_features_to_select="auto" uses it.')
    elif table.n_samples < FEWEST_SAMPLES:
        reason = "too few samples for cross-validation"
        text = f"{table.n_samples} samples are too few for cross-validation: without a number of"
        warn("too-few-samples", f"{text} features all are kept, and the smallest epsilon is used.")
    else:
        rows = columns.independent(settings.seed)
        if lists_rows(settings.cv):  # equal rows stay on their sides of each split
            settings.cv = list(settings.cv)
            rows = rows.apart(splits(table, settings.cv), table.weight)
        table = table.distinct(rows, constants.MANY_ROWS)
        # Constant features are kept only if so many are asked for.
        sizes = rules.candidate_sizes(max(columns.units.size, fewest), fewest, most)
        tried = sizes if wanted is None else [wanted]
        found = cross_validate(table, plan, tried, settings, run)
        if found is None:
            m = wanted or max(fewest, min(d, most or constants.EACH_SIZE_UP_TO))
            reason = "no time to choose a number"
        else:
            best, chosen = found.choice()
            epsilon = epsilons[best]
            if wanted is None:
                m = chosen
                words = {"error": "cross-validated error", "score": "score"}
                by = words.get(found.decides, "concordance index")
                reason = f"the smallest set that is not clearly worse than the best, by {by}"
                if "score" not in found.folds and not is_found(found.results(), best):
                    reason = "the fewest allowed: no set predicts y better than chance"
    decisions = [Decision("features", f"{m} of {d}", reason)]
    if len(epsilons) > 1:
        others = ", ".join(f"{each:g}" for each in epsilons)
        why = f"lowest cross-validated error among {others}"
        decisions.append(Decision("ridge", f"{epsilon:g}", why))
    return plan.deciding(*decisions), epsilon, m, found, table


def check(
    plan: Plan, problem: Problem, path: Path, m: int, run: Run, first: FirstLook
) -> tuple[Plan, Path, dict[int, float], np.ndarray]:
    """Let tuned regressions decide about the first features, and give them their weights."""
    if not plan.refines or run.stop():
        return plan, path, {}, np.empty(0)
    m = min(m, problem.units.size)
    if plan.order:
        path = replace(path, order=in_fair_order(path, problem.units.sizes, first.screening))
    better = refined(plan, problem, path, m)
    order = better.order
    kept = next((stage for stage in path.stages if stage.budget == m), None)
    n_new = np.setdiff1d(order[:m], path.order[:m]).size
    same = kept is not None and np.isin(order[:m], kept.features).all()
    if kept is None or not same:
        kept = stage_of(problem, order[:m])
    others = [stage for stage in path.stages if stage.budget != m]
    stages = sorted([*others, kept], key=lambda stage: -stage.budget)
    choice = f"{n_new} of {m} features replaced" if n_new else "the set of the path"
    reason = "regressions with a kernel and a ridge for each set"
    if better.n_exchanges:
        reason += f"; of {better.n_exchanges} exchanges of a feature, none lowers the error"
    said = Decision("last word", choice, reason)
    path = replace(path, stages=stages, order=order)
    return plan.deciding(said), path, better.lost_without, better.errors


def in_fair_order(path: Path, sizes: np.ndarray, screening: Screening) -> np.ndarray:
    """Return the order of a path, with fair places for features of several columns.

    By chance, a date or a category fits more than a number, because it has several columns. So if
    no feature and no set of features stands out, each of them gets the place that its p-value has
    among features without effect. ``sizes`` are the numbers of columns.
    """
    order, found = path.order, path.protected
    several = order[sizes[order] > sizes.min(initial=sizes.sum())].tolist()
    stands_out = found.alone.size + len(found.interactions.units) + len(found.spread.units)
    if not several or stands_out or screening.codes.size == 0:
        return order
    fair = [j for j in order.tolist() if j not in several]
    for p, j in sorted((screening.p_value_of(j), j) for j in several):
        fair.insert(int(p * (order.size - 1)), j)
    return np.array(fair)
