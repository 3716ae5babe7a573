"""Small blocks, so that tables of a few thousand rows have several."""

import pytest

from covmin.data.blocks import array as local
from covmin.data.blocks import parquet


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    for module in (local, parquet):
        monkeypatch.setattr(module, "BLOCK_ROWS", 1024)
