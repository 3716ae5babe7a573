"""What sentences of the pages say in words, asked of the results.

A claim is a function without arguments that says whether the results bear out a sentence of a page.
To add one, write the function below ``@claim(page, sentence)``.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from experiments.accuracy import GROUPS
from experiments.guarantees.interactions import NOISE
from experiments.numbers import N_PROBES, accuracies, r2
from experiments.regression import JUDGES
from experiments.study import results

# Page, sentence, and the function that says whether it holds.
CLAIMS: list[tuple[str, str, Callable[[], bool]]] = []
# Means closer than this are level: points of accuracy, and R².
LEVEL, LEVEL_R2 = 0.5, 0.01


def claim(page: str, sentence: str) -> Callable[[Callable[[], bool]], Callable[[], bool]]:
    def add(holds: Callable[[], bool]) -> Callable[[], bool]:
        CLAIMS.append((page, sentence, holds))
        return holds

    return add


def rivals(means: pd.Series) -> pd.Series:
    """Without ours and its variants."""
    return means[[not name.startswith("ccm") for name in means.index]]


@claim("docs/accuracy.md", "The default is level with `rfe` and ahead of every other selector.")
def level_with_rfe_ahead_of_others() -> bool:
    means = accuracies("accuracy")
    others = rivals(means).drop("rfe")
    return bool(abs(means["ccm"] - means["rfe"]) < LEVEL and means["ccm"] > others.max() + LEVEL)


@claim("docs/accuracy.md", "The default has the highest mean.")
def highest_accuracy() -> bool:
    means = accuracies("other")
    return bool(means["ccm"] > rivals(means).max())


@claim("docs/accuracy.md", "The default has a higher mean than each of the five others")
def highest_with_wrong_labels() -> bool:
    """In both groups of the text: the wide sets that had no part in the design, and the long."""
    frame = results("noisy-labels")
    for group in list(GROUPS.values())[1:]:
        sets = [name for name, _, _ in group]
        means = frame[frame["dataset"].isin(sets)].groupby("selector")["mean"].mean()
        if means["ccm"] <= rivals(means).max():
            return False
    return True


@claim("docs/accuracy.md", "The default is first in all four columns")
def highest_r2() -> bool:
    means = [r2(judge, probes) for judge in JUDGES for probes in (0, N_PROBES)]
    return all(each["ccm"] >= rivals(each).max() for each in means)


@claim("docs/accuracy.md", "The default and `boosting` are level, ahead of the others.")
def level_with_boosting_on_other_regressions() -> bool:
    first = ["ccm", "boosting"]
    means = [r2(judge, 0, "regression-other") for judge in JUDGES]
    return all(
        abs(each["ccm"] - each["boosting"]) < LEVEL_R2
        and each[first].min() > each.drop(first).max()
        for each in means
    )


@claim("docs/accuracy.md", "The default, `extra-trees`, `anova` and `mrmr` are level.")
def level_on_words() -> bool:
    frame = results("words").query("selector in ('ccm', 'extra-trees', 'anova', 'mrmr')")
    means = 100 * frame.groupby(["selector", "dataset"])["Gaussian machine"].mean()
    by_selector = means.groupby("selector").mean()
    return bool(by_selector.max() - by_selector.min() < LEVEL)


def _migration() -> pd.DataFrame:
    """True and false features that each method keeps on each task, on average."""
    return results("migration").groupby(["method", "task"])[["true", "false"]].mean()


@claim("docs/migration.md", "covmin with a given number finds all true features in every draw.")
def finds_all_with_a_given_number() -> bool:
    return bool((_migration().loc["covmin, m given", "false"] == 0).all())


@claim("docs/migration.md", "Filters and HSIC-Lasso miss XOR")
def filters_miss_xor() -> bool:
    methods = ["SelectKBest, F test", "SelectKBest, mutual information", "mRMR", "HSIC-Lasso"]
    found = _migration()["true"].unstack()["XOR"]
    return bool((found[methods] < 1).all() and found["LassoNet"] > 2.5)


@claim(
    "README.md",
    "covmin finds them from 40 samples; mRMR, mutual information, correlation and ANOVA do "
    "not find them from 100.",
)
@claim(
    "docs/index.md",
    "covmin finds them from 40 samples; mRMR, mutual information, correlation and ANOVA do "
    "not find them from 100.",
)
def first_picture() -> bool:
    """Found by covmin from 40 samples, and by the four others not from 100."""
    ranks = results("xor").pivot(index="n_samples", columns="selector", values="mean_rank")
    others = ranks.loc[100, ["mrmr", "mi", "pearson", "anova"]]
    return bool((ranks.loc[40:, "ccm"] < 2.1).all() and others.min() > 4)


@claim("docs/limits.md", "With ten samples covmin is little better than chance")
def near_chance_with_ten_samples() -> bool:
    ranks = results("synthetic").query("selector == 'ccm' and n_samples == 10")["mean_rank"]
    return bool((ranks > 4).all())


@claim("docs/howto/survival.md", "No method stands out.")
def no_survival_method_stands_out() -> bool:
    """No method is more than a point from covmin, on average over the sets."""
    keys = ["probes", "judge", "method"]
    of_sets = 100 * results("survival").groupby([*keys, "set"])["score"].mean()
    wide = of_sets.groupby(keys).mean().unstack()
    return bool(wide.sub(wide["covmin"], axis=0).abs().max().max() < 1.0)


@claim("paper/paper.md", "With a nonlinear one, `covmin` finds far more of the true features")
def more_power_than_the_lasso() -> bool:
    frame = results("guarantees-knockoffs").query("response == 'nonlinear'")
    power = frame.pivot(index=["rho", "level"], columns="method", values="power")
    return bool((power["ccm"] > 1.5 * power["lasso"]).all())


@claim("docs/guarantees.md", "All rates are below the nominal 0.1, except one: *jump*")
def verdicts_hold_but_for_the_jump() -> bool:
    """No share of false verdicts is above the nominal 0.1, but for the design where it must be."""
    frame = results("guarantees-verdicts").query("method == 'covmin' and runs >= 100")
    worst = frame.set_index("design")[["false needed", "false relevant"]].max(axis=1)
    return list(worst.index[worst > 0.1]) == ["jump"]


@claim(
    "docs/howto/interactions.md",
    "In simulations without interactions, a pair is reported in at most 5 % of 500 tables, "
    "within two standard errors.",
)
def pairs_are_reported_at_the_level() -> bool:
    """In tables of noise, within two standard errors of 0.05."""
    frame = results("guarantees-interactions")
    rates = frame.loc[frame["response"].isin(list(NOISE)), "pair"]
    return bool((rates <= 0.05 + 2 * (0.05 * 0.95 / 500) ** 0.5).all())
