"""A network that no test reaches, the paper's sets where they are."""

from pathlib import Path
from types import SimpleNamespace

import matplotlib
import pytest

from .copies import PAPER_DATA

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def network(monkeypatch, tmp_path):
    """Instead of the network, the user's cache and settings; a test says what ``fetch`` brings."""

    def refuse(url):
        raise AssertionError(f"a test tried to fetch {url}")

    web = SimpleNamespace(fetch=refuse)

    class Downloader:
        def __init__(self, *_, **__): ...

        def __call__(self, url, file, pooch):
            Path(file).write_bytes(web.fetch(url))

    monkeypatch.setattr("pooch.downloaders.HTTPDownloader", Downloader)
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / "user-cache" / project)
    monkeypatch.delenv("COVMIN_DATA", raising=False)
    return web


@pytest.fixture
def paper_data(monkeypatch):
    monkeypatch.setenv("COVMIN_DATA", str(PAPER_DATA))
