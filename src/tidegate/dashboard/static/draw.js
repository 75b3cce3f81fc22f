"use strict";
// Drawing: plain SVG from plain data. Nothing here knows where data comes from.

const SVG = "http://www.w3.org/2000/svg";

function shape(name, facts, ...inside) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(facts)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

function label(text, x, y, facts = {}) {
  return shape("text", { x, y, ...facts }, text);
}

function short(text, most) {
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}

function count(number) {
  if (number === null || number === undefined) return "–";
  if (Math.abs(number) >= 1e6) return (number / 1e6).toFixed(number >= 1e8 ? 0 : 1) + " M";
  return Math.round(number).toLocaleString("en-US");
}

function bytes(number) {
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (number >= size) return (number / size).toFixed(1) + " " + unit;
  }
  return number + " B";
}

function instant(us, withDay = true) {
  if (us === null || us === undefined) return "–";
  const at = new Date(us / 1000);
  if (isNaN(at)) return "beyond the calendar";
  const text = at.toISOString();
  return withDay ? text.slice(0, 10) + " " + text.slice(11, 19) : text.slice(11, 19);
}

// The pipeline: nodes in layers by how far they are from a source, edges between them.

const NODE = { width: 190, height: 62, between: 70, apart: 16 };

function drawGraph(svg, nodes, edges, chosen, choose) {
  const layers = layersOf(nodes, edges);
  const place = new Map();
  layers.forEach((layer, column) => layer.forEach((id, row) => {
    place.set(id, { x: 16 + column * (NODE.width + NODE.between), y: 16 + row * (NODE.height + NODE.apart) });
  }));
  const width = 32 + layers.length * (NODE.width + NODE.between) - NODE.between;
  const height = 32 + Math.max(1, ...layers.map((layer) => layer.length)) * (NODE.height + NODE.apart) - NODE.apart;
  const parts = edges.filter(([from, to]) => place.has(from) && place.has(to)).map(([from, to]) => {
    const a = place.get(from), b = place.get(to);
    const x1 = a.x + NODE.width, y1 = a.y + NODE.height / 2, y2 = b.y + NODE.height / 2, middle = (x1 + b.x) / 2;
    return shape("path", { class: "edge", d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${b.x} ${y2}` });
  });
  for (const node of nodes) {
    const at = place.get(node.id);
    if (!at) continue;
    const drawn = shape("g", { class: `node ${node.kind}${node.id === chosen ? " chosen" : ""}`, transform: `translate(${at.x} ${at.y})` },
      shape("rect", { width: NODE.width, height: NODE.height }),
      label(short(node.name, 25), 10, 20, { "font-weight": 600 }),
      label(node.kind, NODE.width - 10, 20, { "text-anchor": "end", class: "faint" }),
      label(node.lines[0] || "", 10, 38), label(node.lines[1] || "", 10, 54, { class: "faint" }),
      shape("title", {}, node.name));
    if (node.kind === "stream") drawn.addEventListener("click", () => choose(node.name));
    parts.push(drawn);
  }
  const title = svg.querySelector("title");
  svg.replaceChildren(title, ...parts);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
}

function layersOf(nodes, edges) {
  const depth = new Map(nodes.map((node) => [node.id, 0]));
  for (let round = 0; round < nodes.length; round += 1) {
    let moved = false;
    for (const [from, to] of edges) {
      if (depth.has(from) && depth.has(to) && depth.get(to) < depth.get(from) + 1) {
        depth.set(to, depth.get(from) + 1);
        moved = true;
      }
    }
    if (!moved) break;
  }
  const layers = [];
  for (const node of nodes) (layers[depth.get(node.id)] ||= []).push(node.id);
  return layers.map((layer) => layer || []);
}

// Lines over the seconds of the run. `lines` are [class, values]; values may be null.

function drawLines(svg, seconds, lines, show) {
  const box = svg.getBoundingClientRect(), width = Math.max(box.width, 200), height = 180;
  const values = lines.flatMap(([, of]) => of).filter((value) => value !== null);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  if (!values.length || seconds.length < 2) {
    svg.replaceChildren(label("nothing to draw yet", width / 2, height / 2, { "text-anchor": "middle", class: "faint" }));
    return;
  }
  const low = Math.min(...values), high = Math.max(...values), span = high - low || 1;
  const left = 66, right = width - 8, top = 10, bottom = height - 24;
  const first = seconds[0], last = seconds[seconds.length - 1] || 1;
  const x = (at) => left + (at - first) / (last - first || 1) * (right - left);
  const y = (value) => bottom - (value - low) / span * (bottom - top);
  const parts = [0, 0.5, 1].flatMap((share) => {
    const value = low + span * share;
    return [shape("line", { class: "grid", x1: left, x2: right, y1: y(value), y2: y(value) }),
      label(show(value), left - 6, y(value) + 4, { "text-anchor": "end", class: "faint" })];
  });
  parts.push(label(`${Math.round(last - first)} s ago`, left, height - 6, { class: "faint" }),
    label("now", right, height - 6, { "text-anchor": "end", class: "faint" }));
  for (const [kind, of] of lines) {
    const points = of.map((value, place) => value === null ? null : `${x(seconds[place]).toFixed(1)},${y(value).toFixed(1)}`);
    parts.push(shape("polyline", { class: kind, points: points.filter(Boolean).join(" ") }));
  }
  svg.replaceChildren(...parts);
}

// Open windows as bars on event time; a bar is as dark as the share of rows that it has.

function drawWindows(svg, windows, watermark, lateness) {
  const box = svg.getBoundingClientRect(), width = Math.max(box.width, 200), height = 240;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  if (!windows.length) {
    svg.replaceChildren(label("no window is open, or they are not on event time", width / 2, height / 2, { "text-anchor": "middle", class: "faint" }));
    return;
  }
  const starts = windows.map((one) => one.start_us), ends = windows.map((one) => one.end_us + lateness);
  if (watermark !== null) { starts.push(watermark); ends.push(watermark); }
  const low = Math.min(...starts), high = Math.max(...ends), span = high - low || 1;
  const left = 8, right = width - 8, bottom = height - 24;
  const x = (at) => left + (at - low) / span * (right - left);
  const shown = windows.slice(0, 12), tall = Math.min(26, (bottom - 8) / shown.length - 4);
  const most = Math.max(...windows.map((one) => one.rows));
  const parts = shown.flatMap((one, row) => {
    const y = 8 + row * (tall + 4), due = watermark !== null && watermark >= one.end_us;
    const bar = shape("rect", { class: due ? "bar due" : "bar", x: x(one.start_us), y, rx: 3, height: tall,
      width: Math.max(2, x(one.end_us) - x(one.start_us)), "fill-opacity": (0.25 + 0.75 * one.rows / most).toFixed(2) });
    const text = `${instant(one.start_us, false)}–${instant(one.end_us, false)} · ${count(one.rows)} rows · ${count(one.groups)} groups`;
    const inside = x(one.start_us) < width * 0.6;
    return [bar, label(text, inside ? x(one.start_us) + 6 : x(one.start_us) - 6, y + tall / 2 + 4, { "text-anchor": inside ? "start" : "end" })];
  });
  if (watermark !== null) parts.push(shape("line", { class: "mark", x1: x(watermark), x2: x(watermark), y1: 2, y2: bottom }));
  parts.push(label(instant(low), left, height - 6, { class: "faint" }),
    label(instant(high), right, height - 6, { "text-anchor": "end", class: "faint" }));
  svg.replaceChildren(...parts);
}
