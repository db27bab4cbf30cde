// What opens over the chat: a word in passing, an alert, a message's menu, a file.

import { size } from "./bubble.js";
import { diff, make } from "./words.js";

const TOAST_MS = 4000;
const READABLE_BYTES = 2e6;
const REACTIONS = ["👍", "👀", "🔥", "🎉", "🤔", "👎"];
const $ = (id) => document.getElementById(id);
let fading = 0;

export function toast(text) {
  clearTimeout(fading);
  $("toast").textContent = text;
  $("toast").hidden = false;
  fading = setTimeout(() => ($("toast").hidden = true), TOAST_MS);
}

export function alert(text) {
  $("alert").querySelector("p").textContent = text;
  if (!$("alert").open) $("alert").showModal();
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied");
  } catch {
    toast(`The browser would not copy it: ${text}`);
  }
}

// what: [[label, action], …]; react(emoji) sets or, being empty, takes back the owner's reaction
export function menu(what, react, reactions) {
  const sheet = $("menu");
  const does = (action) => async () => {
    sheet.close();
    await action();
  };
  const set = new Set(Object.values(reactions));
  const emoji = REACTIONS.map((one) =>
    make("button", { type: "button", ariaPressed: String(set.has(one)), onclick: does(() => react(set.has(one) ? "" : one)) }, one),
  );
  const rows = what.map(([label, action]) => make("button", { type: "button", className: label.toLowerCase(), onclick: does(action) }, label));
  sheet.replaceChildren(make("div", { className: "emoji" }, ...emoji), ...rows);
  sheet.showModal();
}

export async function view(file) {
  const body = $("viewer-body");
  const where = `file/${file.id}`;
  $("viewer-name").textContent = file.kind === "photo" ? "Picture" : file.name;
  $("viewer-size").textContent = size(file.size);
  $("viewer-save").href = where;
  $("viewer-save").download = file.name;
  body.replaceChildren(make("p", {}, "Opening …"));
  $("viewer").showModal();
  body.replaceChildren(file.kind === "photo" ? make("img", { src: where, alt: "A picture" }) : await read(file, where));
}

async function read(file, where) {
  if (file.size > READABLE_BYTES) return make("p", {}, "Too long to show here. Download it.");
  const bytes = await (await fetch(where)).arrayBuffer();
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.includes("\0")) throw new TypeError("not a text");
    return make("pre", {}, ...(/\.(diff|patch)$/.test(file.name) ? diff(text) : [text]));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return make("p", {}, "This is no text. Download it.");
  }
}

for (const id of ["menu", "viewer"]) {
  $(id).addEventListener("click", (event) => {
    if (event.target === $(id)) $(id).close(); // beside the sheet
  });
}
