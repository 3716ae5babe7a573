"""Every table and picture of the documentation that is made from results, and every run.

To add a table, put ``<!-- table: NAME -->`` and ``<!-- end -->`` into a page and NAME into the
``TABLES`` of the module that stands here beside the page. To add a file that pages include, or a
picture, add a line here. A test says where one was forgotten.
"""

from __future__ import annotations

from experiments.pages import Made, MarkedTables, Picture, Run, Text

_R = "experiments/results/"
_F = "experiments/figures/"
_B = "benchmarks/results/"
_SYNTHETIC, _REAL = _R + "synthetic.csv", _R + "real.csv"
_GUARANTEES = [
    f"{_R}guarantees-{part}.csv" for part in ("knockoffs", "stability", "test", "verdicts")
]

MADE: list[Made] = [
    MarkedTables(
        "docs/evidence.md", "experiments.evidence:TABLES", _SYNTHETIC, _REAL, _R + "bahsic-xor.csv"
    ),
    MarkedTables("docs/formulations.md", "experiments.evidence:TABLES", _SYNTHETIC),
    Text(_R + "migration.md", "experiments.migration:report", _R + "migration.csv"),
    MarkedTables("docs/guarantees.md", "experiments.guarantees:TABLES", *_GUARANTEES),
    MarkedTables(
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
    Text(_R + "synthetic.md", "covmin.evaluation.outputs:synthetic_markdown", _SYNTHETIC),
    Text(_R + "real.md", "covmin.evaluation.outputs:real_markdown", _REAL),
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
        Picture(f"{_F}{stem}.png", "covmin.evaluation.outputs:draw_synthetic", _SYNTHETIC)
        for stem in ("synthetic", "synthetic-variants")
    ),
    *(
        Picture(f"{_F}real-{stem}.png", "covmin.evaluation.outputs:draw_real", _REAL)
        for stem in ("paper", "nested", "paper-leaks", "nested-leaks")
    ),
    Picture("benchmarks/figures/fits.svg", "benchmarks.fits:draw", _B + "fits.csv"),
    Picture("benchmarks/figures/growth.svg", "benchmarks.growth:draw", _B + "growth.csv"),
]

# Hours on one core are estimates; without a number they are the seconds of fits in the results.
RUNS: list[Run] = [
    Run("covmin reproduce synthetic --output experiments", _SYNTHETIC),
    Run("covmin reproduce real --output experiments", _REAL),
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
    Run("python -m experiments.survival", _R + "survival.csv", hours=1.0),
    Run("python -m experiments.migration", _R + "migration.csv"),
    Run("python -m experiments.choices", _R + "choices.md", _R + "choices-units.md", hours=0.1),
    Run("python -m experiments.migration", _R + "migration.csv"),
    Run("python -m experiments.far_values", _R + "far-values.md", hours=0.3),
    Run("python -m experiments.far_values --real", _R + "far-values-real.md", hours=0.3),
    Run("python -m experiments.ranking", _R + "ranking.md", hours=0.2),
    Run("python -m experiments.honest_error", _R + "honest-error.md", hours=0.2),
    Run("python -m benchmarks.grid", _B + "grid.csv", hours=2.0),
    Run("python -m benchmarks.grid --processor", _B + "grid-processor.csv", hours=2.0),
    Run("python -m benchmarks.grid --rivals", _B + "rivals.csv", hours=0.2),
    Run("python -m benchmarks.fits", _B + "fits.csv", hours=0.3),
    Run(
        "python -m benchmarks.growth",
        *(f"{_B}{part}.csv" for part in ("growth", "published", "workers")),
        hours=0.3,
    ),
    Run("python docs/images/make_picture.py", "docs/images/covmin.png", hours=0.05),
]
