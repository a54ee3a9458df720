// The figures in Vega-Lite. Their data come by name, so that the page holds every number once.
const CONFIG = {
  font: "system-ui, sans-serif", background: null, // so that the shadow of what scrolls is seen
  axis: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", grid: true, gridColor: "#e4e4e4", labelColor: "#333", titleColor: "#333" },
  axisQuantitative: { labelOverlap: "greedy", labelSeparation: 8 },
  legend: { labelFontSize: 12, titleFontSize: 12, orient: "top", symbolOpacity: 1, ...(window.innerWidth < 640 ? { layout: { top: { direction: "vertical", anchor: "start" } }, columns: 2 } : {}) },
  header: { labelFontSize: 12, titleFontSize: 12 },
  view: { stroke: "#bbb" },
};
const POINTER = {
  embedding: "embedding", method_name: "method", direction: "direction", dose: "dose", wordset: "words", seed: "seed",
  query: "query", x: "score", x_interval: "score, 95% interval", n_found: "words found", n_oov: "words out of vocabulary",
  gap: "measure", groups: "groups", y: "gap", y_interval: "gap, 95% interval", by_group: "by group", support: "items behind the gap",
};
const tooltip = Object.entries(POINTER).map(([field, title]) => ({ field, title, ...(["x", "y"].includes(field) ? { format: ".3f" } : {}) }));
const quantitative = (field, title, more = {}) => ({ field, type: "quantitative", title, ...more });
const nominal = (field, title = null, more = {}) => ({ field, type: "nominal", title, ...more });
// A label is shown whole, over as many lines as it takes; a name longer than a line is broken.
const LINE = window.innerWidth < 640 ? 28 : 46, LINE_HEIGHT = 14;
const pieces = (word, width) => word.match(new RegExp(`.{1,${width}}`, "gu")) ?? [];
const lines = (label, width = LINE) => label.split(" ").flatMap((word) => pieces(word, width)).reduce((found, piece) => {
  const last = found.at(-1);
  return last !== undefined && last.length + 1 + piece.length <= width ? [...found.slice(0, -1), `${last} ${piece}`] : [...found, piece];
}, []);
const WHOLE = {
  labelExpr: "split(datum.label, '\\n')", labelLimit: 0, labelLineHeight: LINE_HEIGHT,
  labelOffset: { expr: `${-LINE_HEIGHT / 2} * (length(split(datum.label, '\\n')) - 1)` },
};
const LABELS = { gaps: "made" };
// The rows of such a figure with their labels, and its spec with room for the label of most lines.
function labelled(id, spec, rows) {
  const labels = rows.map((row) => lines(row[LABELS[id]]));
  const body = spec.spec ?? spec;
  body.height = { step: body.height.step + LINE_HEIGHT * (Math.max(...labels.map((label) => label.length)) - 1) };
  return rows.map((row, i) => ({ ...row, label: labels[i].join("\n") }));
}
const free = { scale: { zero: false, nice: true, padding: 8 }, axis: { tickCount: 5 } }; // points whole within the frame
// The titles of score and gap, wherever they are drawn.
function entitle(of, titles) {
  for (const [name, part] of Object.entries(of)) {
    if (!part || typeof part !== "object" || name === "data") continue;
    if (name in titles && "field" in part && "title" in part) part.title = titles[name];
    else entitle(part, titles);
  }
}
// Scores of which less is more biased fall from left to right, so that all figures read alike.
function reverse(of) {
  if (of.scale?.reverse) return; // several layers share one
  if (of.field === "x" && of.scale) Object.assign(of, { title: `${of.title}, less is more biased`, scale: { ...of.scale, reverse: true } });
  else for (const part of Object.values(of)) if (part && typeof part === "object") reverse(part);
}
// A line at a value, drawn once: without data of its own once for each row.
const line = (side, datum, dash = [1, 0]) => ({ data: { values: [{}] }, mark: { type: "rule", color: "#888", strokeDash: dash }, encoding: { [side]: { datum } } });
const DASHED = [4, 3];
const fit = (x, y) => ({ mark: { type: "line", color: "#222", strokeWidth: 1.5, clip: true }, encoding: { x, y } });
const zeroRule = line("y", 0, DASHED);

// What several gaps have in common: "gap (above 0: worse for female)".
const above = (titles) => `gap${[...new Set(titles.map((title) => /( \(above 0: .*)?$/.exec(title)[0]))].join(";")}`;

// look: the colours and shapes of the paper's figures; black is kept for unmodified embeddings.
// axes: what scores and gaps are called on an axis.
function figures({ black, methods: colours, shapes }, unmodified, rows, doses, axes) {
  const values = (table, name) => [...new Set(table.map((row) => row[name]))];
  const facet = (table, name) => nominal(name, null, { sort: name === "part" ? others : values(table, name), header: { labelExpr: "split(datum.label, ', ')" } });
  const methods = values(rows, "method_name"), embeddings = values(rows, "embedding");
  const others = rows.length ? methods.filter((method) => method !== unmodified) : Object.keys(colours);
  const cycle = (items, count) => Array.from({ length: count }, (_, i) => items[i % items.length]);
  const color = nominal("method_name", "method", { scale: { domain: [unmodified, ...others], range: [black, ...others.map((name) => colours[name])] } });
  const shape = nominal("embedding", "embedding", { scale: { domain: embeddings, range: cycle(shapes, embeddings.length) } });
  const x = quantitative("x", "score", free), y = quantitative("y", "gap", free); // the page names them
  const bar = (encoding) => ({ mark: { type: "rule", opacity: 0.25 }, encoding: { ...encoding, color } });

  // Score against gap, with intervals on both sides and a brush; the page's menus choose the rows.
  const scatter = {
    data: { name: "shown" }, width: "container", height: 380,
    layer: [
      bar({ x, y: { ...y, field: "y_low" }, y2: { field: "y_high" } }),
      bar({ y, x: { ...x, field: "x_low" }, x2: { field: "x_high" } }),
      zeroRule,
      { data: { name: "line" }, ...fit(x, y) },
      {
        params: [{ name: "brush", select: "interval" }],
        mark: { type: "point", filled: true, size: 70, tooltip: true },
        encoding: { x, y, color, shape, tooltip, opacity: { condition: { param: "brush", value: 0.9 }, value: 0.15 } },
      },
    ],
  };
  // Panels by two columns of the rows: the paper's figures. Each has a row with its note, so that none lacks its axis.
  const where = (field, layer) => ({ transform: [{ filter: `isValid(datum.${field})` }], ...layer });
  const panels = (row, column) => ({
    data: { name: "rows" }, facet: { row: facet(rows, row), column: facet(rows, column) },
    spec: {
      width: 190, height: 140,
      layer: [
        where("y_low", bar({ x, y: { ...y, field: "y_low" }, y2: { field: "y_high" } })), zeroRule,
        where("y", { mark: { type: "point", filled: true, size: 35, opacity: 0.8 }, encoding: { x, y, color, shape, tooltip } }),
        where("fit_y", fit({ ...x, field: "fit_x" }, { ...y, field: "fit_y" })),
        where("note", { mark: { type: "text", align: "left", baseline: "bottom", fontSize: 11 }, encoding: { text: { field: "note", type: "nominal" }, x: { value: 0 }, y: { value: -3 } } }),
      ],
    },
  });
  // Where no score could be had: the gaps of every embedding.
  const gapTitle = above(Object.values(axes.gaps));
  const made = nominal("label", null, { sort: null, axis: WHOLE });
  const gaps = {
    data: { name: "gaps" }, facet: { column: { field: "gap", type: "nominal", title: null, sort: null } },
    spec: {
      width: 240, height: { step: 18 },
      layer: [
        line("x", 0, DASHED),
        { mark: { type: "rule", strokeWidth: 2 }, encoding: { y: made, x: quantitative("low", gapTitle, free), x2: { field: "high" }, color } },
        { mark: { type: "point", filled: true, size: 60 }, encoding: { y: made, x: quantitative("value", gapTitle, free), color, tooltip: ["made", "groups", "value, 95% interval", "items", "by_group"].map((field) => ({ field, title: field.replaceAll("_", " ") })) } },
      ],
    },
  };
  // What the dose does: the mean over embeddings and seeds, and the range.
  const dose = quantitative("dose", ["dose", "(below 0: debias, above: overbias)"]), method = nominal("method", "method", { scale: { domain: others, range: others.map((name) => colours[name]) } });
  const value = (aggregate, more = {}) => quantitative("value", null, { aggregate, ...more });
  const curves = {
    data: { name: "curves" }, facet: facet(doses, "what"), columns: 3, resolve: { scale: { y: "independent" } },
    spec: {
      width: 200, height: 130,
      layer: [
        { mark: { type: "area", opacity: 0.18 }, encoding: { x: dose, y: value("min"), y2: { aggregate: "max", field: "value" }, color: method } },
        { mark: { type: "line", point: true }, encoding: { x: dose, y: value("mean", { scale: { zero: false } }), color: method } },
      ],
    },
  };
  const specs = { scatter, by_query: panels("query", "gap"), by_method: panels("gap", "part"), by_embedding: panels("gap", "embedding"), curves, gaps };
  return Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, { $schema: "https://vega.github.io/schema/vega-lite/v6.json", config: CONFIG, ...spec }]));
}

