// One message as an element: words.js makes its text, phone.js keeps it current.

import { icon, make, words } from "./words.js";

const BRIEF = 200;
const OTHERS = { location: "Location", sticker: "Sticker", video: "Video", voice: "Voice message" };
const STYLES = new Set(["success", "danger", "primary"]);
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

export const time = (at) => clock.format(new Date(at * 1000));

// What a list, a banner or an answer says of a message, in one line.
export function brief(message) {
  const text = message.text.slice(0, BRIEF).replace(/\s+/g, " ");
  const name = message.kind === "photo" ? "Picture" : (OTHERS[message.kind] ?? message.file?.name);
  return text || name || line_of(message.service);
}

export function size(bytes) {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

// around: { name(message), original(id), open: Set of unfolded quotes, pressed(message, button) }
export function bubble(message, around) {
  const item = make("li", { id: `m-${message.id}`, data: { id: String(message.id) } });
  if (message.kind === "service") {
    item.className = "service";
    item.append(make("span", {}, line_of(message.service)));
    return item;
  }
  item.className = message.from_bot ? "bot" : "own";
  item.append(body(message, around));
  if (message.rows.length) item.append(keyboard(message, around));
  const reactions = Object.values(message.reactions);
  if (reactions.length) {
    item.append(make("p", { className: "reactions" }, ...reactions.map((what) => make("span", {}, what))));
  }
  return item;
}

function body(message, around) {
  const article = make("article", { className: "bubble", ariaLabel: around.name(message) });
  if (message.forwarded_from) article.append(make("p", { className: "forwarded" }, `Forwarded from ${message.forwarded_from}`));
  if (message.reply_to) article.append(answered(message, around));
  if (message.file) article.append(message.kind === "photo" ? photo(message.file) : document_(message.file));
  if (message.kind in OTHERS) article.append(make("p", { className: "text" }, OTHERS[message.kind]));
  if (message.text) {
    const text = make("div", { className: "text" }, words(message.text, message.entities));
    for (const [number, quote] of text.querySelectorAll(".folding").entries()) {
      quote.dataset.fold = `${message.id}.${number}`;
      unfold(quote, around.open.has(quote.dataset.fold));
    }
    article.append(text);
  }
  article.append(meta(message), make("button", { type: "button", className: "icon more", ariaLabel: "What can be done with this message" }, icon("more")));
  return article;
}

export function unfold(quote, open) {
  quote.classList.toggle("open", open);
  const button = quote.querySelector(".unfold");
  button.textContent = open ? "Show less" : "Show all";
  button.setAttribute("aria-expanded", String(open));
}

function answered(message, around) {
  const original = around.original(message.reply_to);
  const who = original ? around.name(original) : "Deleted message";
  const what = message.quote || (original ? brief(original) : "");
  return make("button", { type: "button", className: "answered", data: { to: String(message.reply_to) } }, make("b", {}, who), make("span", {}, what));
}

function photo(file) {
  const picture = make("img", { src: `file/${file.id}`, alt: "A picture", width: file.width, height: file.height });
  return make("button", { type: "button", className: "photo", ariaLabel: "Open the picture", data: { open: file.id } }, picture);
}

function document_(file) {
  return make(
    "button",
    { type: "button", className: "document", data: { open: file.id } },
    make("span", { className: "paper" }, icon("file")),
    make("span", {}, make("b", {}, file.name), make("i", {}, size(file.size))),
  );
}

function meta(message) {
  const marks = make("p", { className: "meta" });
  if (message.edited_at) marks.append(make("span", {}, "edited"));
  if (message.from_bot && !message.silent) {
    const bell = icon("bell");
    bell.setAttribute("aria-hidden", "false");
    bell.setAttribute("role", "img");
    bell.setAttribute("aria-label", "It sounded");
    bell.classList.add("bell");
    marks.append(bell);
  }
  marks.append(make("time", { dateTime: new Date(message.date * 1000).toISOString() }, time(message.date)));
  if (!message.from_bot) marks.append(icon("tick"));
  return marks;
}

function keyboard(message, around) {
  return make(
    "div",
    { className: "keyboard" },
    ...message.rows.map((row) => make("div", {}, ...row.map((button) => key(message, button, around)))),
  );
}

function key(message, button, around) {
  const element = make("button", { type: "button", className: "key", data: { kind: button.kind, value: button.value } }, make("span", {}, button.label));
  if (STYLES.has(button.style)) element.classList.add(button.style);
  if (button.kind === "disabled") element.disabled = true;
  if (button.kind === "copy_text") element.append(icon("copy"));
  if (around.pressed(message, button)) busy(element, true);
  return element;
}

export function busy(key, turning) {
  key.classList.toggle("busy", turning);
  if (turning) key.setAttribute("aria-busy", "true");
  else key.removeAttribute("aria-busy");
}

function line_of(service) {
  const [[what, how] = ["", {}]] = Object.entries(service);
  switch (what) {
    case "forum_topic_created": return `Topic “${how.name}” opened`;
    case "forum_topic_edited": return how.name ? `Topic renamed to “${how.name}”` : "Topic changed";
    case "forum_topic_closed": return "Topic closed";
    case "forum_topic_reopened": return "Topic opened again";
    case "pinned_message": return "A message was pinned";
    default: return what.replaceAll("_", " ");
  }
}
