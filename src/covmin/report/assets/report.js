"use strict";
// What moves: the slider over the number of features, and the ranking table.
(function () {
  const report = JSON.parse(document.getElementById("report").textContent);
  const names = report.names, order = report.ranking.order, fitted = report.choice.m;
  const find = (id) => document.getElementById(id);
  const alone = new Map(report.plots.map((plot) => [plot.feature, plot.explained]));
  const PAGE = 50, byOrder = report.choice.curve?.measure === "concordance";
  // Columns of a group share a rank; given columns have rank 0 and are always kept.
  const ranks = report.ranking.ranks;
  const rankAt = (i) => ranks[i];
  const kept = (m) => ranks.filter((rank) => rank <= m).length;
  const rows = order.map((j, i) => ({
    rank: rankAt(i), feature: j, name: names[j], value: report.ranking.numbers[i] ?? undefined,
    folds: report.ranking.in_folds[i] ?? undefined, about: report.ranking.about[i], alone: alone.get(j),
  }));
  const most = Math.max(1e-9, ...rows.map((row) => row.value ?? 0));
  const state = { m: fitted, sort: "rank", down: false, query: "", shown: PAGE };

  function curve() {
    const label = byOrder ? "Cross-validated concordance index" : "Variance left unexplained, cross-validated";
    return { ...report.choice.curve, label };
  }

  function errorAt(m) {
    const known = report.choice.curve;
    if (!known) return null;
    const i = known.n_features.indexOf(m);
    if (i >= 0) return { error: known.error[i], exact: true };
    const after = known.n_features.findIndex((s) => s > m);
    if (after < 1) return null;
    const [a, b] = [known.n_features[after - 1], known.n_features[after]];
    const share = (m - a) / (b - a);
    return { error: known.error[after - 1] * (1 - share) + known.error[after] * share, exact: false };
  }

  function replace(id, ...children) { find(id).replaceChildren(...children); }

  function readout() {
    const found = errorAt(state.m);
    let text = `${state.m} of ${report.choice.choices.toLocaleString("en")} features`;
    if (found) text += ` · ${found.exact ? "" : "about "}${byOrder ? "concordance " + found.error.toFixed(2) : percent(found.error) + " unexplained"}`;
    find("m-text").textContent = text;
    find("m").value = state.m;
    find("m").setAttribute("aria-valuetext", text);
    find("m-reset").hidden = state.m === fitted;
    find("chosen-title").textContent = state.m === fitted ? "Selected features" : `The first ${state.m}`;
    replace("chosen", ...order.slice(0, kept(state.m)).map((j) => node("span", { class: "name", title: names[j] }, breakable(names[j]))));
  }

  function drawCharts() {
    const width = (id) => Math.max(280, find(id).clientWidth);
    if (report.choice.curve) replace("curve", errorCurve(width("curve"), curve(), state.m, setSize), curveLegend(curve()));
    replace("path", pathChart(width("path"), report.path, names, state.m, kept(state.m)));
  }

  function drawPair() {
    if (!report.pair) return;
    const width = Math.min(680, Math.max(280, find("pair").clientWidth));
    find("pair").style.maxWidth = "680px";
    const response = report.data.task === "survival" ? "Events minus expected" : report.target;
    replace("pair", pairChart(width, report.pair, names), pairLegend(report.pair, response), node("figcaption", {}, pairCaption()));
  }

  function drawNetwork() {
    if (!report.interactions.length) return;
    const width = Math.min(560, Math.max(260, find("network").clientWidth));
    find("network").style.maxWidth = "560px";
    const rankOf = (j) => rankAt(order.indexOf(j)), isKept = (j) => rankOf(j) <= state.m;
    replace("network", networkChart(width, report.network, report.interactions, names, rankOf, isKept),
      node("figcaption", {}, "Circles show the rank of a feature, in grey if it is not selected; the width of an arc is the share of the pair."));
  }

  function pairCaption() {
    const n = report.pair.x.length, all = report.data.n_samples, count = (k) => k.toLocaleString("en");
    let caption = n + report.pair.n_missing < all ? `${count(n)} of ${count(all)} samples are shown.` : `All ${count(n)} samples.`;
    if (report.pair.n_missing) caption = `${count(n)} of ${count(all)} samples are shown; ${count(report.pair.n_missing)} others have a missing value.`;
    if (report.pair.levels.some(Boolean)) caption += " Samples of a level are spread over its width to be visible.";
    return caption;
  }

  function drawPlots() {
    replace("plots", ...report.plots.map((plot, i) => {
      const label = `${names[plot.feature]}: explains ${percent(plot.explained)} alone`;
      const chart = { densities: densityChart, scatter: scatterChart, means: levelChart, shares: levelChart, survival: survivalChart }[plot.kind](plot, label, report.target);
      return node("article", { class: "card", "data-place": i },
        node("header", {}, node("h3", { title: names[plot.feature] }, breakable(names[plot.feature])), node("span", {}, "")), chart, ["shares", "survival"].includes(plot.kind) ? classLegend(plot.classes, () => SHAPES[1](0, 0)) : null,
        plot.effect ? node("p", { class: "effect" }, plot.effect + ".") : null, footnote(plot));
    }));
  }

  // Notes on what a card does not show.
  function footnote(plot) {
    const notes = [];
    const isLevel = plot.levels !== undefined;
    if (plot.missing) notes.push(`Missing in ${percent(plot.missing)} of the samples` + (isLevel || plot.kind === "survival" ? "." : ", which are not shown."));
    if (plot.n_classes > plot.classes?.length) notes.push(`The ${plot.classes.length} most frequent of ${plot.n_classes} classes.`);
    return notes.length ? node("p", { class: "foot" }, notes.join(" ")) : null;
  }

  function markPlots() {
    for (const card of find("plots").children) {
      const place = Number(card.dataset.place), rank = rankAt(place), out = rank > state.m;
      card.classList.toggle("out", out);
      const explained = percent(report.plots[place].explained);
      card.querySelector("header span").textContent = (rank ? `rank ${rank}, ` : "given, ") + (out ? "not selected" : `alone ${explained}`);
    }
  }

  function matching() {
    const query = state.query.toLowerCase();
    const found = query ? rows.filter((row) => row.name.toLowerCase().includes(query)) : [...rows];
    const key = state.sort, sign = state.down ? -1 : 1;
    return found.sort((a, b) => {
      if (key === "name") return sign * a.name.localeCompare(b.name, undefined, { numeric: true }) || a.rank - b.rank;
      const [u, v] = [a[key], b[key]];
      if (u === undefined || v === undefined) return (u === undefined) - (v === undefined) || a.rank - b.rank;
      return sign * (u - v) || a.rank - b.rank;
    });
  }

  function drawTable() {
    const found = matching();
    const body = found.slice(0, state.shown).map((row) => node("tr", row.rank <= state.m ? { class: "kept" } : {},
      node("td", { class: "num" }, String(row.rank || "given")), node("th", { scope: "row", title: row.name }, breakable(row.name), node("small", {}, row.about)),
      node("td", {}, row.value === undefined ? "" : node("div", { class: "weight" }, percent(row.value), node("i", { style: `background-size:${100 * Math.max(0, row.value) / most}% 100%` }))),
      report.choice.folds ? node("td", { class: "num" }, row.folds === undefined ? "" : percent(row.folds)) : null,
      node("td", { class: "num" }, row.alone === undefined ? "" : percent(row.alone))));
    find("ranking").tBodies[0].replaceChildren(...body);
    const left = found.length - body.length;
    find("more").hidden = left <= 0;
    find("more").textContent = `Show ${Math.min(left, 4 * PAGE)} more` + (left > 4 * PAGE ? ` of ${left.toLocaleString("en")}` : "");
    find("matches").textContent = state.query ? `${found.length} of ${rows.length}` : "";
    for (const header of find("ranking").tHead.rows[0].cells) {
      const active = header.firstElementChild.dataset.key === state.sort;
      if (active) header.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else header.removeAttribute("aria-sort");
    }
  }

  function setSize(m) {
    state.m = Math.min(Math.max(1, Math.round(m)), Number(find("m").max));
    readout();
    drawCharts();
    drawNetwork();
    markPlots();
    drawTable();
  }

  function csv() {
    const isNumber = (value) => /^[+-]?[\d.,]+$/.test(value);
    // A spreadsheet would run these as formulas.
    const safe = (value) => (/^[=+\-@\t\r]/.test(value) && !isNumber(value) ? `'${value}` : value);
    const quote = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const text = (value) => quote(safe(value));
    const lines = rows.map((row) => [row.rank, text(row.name), row.value ?? "", row.rank <= state.m ? 1 : 0,
      row.folds ?? "", row.alone ?? "", text(row.about)].join(","));
    return [`rank,feature,${report.ranking.beside},selected,in_folds,alone,about`, ...lines, ""].join("\r\n");
  }

  function download() {
    const url = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
    const link = node("a", { href: url, download: "ranking.csv" });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  async function copy() {
    const code = find("code").textContent;
    try {
      await navigator.clipboard.writeText(code);
      find("copy").textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(find("code"));
      find("copy").textContent = "Press Ctrl+C";
    }
    setTimeout(() => { find("copy").textContent = "Copy"; }, 2000);
  }

  find("m").addEventListener("input", (event) => setSize(Number(event.target.value)));
  find("m-reset").addEventListener("click", () => { setSize(fitted); find("m").focus(); });
  find("search").addEventListener("input", (event) => { state.query = event.target.value.trim(); state.shown = PAGE; drawTable(); });
  find("more").addEventListener("click", () => { state.shown += 4 * PAGE; drawTable(); });
  find("download").addEventListener("click", download);
  find("copy").addEventListener("click", copy);
  find("ranking").tHead.addEventListener("click", (event) => {
    const key = event.target.dataset && event.target.dataset.key;
    if (!key) return;
    state.down = key === state.sort ? !state.down : ["value", "folds", "alone"].includes(key);
    state.sort = key;
    drawTable();
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    drawCharts();
    drawPair();
    drawNetwork();
  });
  drawPlots();
  drawPair();
  setSize(fitted);
})();
