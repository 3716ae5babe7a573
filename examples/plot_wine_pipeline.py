"""
From a table to a tuned pipeline
================================

Select features of a data frame, keep their names, and choose how many together with the model's
own parameters. The selection happens inside the pipeline, so that every score is honest: the
fold that judges has never been seen.
"""

# %%
# Ranking a data frame
# --------------------

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from covmin import CCMSelector
from covmin.plotting import RankingDisplay

X, y = load_wine(return_X_y=True, as_frame=True)
selector = CCMSelector(n_features_to_select=5).set_output(transform="pandas").fit(X, y)
print(selector.transform(X).head(3))

# %%
# Every feature has a rank and, at the budget asked for, a weight.

RankingDisplay.from_estimator(selector)
plt.show()

# %%
# Inside a pipeline
# -----------------
# ``GridSearchCV`` searches over the number of features like over any other parameter.

from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

model = make_pipeline(StandardScaler(), CCMSelector(), SVC())
search = GridSearchCV(
    model, {"ccmselector__n_features_to_select": [2, 4, 6], "svc__C": [1.0, 10.0]}, cv=3
)
search.fit(X, y)
print(search.best_params_, f"accuracy {search.best_score_:.3f}")

# %%
# Five measurements come close to all thirteen:

for m in (2, 5, 13):
    model = make_pipeline(StandardScaler(), CCMSelector(m), SVC())
    print(f"{m:2d} features: accuracy {cross_val_score(model, X, y, cv=5).mean():.3f}")
