"""The report: its dict, its HTML, and the page in a browser."""

from __future__ import annotations

import csv
import html as html_module
import io
import json
import re
import shutil
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine

from covmin import CCMSelector

pytest.importorskip("jinja2")

from covmin.report import (
    build_report,
    error_curve,
    explain_choice,
    render_report,
    reproduction_code,
    write_report,
)
from covmin.report._samples import as_samples
from covmin.report._warnings import check_data

EVIL = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X.rename(columns={"hue": EVIL, "ash": '<b>ash</b> & "co"'})
    return CCMSelector(random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def wine_report(wine):
    return build_report(*wine, target_name="<i>cultivar</i>", source="wine.csv")


@pytest.fixture(scope="module")
def wine_page(wine_report):
    return render_report(wine_report)


def embedded(page):
    found = re.search(r'<script type="application/json" id="report">(.*?)</script>', page, re.S)
    return json.loads(found.group(1))


def test_report_is_plain_and_complete(wine, wine_report):
    selector = wine[0]
    assert json.loads(json.dumps(wine_report, allow_nan=False)) == wine_report
    order = wine_report["ranking"]["order"]
    assert sorted(order) == list(range(13))
    assert [selector.ranking_[j] for j in order] == list(range(1, 14))
    assert wine_report["choice"]["m"] == selector.n_features_
    assert wine_report["choice"]["error"] in wine_report["choice"]["curve"]["error"]
    assert len(wine_report["plots"]) == 12
    assert len(wine_report["correlation"]["percent"]) == 13
    assert len(wine_report["substitutes"]["rows"]) == min(10, selector.n_features_)
    assert {"covmin", "numpy", "python"} <= set(wine_report["versions"])


def test_embedded_data_is_the_dict(wine_report, wine_page):
    assert embedded(wine_page) == wine_report


def test_names_are_escaped(wine_page):
    assert EVIL not in wine_page
    assert "<b>ash</b>" not in wine_page
    assert "<i>cultivar</i>" not in wine_page
    assert wine_page.count("<script") == 2
    assert html_module.escape(EVIL) in wine_page


def test_page_loads_nothing(wine_page):
    page = wine_page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|src\s*=|@import|url\(", page)


def test_page_is_accessible(wine_page):
    assert '<html lang="en">' in wine_page
    assert '<label for="m">' in wine_page
    for heading in re.findall(r'aria-labelledby="([^"]+)"', wine_page):
        assert f'id="{heading}"' in wine_page
    assert wine_page.count("<h1") == 1
    assert "prefers-color-scheme: dark" in wine_page
    assert "@media print" in wine_page


def test_code_repeats_the_fit(wine, wine_report):
    X, y = load_wine(return_X_y=True, as_frame=True)
    assert "pd.read_csv('wine.csv')" in wine_report["code"]
    line = next(x for x in wine_report["code"].splitlines() if x.startswith("selector = "))
    scope = {"CCMSelector": CCMSelector}
    exec(line, scope)
    assert (scope["selector"].fit(X, y).ranking_ == wine[0].ranking_).all()


def test_code_holds_long_parameters_in_full():
    parameters = {
        "groups": np.repeat(np.arange(60), 2),
        "given": [f"feature {number}" for number in range(100)],
        "epsilon": np.float64(0.01),
        "class_weight": {np.int64(0): 1.0, np.int64(1): np.float64(2.0)},
    }
    code = reproduction_code(CCMSelector(5, **parameters))
    line = next(x for x in code.splitlines() if x.startswith("selector = "))
    scope = {"CCMSelector": CCMSelector}
    exec(line, scope)
    repeated = scope["selector"].get_params()
    assert repeated["n_features_to_select"] == 5
    for name, value in parameters.items():
        assert np.array_equal(repeated[name], value)


def test_regression_report_without_a_curve(tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    selector = CCMSelector(2, task="regression", random_state=0).fit(X, y)
    report = build_report(selector, X.to_numpy(), y, feature_names=list(X))
    assert report["choice"]["curve"] is None
    assert report["plots"][0]["kind"] == "scatter"
    assert "value" in report["pair"]
    path = write_report(selector, X, y, tmp_path / "r.html")
    assert path.is_absolute()
    assert "The number was given" in path.read_text("utf-8")
    assert [file.name for file in tmp_path.iterdir()] == ["r.html"]


def test_interacting_pair_is_found():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 4))
    y = (X[:, 1] * X[:, 3] > 0).astype(int)
    report = build_report(CCMSelector(2).fit(X, y), X, y)
    assert sorted(report["pair"]["features"]) == [1, 3]
    assert report["pair"]["gain"] > 0.3
    assert max(report["pair"]["alone"]) < 0.1
    assert report["interactions"] == [{"features": [1, 3], "chance": "p < 0.001"}]
    page = render_report(report)
    assert "All pairs of features were looked at" in page
    without = build_report(CCMSelector(2, interactions=False).fit(X, y), X, y)
    assert without["interactions"] == []
    assert "All pairs of features were looked at" not in render_report(without)


def test_substitutes_know_a_near_copy():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 6))
    y = X[:, 0] + 0.3 * X[:, 1]
    X[:, 5] = X[:, 0] + 0.05 * rng.standard_normal(120)
    selector = CCMSelector(2, task="regression").fit(X, y)
    order = np.argsort(selector.ranking_)
    rows = {row["feature"]: row for row in build_report(selector, X, y)["substitutes"]["rows"]}
    best = int(order[0])
    if best in (0, 5) and 5 - best not in order[:2]:
        assert rows[best]["substitute"] == 5 - best
        assert rows[best]["with_substitute"] < rows[best]["without"]
    assert len(rows) == 2


@pytest.mark.filterwarnings("ignore:1 constant feature")
def test_warnings_find_ids_leaks_constants_and_copies():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [40, 40, 3])
    X = pd.DataFrame(rng.standard_normal((83, 3)), columns=["a", "b", "c"])
    X["id"] = np.arange(1, 84)
    X["flat"] = 1.0
    X["copy"] = X["b"]
    X["answer"] = 2.0 * y + 1e-3 * rng.standard_normal(83)
    X["ticket"] = rng.permutation(83) + 7
    report = build_report(CCMSelector(3, random_state=0).fit(X, y), X, y)
    found = {(w["kind"], *(report["names"][j] for j in w["features"])) for w in report["warnings"]}
    assert ("leak", "id") in found
    assert ("id", "ticket") in found
    assert ("leak", "answer") in found
    assert ("constant", "flat") in found
    assert ("duplicate", "copy") in found
    assert ("small",) in found


def test_clean_data_has_no_warnings(wine_report):
    assert wine_report["warnings"] == []


def test_wide_report_is_small():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 10_000)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    selector = CCMSelector(20, max_iter=20, tol=0.1).fit(X, y)
    names = [f"gene_{j:05d}_expression_level" for j in range(10_000)]
    page = render_report(build_report(selector, X, y, feature_names=names))
    assert len(page.encode()) < 3_000_000
    assert len(embedded(page)["ranking"]["order"]) == 10_000


def test_many_rows_are_sampled_over_the_response():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 3))
    y = np.zeros(3000, dtype=int)
    y[:3] = 1
    selector = CCMSelector(1, approximation="fourier", n_components=20, random_state=0).fit(X, y)
    report = build_report(selector, X, y)
    assert report["described_rows"] == 500
    assert [row["count"] for row in report["data"]["classes"]] == [2997, 3]


def test_several_outputs_and_one_feature():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 1))
    Y = np.column_stack([X[:, 0], -(X[:, 0] ** 2)])
    selector = CCMSelector(random_state=0).fit(X, Y)
    report = build_report(selector, X, Y)
    assert report["data"]["n_outputs"] == 2
    assert report["pair"] is None
    assert "every feature is in the set" in render_report(report)
    assert error_curve(selector) is None
    assert "1 feature, all there are" in explain_choice(selector)


def test_mistakes_are_explained(wine):
    selector, X, y = wine
    with pytest.raises(ValueError, match="fitted on 13 features"):
        build_report(selector, X.iloc[:, :5], y)
    with pytest.raises(ValueError, match="2 feature names"):
        build_report(selector, X, y, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="178 samples but y has 3"):
        build_report(selector, X, y[:3])


def test_failed_write_leaves_the_old_file(wine, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("covmin.runtime.files.os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_report(*wine, path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


# In a browser ---------------------------------------------------------------------------------

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
CHROMEDRIVER = shutil.which("chromedriver")
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--window-size=1280,900",
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory, wine_page):
    webdriver = pytest.importorskip("selenium.webdriver")
    if CHROMIUM is None or CHROMEDRIVER is None:
        pytest.skip("needs chromium and chromedriver")
    folder = tmp_path_factory.mktemp("browser")
    (folder / "report.html").write_text(wine_page, "utf-8")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(CHROMEDRIVER))
    driver.folder = folder
    yield driver
    driver.quit()


@pytest.fixture
def page(browser):
    browser.get((browser.folder / "report.html").as_uri())
    return browser


def set_slider(page, value):
    page.execute_script(
        "const m = document.getElementById('m'); m.value = arguments[0];"
        "m.dispatchEvent(new Event('input', {bubbles: true}));",
        value,
    )


def texts(page, css):
    return page.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent);", css
    )


def test_browser_opens_without_errors(page):
    assert page.get_log("browser") == []
    assert "features" in texts(page, "h1")[0]
    for figure in ("curve", "path", "pair", "shared"):
        assert len(page.find_elements("css selector", f"#{figure} svg")) >= 1
    assert len(page.find_elements("css selector", "#plots .card")) == 12
    loaded = page.execute_script("return performance.getEntriesByType('resource').length")
    assert loaded == 0


def test_browser_slider_moves_everything(page, wine):
    selector, X, _ = wine
    set_slider(page, 3)
    best = [X.columns[j] for j in np.argsort(selector.ranking_)[:3]]
    assert texts(page, "#chosen .name") == best
    assert texts(page, "#m-text")[0].startswith("3 of 13 features")
    assert texts(page, "#ranking tr.kept th") == best
    assert len(page.find_elements("css selector", "#plots .card:not(.out)")) == 3
    assert texts(page, "#curve text.mark") == ["3 kept"]
    page.find_element("id", "m-reset").click()
    assert len(texts(page, "#chosen .name")) == selector.n_features_
    assert page.get_log("browser") == []


def test_browser_slider_obeys_the_keyboard(page, wine):
    page.find_element("id", "m").send_keys("\ue012")  # arrow left
    assert texts(page, "#m-text")[0].startswith(f"{wine[0].n_features_ - 1} of 13")


def test_browser_search_and_sort(page, wine):
    page.find_element("id", "search").send_keys("PROLINE")
    assert texts(page, "#ranking tbody th") == ["proline"]
    assert texts(page, "#matches") == ["1 of 13"]
    page.find_element("id", "search").send_keys("\ue009a\ue009\ue017")  # Ctrl+A, Delete
    page.find_element("css selector", "#ranking [data-key=name]").click()
    names = texts(page, "#ranking tbody th")
    assert len(names) == 13
    assert names.index("alcohol") < names.index("flavanoids") < names.index("proline")
    assert page.find_element("css selector", "[aria-sort]").text.startswith("Feature")
    page.find_element("css selector", "#ranking [data-key=name]").click()
    assert texts(page, "#ranking tbody th") == names[::-1]


def test_browser_downloads_the_ranking(page, wine):
    page.find_element("id", "download").click()
    path = page.folder / "ranking.csv"
    for _ in range(100):
        if path.exists():
            break
        time.sleep(0.05)
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))
    path.unlink()
    assert [row["feature"] for row in rows] == [
        wine[1].columns[j] for j in np.argsort(wine[0].ranking_)
    ]
    assert sum(row["selected"] == "1" for row in rows) == wine[0].n_features_


def test_browser_fits_a_phone(page):
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        page.refresh()
        assert page.execute_script("return document.documentElement.scrollWidth") == 390
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_browser_treats_names_as_text(page):
    assert EVIL in texts(page, "#ranking tbody th")
    assert page.find_elements("css selector", "#ranking b, h1 i") == []


ATTACKS = [
    "</script><script>window.hacked = 1</script>",
    '<img src=x onerror="window.hacked = 1">',
    "\"><svg onload='window.hacked = 1'>",
    "'-(window.hacked = 1)-'",
    "${window.hacked = 1}{{7*7}}",
    "\u2028<!-- <script>",
]


def test_browser_runs_nothing_of_hostile_data(browser):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((60, 7)), columns=[*ATTACKS, "plain"])
    X["kind"] = pd.Categorical(rng.choice(ATTACKS, 60))
    y = np.array(ATTACKS)[(X["plain"] > 0).to_numpy().astype(int)]
    selector = CCMSelector(3, max_iter=10, tol=0.1).fit(X, y)
    for number, attack in enumerate(ATTACKS):
        page = render_report(
            build_report(
                selector,
                X,
                y,
                target_name=attack,
                source=attack,
                notes=[attack],
                code=attack,
            )
        )
        assert page.count("<script") == 2
        path = browser.folder / f"hostile{number}.html"
        path.write_text(page, "utf-8")
        browser.get(path.as_uri())
        set_slider(browser, 5)
        assert browser.get_log("browser") == []
        assert browser.execute_script("return window.hacked") is None
        assert browser.find_elements("css selector", "img, svg[onload]") == []
        assert set(ATTACKS) < set(texts(browser, "#ranking tbody th"))


def test_a_category_that_says_nothing_explains_nothing_by_itself():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((200, 3)), columns=list("abc"))
    frame["city"] = pd.Categorical([f"city {k}" for k in rng.integers(0, 40, 200)])
    y = frame["a"] + 0.5 * rng.standard_normal(200)
    selector = CCMSelector(2).fit(frame, y)
    samples = as_samples(selector, frame, y)
    assert samples.unexplained([3]) > 0.97
    assert samples.unexplained([0]) < 0.35


@pytest.mark.parametrize("text", [False, True])
def test_a_copy_of_the_response_is_a_leak_beside_categories_too(text):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((200, 3)), columns=list("abc"))
    frame["city"] = pd.Categorical([f"city {k}" for k in rng.integers(0, 20, 200)])
    y = np.where(frame["a"] + frame["b"] > 0, "yes", "no")
    copy = (y == "yes").astype(int)
    frame["copy"] = pd.Categorical(copy.astype(str)) if text else copy
    selector = CCMSelector(2).fit(frame, y)
    leaks = [w for w in check_data(selector, frame, y) if w["kind"] == "leak"]
    assert [w["features"] for w in leaks] == [[4]]
