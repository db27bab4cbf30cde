// The phone: hears the stream, keeps what the chat shows, and turns taps into verbs.
//
//   words.js     texts and their entities        composer.js  the line below: replies, commands, files
//   bubble.js    one message                     sheets.js    what opens over the chat
//
// An element is made once for each version of a message and put at the end or in its old version's
// place; nothing is ever drawn again because something else changed.

import { brief, bubble, busy, time, unfold } from "./bubble.js";
import { Composer } from "./composer.js";
import { alert, copy, menu, toast, view } from "./sheets.js";
import { make } from "./words.js";

const GENERAL = 0;
const SPINS_MS = 15_000; // as long as the app waits for an answer to a tap
const BANNER_MS = 6000;
const NEAR_PX = 60;
const $ = (id) => document.getElementById(id);

const messages = new Map(); // id -> message, in order
const unread = new Map(); // thread -> Set of ids
const sounded = new Set();
const typing = new Map(); // thread -> timer
const presses = new Map(); // "message value" -> timer
const taps = new Map(); // tap id -> its press
const answers = new Map(); // tap id -> what the bot answered before the tap's own id was known
const open = new Set(); // unfolded quotes
let topics = [];
let pinned = [];
let bot = "Quarterdeck";
let threaded = false;
let here = GENERAL;
let atEnd = true;
let banner = null;
let rising = 0;

const list = $("messages");
const thread = (message) => (message.in_topic ? message.thread : GENERAL);
const known = (where) => where === GENERAL || topics.some((topic) => topic.id === where);
const title = (where) => topics.find((topic) => topic.id === where)?.name ?? (threaded ? "General" : bot);
const name = (message) => (message.from_bot ? bot : "You");
const shown = () => [...messages.values()].filter((message) => thread(message) === here);
const around = {
  name,
  open,
  original: (id) => messages.get(id),
  pressed: (message, button) => presses.has(`${message.id} ${button.value}`),
};

async function post(verb, what) {
  const answer = await fetch(`../do/${verb}`, { method: "POST", body: JSON.stringify(what) }).catch(() => null);
  if (answer === null) throw new Error("Not sent: the rehearsal does not answer.");
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error);
  return said;
}

const composer = new Composer({
  post,
  where: () => here,
  name,
  original: (id) => messages.get(id),
  sent: () => toEnd(),
});

// ---------------------------------------------------------------- hearing

function hear(news) {
  if (news.fresh) forget(news);
  if ("threaded" in news) threaded = news.threaded;
  if (news.topics) topics = news.topics;
  if (news.pinned) pinned = news.pinned;
  if (news.commands) composer.commands = news.commands;
  if ("blocked" in news) composer.block(news.blocked);
  if (!known(here)) show(GENERAL);
  for (const id of news.gone ?? []) remove(id);
  const rest = document.createDocumentFragment();
  for (const message of news.messages ?? []) take(message, rest, Boolean(news.fresh));
  list.append(rest);
  for (const tap of news.taps ?? []) answered(tap);
  for (const sign of news.typing ?? []) type(sign);
  if (news.fresh) composer.turn(shown());
  if (atEnd) toEnd();
  around_the_chat();
}

function forget(news) {
  bot = news.bot;
  for (const kept of [messages, unread, sounded]) kept.clear();
  list.replaceChildren();
  $("list-title").textContent = bot;
  if (news.hint) {
    $("hint").textContent = news.hint;
    $("demo").hidden = false;
    $("bare").hidden = true;
  }
}

function take(message, rest, fresh) {
  const before = messages.get(message.id);
  const sounds = message.from_bot && !message.silent && message.kind !== "service";
  messages.set(message.id, message);
  if (sounds) sounded.add(message.id);
  // A topic's opening line learns its thread a moment after it was written.
  if (before && thread(before) !== thread(message)) $(`m-${message.id}`)?.remove();
  if (thread(message) === here) draw(message, rest);
  if (before || fresh || !message.from_bot || message.kind === "service") return;
  quiet(thread(message));
  const seen = thread(message) === here && atEnd && !document.hidden && in_chat();
  if (!seen) count(message);
  if (!seen && sounds && in_chat()) announce(message);
  if (thread(message) === here) composer.asked(message);
}

function draw(message, rest) {
  const old = $(`m-${message.id}`);
  if (old) replace(old, message);
  else append(message, rest);
}

function append(message, rest) {
  const last = rest.lastElementChild ?? $("typing")?.previousElementSibling ?? list.lastElementChild;
  const day = new Date(message.date * 1000).toDateString();
  if (last?.dataset.day !== day) {
    rest.append(make("li", { className: "service day", data: { day } }, make("span", {}, dated(message.date))));
  }
  const item = bubble(message, around);
  item.dataset.day = day;
  rest.append(item);
}

const days = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long" });
const dated = (at) => {
  const day = new Date(at * 1000);
  return day.toDateString() === new Date().toDateString() ? "Today" : days.format(day);
};

function replace(old, message) {
  const item = bubble(message, around);
  item.dataset.day = old.dataset.day;
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  old.replaceWith(item);
  if (!focused) return;
  const same = [...item.querySelectorAll("button")].find(
    (button) => button.dataset.value === focused.dataset.value && button.className === focused.className,
  );
  (same ?? item.querySelector(".key") ?? item.querySelector(".more") ?? list).focus({ preventScroll: true });
}

function remove(id) {
  messages.delete(id);
  for (const waiting of unread.values()) waiting.delete(id);
  $(`m-${id}`)?.remove();
  composer.gone(id);
  if (banner === id) dismiss();
}

// ---------------------------------------------------------------- marks, counts, the banner

const in_chat = () => document.body.dataset.screen === "chat" || wide.matches;
const wide = matchMedia("(min-width: 760px)");

function count(message) {
  const where = thread(message);
  if (!unread.has(where)) unread.set(where, new Set());
  unread.get(where).add(message.id);
}

const waiting = (where) => unread.get(where)?.size ?? 0;

function announce(message) {
  banner = message.id;
  const [who, what] = $("banner").querySelectorAll("b, i");
  who.textContent = title(thread(message));
  what.textContent = brief(message);
  $("banner").hidden = false;
  clearTimeout(rising);
  rising = setTimeout(dismiss, BANNER_MS);
}

function dismiss() {
  banner = null;
  $("banner").hidden = true;
}

function around_the_chat() {
  for (const tie of threaded ? [draw_tabs, draw_topics] : []) tie();
  $("tabs").hidden = !threaded || !topics.length;
  document.body.classList.toggle("threaded", threaded);
  $("title").textContent = title(here);
  $("face").textContent = title(here).replace(/^\W+/u, "").slice(0, 1).toUpperCase() || "#";
  const elsewhere = [...unread].filter(([where]) => where !== here).reduce((sum, [, ids]) => sum + ids.size, 0);
  $("elsewhere").textContent = String(elsewhere);
  $("elsewhere").hidden = !elsewhere;
  const all = [...unread.values()].reduce((sum, ids) => sum + ids.size, 0);
  document.title = `${all ? `(${all}) ` : ""}${bot} · rehearsal`;
  $("down").hidden = atEnd;
  $("down").querySelector("b").textContent = waiting(here) || "";
  const bell = $("sounded");
  bell.querySelector("span").textContent = String(sounded.size);
  bell.ariaLabel = `${sounded.size} sounded: to the newest of them`;
  bell.hidden = !sounded.size;
  draw_status();
  draw_pinned();
  $("empty").hidden = messages.size > 0 || here !== GENERAL;
}

function draw_status() {
  const writes = typing.has(here);
  $("status").classList.toggle("typing", writes);
  const heard = sounded.size ? ` · ${sounded.size} sounded` : "";
  $("status").textContent = writes ? "typing" : `rehearsal${heard}`;
  const dots = $("typing");
  if (writes && !dots) {
    const three = make("article", { className: "bubble dots", ariaLabel: `${bot} is typing` }, make("i"), make("i"), make("i"));
    list.append(make("li", { id: "typing", className: "bot" }, three));
    if (atEnd) toEnd();
  } else if (!writes) dots?.remove();
  else if (list.lastElementChild !== dots) list.append(dots);
}

function type(sign) {
  quiet(sign.thread);
  const ends = () => {
    typing.delete(sign.thread);
    draw_status();
  };
  typing.set(sign.thread, setTimeout(ends, sign.for_s * 1000));
}

function quiet(where) {
  clearTimeout(typing.get(where));
  typing.delete(where);
}

function draw_pinned() {
  const last = pinned.map((id) => messages.get(id)).filter((message) => message && thread(message) === here).at(-1);
  $("pinned").hidden = !last;
  if (!last) return;
  $("pinned").dataset.to = String(last.id);
  $("pinned").querySelector("span").textContent = brief(last);
}

function draw_tabs() {
  const tabs = [GENERAL, ...topics.map((topic) => topic.id)].map((where) => {
    const tab = make("button", { type: "button", className: "tab", data: { where: String(where) } }, make("span", {}, title(where)));
    if (where === here) tab.setAttribute("aria-current", "true");
    if (waiting(where)) tab.append(make("b", { ariaLabel: `${waiting(where)} unread` }, String(waiting(where))));
    return tab;
  });
  settle($("tabs"), tabs);
}

function draw_topics() {
  const rows = [GENERAL, ...topics.map((topic) => topic.id)].map((where) => {
    const last = [...messages.values()].filter((message) => thread(message) === where).at(-1);
    return { where, last };
  });
  rows.sort((a, b) => (b.last?.id ?? 0) - (a.last?.id ?? 0));
  settle($("topics"), rows.map(({ where, last }) => topic_row(where, last)));
}

function topic_row(where, last) {
  const color = topics.find((topic) => topic.id === where)?.icon_color ?? 0;
  const face = make("span", { className: "face", ariaHidden: "true", data: { color: String(color) } }, title(where).replace(/^\W+/u, "").slice(0, 1).toUpperCase() || "#");
  const row = make(
    "button",
    { type: "button", data: { where: String(where) } },
    face,
    make("span", { className: "topic" }, make("b", {}, title(where)), make("i", {}, last ? `${last.from_bot ? "" : "You: "}${brief(last)}` : "Nothing here yet")),
    make("span", { className: "side" }, make("time", {}, last ? time(last.date) : "")),
  );
  if (where === here) row.setAttribute("aria-current", "true");
  if (waiting(where)) row.lastChild.append(make("b", { ariaLabel: `${waiting(where)} unread` }, String(waiting(where))));
  return make("li", {}, row);
}

// Put the new children in only where they differ, so that focus and scrolling stay.
function settle(parent, children) {
  children.forEach((child, i) => {
    const old = parent.children[i];
    if (!old) parent.append(child);
    else if (!old.isEqualNode(child)) {
      const focused = old.contains(document.activeElement);
      old.replaceWith(child);
      if (focused) (child.querySelector("button") ?? child).focus({ preventScroll: true });
    }
  });
  while (parent.children.length > children.length) parent.lastElementChild.remove();
}

// ---------------------------------------------------------------- going places

function show(where) {
  document.body.dataset.screen = "chat";
  if (banner !== null && messages.has(banner) && thread(messages.get(banner)) === where) dismiss();
  if (where === here && list.childElementCount) return toEnd();
  here = where;
  atEnd = true;
  const rest = document.createDocumentFragment();
  for (const message of shown()) append(message, rest);
  list.replaceChildren(rest);
  composer.turn(shown());
  toEnd();
  around_the_chat();
  document.querySelector("#tabs [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
}

function toEnd() {
  list.scrollTop = list.scrollHeight;
  reached();
}

function reached() {
  const end = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_PX;
  const news = end !== atEnd || (end && waiting(here));
  atEnd = end;
  if (end && in_chat()) unread.delete(here);
  if (news) around_the_chat();
}

function go_to(id) {
  const message = messages.get(id);
  if (!message) return toast("That message is gone.");
  if (thread(message) !== here || !in_chat()) show(thread(message));
  const item = $(`m-${id}`);
  item.scrollIntoView({ block: "center" });
  item.classList.remove("found");
  requestAnimationFrame(() => item.classList.add("found"));
}

// ---------------------------------------------------------------- tapping

async function press(message, element) {
  const { kind, value } = element.dataset;
  if (kind === "copy_text") return copy(value);
  if (kind === "url") return toast(`A rehearsal opens no address: ${value}`);
  if (kind !== "callback_data") return toast("This button does nothing here.");
  const pressed = `${message.id} ${value}`;
  if (presses.has(pressed)) return;
  turn(pressed, true);
  try {
    const tap = await post("tap", { message: message.id, data: value });
    taps.set(tap.id, pressed);
    if (answers.has(tap.id)) answered(answers.get(tap.id));
  } catch (error) {
    turn(pressed, false);
    toast(error.message);
  }
}

function turn(pressed, turning) {
  clearTimeout(presses.get(pressed));
  presses.delete(pressed);
  if (turning) presses.set(pressed, setTimeout(() => turn(pressed, false), SPINS_MS));
  const [id] = pressed.split(" ", 1);
  for (const key of $(`m-${id}`)?.querySelectorAll(".key") ?? []) {
    if (`${id} ${key.dataset.value}` === pressed) busy(key, turning);
  }
}

function answered(tap) {
  const pressed = taps.get(tap.id);
  if (pressed === undefined) return answers.set(tap.id, tap);
  taps.delete(tap.id);
  answers.delete(tap.id);
  turn(pressed, false);
  if (tap.answer) (tap.alert ? alert : toast)(tap.answer);
}

function offer(message) {
  const what = [];
  const replies = () => composer.reply(message);
  if (!composer.blocked) what.push(["Reply", replies]);
  if (message.text && !message.protected) what.push(["Copy", () => copy(message.text)]);
  if (!message.from_bot && message.kind === "text") what.push(["Edit", () => composer.edit(message)]);
  what.push(["Delete", () => post("delete", { message_id: message.id })]);
  menu(what, (emoji) => post("react", { message_id: message.id, emoji }), message.reactions);
}

const message_of = (element) => messages.get(Number(element.closest("li[data-id]")?.dataset.id));

function tapped(element, message) {
  const data = element.dataset;
  if (element.matches(".key")) press(message, element);
  else if (element.matches(".unfold")) fold(element.closest(".folding"));
  else if (element.matches(".spoiler")) element.classList.add("shown");
  else if (element.matches(".more")) offer(message);
  else if (data.copy !== undefined) copy(data.copy);
  else if (data.say) composer.say(data.say);
  else if (data.address) toast(`A rehearsal opens no address: ${data.address}`);
  else if (data.open) view(message.file);
  else if (data.to) go_to(Number(data.to));
}

function fold(quote) {
  const opens = !open.has(quote.dataset.fold);
  if (opens) open.add(quote.dataset.fold);
  else open.delete(quote.dataset.fold);
  unfold(quote, opens);
}

const touched = matchMedia("(hover: none)");
const of_bubble = (event) =>
  event.target.closest(".bubble") && !getSelection().toString() ? message_of(event.target) : undefined;

list.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) return tapped(button, message_of(button));
  const code = event.target.closest(".text code");
  if (code && !code.closest("pre")) return copy(code.textContent);
  const message = touched.matches && !event.target.closest("pre") && of_bubble(event);
  if (message) offer(message);
});
list.addEventListener("contextmenu", (event) => {
  const message = of_bubble(event);
  if (!message) return;
  event.preventDefault();
  offer(message);
});
list.addEventListener("scroll", reached, { passive: true });
new ResizeObserver(() => atEnd && toEnd()).observe(list);

for (const id of ["tabs", "topics"]) {
  $(id).addEventListener("click", (event) => {
    const where = event.target.closest("[data-where]")?.dataset.where;
    if (where !== undefined) show(Number(where));
  });
}
$("back").addEventListener("click", () => {
  document.body.dataset.screen = "list";
  document.querySelector("#topics [aria-current]")?.focus();
});
$("down").addEventListener("click", toEnd);
$("hint").addEventListener("click", () => composer.offer($("hint").textContent));
$("pinned").addEventListener("click", () => go_to(Number($("pinned").dataset.to)));
$("sounded").addEventListener("click", () => go_to([...sounded].filter((id) => messages.has(id)).at(-1)));
$("banner").addEventListener("click", () => {
  const id = banner;
  dismiss();
  go_to(id);
});
document.addEventListener("visibilitychange", reached);
addEventListener("unhandledrejection", (event) => toast(event.reason.message));

const stream = new EventSource("stream");
stream.addEventListener("message", (event) => hear(JSON.parse(event.data)));
stream.addEventListener("open", () => ($("lost").hidden = true));
stream.addEventListener("error", () => ($("lost").hidden = false));
