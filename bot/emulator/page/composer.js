// The line below the chat: what is written, what it answers, commands, files.

import { brief } from "./bubble.js";
import { toast } from "./sheets.js";
import { make } from "./words.js";

const PLACEHOLDER = "Message";
const TALLEST_PX = 160;
const $ = (id) => document.getElementById(id);

// door: { post(verb, what), where(), name(message), original(id), sent() }
export class Composer {
  commands = [];
  blocked = false;
  #door;
  #line = $("words");
  #about = null; // { message, edits }
  #drafts = new Map();
  #where = 0;

  constructor(door) {
    this.#door = door;
    $("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    this.#line.addEventListener("input", () => this.#grown());
    this.#line.addEventListener("keydown", (event) => this.#key(event));
    $("about-close").addEventListener("click", () => this.#leave(true));
    $("attach").addEventListener("click", () => $("file").click());
    $("file").addEventListener("change", () => this.#attach());
    $("commands").addEventListener("click", (event) => this.#choose(event.target.closest("li")));
  }

  // A message that asks for a reply opens the reply field, as the app does.
  asked(message) {
    if (message.markup?.force_reply) this.reply(message);
  }

  // Another topic is shown: its draft comes back, and the question that waits in it.
  turn(shown) {
    this.#drafts.set(this.#where, this.#line.value);
    this.#where = this.#door.where();
    this.#leave(false);
    this.#line.value = this.#drafts.get(this.#where) ?? "";
    const last = shown.filter((message) => message.kind !== "service").at(-1);
    if (last?.from_bot) this.asked(last);
    this.#grown();
  }

  reply(message) {
    this.#turn_to(message, false);
    this.#line.placeholder = message.markup?.input_field_placeholder || PLACEHOLDER;
  }

  edit(message) {
    this.#turn_to(message, true);
    this.#line.value = message.text;
    this.#grown();
  }

  gone(id) {
    if (this.#about?.message.id === id) this.#leave(false);
  }

  block(blocked) {
    this.blocked = blocked;
    this.#line.disabled = blocked;
    $("send").disabled = blocked;
  }

  offer(text) {
    this.#line.value = text;
    this.#grown();
    this.#line.focus();
  }

  async say(text) {
    await this.#door.post("send", { text, ...this.#place() });
    this.#door.sent();
  }

  #turn_to(message, edits) {
    this.#about = { message, edits };
    $("about-who").textContent = edits ? "Edit" : this.#door.name(message);
    $("about-what").textContent = brief(message);
    $("about").hidden = false;
    this.#line.focus();
  }

  #leave(refocus) {
    if (this.#about?.edits) this.#line.value = "";
    this.#about = null;
    $("about").hidden = true;
    this.#line.placeholder = PLACEHOLDER;
    this.#grown();
    if (refocus) this.#line.focus();
  }

  #place() {
    const where = this.#door.where();
    return where ? { thread: where } : {};
  }

  async #send() {
    const text = this.#line.value.trim();
    const about = this.#about;
    if (!text) return;
    const answers = about && !about.edits ? { reply_to: about.message.id } : {};
    this.#line.value = "";
    this.#leave(true);
    try {
      if (about?.edits) await this.#door.post("edit", { message_id: about.message.id, text });
      else await this.#door.post("send", { text, ...this.#place(), ...answers });
      this.#door.sent();
    } catch (error) {
      if (!this.#line.value) this.offer(text);
      toast(error.message);
    }
  }

  // Several at once are an album: of pictures alone, or else of files.
  async #attach() {
    const files = [...$("file").files];
    $("file").value = "";
    if (!files.length) return;
    const pictures = files.every((file) => file.type === "image/png" || file.type === "image/jpeg");
    const answers = this.#about && !this.#about.edits ? { reply_to: this.#about.message.id } : {};
    const together = files.length > 1 ? { album: crypto.randomUUID() } : {};
    let caption = this.#line.value.trim();
    try {
      for (const file of files) {
        const what = { data_base64: await base64(file), caption, ...this.#place(), ...answers, ...together };
        if (!pictures) Object.assign(what, { name: file.name, mime: file.type || "application/octet-stream" });
        await this.#door.post(pictures ? "photo" : "document", what);
        caption = "";
        this.#line.value = "";
      }
    } catch (error) {
      toast(error.message);
    }
    this.#leave(true);
    this.#door.sent();
  }

  #grown() {
    this.#line.style.height = "auto";
    this.#line.style.height = `${Math.min(this.#line.scrollHeight, TALLEST_PX)}px`;
    $("composer").classList.toggle("ready", this.#line.value.trim() !== "");
    this.#list_commands();
  }

  // ---------------------------------------------------------------- commands

  #list_commands() {
    const [, start] = /^\/(\w*)$/.exec(this.#line.value) ?? [];
    const fitting = start === undefined ? [] : this.commands.filter((one) => one.command.startsWith(start));
    $("commands").replaceChildren(
      ...fitting.map((one, i) =>
        make("li", { role: "option", ariaSelected: String(i === 0), data: { command: one.command } }, make("b", {}, `/${one.command}`), make("span", {}, one.description)),
      ),
    );
    $("commands").hidden = !fitting.length;
  }

  #choose(item) {
    if (!item) return;
    const text = `/${item.dataset.command}`;
    this.#line.value = "";
    this.#grown();
    this.#line.focus();
    this.say(text).catch((error) => toast(error.message));
  }

  #key(event) {
    const items = [...$("commands").children];
    const at = items.findIndex((item) => item.ariaSelected === "true");
    if (event.key === "Escape") {
      if (items.length) $("commands").replaceChildren();
      else this.#leave(true);
      $("commands").hidden = true;
    } else if (items.length && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      const next = (at + (event.key === "ArrowDown" ? 1 : items.length - 1)) % items.length;
      items.forEach((item, i) => (item.ariaSelected = String(i === next)));
      items[next].scrollIntoView({ block: "nearest" });
    } else if (items.length && event.key === "Tab" && !event.shiftKey) {
      event.preventDefault();
      this.offer(`/${items[at].dataset.command} `);
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      if (items.length) this.#choose(items[at]);
      else this.#send();
    }
  }
}

function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result.split(",", 2)[1]));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}
