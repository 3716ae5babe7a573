"""Annotated matrices; what has the attributes of one is one."""

from types import SimpleNamespace
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from covmin import CCMSelector, fit_anndata
from covmin.core.kernels import KERNELS
from covmin.datasets import make_xor
from covmin.remarks import InputError
from covmin.selection.selector import KernelName

X, y = make_xor(120, random_state=0, return_X_y=True)
GENES = [f"gene{j}" for j in range(X.shape[1])]


def annotated(matrix, **layers):
    obs = pd.DataFrame({"cell": np.where(y > 0, "B", "T"), "donor": np.arange(y.size) // 3})
    return SimpleNamespace(X=matrix, obs=obs, var=pd.DataFrame(index=GENES), layers=layers)


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_matrix])
def test_ranks_are_written_to_the_variables(make):
    adata = annotated(make(X))
    selector = fit_anndata(CCMSelector(3), adata, "cell")
    expected = CCMSelector(3).fit(make(X), adata.obs["cell"])
    assert adata.var.columns.tolist() == ["covmin_rank", "covmin_selected"]
    assert_array_equal(adata.var["covmin_rank"], expected.ranking_)
    assert_array_equal(adata.var["covmin_selected"], expected.support_)
    assert selector.feature_names_in_.tolist() == GENES
    assert selector.ranking_frame()["name"][0] in GENES


def test_layer_and_groups():
    adata = annotated(np.ones_like(X), scaled=X)
    selector = fit_anndata(CCMSelector(), adata, "cell", layer="scaled", groups="donor")
    expected = CCMSelector().fit(X, adata.obs["cell"], groups=adata.obs["donor"])
    assert_array_equal(selector.ranking_, expected.ranking_)
    assert selector.n_features_ == expected.n_features_


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_matrix])
def test_the_library_itself(make):
    anndata = pytest.importorskip("anndata")
    obs = annotated(X).obs.set_index(pd.Index([f"cell{i}" for i in range(y.size)]))
    adata = anndata.AnnData(make(np.ones_like(X)), obs=obs, var=pd.DataFrame(index=GENES))
    adata.layers["scaled"] = make(X)
    selector = fit_anndata(CCMSelector(3), adata, "cell", layer="scaled")
    expected = CCMSelector(3).fit(X, obs["cell"])
    assert_array_equal(selector.ranking_, expected.ranking_)
    assert_array_equal(adata.var["covmin_rank"], expected.ranking_)
    assert adata.var_names[adata.var["covmin_selected"]].isin(GENES[:3]).all()


def test_an_editor_knows_every_kernel():
    assert set(get_args(KernelName)) == {"auto", *KERNELS}


@pytest.mark.parametrize("wrong", [{"layer": "log"}, {"groups": "day"}])
def test_what_is_not_there_is_told(wrong):
    [(parameter, name)], adata = wrong.items(), annotated(X)
    with pytest.raises(InputError, match=f"no {parameter}={name!r} in adata"):
        fit_anndata(CCMSelector(3), adata, "cell", **wrong)
    with pytest.raises(InputError, match="no response='type' in adata, only 'cell', 'donor'"):
        fit_anndata(CCMSelector(3), adata, "type")
