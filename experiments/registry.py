"""Every table, number, sentence and picture of the documentation that results stand behind.

To add a table, put ``<!-- table: NAME -->`` and ``<!-- end -->`` into a page and NAME into the
``TABLES`` of the module that stands here beside the page; a number within a line is marked by
``number`` in place of ``table``. To add a file that pages include, a picture, or a sentence that
results must bear out, add a line here. A test says where one was forgotten.
"""

from __future__ import annotations

from experiments.pages import Claim, Made, Marked, Picture, Run, Text

_R = "experiments/results/"
_F = "experiments/figures/"
_B = "benchmarks/results/"
_SYNTHETIC, _REAL = _R + "synthetic.csv", _R + "real.csv"
_GUARANTEES = [
    f"{_R}guarantees-{part}.csv"
    for part in ("knockoffs", "stability", "test", "verdicts", "columns", "interactions")
]
_PAGES, _TIMES = "experiments.summaries:TABLES", "benchmarks.pages:TABLES"
_DRAW = "experiments.guide_pictures:"
_GRID = ("forest s", "covmin s", "auto s")

MADE: list[Made] = [
    Marked(
        "README.md", _PAGES, *(f"{_R}{name}.csv" for name in ("migration", "other", "regression"))
    ),
    Marked("README.md", _TIMES, _B + "first-report.csv"),
    Marked("docs/migration.md", _PAGES, _R + "migration.csv"),
    Marked("docs/limits.md", _PAGES, _SYNTHETIC),
    Marked("docs/howto/missing.md", _PAGES, _R + "missing.csv"),
    Marked("docs/reliability.md", _PAGES, _R + "fuzz.csv", _R + "kills.csv"),
    Marked("docs/decisions.md", _PAGES, _R + "pairs.csv", _R + "survival-responses.csv"),
    Marked(
        "docs/performance.md",
        _TIMES,
        *(
            f"{_B}{name}.csv"
            for name in (
                *("step", "large", "published", "fits", "growth", "workers"),
                *("gpu", "gpu-fits"),
            )
        ),
    ),
    Marked("docs/how-long.md", _TIMES, _B + "grid.csv"),
    Marked("docs/howto/large_data.md", _TIMES, _B + "sparse.csv"),
    Marked("docs/howto/command_line.md", _TIMES, _B + "cli.csv"),
    Marked(
        "docs/evidence.md", "experiments.evidence:TABLES", _SYNTHETIC, _REAL, _R + "bahsic-xor.csv"
    ),
    Marked("docs/formulations.md", "experiments.evidence:TABLES", _SYNTHETIC),
    Text(_R + "migration.md", "experiments.migration:report", _R + "migration.csv"),
    Marked("docs/guarantees.md", "experiments.guarantees:TABLES", *_GUARANTEES),
    Marked(
        "paper/paper.md",
        "experiments.paper_tables:TABLES",
        _SYNTHETIC,
        _R + "accuracy.csv",
        _R + "other.csv",
        _GUARANTEES[0],
    ),
    Text(_R + "accuracy.md", "experiments.accuracy:report", _R + "accuracy.csv"),
    Text(_R + "other.md", "experiments.accuracy:report", _R + "other.csv"),
    Text(_R + "noisy-labels.md", "experiments.noisy_labels:report", _R + "noisy-labels.csv"),
    Text(_R + "regression.md", "experiments.regression_tables:report", _R + "regression.csv"),
    Text(
        _R + "regression-other.md",
        "experiments.regression_tables:report",
        _R + "regression-other.csv",
    ),
    Text(_R + "words.md", "experiments.words:report", _R + "words.csv"),
    Text(_R + "missing.md", "experiments.missing:report", _R + "missing.csv"),
    Text(_R + "hard.md", "experiments.hard:report", _R + "hard.csv"),
    Text(_R + "hard-many.md", "experiments.hard:report", _R + "hard-many.csv"),
    Text(_R + "survival.md", "experiments.survival:report", _R + "survival.csv"),
    Text(
        _R + "survival-responses.md",
        "experiments.survival_responses:summary",
        _R + "survival-responses.csv",
    ),
    Text(_R + "synthetic.md", "experiments.paper.figures:synthetic_markdown", _SYNTHETIC),
    Text(_R + "real.md", "experiments.paper.figures:real_markdown", _REAL),
    Text(_B + "grid.md", "benchmarks.grid:report", _B + "grid.csv"),
    Text(
        _B + "grid-processor.md",
        "benchmarks.grid:report_processor",
        _B + "grid-processor.csv",
    ),
    Text(_B + "rivals.md", "benchmarks.rivals:report", _B + "rivals.csv"),
    Picture(_F + "accuracy.png", "experiments.accuracy:draw", _R + "accuracy.csv"),
    Picture(_F + "other.png", "experiments.accuracy:draw", _R + "other.csv"),
    *(
        Picture(f"{_F}{stem}.png", "experiments.paper.figures:draw_synthetic", _SYNTHETIC)
        for stem in ("synthetic", "synthetic-variants")
    ),
    *(
        Picture(f"{_F}real-{stem}.png", "experiments.paper.figures:draw_real", _REAL)
        for stem in ("paper", "nested", "paper-leaks", "nested-leaks")
    ),
    Picture("benchmarks/figures/fits.svg", "benchmarks.fits:draw", _B + "fits.csv"),
    Picture("benchmarks/figures/growth.svg", "benchmarks.growth:draw", _B + "growth.csv"),
    Picture("docs/images/covmin.png", "experiments.xor_picture:draw", _R + "xor.csv"),
    Picture("docs/images/migration.png", _DRAW + "migration", _R + "migration.csv"),
    Picture("docs/images/few-samples.png", _DRAW + "few_samples", _SYNTHETIC),
    Picture("docs/images/how-long.png", _DRAW + "how_long", _B + "grid.csv"),
    Picture(
        "docs/images/guarantees.png",
        _DRAW + "guarantees",
        *(f"{_R}guarantees-{name}.csv" for name in ("knockoffs", "columns", "verdicts")),
    ),
    # Drawn from a small fit, or from nothing but a formula.
    *(
        Picture(f"docs/images/{name}.png", _DRAW + name.replace("-", "_"))
        for name in (
            *("ranking", "which-features", "how-many", "how-sure", "messy-table", "weights-path"),
            *("kernels", "formulations", "report", "report-top"),
        )
    ),
]

# Sentences in words, each with a function that asks the results.
CLAIMS: list[Claim] = [
    Claim(page, sentence, f"experiments.claims:{holds}")
    for page, sentence, holds in (
        (
            "README.md",
            "covmin finds them from 40 samples; mRMR, mutual information, correlation and ANOVA "
            "do not find them from 100.",
            "first_picture",
        ),
        (
            "docs/index.md",
            "covmin finds them from 40 samples; mRMR, mutual information, correlation and ANOVA "
            "do not find them from 100.",
            "first_picture",
        ),
        (
            "docs/accuracy.md",
            "The default is level with `rfe` and ahead of every other selector.",
            "level_with_rfe_ahead_of_others",
        ),
        ("docs/accuracy.md", "The default has the highest mean.", "highest_accuracy"),
        (
            "docs/accuracy.md",
            "The default has a higher mean than each of the five others",
            "highest_with_wrong_labels",
        ),
        ("docs/accuracy.md", "The default is first in all four columns", "highest_r2"),
        (
            "docs/accuracy.md",
            "The default and `boosting` are level, ahead of the others.",
            "level_with_boosting_on_other_regressions",
        ),
        (
            "docs/accuracy.md",
            "The default, `extra-trees`, `anova` and `mrmr` are level.",
            "level_on_words",
        ),
        (
            "docs/migration.md",
            "covmin with a given number finds all true features in every draw.",
            "finds_all_with_a_given_number",
        ),
        ("docs/migration.md", "Filters and HSIC-Lasso miss XOR", "filters_miss_xor"),
        (
            "docs/limits.md",
            "With ten samples covmin is little better than chance",
            "near_chance_with_ten_samples",
        ),
        (
            "docs/guarantees.md",
            "All rates are below the nominal 0.1, except one: *jump*",
            "verdicts_hold_but_for_the_jump",
        ),
        (
            "docs/howto/interactions.md",
            "In simulations without interactions, a pair is reported in at most 5 % of 500 tables, "
            "within two standard errors.",
            "pairs_are_reported_at_the_level",
        ),
        ("docs/howto/survival.md", "No method stands out.", "no_survival_method_stands_out"),
        (
            "paper/paper.md",
            "With a nonlinear one, `covmin` finds far more of the true features",
            "more_power_than_the_lasso",
        ),
    )
]

# Hours are rough, and count only where the results do not hold the seconds of the fits.
RUNS: list[Run] = [
    Run("python -m experiments.paper synthetic --output experiments", _SYNTHETIC),
    Run("python -m experiments.paper real --output experiments", _REAL),
    Run("python -m experiments.bahsic_xor", _R + "bahsic-xor.csv", hours=0.2),
    Run("python -m experiments.guarantees", *_GUARANTEES, hours=0.7),
    Run("python -m experiments.accuracy", _R + "accuracy.csv"),
    Run("python -m experiments.accuracy --other", _R + "other.csv"),
    Run("python -m experiments.noisy_labels", _R + "noisy-labels.csv", hours=2.0),
    Run(
        "python -m experiments.regression --selectors ccm ccm-single anova mi mrmr rfe bahsic "
        "hsic-lasso lasso extra-trees boosting permutation",
        _R + "regression.csv",
    ),
    Run(
        "python -m experiments.regression --other --selectors ccm ccm-single anova mi mrmr rfe "
        "bahsic lasso extra-trees boosting",
        _R + "regression-other.csv",
    ),
    Run("python -m experiments.words", _R + "words.csv"),
    Run("python -m experiments.ridge", _R + "ridge.csv", _R + "ridge.md", hours=1.0),
    Run(
        "python -m experiments.hard --selectors ccm anova rfe mrmr extra-trees ccm-gaussian bahsic "
        "--sizes 40 100 400",
        _R + "hard.csv",
    ),
    Run(
        "python -m experiments.hard --many --draws 4 --selectors ccm anova mrmr extra-trees "
        "--noise 100 500 --sizes 5000",
        _R + "hard-many.csv",
    ),
    Run("python -m experiments.hard --find-xor", _R + "hard-xor97.csv"),
    Run("python -m experiments.hard --found --draws 4", _R + "hard-found.md", hours=0.1),
    Run("python -m experiments.pairs", _R + "pairs.csv", _R + "pairs.md", hours=0.5),
    Run("python -m experiments.missing", _R + "missing.csv", hours=1.0),
    Run("python -m experiments.survival_responses", _R + "survival-responses.csv", hours=0.5),
    Run("python -m experiments.survival", _R + "survival.csv"),
    Run("python -m experiments.migration", _R + "migration.csv"),
    Run("python -m experiments.xor_picture", _R + "xor.csv"),
    Run("python -m experiments.choices", _R + "choices.md", _R + "choices-units.md", hours=0.1),
    Run("python -m experiments.far_values", _R + "far-values.md", hours=0.3),
    Run("python -m experiments.far_values --real", _R + "far-values-real.md", hours=0.3),
    Run("python -m experiments.ranking", _R + "ranking.md", hours=0.2),
    Run("python -m experiments.honest_error", _R + "honest-error.md", hours=0.2),
    Run("python -m experiments.fuzz --minutes 30 --seed 1", _R + "fuzz.csv", hours=0.5),
    Run("python -m experiments.kills", _R + "kills.csv", hours=0.2),
    Run("python -m benchmarks.grid", _B + "grid.csv", seconds=_GRID),
    Run(
        "python -m benchmarks.grid --processor --no-auto --tasks classes",
        _B + "grid-processor.csv",
        seconds=_GRID,
    ),
    Run("python -m benchmarks.grid --rivals", _B + "rivals.csv", hours=0.2),
    Run(
        "python -m benchmarks.fits --methods covmin mrmr bahsic rfe mrmr_selection",
        _B + "fits.csv",
        seconds=("covmin", "mrmr", "bahsic", "rfe", "mrmr_selection"),
    ),
    Run(
        "python -m benchmarks.growth",
        *(f"{_B}{part}.csv" for part in ("growth", "published", "workers")),
        hours=0.1,
    ),
    Run("python -m benchmarks.step --processor --rows 50000", _B + "step.csv", hours=0.05),
    Run("python -m benchmarks.large", _B + "large.csv"),
    Run("python -m benchmarks.sparse", _B + "sparse.csv"),
    Run("python -m benchmarks.cli --fit-rows 500 --repeats 1", _B + "cli.csv"),
    Run("python -m benchmarks.first_report --make", _B + "first-report.csv"),
    # These need a machine with a GPU.
    Run("python -m benchmarks.gpu", _B + "gpu.csv", _B + "gpu-fits.csv", hours=0.05),
]
