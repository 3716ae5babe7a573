"use strict";
// Small drawings from plain numbers. Everything a user named enters as text, never as markup.
const SVG = "http://www.w3.org/2000/svg";

function node(tag, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "line", "rect", "circle", "text", "tspan", "title"].includes(tag);
  const element = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") element.style.cssText = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function percent(share) {
  const value = 100 * Math.max(share, 0);
  const digits = value >= 0.05 && value < 9.95 ? 1 : 0;
  return value.toFixed(digits) + "%";
}

function clip(text, length) {
  return text.length > length ? text.slice(0, length - 1) + "…" : text;
}

// Shorten text by its middle: names may differ at either end.
function byEnds(name, length) {
  const end = Math.floor((length - 1) / 3);
  return name.length > length ? name.slice(0, length - 1 - end) + "…" + name.slice(name.length - end) : name;
}

// Shorten a long name by its middle.
function short(name) {
  return name.length > 80 ? name.slice(0, 50) + "…" + name.slice(-29) : name;
}

// A name as text that may wrap at the ends of its words.
function breakable(name) {
  const parts = short(name).split(/(?<=[_./:|])(?=[\p{L}_])|(?<=[a-z])(?=[A-Z])/u);
  const whole = document.createDocumentFragment();
  parts.forEach((part, i) => whole.append(...(i ? [node("wbr"), part] : [part])));
  return whole;
}

// A name beside a row of a chart, at the right edge of its room: on one line, or on two at a word end
// if the row is high enough.
function rowLabel(x, y, name, width, attributes, height = 22) {
  const fits = Math.floor(width / 6.9), label = text(x, y, "", { anchor: "end", ...attributes });
  const small = Math.floor(width / 5.6), ends = [...name.matchAll(/[\s_./:|-]+|(?<=[a-z])(?=[A-Z])/gu)].map((m) => m.index + m[0].length);
  const cut = ends.filter((end) => end <= small && name.length - end <= small).pop();
  if (name.length <= fits || cut === undefined || height < 20) label.append(byEnds(name, fits));
  else [name.slice(0, cut).trim(), name.slice(cut)].forEach((part, i) => label.append(
    node("tspan", { x, y: y + (i ? 5 : -5), style: "font-size:10px" }, part)));
  label.append(node("title", {}, name));
  return label;
}

function scale(domain, range) {
  const span = domain[1] - domain[0] || 1;
  return (value) => range[0] + ((value - domain[0]) / span) * (range[1] - range[0]);
}

// Integers get integer ticks.
function ticks(low, high, count, whole = false) {
  const raw = Math.max((high - low || 1) / count, whole ? 1 : 0);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(k * step);
  return found;
}

function areWhole(values) {
  return values.every(Number.isInteger);
}

// A hundredth of the range of some values; one for integers.
function fine(values) {
  const [low, high] = extent(values);
  return areWhole(values) ? 1 : (high - low) / 100;
}

// Labels with enough digits to distinguish values one step apart, in powers of ten if shorter.
function labelled(values, step = values[1] - values[0]) {
  if (!values.length) return [];
  const place = (value) => Math.floor(Math.log10(Math.abs(value)) + 1e-9);
  const last = place(step || values[0] || 1);
  const digits = (count) => Math.min(Math.max(count, 0), 15);
  // Commas from five digits on: four digits may be a year.
  const comma = (label) => (/^-?\d{5,}/.test(label) ? label.replace(/\d(?=(\d{3})+(\.|$))/g, "$&,") : label);
  const plain = values.map((v) => comma(v.toFixed(digits(-last))));
  const powers = values.map((v) => (Math.abs(v) < 1e-9 * 10 ** last ? "0" : v.toExponential(digits(place(v) - last)).replace(/\.?0+e/, "e").replace("+", "")));
  const length = (texts) => Math.max(...texts.map((t) => t.length));
  const label = last < -15 || (length(plain) > 7 && length(powers) < length(plain) - 1) ? powers : plain;
  return values.map((at, i) => ({ at, text: label[i].replaceAll("-", "\u2212") }));
}

// Starts of years, months, days or hours, in milliseconds since 1970: the longest unit of which at
// least two fit on the axis.
function dateTicks(low, high, count) {
  const HOUR = 36e5, start = new Date(low), year = start.getUTCFullYear();
  const iso = (from, to) => (when) => new Date(when).toISOString().slice(from, to).replace("T", " ");
  // Length of a unit, start of the k-th, the first, its format, and possible steps.
  const units = [
    [8766 * HOUR, (k) => Date.UTC(k, 0), year, iso(0, 4), [1, 2, 5, 10, 20, 50, 100]],
    [730.5 * HOUR, (k) => Date.UTC(Math.floor(k / 12), k % 12), 12 * year + start.getUTCMonth(), iso(0, 7), [1, 2, 3, 6]],
    [24 * HOUR, (k) => 24 * HOUR * k, Math.floor(low / (24 * HOUR)), iso(5, 10), [1, 2, 5, 10, 15]],
    [HOUR, (k) => HOUR * k, Math.floor(low / HOUR), iso(5, 16), [1, 2, 3, 6, 12, 24]],
  ];
  const [length, begin, first, label, steps] = units.find(([unit]) => (high - low) / unit >= 2) || units[3];
  const step = steps.find((s) => (high - low) / (s * length) <= count) || steps[steps.length - 1];
  const found = [];
  for (let k = Math.ceil(first / step) * step; begin(k) <= high; k += step) if (begin(k) >= low) found.push(begin(k));
  return found.map((at) => ({ at, text: label(at) }));
}

// Labelled ticks of an axis, as many as fit without touching.
function fitting([low, high], pixels, whole, date = false) {
  for (let count = Math.max(2, Math.floor(pixels / 45)); count > 0; count--) {
    const found = date ? dateTicks(low, high, count) : labelled(ticks(low, high, count, whole));
    if (found.reduce((sum, tick) => sum + 7 * tick.text.length + 12, 0) <= pixels) return found;
  }
  return [];
}

// Width of the labels beside an axis, in pixels.
function room(labels, least) {
  return Math.max(least, 14 + 7 * Math.max(0, ...labels.map((label) => label.text.length)));
}

function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
  return [low, high];
}

function pad([low, high], share) {
  const margin = (high - low || 1) * share;
  return [low - margin, high + margin];
}

function canvas(width, height, label) {
  return node("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
}

function text(x, y, content, options = {}) {
  const { anchor = "start", ...rest } = options;
  return node("text", { x, y, "text-anchor": anchor, ...rest }, content);
}

function polyline(points) {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

// Axes with labels; the box is {left, right, top, bottom} in pixels.
function axes(svg, box, x, y, xTicks, yTicks, labels) {
  for (const tick of yTicks) {
    svg.append(node("line", { class: "rule", x1: box.left, x2: box.right, y1: y(tick.at), y2: y(tick.at) }));
    svg.append(text(box.left - 8, y(tick.at) + 4, tick.text, { anchor: "end" }));
  }
  for (const tick of xTicks) svg.append(text(x(tick.at), box.bottom + 18, tick.text, { anchor: "middle" }));
  svg.append(node("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
  if (labels.x) svg.append(text((box.left + box.right) / 2, box.bottom + 38, labels.x, { anchor: "middle" }));
  if (labels.y) svg.append(text(box.left - 8 - (labels.shift || 0), box.top - 12, labels.y, { class: "strong" }));
}

function errorCurve(width, curve, m, pick) {
  const height = Math.max(260, Math.min(380, width * 0.45));
  const box = { left: 48, right: width - 16, top: 36, bottom: height - 46 };
  const sizes = curve.n_features, errors = curve.error, se = curve.standard_error;
  const largest = Math.max(...sizes), wide = largest > 25;
  const place = wide ? Math.log2 : (value) => value;
  const x0 = scale([place(Math.min(...sizes)), place(largest)], [box.left + 8, box.right - 8]);
  const x = (size) => x0(place(size));
  const high = Math.max(...errors.map((e, i) => e + (se ? se[i] : 0)));
  const lowest = Math.min(...errors.map((e, i) => e - (se ? se[i] : 0)));
  const floor = lowest > 0.45 * high ? Math.floor(16 * lowest) / 20 : 0;
  const y = scale([floor, high * 1.04], [box.bottom, box.top]);
  const what = curve.measure === "concordance" ? "Concordance index" : "Error";
  const svg = canvas(width, height, `${what} against the number of features; ${m} features selected`);
  const candidates = wide ? [1, 2, 3, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500].filter(
    (s) => s >= Math.min(...sizes) && s <= largest) : ticks(1, largest, Math.min(largest, width / 60)).concat(1);
  // From the right, so that the largest size keeps its label; drop labels that would touch.
  const whole = [...new Set(candidates.map(Math.round))].filter((s) => s >= 1).sort((a, b) => b - a)
    .reduce((kept, s) => (kept.length && x(kept[kept.length - 1]) - x(s) < 26 ? kept : [...kept, s]), []).reverse();
  const inPercent = curve.measure === "concordance" ? 1 : 100;
  const yTicks = labelled(ticks(floor * inPercent, high * 1.04 * inPercent, 5));
  axes(svg, box, x, y, whole.map((s) => ({ at: s, text: String(s) })),
    inPercent === 1 ? yTicks : yTicks.map((tick) => ({ at: tick.at / 100, text: tick.text + "%" })),
    { x: "Number of features" + (wide ? " (logarithmic)" : ""), y: curve.label, shift: 36 });
  const points = sizes.map((s, i) => [x(s), y(errors[i])]);
  if (se) {
    const upper = sizes.map((s, i) => [x(s), y(errors[i] + se[i])]);
    const lower = sizes.map((s, i) => [x(s), y(Math.max(floor, errors[i] - se[i]))]).reverse();
    svg.append(node("path", { class: "band", d: polyline([...upper, ...lower]) + "Z" }));
  }
  svg.append(node("line", { class: "now-rule", x1: x(m), x2: x(m), y1: box.top, y2: box.bottom }));
  svg.append(node("path", { class: "line", d: polyline(points) }));
  sizes.forEach((s, i) => svg.append(node("circle", { class: s === m ? "dot now" : "dot", cx: x(s), cy: y(errors[i]), r: s === m ? 6 : 3.5 })));
  const end = x(m) > width * 0.8;
  svg.append(text(x(m) + (end ? -8 : 8), box.top + 6, `${m} selected`, { class: "mark", anchor: end ? "end" : "start" }));
  svg.style.cursor = "pointer";
  svg.addEventListener("click", (event) => {
    const at = ((event.clientX - svg.getBoundingClientRect().left) * width) / svg.getBoundingClientRect().width;
    pick(sizes.reduce((best, s) => (Math.abs(x(s) - at) < Math.abs(x(best) - at) ? s : best), sizes[0]));
  });
  return svg;
}

// Legend of the error curve.
function curveLegend(curve) {
  const item = (content, name) => node("li", {}, node("svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true" }, content), name);
  const line = (kind) => node("line", { class: kind, x1: -7, x2: 7, y1: 0, y2: 0 });
  const items = [item(line("line"), "mean over the folds")];
  if (curve.standard_error) items.push(item(node("rect", { class: "band", x: -7, y: -5, width: 14, height: 10 }), "plus or minus one standard error"));
  return node("ul", { class: "legend" }, ...items);
}

function pathChart(width, path, names, m, kept) {
  const rows = path.features.length, stages = path.sizes.length;
  const left = Math.min(200, width * 0.36), step = Math.min(64, (width - left - 8) / stages), line = 22;
  const svg = canvas(width, 40 + rows * line, "Weight of each leading feature at each stage of the path");
  const current = path.sizes.reduce((best, s, k) => (s >= m ? k : best), 0);
  path.sizes.forEach((s, k) => svg.append(text(left + (k + 0.5) * step, 30, s, { anchor: "middle", class: k === current ? "mark" : "" })));
  svg.append(text(0, 12, "Features kept at each stage", { class: "strong" }));
  path.features.forEach((j, i) => {
    const top = 40 + i * line, label = rowLabel(left - 10, top + 15, names[j], left - 10, { class: i < kept ? "strong" : "" });
    svg.append(label);
    path.sizes.forEach((s, k) => {
      const w = path.weights[k][i];
      const cell = node("rect", { class: w > 0 ? "cell" : "cell-box", "fill-opacity": w > 0 ? 0.12 + 0.88 * w : 1,
        x: left + k * step + 1, y: top + 1, width: step - 2, height: line - 2, rx: 2 });
      cell.append(node("title", {}, `${names[j]}: weight ${w.toFixed(2)} with ${s} kept`));
      svg.append(cell);
    });
  });
  svg.append(node("rect", { class: "stage-now", x: left + current * step, y: 38, width: step, height: rows * line + 2, rx: 3 }));
  return svg;
}

function densityChart(plot, label) {
  const width = 300, row = plot.classes.length > 6 ? 22 : 34;
  const left = 18 + 6.5 * Math.min(12, Math.max(...plot.classes.map((name) => name.length)));
  const height = plot.classes.length * row + 36;
  const svg = canvas(width, height, label);
  const x = scale(plot.grid, [left, width - 4]), n = plot.curves[0].length;
  const at = (k) => plot.grid[0] + (k / (n - 1)) * (plot.grid[1] - plot.grid[0]);
  plot.classes.forEach((name, c) => {
    const base = 10 + (c + 1) * row, lift = row * 1.02;
    const points = plot.curves[c].map((v, k) => [x(at(k)), base - v * lift]);
    const tag = text(left - 8, base - 2, clip(name, 12), { anchor: "end" });
    tag.append(node("title", {}, name));
    svg.append(node("line", { class: "rule", x1: left, x2: width - 4, y1: base, y2: base }), tag);
    svg.append(node("path", { class: "area", d: polyline([[x(plot.grid[0]), base], ...points, [x(plot.grid[1]), base]]) + "Z" }));
    svg.append(node("line", { class: "median", x1: x(plot.medians[c]), x2: x(plot.medians[c]), y1: base - 5, y2: base + 3 }));
  });
  for (const t of fitting(plot.grid, width - left, plot.whole, plot.date)) svg.append(text(x(t.at), height - 6, t.text, { anchor: "middle" }));
  return svg;
}

function scatterChart(plot, label, yName) {
  const width = 300, height = 220, svg = canvas(width, height, label);
  const xs = pad(extent(plot.x), 0.03), ys = pad(extent(plot.y), 0.04);
  const yTicks = labelled(ticks(...ys, 4, areWhole(plot.y)));
  const box = { left: room(yTicks, 44), right: 294, top: 22, bottom: 190 };
  const x = scale(xs, [box.left, box.right]), y = scale(ys, [box.bottom, box.top]);
  axes(svg, box, x, y, fitting(xs, box.right - box.left, areWhole(plot.x), plot.date), yTicks, { y: clip(yName, 30), shift: box.left - 12 });
  plot.x.forEach((v, i) => svg.append(node("circle", { class: "point", cx: x(v).toFixed(1), cy: y(plot.y[i]).toFixed(1), r: 2 })));
  svg.append(node("path", { class: "line", d: polyline(plot.curve.map(([a, b]) => [x(a), y(b)])) }));
  return svg;
}

// Kaplan–Meier curves as decreasing steps.
function survivalChart(plot, label) {
  const width = 300, height = 220, svg = canvas(width, height, label);
  const last = Math.max(...plot.curves.map((curve) => curve[curve.length - 1][0]));
  const box = { left: 44, right: 294, top: 22, bottom: 190 };
  const x = scale([0, last], [box.left, box.right]), y = scale([0, 1], [box.bottom, box.top]);
  axes(svg, box, x, y, fitting([0, last], box.right - box.left, false), [0, 0.5, 1].map((at) => ({ at, text: percent(at) })), { y: "Without an event", shift: 32 });
  plot.curves.forEach((curve, c) => {
    const steps = curve.flatMap(([t, share], i) => (i ? [[x(t), y(curve[i - 1][1])], [x(t), y(share)]] : [[x(t), y(share)]]));
    svg.append(node("path", { class: "line", style: `stroke:var(--c${c})`, d: polyline(steps) }, node("title", {}, `${plot.classes[c]}: ${plot.counts[c]} samples`)));
  });
  return svg;
}

// A bar for each level of a category, with the number of samples at its end: from the overall mean
// to that of the level, or divided into class frequencies.
function levelChart(plot, label, target) {
  const width = 300, row = 24, right = 262, top = 22;
  const left = 18 + 6.5 * Math.min(12, Math.max(...plot.levels.map((name) => name.length)));
  const bottom = top + plot.levels.length * row, svg = canvas(width, bottom + (plot.means ? 24 : 4), label);
  const domain = plot.means ? pad(extent([...plot.means, plot.mean - plot.sd / 2, plot.mean + plot.sd / 2]), 0.04) : [0, 1];
  const x = scale(domain, [left, right]);
  const bar = (c, from, to, y, title) => svg.append(node("rect", { style: `fill:var(--c${c})`, x: Math.min(x(from), x(to)), y: y + 4,
    width: Math.max(Math.abs(x(to) - x(from)), 1), height: row - 8, rx: 1 }, node("title", {}, title)));
  svg.append(text(0, 12, clip(plot.means ? "Mean " + target : "Class frequencies", 30), { class: "strong" }), text(width, 12, "samples", { anchor: "end" }));
  plot.levels.forEach((name, l) => {
    const y = top + l * row;
    svg.append(text(left - 8, y + 16, clip(name, 12), { anchor: "end" }), text(width, y + 16, plot.counts[l].toLocaleString("en"), { anchor: "end" }));
    svg.lastChild.previousSibling.append(node("title", {}, name));
    if (plot.means) bar(0, plot.mean, plot.means[l], y, `${name}: mean ${labelled(plot.means, fine(plot.means))[l].text} of ${plot.counts[l]} samples`);
    else plot.shares[l].reduce((from, share, c) => {
      if (share > 0) bar(c, from, from + share, y, `${name}: ${percent(share)} ${plot.classes[c]}`);
      return from + share;
    }, 0);
  });
  if (plot.means) {
    svg.append(node("line", { class: "axis", x1: x(plot.mean), x2: x(plot.mean), y1: top, y2: bottom }));
    for (const t of fitting(domain, right - left, false)) svg.append(text(x(t.at), bottom + 18, t.text, { anchor: "middle" }));
  }
  return svg;
}

// Classes differ in shape as well as in colour.
const SHAPES = [
  (x, y) => `M${x - 4} ${y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z`,
  (x, y) => `M${x - 3.6} ${y - 3.6}h7.2v7.2h-7.2Z`,
  (x, y) => `M${x} ${y - 4.6}L${x + 4.4} ${y + 3.2}H${x - 4.4}Z`,
  (x, y) => `M${x} ${y - 5}L${x + 5} ${y}L${x} ${y + 5}L${x - 5} ${y}Z`,
  (x, y) => `M${x} ${y + 4.6}L${x + 4.4} ${y - 3.2}H${x - 4.4}Z`,
  (x, y) => `M${x - 1.4} ${y - 4.5}h2.8v3.1h3.1v2.8h-3.1v3.1h-2.8v-3.1h-3.1v-2.8h3.1Z`,
];

function pairChart(width, pair, names) {
  const height = Math.min(520, Math.max(300, width * 0.75));
  const [a, b] = pair.features.map((j) => names[j]);
  const svg = canvas(width, height, `Scatter of ${b} against ${a}`);
  const [xLevels, yLevels] = pair.levels;
  const domain = (levels, values) => (levels ? [-0.5, levels.length - 0.5] : pad(extent(values), 0.04));
  const named = (levels, length) => levels.map((name, at) => ({ at, text: clip(name, length) }));
  // Spread the samples of a level over its width, in a fixed pattern, so that they do not overlap.
  const spread = (levels, i, step) => (levels ? 0.6 * ((i * step) % 1) - 0.3 : 0);
  const xs = domain(xLevels, pair.x), ys = domain(yLevels, pair.y);
  const yTicks = yLevels ? named(yLevels, 12) : pair.dates[1] ? dateTicks(...ys, 6) : labelled(ticks(...ys, 6, areWhole(pair.y)));
  const box = { left: room(yTicks, 56), right: width - 12, top: 30, bottom: height - 50 };
  const x = scale(xs, [box.left, box.right]), y = scale(ys, [box.bottom, box.top]);
  axes(svg, box, x, y, xLevels ? named(xLevels, Math.max(2, Math.floor((box.right - box.left) / xLevels.length / 7))) : fitting(xs, box.right - box.left, areWhole(pair.x), pair.dates[0]),
    yTicks, { x: clip(a, Math.floor(width / 9)), y: clip(b, Math.floor(width / 9)), shift: box.left - 12 });
  const range = pair.value ? extent(pair.value) : null;
  pair.x.forEach((v, i) => {
    const c = pair.value ? 0 : pair.class[i];
    const share = range ? Math.round((100 * (pair.value[i] - range[0])) / (range[1] - range[0] || 1)) : 0;
    const fill = range ? `color-mix(in oklab, var(--accent) ${share}%, var(--low))` : `var(--c${c})`;
    const at = [x(v + spread(xLevels, i, 0.618034)), y(pair.y[i] + spread(yLevels, i, 0.754878))];
    svg.append(node("path", { d: SHAPES[c](...at), style: range ? `fill:${fill};stroke:var(--muted);stroke-width:.6` : `fill:${fill};fill-opacity:.8` }));
  });
  return svg;
}

function pairLegend(pair, target) {
  if (pair.value) {
    const [low, high] = labelled(extent(pair.value), fine(pair.value));
    return node("ul", { class: "legend" }, node("li", {}, `${target}: ${low.text}`, node("span", { class: "ramp" }), high.text));
  }
  return classLegend(pair.classes, (c) => SHAPES[c](0, 0));
}

function classLegend(classes, shape) {
  return node("ul", { class: "legend" }, ...classes.map((name, c) => node("li", {},
    node("svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true" }, node("path", { d: shape(c), style: `fill:var(--c${c})` })), name)));
}

// Features as circles with their ranks, pairs as arcs whose width is their share.
function networkChart(width, nodes, pairs, names, rankOf, isKept) {
  const step = 34, left = Math.min(240, width * 0.44), at = (j) => 20 + step * nodes.indexOf(j);
  const svg = canvas(width, step * nodes.length + 6, "Network of features that interact");
  const reach = (a, b) => Math.min(Math.abs(at(a) - at(b)) + 24, (width - left - 30) * 1.33);
  // A larger set is drawn as arcs between all of its features.
  const arcs = pairs.flatMap((pair) => pair.features.flatMap((a, i) => pair.features.slice(i + 1).map((b) => [a, b, pair])));
  for (const [a, b, pair] of arcs) {
    const out = left + reach(a, b);
    const arc = node("path", { class: "arc", d: `M${left} ${at(a)}C${out} ${at(a)} ${out} ${at(b)} ${left} ${at(b)}`, "stroke-width": (1.5 + 10 * pair.share).toFixed(1) });
    arc.append(node("title", {}, `${pair.features.map((j) => names[j]).join(" × ")}: share ${pair.share.toFixed(2)}, ${pair.p_value}`));
    svg.append(arc);
  }
  for (const j of nodes) {
    const label = rowLabel(left - 18, at(j) + 4, names[j], left - 18, { class: "strong" });
    const knot = node("circle", { class: isKept(j) ? "knot" : "knot out", cx: left, cy: at(j), r: 12 });
    knot.append(node("title", {}, `${names[j]}: ${rankOf(j) ? "rank " + rankOf(j) : "given"}`));
    svg.append(label, knot);
    if (rankOf(j) < 1000) svg.append(text(left, at(j) + 4, rankOf(j) || "–", { anchor: "middle", class: "on", "pointer-events": "none" }));
  }
  return svg;
}
