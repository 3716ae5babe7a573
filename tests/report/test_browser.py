"""The page in a browser."""

from __future__ import annotations

import csv
import io
import shutil

import numpy as np
import pandas as pd
import pytest

from covmin import CCMSelector, Formulation
from covmin.datasets import make_survival
from covmin.report import build_report, render_report

from .conftest import EVIL

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
    """Return the texts of elements, without the small print under them."""
    return page.execute_script(
        "const own = (e) => [...e.childNodes].filter((child) => child.nodeName !== 'SMALL');"
        "return [...document.querySelectorAll(arguments[0])]"
        ".map((e) => own(e).map((child) => child.textContent).join(''));",
        css,
    )


def test_browser_opens_without_errors(page):
    assert page.get_log("browser") == []
    assert "features" in texts(page, "h1")[0]
    for figure in ("curve", "path", "pair"):
        assert len(page.find_elements("css selector", f"#{figure} svg")) >= 1
    assert len(page.find_elements("css selector", "#plots .card")) == 12
    loaded = page.execute_script("return performance.getEntriesByType('resource').length")
    assert loaded == 0


def test_browser_slider_moves_everything(page, wine):
    selector, X, _ = wine
    m = selector.n_features_ + 1
    set_slider(page, m)
    best = [X.columns[j] for j in np.argsort(selector.ranking_)[:m]]
    assert texts(page, "#chosen .name") == best
    assert texts(page, "#m-text")[0].startswith(f"{m} of 13 features")
    assert texts(page, "#ranking tr.kept th") == best
    assert len(page.find_elements("css selector", "#plots .card:not(.out)")) == m
    assert texts(page, "#curve text.mark") == [f"{m} selected"]
    page.find_element("id", "m-reset").click()
    assert len(texts(page, "#chosen .name")) == selector.n_features_
    assert page.get_log("browser") == []


def test_browser_draws_the_network(page, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((300, 6)), columns=[*"abcde", EVIL])
    y = X["a"] * X[EVIL] + 0.1 * rng.standard_normal(300)
    path = tmp_path / "network.html"
    path.write_text(render_report(build_report(CCMSelector(1).fit(X, y), X, y)), "utf-8")
    page.get(path.as_uri())
    assert len(page.find_elements("css selector", "#network .arc")) == 1
    assert len(page.find_elements("css selector", "#network .knot.out")) == 1
    assert sorted(texts(page, "#network text.on")) == ["1", "2"]
    set_slider(page, 2)
    assert page.find_elements("css selector", "#network .knot.out") == []
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
    from selenium.webdriver.support.ui import WebDriverWait

    page.find_element("id", "download").click()
    path = page.folder / "ranking.csv"
    WebDriverWait(page, 10).until(lambda _: path.exists())
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))
    path.unlink()
    assert [row["feature"] for row in rows] == [
        wine[1].columns[j] for j in np.argsort(wine[0].ranking_)
    ]
    assert sum(row["selected"] == "1" for row in rows) == wine[0].n_features_


def test_browser_downloads_no_formulas(browser):
    from selenium.webdriver.support.ui import WebDriverWait

    X = np.random.default_rng(0).standard_normal((60, 4))
    names = ["=1+1", "@SUM(A1)", "-4.5", 'a "b", c']
    selector = CCMSelector(2).fit(pd.DataFrame(X, columns=names), X[:, 0])
    page = browser.folder / "formulas.html"
    page.write_text(render_report(build_report(selector, X, X[:, 0], feature_names=names)), "utf-8")
    browser.get(page.as_uri())
    browser.find_element("id", "download").click()
    path = browser.folder / "ranking.csv"
    WebDriverWait(browser, 10).until(lambda _: path.exists())
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))
    path.unlink()
    assert {row["feature"] for row in rows} == {"'=1+1", "'@SUM(A1)", "-4.5", 'a "b", c'}


def test_browser_fits_a_phone(page):
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        page.refresh()
        unfold = "document.querySelectorAll('details').forEach(each => each.open = true)"
        page.execute_script(unfold)
        assert page.execute_script("return document.documentElement.scrollWidth") == 390
        table = "document.querySelector('.substitutes').parentElement"
        assert page.execute_script(f"return {table}.scrollWidth - {table}.clientWidth") <= 0
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
    "<!-- <script>",
]


def test_browser_runs_nothing_of_hostile_data(browser):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((60, 7)), columns=[*ATTACKS, "plain"])
    X["kind"] = pd.Categorical(rng.choice(ATTACKS, 60))
    y = np.array(ATTACKS)[(X["plain"] > 0).to_numpy().astype(int)]
    selector = CCMSelector(3, formulation=Formulation(max_iter=10, tol=0.1)).fit(X, y)
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


def test_browser_tells_ticks_apart_and_draws_categories(browser, years):
    X, y = years
    report = build_report(CCMSelector(2, task="regression").fit(X, y), X, y)
    path = browser.folder / "years.html"
    path.write_text(render_report(report), "utf-8")
    browser.get(path.as_uri())
    assert browser.get_log("browser") == []
    place = {name: i + 1 for i, name in enumerate(texts(browser, "#plots h3"))}

    def shown(name, css):
        return texts(browser, f"#plots .card:nth-child({place[name]}) {css}")

    assert shown("year", "text[text-anchor=middle]") == ["2005", "2010", "2015", "2020"]
    days = shown("day", "text[text-anchor=middle]")
    assert len(set(days)) == len(days) > 1
    assert shown("district", "text title") == ["a", "b", "c"]


def test_browser_shortens_large_numbers(browser):
    X = pd.DataFrame({"people": np.random.default_rng(0).uniform(0.0, 1.4e9, 60)})
    page = browser.folder / "people.html"
    selector = CCMSelector(1).fit(X, X["people"].to_numpy() ** 0.5)
    page.write_text(render_report(build_report(selector, X, X["people"] ** 0.5)), "utf-8")
    browser.get(page.as_uri())
    assert texts(browser, "#plots .card text[text-anchor=middle]") == ["0", "5e8", "1e9"]


def test_browser_curves_of_features_left_out_look_like_their_legend(browser):
    X, y = make_survival(120, 1, random_state=0, return_X_y=True)
    selector, page = CCMSelector(1).fit(X, y), browser.folder / "survival.html"
    page.write_text(render_report(build_report(selector, X, y)), "utf-8")
    browser.get(page.as_uri())
    colours = """
const shown = (e) => { const s = getComputedStyle(e); return [s.filter, s.stroke, s.fill]; };
const card = document.querySelector("#plots .card.out");
const curves = [...card.querySelectorAll(":scope > * path, :scope > svg path")].map(shown);
return {curves, legend: [...card.querySelectorAll(".legend path")].map(shown)};"""
    found = browser.execute_script(colours)
    assert {fill for _, _, fill in found["legend"]} <= {line for _, line, _ in found["curves"]}
    assert {of for each in found.values() for of, _, _ in each} == {"none"}


def test_browser_shows_missing_values_dates_and_few_numbers(browser, incomplete):
    path = browser.folder / "missing.html"
    path.write_text(render_report(build_report(*incomplete, target_name="status")), "utf-8")
    browser.get(path.as_uri())
    assert browser.get_log("browser") == []
    cards = browser.find_elements("css selector", ".card")
    told = {name: card.text for name, card in zip(texts(browser, "#plots h3"), cards, strict=True)}
    assert "which are not shown" in told["income"]
    assert "Missing in 10%" in told["plan"]
    assert "Class frequencies" in told["rooms"]
    assert {"2019", "2020", "2021"} <= set(told["when"].split())
    assert "samples are shown" in texts(browser, "#pair figcaption")[0]


LUMINANCE = """
const channel = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const parts = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((c) => channel(c / 255));
const light = (colour) => parts(colour).reduce((s, c, i) => s + c * [.2126, .7152, .0722][i], .05);
const ground = light(getComputedStyle(document.querySelector(".card.out")).backgroundColor);
const texts = document.querySelectorAll(".card.out text, .card.out h3, .card.out header span");
return [...texts].map((text) => {
  let seen = 1;
  for (let e = text; e; e = e.parentElement) seen *= Number(getComputedStyle(e).opacity);
  const style = getComputedStyle(text);
  const ink = light(text.tagName === "text" ? style.fill : style.color);
  return seen * Math.max(ink, ground) / Math.min(ink, ground);
});
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_browser_keeps_features_left_out_readable(page, theme):
    feature = {"name": "prefers-color-scheme", "value": theme}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    try:
        set_slider(page, 3)
        contrasts = page.execute_script(LUMINANCE)
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert len(contrasts) > 9
    assert min(contrasts) >= 4.5
