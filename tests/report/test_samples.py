"""What features leave unexplained."""

from __future__ import annotations

import numpy as np
import pandas as pd

from covmin import CCMSelector
from covmin.report.samples import as_samples


def test_a_category_that_says_nothing_explains_nothing_by_itself():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((200, 3)), columns=list("abc"))
    frame["city"] = pd.Categorical([f"city {k}" for k in rng.integers(0, 40, 200)])
    y = frame["a"] + 0.5 * rng.standard_normal(200)
    selector = CCMSelector(2).fit(frame, y)
    samples = as_samples(selector, frame, y)
    assert samples.unexplained([3]) > 0.97
    assert samples.unexplained([0]) < 0.35
