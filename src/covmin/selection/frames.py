"""The results of a fit by feature name: tables, and the report."""

from __future__ import annotations

import os
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from covmin.data import Table
from covmin.plan import Plan
from covmin.remarks import required
from covmin.runtime.compat import output_container

from .headline import row_used
from .summary import (
    Explained,
    beside_the_rank,
    feature_names,
    feature_rows,
    find_substitutes,
    read_as_fitted,
    summary,
)

if TYPE_CHECKING:
    from covmin.report import Report


FilePath = str | os.PathLike[str]
_SHOWN = 12
_ROW = (
    '<tr><td style="text-align:right">{}<td>{}<td><span style="display:inline-block;'
    'height:.6em;width:{:.2f}em;background:#0a8a8a"></span> {}'
)


class NamedResultsMixin:
    """A selector that offers its results with feature names: tables, the report, a notebook."""

    missing_share_: np.ndarray
    cv_results_: Any
    interactions_: Any
    constant_: np.ndarray
    weights_: np.ndarray
    n_features_: int
    column_kinds_: np.ndarray
    plan_: Plan
    feature_groups_: np.ndarray | None
    group_of_column_: np.ndarray
    group_ranking_: np.ndarray | None
    group_support_: np.ndarray | None
    objective_: float
    approximation_: str | None
    kernel_: str
    bandwidth_: float
    epsilon_: float
    n_iter_: int
    converged_: bool
    task_: str

    _fitted_on: tuple[Callable[[], Any], ...] = ()  # X and y, if they still exist

    def ranking_frame(self, X: Any = None, y: Any = None) -> Any:
        """Return the ranking as a table, best first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or Table, default=None
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            The samples of the fit, needed for ``alone``.

        Returns
        -------
        frame : pandas.DataFrame
            One row for each column, a polars frame after ``set_output(transform="polars")``:
            ``name``, ``rank`` (0 for ``given`` features), ``weight``, ``kept``; ``lost_without``,
            what the selected features no longer explain without it (see the attribute);
            ``in_folds``, the fraction of the cross-validation folds that select it; ``alone``, the
            fraction of the variance of y that it explains on its own, by leave-one-out prediction
            on at most 2000 samples; ``kind``, ``distinct`` (number of values; without X and y not
            of large tables) and ``missing`` (fraction of them); ``reason``, why it is not selected;
            and ``notes``, such as its group and the features it interacts with.

        Examples
        --------
        >>> from covmin import CCMSelector
        >>> from covmin.datasets import make_xor
        >>> X, y = make_xor(80, random_state=0, return_X_y=True)
        >>> frame = CCMSelector(3).fit(X, y).ranking_frame()
        >>> frame.columns[:7].tolist()
        ['name', 'rank', 'weight', 'kept', 'lost_without', 'in_folds', 'alone']
        >>> sorted(frame.loc[frame["kept"], "name"])
        ['x0', 'x1', 'x2']
        """
        check_is_fitted(self)
        explained = None if X is None else _explained(self, X, y)
        rows = feature_rows(self, explained)
        shares = "lost_without", "in_folds", "alone"
        as_read = "name", "rank", "weight", "kept", *shares, "kind", "distinct", "missing", "reason"
        columns: dict[str, Any] = {name: [row[name] for row in rows] for name in as_read}
        columns |= {k: np.array(columns[k], dtype=float) for k in (*shares, "distinct")}
        return results_frame(self, **columns, notes=["; ".join(row["notes"]) for row in rows])

    def interactions_frame(self) -> Any:
        """Return the sets of features that explain more jointly than separately, as a table.

        Returns
        -------
        frame : pandas.DataFrame
            ``interactions_`` with the columns ``features`` (names), ``share`` and ``p_value``.

        Examples
        --------
        >>> from covmin import CCMSelector
        >>> from covmin.datasets import make_xor
        >>> X, y = make_xor(200, random_state=0, return_X_y=True)
        >>> CCMSelector(3).fit(X, y).interactions_frame()["features"].tolist()
        ['x0 × x1', 'x0 × x2', 'x1 × x2']
        """
        check_is_fitted(self)
        found, names = self.interactions_, feature_names(self)
        sets = [" × ".join(str(names[j]) for j in each if j >= 0) for each in found.features]
        return results_frame(self, features=sets, share=found.share, p_value=found.p_value)

    def substitutes(self, X: Any, y: Any = None, n: int = 3) -> Any:
        """Return the features that could replace each selected one, as a table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Table
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            The samples of the fit; a table has both.
        n : int, default=3
            Number of substitutes for each selected feature.

        Returns
        -------
        frame : pandas.DataFrame
            ``feature`` (selected), ``substitute`` (not selected), and the fraction of the variance
            of y that is left unexplained by the selected features (``unexplained``), without the
            feature (``unexplained_without``), and with the substitute in its place
            (``unexplained_with``), by leave-one-out prediction on at most 2000 samples.

        Examples
        --------
        >>> import numpy as np
        >>> from covmin import CCMSelector
        >>> X = np.random.default_rng(0).standard_normal((100, 5))
        >>> X[:, 4] = X[:, 0] + 0.2 * X[:, 4]
        >>> y = X[:, 0] + X[:, 1] ** 2
        >>> found = CCMSelector(2).fit(X, y).substitutes(X, y, n=1).set_index("feature")
        >>> found.loc["x0", "substitute"]
        'x4'
        """
        check_is_fitted(self)
        rows = [row for _, row in find_substitutes(self, _explained(self, X, y), n)]
        names = ["feature", "substitute", "unexplained", "unexplained_without", "unexplained_with"]
        return results_frame(self, **{name: [row[name] for row in rows] for name in names})

    def cv_results_frame(self) -> Any:
        """Return the cross-validation results as a table.

        Returns
        -------
        frame : pandas.DataFrame
            One row for each ``epsilon`` and number of features (``n_features``), with the measures
            of ``cv_results_`` and whether it was ``chosen``. Empty if nothing was chosen by
            cross-validation.

        Examples
        --------
        >>> from covmin import CCMSelector
        >>> from covmin.datasets import make_xor
        >>> X, y = make_xor(120, random_state=0, return_X_y=True)
        >>> frame = CCMSelector().fit(X, y).cv_results_frame()
        >>> frame.loc[frame["chosen"], "n_features"].tolist()
        [3]
        """
        check_is_fitted(self)
        found = self.cv_results_
        if found is None:
            return results_frame(self, epsilon=[], n_features=[], mean_error=[], chosen=[])
        epsilon, size = np.meshgrid(found.epsilon, found.n_features, indexing="ij")
        chosen = (size == self.n_features_) & (epsilon == found.epsilon[row_used(self)])
        columns = {**found, "epsilon": epsilon, "n_features": size, "chosen": chosen}
        return results_frame(self, **{name: values.ravel() for name, values in columns.items()})

    @overload
    def report(self, path: None = None, X: Any = None, y: Any = None, **o: Any) -> Report: ...
    @overload
    def report(self, path: FilePath, X: Any = None, y: Any = None, **o: Any) -> Path: ...
    def report(
        self, path: FilePath | None = None, X: Any = None, y: Any = None, **options: Any
    ) -> Report | Path:
        """Return a report on the fit, to show in a notebook, or write it to an HTML file.

        Parameters
        ----------
        path : str or path, default=None
            The file to write. None returns the report itself.
        X : array-like of shape (n_samples, n_features) or Table, default=None
            The samples of the fit. A selector does not store them: None uses those passed to
            ``fit``, if they still exist and the selector was not loaded from a file.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            The response of the fit.
        **options
            Options of :func:`covmin.report.build_report`, such as ``target_name``.

        Returns
        -------
        report : Report or Path
            The report, which a notebook shows in place; or the absolute path of the file.
        """
        check_is_fitted(self)
        if X is None and y is None and self._fitted_on:
            X, y = (table() for table in self._fitted_on)
        if X is None or (y is None and not isinstance(X, Table)):
            text = (
                "The samples of the fit no longer exist, and a selector does not store them. Pass"
            )
            how = "them: selector.report(path, X, y), or selector.report(X=X, y=y) in a notebook."
            raise ValueError(f"{text} {how}")
        if getattr(y, "name", None) is not None:
            options = {"target_name": str(y.name), **options}
        # Of a layer above, for the sake of a short call.
        from covmin.report import Report, build_report, render_report

        made = Report(render_report(build_report(self, X, y, **options)))
        return made if path is None else made.save(path)

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram and, after a fit, the selected features."""
        diagram: str = super()._html_repr()  # type: ignore[misc]
        if not self.__sklearn_is_fitted__():  # type: ignore[attr-defined]
            return diagram
        return f"<div>{diagram}{selection_html(self)}</div>"


def _explained(selector: Any, X: Any, y: Any) -> Explained:
    """Return what sets of features explain of the samples of a fit."""
    if y is None and not isinstance(X, Table):
        raise ValueError("This table needs both X and y; y is missing.")
    return Explained(selector, read_as_fitted(selector, X, y))


def results_frame(selector: Any, **columns: Any) -> Any:
    """Return results as a pandas frame, or a polars frame if ``set_output`` asks for it."""
    if output_container(selector) == "polars":
        import polars

        return polars.DataFrame(columns)
    return required("pandas", "A result as a frame", "cli").DataFrame(columns)


def selection_html(selector: Any) -> str:
    """Return the headline and the selected features with the number beside each, as HTML."""
    found = summary(selector)
    kept = [row for row in found["features"] if row["kept"]]
    title, _, beside = beside_the_rank(kept)
    rows = [
        _ROW.format(row["rank"] or "given", escape(row["name"]), 5 * bar, text)
        for row, (text, bar) in zip(kept[:_SHOWN], beside, strict=False)
    ]
    more = f"<p>and {len(kept) - _SHOWN} more</p>" if len(kept) > _SHOWN else ""
    return (
        f'<details open style="margin:.5em 0"><summary>{escape(found["headline"])}</summary>'
        '<table style="text-align:left;border-spacing:.6em .1em"><tr><th>rank<th>feature<th>'
        f"{title}{''.join(rows)}</table>{more}</details>"
    )
