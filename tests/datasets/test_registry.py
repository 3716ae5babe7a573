"""What is registered of each set, and how it is found."""

from pathlib import Path

import pytest

from covmin.datasets import list_datasets, load, registry


def test_list_datasets_is_the_table_of_the_paper():
    expected = "ALLAML CLL-SUB-111 glass ORL orlraws10P pixraw10P TOX-171 vowel warpAR10P "
    assert list_datasets() == (expected + "warpPIE10P wine Yale").split()
    assert list_datasets(variants=True) == [*list_datasets(), "glass-no-id"]


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("tox_171", "TOX-171"),
        ("TOX171", "TOX-171"),
        ("cll-sub_111", "CLL-SUB-111"),
        ("yale", "Yale"),
    ],
)
def test_names_are_matched_loosely(spelling, name):
    assert registry.find_record(spelling).name == name


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(ValueError, match=r"'TOX-117'.*Did you mean 'TOX-171'.*Known names: ALLAML"):
        load("TOX-117")
    with pytest.raises(ValueError, match=r"called 'qqqqqq'\. Known names"):
        load("qqqqqq")
    with pytest.raises(TypeError, match=r"must be a string.*3 of type int"):
        load(3)


@pytest.mark.parametrize("name", ["../wine", "/etc/passwd", "wine.npz", "..", "", "wine\0"])
def test_names_are_never_paths(name):
    with pytest.raises(ValueError, match="There is no data set called"):
        load(name)


def test_registry_is_complete_and_safe():
    for record in registry.records().values():
        assert len(record.class_counts) == len(record.target_names)
        assert sum(record.class_counts) == record.n_samples
        assert len(record.columns) == record.n_features
        kind, _, digest = record.source_checksum.partition(":")
        assert len(digest) == {"sha256": 64, "git-blob": 40}[kind]
        assert all(url.startswith("https://") for url in record.source_urls)
        assert all(Path(file_name).name == file_name for file_name in record.file_names)
