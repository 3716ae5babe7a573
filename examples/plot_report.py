"""
A report from Python
====================

``covmin select --report`` writes an HTML page that explains a selection. You can write the same
page from a fitted selector.
"""

# %%

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from covmin import CCMSelector
from covmin.report import build_report

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
selector = CCMSelector(task="regression").fit(X, y)

with TemporaryDirectory() as folder:
    path = selector.report(Path(folder) / "report.html", X, y, target_name="progression")
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB, works offline")

# %%
# The contents as a dict
# ----------------------
# ``build_report`` returns what the page shows as plain Python values, for use in other programs.

report = build_report(selector, X, y, target_name="progression")
print(report["choice"]["why"])
for note in report["warnings"]:
    print("-", note["title"])

# %%
# The error curve of the report
# -----------------------------

from covmin.plotting import ErrorCurveDisplay

ErrorCurveDisplay.from_estimator(selector)
plt.show()
