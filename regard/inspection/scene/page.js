"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const space = "http://www.w3.org/2000/svg";
const picture = document.getElementById("picture"), tip = document.getElementById("tip");
const chosen = Object.assign({}, data.start);
let heads = new Set(chosen.heads), theme = data.theme;
const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");
if (theme === "light" && systemIsDark.matches) theme = "dark";

function make(tag, attributes, parent) {
  const element = document.createElementNS(space, tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  if (parent) parent.appendChild(element);
  return element;
}
const colour = role => data.themes[theme].colours[role];
function ramp(name, share) {
  const stops = data.themes[theme].ramps[name];
  const at = Math.max(0, Math.min(1, share)) * (stops.length - 1), low = Math.floor(at);
  const high = Math.min(stops.length - 1, low + 1), part = at - low;
  const channel = i => Math.round(parseInt(stops[low].slice(i, i + 2), 16) * (1 - part)
    + parseInt(stops[high].slice(i, i + 2), 16) * part);
  return [channel(1), channel(3), channel(5)];
}
function say(text, event) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const right = window.innerWidth - tip.offsetWidth - 8;
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, right)) + "px";
  const below = event.clientY + 18;
  const room = window.innerHeight - tip.offsetHeight - 6;
  tip.style.top = (below < room ? below : event.clientY - tip.offsetHeight - 10) + "px";
}
function tells(element, text) {
  if (!text) return;
  element.addEventListener("pointermove", event => say(text, event));
  element.addEventListener("pointerleave", () => say(""));
}
function quieten(kind, number) {
  for (const element of picture.querySelectorAll("[data-row],[data-column]")) {
    const own = element.dataset[kind];
    const isLink = element.dataset.row !== undefined && element.dataset.column !== undefined;
    const isOther = isLink ? own !== String(number) : own !== undefined && own !== String(number);
    element.classList.toggle("quiet", number !== null && isOther);
  }
}
function mark(element, item) {
  for (const name of ["row", "column"])
    if (item[name] !== undefined) element.dataset[name] = item[name];
}
function named(text) {
  const all = current().heads, used = all.filter(head => heads.has(head));
  if (!used.length || used.length === all.length) return text;
  const some = used.length === 1 ? "head " + used[0] : "heads " + used.join(", ");
  const every = "all " + all.length + " heads";
  return used.length === 1 ? text.replace("mean of " + every, some).replace(every, some)
    : text.replace(every, some);
}
const draws = {
  text(item, svg) {
    if (item.head !== undefined && !heads.has(item.head)) return;
    const element = make("text", {x: item.x, y: item.y, dy: "0.35em", "font-size": item.size,
      fill: colour(item.colour), "text-anchor": item.anchor || "start",
      "font-weight": item.bold ? 600 : 400}, svg);
    if (item.turned) element.setAttribute("transform",
      `rotate(${item.turned} ${item.x} ${item.y})`);
    element.textContent = named(item.text);
    mark(element, item);
    const kind = item.row !== undefined ? "row" : item.column !== undefined ? "column" : "";
    if (kind) {
      element.addEventListener("pointerenter", () => quieten(kind, item[kind]));
      element.addEventListener("pointerleave", () => quieten(kind, null));
    }
    tells(element, item.tip);
  },
  path(item, svg) {
    if (item.head !== undefined && !heads.has(item.head)) return;
    const p = item.points;
    let d = `M${p[0]} ${p[1]}` + (item.curve ? "C" : "L");
    d += p.slice(2).join(" ");
    const element = make("path", {d, fill: "none", stroke: colour(item.colour),
      "stroke-width": item.width, "stroke-opacity": item.opacity ?? 1}, svg);
    if (item.dashed) element.setAttribute("stroke-dasharray", "4 3");
    mark(element, item);
    tells(element, item.tip);
  },
  rectangle(item, svg) {
    if (item.head !== undefined && !heads.has(item.head)) return;
    const element = make("rect", {x: item.x, y: item.y, width: item.width, height: item.height,
      fill: item.fill ? colour(item.fill) : "none", opacity: item.opacity ?? 1,
      rx: item.radius || 0}, svg);
    if (item.stroke) {
      element.setAttribute("stroke", colour(item.stroke));
      element.setAttribute("stroke-width", item.stroke_width);
    }
    if (!item.fill) element.setAttribute("pointer-events", "none");
    tells(element, item.tip);
  },
  image(item, svg) {
    const place = {x: item.x, y: item.y, width: item.width, height: item.height,
      preserveAspectRatio: "none"};
    let element = make("image", {...place, href: data.pictures[item.picture]}, svg);
    if (item.veil) element = make("image", {...place, href: item.veil}, svg);
    tells(element, item.tip);
  },
  heat(item, svg) {
    const values = shown(item), [rows, columns] = item.shape;
    const canvas = document.createElement("canvas");
    canvas.width = columns; canvas.height = rows;
    const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
    const span = item.high - item.low || 1, table = [];
    for (let i = 0; i < 256; i++) table.push(ramp(item.ramp, i / 255));
    for (let k = 0; k < values.length; k++) {
      const share = Math.max(0, Math.min(1, (values[k] - item.low) / span));
      image.data.set(table[Math.round(255 * share)], 4 * k);
      image.data[4 * k + 3] = 255;
    }
    context.putImageData(image, 0, 0);
    const element = make("image", {x: item.x, y: item.y, width: item.width, height: item.height,
      preserveAspectRatio: "none",
      style: "image-rendering:" + (columns > item.width ? "auto" : "pixelated"),
      href: canvas.toDataURL()}, svg);
    if (!item.rows) { tells(element, item.tip); return; }
    element.addEventListener("pointermove", event => {
      const box = element.getBoundingClientRect();
      const j = Math.floor((event.clientX - box.left) / box.width * columns);
      const i = Math.floor((event.clientY - box.top) / box.height * rows);
      if (i < 0 || j < 0 || i >= rows || j >= columns) return;
      const value = values[i * columns + j].toFixed(3);
      say(`${item.rows[i]} → ${item.columns[j]}: ${value}`, event);
    });
    element.addEventListener("pointerleave", () => say(""));
  },
};
function unpack(item) {
  if (item.numbers) return item.numbers;
  const bytes = Uint8Array.from(atob(item.packed), c => c.charCodeAt(0));
  const raw = item.wide ? new Uint16Array(bytes.buffer) : bytes, most = item.wide ? 65535 : 255;
  const size = item.shape[0] * item.shape[1];
  item.numbers = [];
  for (let h = 0; h * size < raw.length; h++)
    item.numbers.push(Float32Array.from(raw.subarray(h * size, (h + 1) * size),
      v => item.low + (item.high - item.low) * v / most));
  return item.numbers;
}
function shown(item) {
  const layers = unpack(item);
  const used = (item.heads || []).map((head, place) => heads.has(head) ? place : -1)
    .filter(place => place >= 0);
  const places = used.length ? used : layers.map((_, place) => place);
  const mean = new Float32Array(layers[0].length);
  for (const place of places)
    for (let k = 0; k < mean.length; k++) mean[k] += layers[place][k] / places.length;
  return mean;
}
function digits(item, svg) {
  const values = shown(item), [rows, columns] = item.shape;
  const width = item.width / columns, height = item.height / rows;
  for (let k = 0; k < values.length; k++) if (values[k] >= 0.05) {
    const text = make("text", {x: item.x + (k % columns + 0.5) * width, dy: "0.35em",
      y: item.y + (Math.floor(k / columns) + 0.5) * height, "font-size": 0.34 * width,
      fill: colour(values[k] >= 0.5 ? "pale" : "ink"), "text-anchor": "middle",
      "pointer-events": "none"}, svg);
    text.textContent = Math.round(100 * values[k]);
  }
}
function draw() {
  document.documentElement.dataset.theme = theme;
  const scene = data.scenes[current().scene];
  picture.replaceChildren();
  const svg = make("svg", {width: scene.width, height: scene.height, role: "img",
    viewBox: `0 0 ${scene.width} ${scene.height}`}, picture);
  svg.setAttribute("aria-label", scene.title);
  for (const item of scene.items)
    if (item.kind === "digits") digits(scene.items[item.of], svg);
    else draws[item.kind](item, svg);
  controls();
}
const order = ["form", "site", "layer", "reading", "merges"];
function current() {
  let found = data.entries;
  for (const name of order) {
    const same = found.filter(entry => entry[name] === chosen[name]);
    if (same.length) found = same;
  }
  return found[0];
}
function group(legend, choices, isOn, choose, decorate) {
  const field = document.createElement("fieldset"), name = document.createElement("legend");
  name.textContent = legend;
  field.append(name);
  for (const [value, label] of choices) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    if (decorate) decorate(button, value);
    button.setAttribute("aria-pressed", String(isOn(value)));
    button.addEventListener("click", () => {
      choose(value);
      draw();
      const again = [...document.querySelectorAll("#controls fieldset")]
        .find(one => one.firstChild.textContent === legend);
      const same = again && [...again.querySelectorAll("button")]
        .find(one => one.textContent === label);
      if (same) same.focus();
    });
    field.append(button);
  }
  return field;
}
function options(name, entry) {
  const before = order.slice(0, order.indexOf(name));
  const found = [];
  for (const other of data.entries)
    if (before.every(one => other[one] === entry[one]) && !found.includes(other[name]))
      found.push(other[name]);
  return found;
}
function controls() {
  const bar = document.getElementById("controls"), entry = current();
  Object.assign(chosen, Object.fromEntries(order.filter(name => entry[name] !== null)
    .map(name => [name, entry[name]])));
  bar.replaceChildren();
  for (const [name, legend] of data.legends) {
    const values = options(name, entry).filter(value => value !== null);
    if (values.length < 2) continue;
    const named = values.map(value => [value, data.names[value] ?? String(value)]);
    bar.append(group(legend, named, value => value === entry[name],
      value => { chosen[name] = value; }));
  }
  if (entry.heads && entry.heads.length > 1) {
    const all = entry.heads, isAll = () => all.every(head => heads.has(head));
    const field = group("heads", all.map(head => [head, String(head)]), head => heads.has(head),
      head => {
        if (isAll()) { heads = new Set([head]); return; }
        if (heads.has(head)) heads.delete(head); else heads.add(head);
        if (!all.some(one => heads.has(one))) heads = new Set(all);
      },
      (button, head) => {
        button.className = "head";
        const chip = document.createElement("span");
        chip.className = "chip";
        chip.style.background = colour("head" + head % 8);
        button.prepend(chip);
      });
    const every = document.createElement("button");
    every.type = "button";
    every.textContent = "all";
    every.addEventListener("click", () => { heads = new Set(all); draw(); });
    field.append(every);
    bar.append(field);
  }
  bar.append(group("", [["", theme === "dark" ? "light" : "dark"]], () => false,
    () => { theme = theme === "dark" ? "light" : "dark"; }));
}
draw();
