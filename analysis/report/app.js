// The page: menus, figures, tables. All data are in the page; the page needs no network.
const D = JSON.parse(document.getElementById("data").textContent);
const ALL = "all", ORIGINAL = "unmodified";
const TEXT = new Set(["task", "embedding", "metric", "query", "gap", "method", "direction", "wordset", "corpus", "source", "classifier", "convention", "part", "measure", "subset", "privileged", "unprivileged", "status", "error", "verdict", "why", "scope", "note", "reason", "point", "score", "other words", "groups", "by_group"]);
const LONG = new Set(["verdict", "why", "note", "reason", "error", "by_group"]);
const element = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};
const number = (value, digits = 3) => (value === null || value === undefined ? "" : typeof value === "boolean" || Number.isInteger(value) ? String(value) : Math.abs(value) < 0.001 ? value.toExponential(1) : value.toFixed(digits));
const interval = (low, high) => (low === null || high === null || low === undefined ? "none" : `[${number(low)}, ${number(high)}]`);
const headingText = (name) => name.replaceAll("_", " ").replace("r rm", "r_rm");
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const distinct = (values) => [...new Set(values)];
const expand = (columns) => {
  const names = Object.keys(columns);
  return (columns[names[0]] ?? []).map((_, i) => Object.fromEntries(names.map((name) => [name, columns[name][i]])));
};

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
const rows = expand(D.rows).map((row) => {
  const point = D.points[row.point_index];
  return {
    ...point, ...row,
    method_name: point.method === "none" ? ORIGINAL : point.method,
    direction: point.direction || "-",
    x_interval: interval(row.x_low, row.x_high), y_interval: interval(row.y_low, row.y_high),
  };
}).filter((row) => row.x !== null && row.y !== null);
// Measurements joined with their points.
const withPoints = (columns) => expand(columns).map((row) => ({
  ...D.points[row.point_index], ...row,
  method_name: D.points[row.point_index].method === "none" ? ORIGINAL : D.points[row.point_index].method,
}));
const MODEL_COLUMNS = ["embedding", "method", "direction", "dose", "seed"];

// Tables: sortable by their headings, savable as CSV.
// Text that a spreadsheet would take for a formula gets an apostrophe, as in files/tables.py.
const escapeFormula = (cell) => typeof cell === "string" && /^[=+\-@]/.test(cell) && Number.isNaN(Number(cell)) ? `'${cell}` : cell;
const csv = (records, names) => [names, ...records.map((record) => names.map((name) => record[name]))]
  .map((cells) => cells.map(escapeFormula).map((cell) => (cell === null || cell === undefined ? "" : /[",\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : cell)).join(",")).join("\n") + "\n";
function table(records, names, caption, { save = "", scroll = false, cards = false } = {}) {
  const head = element("tr"), body = element("tbody");
  let order = { name: null, up: true };
  const fill = () => {
    const sorted = order.name === null ? records : [...records].sort((a, b) => {
      const [p, q] = [a[order.name], b[order.name]];
      if (p === null || p === undefined) return 1;
      if (q === null || q === undefined) return -1;
      return (p < q ? -1 : p > q ? 1 : 0) * (order.up ? 1 : -1);
    });
    body.replaceChildren(...sorted.map((record) => element("tr", {}, ...names.map((name) => {
      const cell = element("td", { "data-name": headingText(name), class: (TEXT.has(name) ? "text" : "") + (LONG.has(name) ? " long" : "") }, TEXT.has(name) || typeof record[name] === "string" ? record[name] ?? "" : number(record[name]));
      if (name === "verdict") cell.classList.add({ rises: "yes", falls: "no" }[record[name]] ?? "soft");
      return cell;
    }))));
  };
  for (const name of names) {
    const button = element("button", { type: "button" }, headingText(name));
    const heading = element("th", { scope: "col", class: TEXT.has(name) ? "text" : "", "aria-sort": "none" }, button);
    button.addEventListener("click", () => {
      order = { name, up: order.name === name ? !order.up : true };
      for (const other of head.children) other.setAttribute("aria-sort", "none");
      heading.setAttribute("aria-sort", order.up ? "ascending" : "descending");
      fill();
    });
    head.append(heading);
  }
  fill();
  const wrapper = element("div", { class: `wide${scroll ? " scroll" : ""}${cards ? " cards" : ""}`, tabindex: "0", role: "region", "aria-label": caption },
    element("table", {}, element("caption", {}, caption), element("thead", {}, head), body));
  if (!save) return wrapper;
  const button = element("button", { type: "button", class: "save" }, `Save as CSV (${counted(records.length, "row")})`);
  button.addEventListener("click", () => {
    const url = URL.createObjectURL(new Blob([csv(records, names)], { type: "text/csv" }));
    element("a", { href: url, download: save }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
  return element("div", {}, wrapper, button);
}

// Menus choose what the scatter shows.
const menus = [["metric", false], ["query", true], ["gap", false], ["embedding", true], ["method_name", true], ["task", false]];
const chosen = {};
for (const [name, all] of rows.length ? menus : []) {
  const values = distinct(rows.map((row) => row[name])).filter((value) => value !== undefined);
  if (!values.length) continue;
  const options = all ? [ALL, ...values] : values;
  chosen[name] = name === "query" ? values[0] : name === "gap" ? D.confirmatory[0] : options[0];
  if (values.length < 2) continue; // nothing to choose
  const select = element("select", { id: `menu-${name}` }, ...options.map((value) => element("option", { value }, value)));
  select.value = chosen[name];
  document.getElementById("menus").append(element("label", {}, name === "method_name" ? "method" : name, select));
  select.addEventListener("change", () => { chosen[name] = select.value; show(); if (["metric", "task"].includes(name)) drawMultiples(); });
}
const shown = () => rows.filter((row) => Object.entries(chosen).every(([name, value]) => value === ALL || row[name] === value));
let scatter = null;
// r_rm over the rows that are chosen, with its line; of unmodified embeddings alone there is none.
const lineOf = (names) => {
  const place = D.correlations.findIndex((row) => ["task", "metric", "query", "gap", "embedding", "method"].every((name) => row[name] === names[name]));
  return place < 0 || D.correlations[place].r_rm === null ? null : { ...D.correlations[place], line: D.lines[place] };
};
const formatR = (value) => value.toFixed(2).replace(/^-(0\.00)$/, "$1").replace(/^(-?)0\./, "$1.");
const r_rm = (slice) => `r_rm ${formatR(slice.r_rm)}${slice.low === null ? "" : ` [${formatR(slice.low)},${formatR(slice.high)}]`}${slice.r_pearson === null ? "" : `, Pearson ${formatR(slice.r_pearson)}`}`;
// The ends of a line over the range of some points.
function ends(slice, points, [x, y] = ["x", "y"]) {
  const [slope, meanX, meanY] = slice?.line ?? [null];
  const scores = points.map((row) => row.x);
  const at = [Math.min(...scores), Math.max(...scores)];
  return slope === null || at[0] >= at[1] ? [] : at.map((value) => ({ [x]: value, [y]: meanY + slope * (value - meanX) }));
}
async function show() {
  scatter?.finalize(); // redrawn: a brush over removed points would select others
  const points = shown(), slice = lineOf({ ...chosen, method: chosen.method_name });
  const scores = D.axes.scores[chosen.metric] ?? {};
  const title = slice && lines(`${capital(chosen.gap)} and ${chosen.query === ALL ? scores[ALL] ?? chosen.metric : chosen.query}: ${slice.verdict ? `${slice.verdict}; ` : ""}${r_rm(slice)}`, window.innerWidth < 640 ? 36 : 100);
  const titles = { x: scores[chosen.query] ?? "score", y: D.axes.gaps[chosen.gap] ?? "gap" };
  scatter = await draw("scatter", { shown: points, line: ends(slice, points) }, titles, title && { text: title, subtitle: `${slice.models} models; line: the slope within parents` });
  scatter.view.addSignalListener("brush", (_, value) => select(value));
  window.report.scatter = scatter;
  select(null);
}
const multipleViews = {};
async function drawMultiples() { // scores of two metrics share no axis, and gaps of two tasks no panel
  const isComparable = (row) => row.task === chosen.task && (row.metric === chosen.metric || row.metric.startsWith(`${chosen.metric}, `));
  const parts = rows.filter(isComparable), scores = D.axes.scores[chosen.metric] ?? {};
  const queries = distinct(parts.map((row) => row.query)), only = queries.length === 1 ? queries[0] : ALL;
  const embeddings = distinct(parts.map((row) => row.embedding)), methods = distinct(parts.map((row) => row.method_name)).filter((name) => name !== ORIGINAL);
  // Panels by two columns, with r_rm above each and its line. One column that has one value repeats another figure.
  const panels = (points, row, column, names) => ({ rows: [...points, ...distinct(points.map((point) => point[row])).flatMap((first) => distinct(points.map((point) => point[column])).flatMap((second) => {
    const cell = { [row]: first, [column]: second }, inside = points.filter((point) => point[row] === first && point[column] === second);
    const slice = lineOf({ task: chosen.task, metric: chosen.metric, query: ALL, embedding: ALL, method: ALL, ...names(cell) });
    return [{ ...cell, note: slice ? `n = ${slice.models}, ${r_rm(slice)}` : inside.length ? "r_rm not estimated" : "no data" }, ...ends(slice, inside, ["fit_x", "fit_y"]).map((end) => ({ ...cell, ...end }))];
  }))] });
  const embeddingsVaryingIn = (name) => embeddings.filter((embedding) => distinct(parts.filter((row) => row.embedding === embedding).map((row) => row[name])).length > 1);
  const embeddingRows = parts.filter((row) => embeddingsVaryingIn("point_index").includes(row.embedding));
  const methodRows = methods.flatMap((name) => parts.filter((row) => [name, ORIGINAL].includes(row.method_name)).map((row) => ({ ...row, part: name })));
  const gapsHere = distinct(parts.map((row) => row.gap));
  const multiples = {
    by_query: queries.length * gapsHere.length > 1 ? panels(parts, "query", "gap", (cell) => cell) : { rows: [] },
    by_method: methods.length > 1 ? panels(methodRows, "gap", "part", (cell) => ({ gap: cell.gap, method: cell.part })) : { rows: [] },
    by_embedding: distinct(embeddingRows.map((row) => row.embedding)).length > 1 ? panels(embeddingRows, "gap", "embedding", (cell) => cell) : { rows: [] },
  };
  const titles = { x: scores[only] ?? "score", y: lines(above(gapsHere.map((gap) => D.axes.gaps[gap])), 20) };
  for (const [id, data] of Object.entries(multiples)) {
    multipleViews[id]?.finalize();
    const figure = document.getElementById(id).closest("figure");
    figure.hidden = !Object.values(data)[0].length; // Vega cannot draw nothing
    multipleViews[id] = figure.hidden ? null : await draw(id, data, titles);
  }
  document.getElementById("h-multiples").closest("section").hidden = ["by_query", "by_method", "by_embedding"].every((id) => multipleViews[id] === null);
}
function select(brush) {
  const inside = brush && brush.x && brush.y
    ? shown().filter((row) => ["x", "y"].every((side) => row[side] >= Math.min(...brush[side]) && row[side] <= Math.max(...brush[side]))) : [];
  const count = shown().length;
  document.getElementById("selected").textContent = inside.length ? `${inside.length} of ${counted(count, "row")} selected` : `${counted(count, "row")} shown, none selected`;
  const names = ["embedding", "method", "direction", "dose", "wordset", "seed", "query", "x", "x_low", "x_high", "gap", "y", "y_low", "y_high", "support"];
  document.getElementById("selection").replaceChildren(...(inside.length ? [table(inside, names, "Selected rows", { save: "selected.csv", scroll: true })] : []));
}

const curves = expand(D.curves);
const specs = figures(D.look, ORIGINAL, rows, curves, D.axes);
const quiet = { actions: false, logLevel: 1, renderer: rows.length > 3000 ? "canvas" : "svg" };
async function draw(id, data = {}, titles = {}, title = null) {
  const spec = structuredClone(specs[id]);
  entitle(spec, titles);
  if (title) spec.title = { ...title, anchor: "start", fontSize: 14, subtitleColor: "#555", offset: 12 };
  if (id in LABELS) data = { [id]: labelled(id, spec, data[id]) };
  if (data.shown?.[0]?.reverse_scored || data.rows?.[0]?.reverse_scored) reverse(spec);
  for (const layer of [spec, ...(spec.layer ?? [])]) if (layer.data?.name in data) layer.data = { name: layer.data.name, values: data[layer.data.name] };
  return window.vegaEmbed(`#${id}`, spec, quiet);
}

const gaps = withPoints(D.gaps);
const titles = [...D.confirmatory, ...distinct(gaps.map((row) => row.gap)).filter((name) => !D.confirmatory.includes(name))];
gaps.sort((a, b) => titles.indexOf(a.gap) - titles.indexOf(b.gap));

// Vega cannot draw nothing: a figure without rows goes.
async function drawOrRemove(id, data) {
  if (Object.values(data).every((values) => values.length)) await draw(id, data);
  else document.getElementById(id).closest("figure").remove();
}
if (rows.length) {
  if (D.change) await window.vegaEmbed("#change", D.change, quiet);
  else document.getElementById("change").closest("figure").remove();
} else {
  const declaredGaps = gaps.filter((row) => row.value !== null && D.confirmatory.includes(row.gap)).map((row) => ({ ...row, made: ["embedding", "method_name", ...MODEL_COLUMNS.slice(2)].map((name) => row[name]).filter((value) => value !== "" && value !== null).join(", ") }));
  await drawOrRemove("gaps", { gaps: declaredGaps });
}
window.report = { rows, shown, chosen };
if (rows.length) await show();
window.reportReady = performance.now();

if (rows.length) {
  await drawMultiples();
  document.getElementById("t-tests").append(table(D.tests, Object.keys(D.tests[0] ?? {}), "The tests declared before the run; lost: models without a score or a gap", { cards: true }));
  document.getElementById("t-correlations").append(table(D.listed.map((place) => D.correlations[place]), Object.keys(D.correlations[0] ?? {}), "Every correlation; those without a verdict are exploratory", { save: "correlations.csv", scroll: true }));
}
document.getElementById("t-gaps").append(table(gaps, ["embedding", "gap", "value, 95% interval", "items", ...MODEL_COLUMNS.slice(1), "groups", "by_group", "reason"],
  "The gap of every embedding; items: those behind it, in the smaller group", { save: "gaps.csv", scroll: true }));
const further = withPoints(D.further);
if (further.length) document.getElementById("t-further").append(table(further, ["embedding", "measure", "value, 95% interval", "items", ...MODEL_COLUMNS.slice(1), "groups", "reason"],
  "Measures besides the gaps; items: those behind each, of flips frames", { save: "further.csv", scroll: true }));
if (D.effects.length) document.getElementById("t-effects").append(table(D.effects, Object.keys(D.effects[0]),
  "Change of scores, gaps and utility from the unmodified embeddings, by condition at its largest dose: mean over parents, with its 95% interval (of gaps for other trainings and test items, of scores for other trainings and words, where known). Every dose and score is in effects.csv." + (D.effects_note ? ` Note: ${D.effects_note}.` : ""), { cards: true }));
else document.getElementById("t-effects").append(D.effects_note ?? "");
await drawOrRemove("curves", { curves });
addEventListener("beforeprint", () => { for (const folded of document.querySelectorAll("details")) folded.open = true; });
document.getElementById("t-points").append(table(D.points, Object.keys(D.points[0] ?? {}), "Points", { save: "points.csv", scroll: true }));
// A hint on tables wider than the page.
const observer = new ResizeObserver((entries) => entries.forEach(({ target }) => {
  const wide = target.closest(".wide");
  wide.classList.toggle("cut", wide.scrollWidth > wide.clientWidth + 1);
}));
for (const wide of document.querySelectorAll(".wide")) {
  wide.after(element("p", { class: "cue hint" }, "Wider than the page: scroll sideways for the rest."));
  for (const child of [wide, ...wide.children]) observer.observe(child);
}
window.reportDone = performance.now();
