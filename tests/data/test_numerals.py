"""Numbers written as text."""

import numpy as np
import pytest

from covmin.data.parsing import is_missing_mark, look_like_numbers, read_numerals


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["12%", "3.5 %"], [12, 3.5]),
        (["$91.32", " $1 "], [91.32, 1]),
        (["€ 5", "€ 1.234,5"], [5, 1234.5]),
        (["1,234.5", "7"], [1234.5, 7]),
        (["1.234,5", "12.345"], [1234.5, 12345]),
        (["1 234", "12"], [1234, 12]),
        (["1\u202f234,5", "3"], [1234.5, 3]),
        (["1'234.5", "2"], [1234.5, 2]),
        (["1,5", "2,25", "3"], [1.5, 2.25, 3]),
        (["(3.5)", "2", "-1", "+4", "−5"], [-3.5, 2, -1, 4, -5]),
        (["$-5", "-$6", "$(7)"][:2], [-5, -6]),
        (["0.5", ".5", "1e-3", "2E5", "1."], [0.5, 0.5, 0.001, 200000, 1]),
        (["36 months", "60 months"], [36, 60]),
        (["18.6 kmpl", "9 kmpl"], [18.6, 9]),
        (["1,234,567", "3"], [1234567, 3]),
    ],
)
def test_one_way_of_writing(texts, values):
    assert read_numerals(texts)[0].tolist() == values


@pytest.mark.parametrize(
    "texts",
    [
        [],
        [""],
        ["red", "1"],
        ["$5", "€5"],  # two units
        ["12", "13 kg"],
        ["1st", "2nd"],
        ["007", "12"],  # a code
        ["s1", "s2"],
        ["1.2.3"],
        ["1,2,3"],
        ["1,234.5", "1.234,5"],
        ["2024-01-31"],
        ["10:30"],
        ["3+"],
        ["1\n2"],
        ["nan", "inf"],
        ["--5"],
        ["(5"],
    ],
)
def test_what_is_no_number(texts):
    assert read_numerals(texts) is None


def test_what_is_ambiguous_is_said():
    values, words = read_numerals(["1,234", "2,345"])
    assert values.tolist() == [1234, 2345]
    assert words.endswith("such as '1,234' for 1234")
    assert read_numerals(["2", "1,5"])[1].endswith("'1,5' for 1.5")


def test_by_themselves():
    assert look_like_numbers(["1", "n/k", "$2", "1\n2", "x"]).tolist() == [1, 0, 1, 1, 0]
    assert all(map(is_missing_mark, ["", " ", "N/A", "?", "--", "None", "NaN"]))
    assert not any(map(is_missing_mark, ["0", "no", "x"]))


def test_many_are_read_at_once():
    numbers = np.random.default_rng(0).uniform(0, 1e6, 50_000).round(2)
    assert (read_numerals([f"${x:,.2f}" for x in numbers])[0] == numbers).all()
