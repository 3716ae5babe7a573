"""Select variables of an annotated matrix, as biologists keep them."""

from dataclasses import replace
from typing import Any

import numpy as np

from covmin.data import TableOptions, read
from covmin.remarks import InputError
from covmin.text import listed

from .selector import CCMSelector


def fit_anndata(
    selector: CCMSelector,
    adata: Any,
    response: str,
    *,
    layer: str | None = None,
    groups: str | None = None,
) -> CCMSelector:
    """Fit a selector to an ``AnnData``, and write what it finds to ``adata.var``.

    Adds the columns ``covmin_rank``, 1 for the best variable, and ``covmin_selected``.

    Parameters
    ----------
    selector : CCMSelector
    adata : AnnData of shape (n_obs, n_vars)
        In memory; its matrix may be sparse. Nothing but ``var`` is changed.
    response : str
        Column of ``adata.obs`` to explain, such as a cell type.
    layer : str, default=None
        Layer to use in place of ``adata.X``.
    groups : str, default=None
        Column of ``adata.obs`` that says which observations belong together, such as a donor.
        Cross-validation keeps them in one fold.

    Returns
    -------
    selector : CCMSelector
        The fitted selector; it knows the names of the variables.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from types import SimpleNamespace
    >>> from covmin import CCMSelector, fit_anndata
    >>> from covmin.datasets import make_xor
    >>> X, y = make_xor(200, random_state=0, return_X_y=True)
    >>> genes = pd.DataFrame(index=[f"gene{j}" for j in range(X.shape[1])])
    >>> adata = SimpleNamespace(X=X, obs=pd.DataFrame({"cell": y}), var=genes, layers={})
    >>> fit_anndata(CCMSelector(3), adata, "cell").get_feature_names_out().tolist()
    ['gene0', 'gene1', 'gene2']
    >>> int(adata.var["covmin_selected"].sum())
    3
    """
    X = adata.X if layer is None else _entry(adata.layers, layer, "layer")
    rows = None if groups is None else _entry(adata.obs, groups, "groups").to_numpy()
    y = _entry(adata.obs, response, "response")
    table = read(X, y, TableOptions.of(selector), groups=rows)
    # A matrix has no names of its own.
    selector.fit(replace(table, names=np.array(adata.var.index, dtype=object)), None)
    adata.var["covmin_rank"] = selector.ranking_
    adata.var["covmin_selected"] = selector.get_support()
    return selector


def _entry(there: Any, name: str, parameter: str) -> Any:
    if name not in there:
        known = listed(list(there)) or "nothing"
        raise InputError(f"There is no {parameter}={name!r} in adata, only {known}.", parameter)
    return there[name]
