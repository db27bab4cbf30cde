// Texts with their entities, as elements. Whatever was written is set as text, never as markup.
//
// Offsets count UTF-16 units, as a string's own indices do here. Quotes and code blocks are boxes that
// may hold the rest; the rest may overlap, so it is laid segment by segment.

const BOXES = new Set(["pre", "blockquote", "expandable_blockquote"]);
const TAGS = { bold: "strong", italic: "em", underline: "u", strikethrough: "s", code: "code" };
const LINKS = new Set(["url", "text_link", "email", "phone_number"]);
const BLUE = new Set(["mention", "text_mention", "hashtag", "cashtag"]);

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "data") Object.assign(element.dataset, value);
    else if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  svg.setAttribute("aria-hidden", "true");
  return svg;
}

export function words(text, entities) {
  const sheet = document.createDocumentFragment();
  boxes(sheet, text, 0, text.length, entities);
  return sheet;
}

function boxes(parent, text, from, to, entities) {
  let at = from;
  let below = false; // a box ends its own line: the line break after it is not one more
  for (const entity of entities.filter((one) => BOXES.has(one.type))) {
    if (entity.offset < at) continue; // it stands inside the box before
    segments(parent, text, at + (below && text[at] === "\n" ? 1 : 0), entity.offset, entities);
    const end = Math.min(to, entity.offset + entity.length);
    const inside = entities.filter(
      (one) => one !== entity && one.offset >= entity.offset && one.offset + one.length <= end,
    );
    parent.append(box(entity, text, end, inside));
    at = end;
    below = true;
  }
  segments(parent, text, at + (below && text[at] === "\n" ? 1 : 0), to, entities);
}

function box(entity, text, end, inside) {
  if (entity.type === "pre") return block(text.slice(entity.offset, end), entity.language ?? "");
  const quote = make("blockquote");
  const body = make("div", { className: "quoted" });
  boxes(body, text, entity.offset, end, inside);
  quote.append(body);
  if (entity.type === "expandable_blockquote" && long(text.slice(entity.offset, end))) {
    quote.className = "folding";
    quote.append(make("button", { type: "button", className: "unfold", ariaExpanded: "false" }, "Show all"));
  }
  return quote;
}

const long = (text) => text.length > 120 || text.split("\n").length > 3;

export function block(text, language) {
  const code = make("code");
  if (language === "diff") code.append(...diff(text));
  else code.textContent = text;
  const copy = make("button", { type: "button", className: "icon copy", ariaLabel: "Copy", data: { copy: text } }, icon("copy"));
  const pre = make("pre", { tabIndex: 0 }, code);
  const box = language ? [make("figcaption", {}, language), copy, pre] : [pre, copy];
  return make("figure", { className: "block" }, ...box);
}

export function diff(text) {
  const sorts = { "+": "added", "-": "removed", "@": "place" };
  return text.split(/(?<=\n)/).map((line) => {
    const head = line.startsWith("+++") || line.startsWith("---") || line.startsWith("diff ");
    return make("span", { className: head ? "head" : sorts[line[0]] ?? "" }, line);
  });
}

function segments(parent, text, from, to, entities) {
  if (from >= to) return;
  const inline = entities.filter(
    (one) => !BOXES.has(one.type) && one.offset < to && one.offset + one.length > from,
  );
  const edges = new Set([from, to]);
  for (const one of inline) {
    edges.add(Math.max(from, one.offset));
    edges.add(Math.min(to, one.offset + one.length));
  }
  const cuts = [...edges].sort((a, b) => a - b);
  for (let i = 0; i + 1 < cuts.length; i++) {
    const covering = inline.filter((one) => one.offset <= cuts[i] && one.offset + one.length >= cuts[i + 1]);
    // What can be pressed goes outermost: a button in bold, not bold in two buttons.
    covering.sort((a, b) => (b.type in TAGS) - (a.type in TAGS));
    let piece = document.createTextNode(text.slice(cuts[i], cuts[i + 1]));
    for (const one of covering) piece = wrapped(one, text, piece);
    parent.append(piece);
  }
}

function wrapped(entity, text, piece) {
  const whole = text.slice(entity.offset, entity.offset + entity.length);
  if (entity.type in TAGS) return make(TAGS[entity.type], {}, piece);
  if (entity.type === "spoiler") return make("button", { type: "button", className: "spoiler", ariaLabel: "Hidden: press to show" }, piece);
  if (entity.type === "bot_command") return make("button", { type: "button", className: "link", data: { say: whole } }, piece);
  if (LINKS.has(entity.type)) return make("button", { type: "button", className: "link", data: { address: entity.url ?? whole } }, piece);
  return make("span", { className: BLUE.has(entity.type) ? "link" : "" }, piece);
}
