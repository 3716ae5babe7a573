"""Small blocks, so that tables of a few thousand rows have several."""

import pytest

from covmin.data.sources import local, parquet


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    for module in (local, parquet):
        monkeypatch.setattr(module, "BLOCK_ROWS", 1024)
