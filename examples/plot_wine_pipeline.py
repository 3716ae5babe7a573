"""
From a table to a tuned pipeline
================================

This example selects features from a data frame, keeps their names, and tunes their number
together with the parameters of the model. The selection is a step of the pipeline, so the test
folds are never used to select features.
"""

# %%
# Select from a data frame
# ------------------------

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from covmin import CCMSelector
from covmin.plotting import RankingDisplay

X, y = load_wine(return_X_y=True, as_frame=True)
selector = CCMSelector(n_features_to_select=5).set_output(transform="pandas").fit(X, y)
print(selector.transform(X).head(3))

# %%
# Every feature has a rank, and the picture shows what is lost without each selected one.

RankingDisplay.from_estimator(selector)
plt.show()

# %%
# Inside a pipeline
# -----------------
# ``GridSearchCV`` tunes the number of features like any other parameter.

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
# Accuracy with two, five and all thirteen features:

for m in (2, 5, 13):
    model = make_pipeline(StandardScaler(), CCMSelector(m), SVC())
    print(f"{m:2d} features: accuracy {cross_val_score(model, X, y, cv=5).mean():.3f}")
