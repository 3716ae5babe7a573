"""
A report from Python
====================

``covmin select --report`` writes a page that explains a selection. The same page comes from a
fitted selector in a few lines.
"""

# %%

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from covmin import CCMSelector
from covmin.report import build_report, write_report

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
selector = CCMSelector(task="regression").fit(X, y)

with TemporaryDirectory() as folder:
    path = write_report(selector, X, y, Path(folder) / "report.html", target_name="progression")
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB, needs no network")

# %%
# What is in it
# -------------
# The page is made of a dict of plain values, which other programs can use as well.

report = build_report(selector, X, y, target_name="progression")
print(report["choice"]["why"])
for note in report["warnings"]:
    print("-", note["title"])

# %%
# The same curve, drawn here
# --------------------------

from covmin.plotting import ErrorCurveDisplay

ErrorCurveDisplay.from_estimator(selector)
plt.show()
