"""Results as pandas frames and Markdown tables."""

from dataclasses import dataclass
from typing import Any, ClassVar

from covmin.selection.frames import require_pandas


@dataclass(frozen=True, repr=False)
class Records:
    """Results of selectors, with one record per measurement."""

    _display: ClassVar[str]  # the class in covmin.plotting.curves that draws them

    records: list[dict[str, Any]]

    def _describe(self, what: str) -> str:
        names = ", ".join(dict.fromkeys(record["selector"] for record in self.records))
        return (
            f"<{type(self).__name__}: {len(self.records)} {what} of {names or 'no selector'}; "
            "see .summary(), .frame and .plot()>"
        )

    @property
    def frame(self) -> Any:
        """Results as a tidy frame, one row per record."""
        return require_pandas().DataFrame(self.records)

    def plot(self, *axes: Any, **options: Any) -> Any:
        """Draw the results.

        Parameters
        ----------
        *axes, **options
            Passed to ``plot`` of the display: axes to draw on, a title, whether to add a legend.

        Returns
        -------
        display : covmin.plotting.AccuracyCurveDisplay or covmin.plotting.MedianRankDisplay
        """
        from covmin.plotting import curves

        return getattr(curves, self._display).from_results(self).plot(*axes, **options)


def group_means(
    frame: Any, keys: list[str], value: str, names: tuple[str, str, str], spread: str
) -> Any:
    """Return mean, spread and count of the values by group, mean seconds, and failures."""
    aggregates = [(value, "mean"), (value, spread), ("fit_seconds", "mean"), (value, "size")]
    mean, deviation, count = names
    columns = dict(zip((mean, deviation, "fit_seconds", count), aggregates, strict=True))
    missing = (value, lambda values: int(values.isna().sum()))
    return frame.groupby(keys, sort=False).agg(**columns, n_failed=missing).reset_index()


def markdown_table(frame: Any, digits: int = 3) -> str:
    """Return a frame, without its index, as a Markdown table; missing numbers are left empty.

    >>> import pandas as pd
    >>> print(markdown_table(pd.DataFrame({"set": ["wine"], "score": [0.98765]})))
    | set | score |
    | --- | ---: |
    | wine | 0.988 |
    """
    numeric = [frame[column].dtype.kind in "iuf" for column in frame.columns]
    lines = [list(map(str, frame.columns)), ["---:" if right else "---" for right in numeric]]
    lines += [[_cell(value, digits) for value in row] for row in frame.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(value: Any, digits: int) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.{digits}f}"
    return str(value)
