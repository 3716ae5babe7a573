"""The columns kept, as the user holds them: files and tensors stay what they are."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from covmin import CCMSelector, open_parquet

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 5))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
NAMES = list("abcde")


@pytest.fixture(scope="module")
def fitted():
    return CCMSelector(2).fit(pd.DataFrame(X, columns=NAMES), y)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("pyarrow", reason="pip install pyarrow")
    folder = tmp_path_factory.mktemp("files")
    pd.DataFrame(X, columns=NAMES).assign(y=y).to_parquet(folder / "x.parquet")
    return folder


def test_files_stay_files(fitted, folder):
    kept = fitted.transform(open_parquet(folder, "y")[0])
    assert kept.names == list(fitted.get_feature_names_out())
    assert_array_equal(kept.take(np.arange(40)), X[:, fitted.support_])


def test_files_with_other_columns_are_refused(fitted, folder):
    with pytest.raises(ValueError, match=r"should match those .* same order"):
        fitted.transform(open_parquet(folder, "y", NAMES[::-1])[0])
    with pytest.raises(ValueError, match=r"should match those .* now missing: 'd', 'e'"):
        fitted.transform(open_parquet(folder, "y", NAMES[:3])[0])


def test_tensors_stay_tensors(fitted):
    torch = pytest.importorskip("torch", reason="pip install 'covmin[torch]'")
    kept = fitted.transform(torch.as_tensor(X))
    assert isinstance(kept, torch.Tensor)
    assert_array_equal(kept.numpy(), X[:, fitted.support_])
    with pytest.raises(ValueError, match="X has 2 features, but CCMSelector was fitted on 5"):
        fitted.transform(torch.as_tensor(X[:, :2]))
