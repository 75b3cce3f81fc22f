"use strict";
// The page: takes pictures of the run as they come, and puts them where they belong. Places never change size by that.

const $ = (id) => document.getElementById(id);
const MOST_NODES = 80;
let picture = null, chosen = new URLSearchParams(location.search).get("stream") || "", points = [], texts = null, paused = false, live = null;

function put(id, text) {
  const place = $(id);
  if (place.textContent !== String(text)) place.textContent = text;
}

function sum(items, of) {
  return items.reduce((total, item) => total + of(item), 0);
}

function show() {
  if (!picture || !picture.streams) return;
  put("name", picture.name);
  put("state", picture.state);
  $("state").className = "state " + picture.state;
  document.title = `${picture.name} · Tidegate`;
  put("epoch", count(picture.epoch));
  put("rows", count(sum(picture.sources, (one) => one.rows)));
  put("rate", count(sum(picture.sources, (one) => one.rate)));
  const named = picture.streams.filter((one) => !one.anonymous);
  put("emitted", count(sum(named.length ? named : picture.streams, (one) => one.emitted)));
  put("diverted", count(sum(Object.values(picture.sides), (side) => side.count)));
  put("open", count(sum(picture.streams, (one) => one.open_windows)));
  put("bytes", bytes(sum(picture.streams, (one) => one.state_bytes)));
  put("seconds", `${Math.round(picture.seconds)} s`);
  $("main").className = "";
  showStreams();
  showGraph();
  showStream();
  showSides();
}

function nodes() {
  const found = picture.sources.map((one) => ({ id: `source:${one.name.toLowerCase()}`, kind: "source", name: one.name,
    lines: [`${count(one.rate)} rows/s`, `${count(one.rows)} rows${one.malformed ? `, ${count(one.malformed)} malformed` : ""}`] }));
  for (const one of picture.streams) found.push({ id: `stream:${one.name.toLowerCase()}`, kind: "stream", name: one.name,
    lines: [`${count(one.emit_rate)} rows/s out`, one.watermark_us === null ? `${count(one.emitted)} emitted` : `at ${instant(one.watermark_us)}`] });
  for (const one of picture.sinks) found.push({ id: `sink:${one.name.toLowerCase()}`, kind: "sink", name: one.name, lines: [one.connector, `of ${one.stream}`] });
  return found;
}

function showGraph() {
  const every = nodes();
  const region = $("graph").parentElement;
  region.hidden = every.length > MOST_NODES;
  if (!region.hidden) drawGraph($("graph"), every, picture.edges, `stream:${chosen.toLowerCase()}`, choose);
}

function showStreams() {
  const body = $("streams").tBodies[0], select = $("stream"), names = picture.streams.map((one) => one.name);
  if (!names.includes(chosen)) {
    chosen = (picture.streams.find((one) => one.windowed) || picture.streams[0] || { name: "" }).name;
    connect();
  }
  if (body.rows.length !== names.length || select.options.length !== names.length) {
    body.replaceChildren(...names.map(row));
    select.replaceChildren(...names.map((name) => new Option(name, name)));
  }
  select.value = chosen;
  picture.streams.forEach((one, place) => {
    const cells = body.rows[place].cells;
    body.rows[place].className = one.name === chosen ? "chosen" : "";
    const told = [null, count(one.rate), count(one.rows), count(one.emitted), count(one.diverted), instant(one.watermark_us),
      one.holding.join(", ") || "–", count(one.open_windows), bytes(one.state_bytes), one.ms_per_epoch.toFixed(2)];
    told.forEach((text, column) => { if (text !== null && cells[column].textContent !== text) cells[column].textContent = text; });
  });
}

function row(name) {
  const made = document.createElement("tr"), head = document.createElement("th"), button = document.createElement("button");
  head.scope = "row";
  button.type = "button";
  button.textContent = name;
  button.addEventListener("click", () => choose(name));
  head.append(button);
  made.append(head);
  for (let column = 1; column < 10; column += 1) {
    const cell = document.createElement("td");
    if (column < 5 || column > 6) cell.className = "n";
    made.append(cell);
  }
  return made;
}

function showStream() {
  const one = picture.streams.find((stream) => stream.name === chosen);
  if (!one) return;
  const details = picture.details[chosen.toLowerCase()] || { windows: [], why: ["looking …"], more: 0, lateness_us: 0 };
  const seconds = points.map((point) => point[0]);
  drawLines($("times"), seconds, [["one", points.map((point) => point[3])], ["two", points.map((point) => point[4])]], (us) => instant(us, false));
  drawLines($("flow"), seconds, [["one", points.map((point) => point[1])], ["two", points.map((point) => point[2])]], count);
  drawWindows($("windows"), details.windows, one.watermark_us, details.lateness_us);
  const more = details.more + Math.max(0, details.windows.length - 12);
  put("more", more ? `and ${count(more)} more` : "");
  put("why", details.why.join("\n"));
  if (texts) put("plan", texts.plans[chosen] || "");
}

const MEANS = { late: "late: their windows were closed", evicted: "evicted: there was no room for them", error: "error: they cannot be aggregated", duplicate: "duplicate: they were seen before" };

function showSides() {
  const place = $("sides");
  if (!place.children.length) {
    for (const kind of Object.keys(MEANS)) {
      const box = document.createElement("div"), head = document.createElement("h3"), told = document.createElement("p"), list = document.createElement("ul");
      box.className = "side";
      told.className = "note";
      list.tabIndex = 0;
      list.setAttribute("aria-label", `Recent rows of ${kind}`);
      box.append(head, told, list);
      place.append(box);
    }
  }
  Object.keys(MEANS).forEach((kind, number) => {
    const side = picture.sides[kind], [head, told, list] = place.children[number].children;
    head.textContent = `${MEANS[kind]} · ${count(side.count)}`;
    told.textContent = Object.entries(side.reasons).map(([reason, rows]) => `${reason} ${count(rows)}`).join(", ");
    const lines = side.samples.slice(0, 20).map((one) => `${one.event_time || "no time"} ${one.stream}: ${JSON.stringify(one.original_event)}${one.error_detail ? " — " + one.error_detail : ""}`);
    if (list.textContent !== lines.join("")) list.replaceChildren(...lines.map((line) => {
      const item = document.createElement("li");
      item.textContent = short(line, 240);
      return item;
    }));
  });
}

async function choose(name) {
  if (name === chosen) return;
  chosen = name;
  points = [];
  connect();
  show();
}

async function connect() {
  const stream = chosen;
  if (live) live.close();
  live = new EventSource(`/api/live?stream=${encodeURIComponent(stream)}`);
  live.onmessage = (event) => {
    picture = JSON.parse(event.data);
    take();
    if (!paused) show();
  };
  live.onerror = () => { if (picture && picture.state === "running") { put("state", "lost"); $("state").className = "state lost"; } };
  if (!stream) return;
  const found = await (await fetch(`/api/history?stream=${encodeURIComponent(stream)}`)).json();
  if (stream === chosen) { points = found.slice(-600); if (picture) show(); }
}

function take() {
  const one = picture.streams && picture.streams.find((stream) => stream.name === chosen);
  if (!one || (points.length && points[points.length - 1][0] >= picture.seconds)) return;
  const latest = picture.latest && picture.latest[chosen.toLowerCase()];
  points.push([picture.seconds, one.rate, one.emit_rate, one.watermark_us, latest === undefined ? null : latest, one.open_windows, one.state_bytes]);
  if (points.length > 600) points.shift();
}

$("stream").addEventListener("change", (event) => choose(event.target.value));
$("pause").addEventListener("click", () => {
  paused = !paused;
  $("pause").setAttribute("aria-pressed", paused);
  put("pause", paused ? "Go on" : "Pause");
  if (!paused) show();
});
$("theme").value = localStorage.getItem("theme") || "";
function theme() {
  const wanted = $("theme").value;
  localStorage.setItem("theme", wanted);
  if (wanted) document.documentElement.dataset.theme = wanted; else delete document.documentElement.dataset.theme;
}
$("theme").addEventListener("change", theme);
theme();
addEventListener("resize", () => show());
connect();
fetch("/api/texts").then((found) => found.json()).then((found) => { texts = found; put("sql", found.sql); if (picture) show(); });
