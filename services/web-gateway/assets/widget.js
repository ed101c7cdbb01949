/* The chat of a casino's website: one file, no framework. It sets no cookie, writes text nodes only, and runs under a strict
   Content-Security-Policy with Trusted Types. On a page: <script src="https://CHAT/w.js" data-casino="ID" async></script>,
   or the element <seven-chat casino="ID"></seven-chat> with the same script. */
(() => {
  "use strict";
  const script = document.currentScript;
  const HOME = new URL(script.src).origin;

  const WORDS = {
    en: {
      open: "Chat with us", close: "Close the chat", title: "Chat", with: "with {0}, the AI host", log: "Conversation",
      ai: "You are chatting with {0}, an AI host of {1}. A person of our team can take over.",
      field: "Your message", send: "Send", person: "Talk to a person", ask_person: "I would like to talk to a person, please.",
      you: "You", host: "Host", team: "Our team", sources: "From: {0}", offline: "You are offline. Your messages are kept and sent when you are back.",
      away: "The chat cannot be reached. It tries again by itself.", waits: "waiting to be sent", busy: "Too many messages at once. They are sent in a moment.",
      refused: "That message could not be sent: {0}", closed: "The chat cannot be opened here. Please call {0}.", again: "A new conversation has begun.",
      unread: "{0} new", anew: "New conversation", ticket: "Your number is {0}.",
    },
    es: {
      open: "Chatee con nosotros", close: "Cerrar el chat", title: "Chat", with: "con {0}, la IA de la casa", log: "Conversación",
      ai: "Está chateando con {0}, una IA de {1}. Una persona de nuestro equipo puede tomar el relevo.",
      field: "Su mensaje", send: "Enviar", person: "Hablar con una persona", ask_person: "Quisiera hablar con una persona, por favor.",
      you: "Usted", host: "Anfitrión", team: "Nuestro equipo", sources: "Fuente: {0}", offline: "Está sin conexión. Guardamos sus mensajes y se enviarán cuando vuelva.",
      away: "No se puede llegar al chat. Lo intenta de nuevo por sí solo.", waits: "en espera de envío", busy: "Demasiados mensajes a la vez. Se envían en un momento.",
      refused: "Ese mensaje no se pudo enviar: {0}", closed: "El chat no se puede abrir aquí. Llame al {0}.", again: "Ha empezado una conversación nueva.",
      unread: "{0} nuevos", anew: "Conversación nueva", ticket: "Su número es {0}.",
    },
  };
  const CATEGORIES = { dining: "Restaurantes", entertainment: "Espectáculos", gaming: "Juegos", promotions: "Promociones", regulations: "Normas", hours: "Horarios", general_info: "Información general", rooms: "Habitaciones", amenities: "Servicios", spa: "Spa", loyalty: "Club de jugadores" };

  const CSS = `
    :host { --accent: var(--seven-accent, light-dark(#0b5d5e, #7fd1d1)); --on: var(--seven-on-accent, light-dark(#fff, #06201f));
      --paper: light-dark(#fff, #16191d); --ink: light-dark(#1a1d21, #f1f3f5); --soft: light-dark(#eef1f3, #272c32); --dim: light-dark(#4d565f, #b4bcc5);
      font: 1rem/1.45 system-ui, sans-serif; color: var(--ink); }
    * { box-sizing: border-box; } [hidden] { display: none !important; }
    button, textarea { font: inherit; color: inherit; }
    button { cursor: pointer; border: 0; border-radius: .6rem; padding: .55rem .9rem; min-height: 2.75rem; background: var(--soft); }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    .launch { position: fixed; inset-block-end: 1rem; inset-inline-end: 1rem; z-index: 2147483000; border-radius: 2rem; padding: .8rem 1.2rem;
      background: var(--accent); color: var(--on); box-shadow: 0 2px 10px #0005; }
    .panel { position: fixed; inset-block-end: 1rem; inset-inline-end: 1rem; z-index: 2147483000; width: min(25rem, calc(100vw - 2rem)); height: min(38rem, calc(100dvh - 2rem));
      display: flex; flex-direction: column; background: var(--paper); border: 1px solid var(--soft); border-radius: 1rem; overflow: hidden; box-shadow: 0 6px 30px #0006; }
    :host([full]) .panel { position: static; width: 100%; height: 100%; border-radius: 0; box-shadow: none; }
    header { display: flex; align-items: center; gap: .5rem; padding: .6rem .9rem; border-block-end: 1px solid var(--soft); }
    header div { flex: 1; min-width: 0; } h2 { margin: 0; font-size: 1.05rem; } header p { margin: 0; color: var(--dim); font-size: .9rem; }
    .log { flex: 1; overflow-y: auto; padding: .9rem; display: flex; flex-direction: column; gap: .7rem; }
    .line { max-width: 88%; overflow-wrap: anywhere; } .line.guest { align-self: flex-end; }
    .line b { display: block; font-size: .8rem; font-weight: 600; color: var(--dim); } .line.guest b { text-align: end; }
    .text { margin: 0; padding: .55rem .8rem; border-radius: .8rem; background: var(--soft); white-space: pre-wrap; }
    .guest .text { background: var(--accent); color: var(--on); }
    .small, .note { margin: .2rem 0 0; font-size: .85rem; color: var(--dim); } .note { align-self: center; text-align: center; margin: 0; }
    .status { min-height: 1.6rem; padding: 0 .9rem; color: var(--dim); font-size: .9rem; }
    form { display: flex; gap: .5rem; align-items: end; padding: .6rem .9rem; border-block-start: 1px solid var(--soft); }
    textarea { flex: 1; min-width: 0; resize: none; min-height: 2.75rem; max-height: 9rem; field-sizing: content; padding: .55rem .7rem; border: 1px solid var(--dim); border-radius: .6rem; background: var(--paper); }
    form button { background: var(--accent); color: var(--on); } .more { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: 0 .9rem .6rem; } .person { background: none; text-decoration: underline; min-height: 2rem; padding: .2rem; align-self: start; }
    @media (max-width: 30rem) { :host(:not([full])) .panel { inset: 0; width: auto; height: auto; border-radius: 0; } }
    @media (prefers-reduced-motion: no-preference) { .log { scroll-behavior: smooth; } }
    @media (forced-colors: active) { .panel, .text, .launch { border: 1px solid; } }`;

  const fill = (text, ...parts) => text.replace(/\{(\d)\}/g, (_, n) => parts[n] ?? "");
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const element = (name, properties = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) key in made ? (made[key] = value) : made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  /** The session and the messages that are not sent yet, shared by all tabs of this browser. */
  class Kept {
    constructor(key) { this.key = key; this.here = {}; }
    read() { try { return JSON.parse(localStorage.getItem(this.key)) ?? {}; } catch { return this.here; } }
    write(change) {
      this.here = { ...this.read(), ...change };
      try { localStorage.setItem(this.key, JSON.stringify(this.here)); } catch { /* this tab alone keeps it */ }
    }
  }

  /** Reads the frames of a stream, one after the other. */
  async function* frames(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let unread = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      unread += value;
      for (let end; (end = unread.indexOf("\n\n")) >= 0; unread = unread.slice(end + 2)) {
        const frame = {};
        for (const line of unread.slice(0, end).split("\n")) {
          const colon = line.indexOf(": ");
          if (colon > 0) frame[line.slice(0, colon)] = line.slice(colon + 2);
        }
        if (frame.data) yield { id: frame.id, ...JSON.parse(frame.data) };
      }
    }
  }

  class SevenChat extends HTMLElement {
    connectedCallback() {
      if (this.shadowRoot) return;
      this.casino = this.getAttribute("casino");
      this.key = `seven:${HOME}:${this.casino}`;
      this.kept = new Kept(this.key);
      const language = (this.lang || document.documentElement.lang || navigator.language).toLowerCase();
      this.code = language.startsWith("es") ? "es" : "en";
      this.words = WORDS[this.code];
      this.lines = new Map();
      this.last = [0, 0];
      this.unread = 0;
      this.build();
      this.channel = new BroadcastChannel(this.key);
      this.channel.onmessage = ({ data }) => this.heard(data);
      addEventListener("online", () => { this.flush(); this.hurry?.(); this.tell(); });
      addEventListener("offline", () => this.tell());
      if (this.hasAttribute("full")) this.open();
      else if (this.kept.read().token) this.begin().catch(() => {});
    }

    build() {
      const w = this.words;
      const full = this.hasAttribute("full");
      this.launch = element("button", { className: "launch", type: "button", ariaExpanded: "false", hidden: full, onclick: () => this.open() }, w.open);
      this.name = element("p", { textContent: "" });
      this.log = element("div", { className: "log", role: "log", tabIndex: 0, ariaLabel: w.log, ariaLive: "polite" });
      this.status = element("div", { className: "status", role: "status" });
      this.field = element("textarea", { rows: 1, maxLength: 4096, ariaLabel: w.field, placeholder: w.field, enterKeyHint: "send" });
      const shut = element("button", { type: "button", hidden: full, ariaLabel: w.close, onclick: () => this.shut() }, "✕");
      const form = element("form", {}, this.field, element("button", { type: "submit" }, w.send));
      form.onsubmit = (event) => { event.preventDefault(); this.say(this.field.value); this.field.value = ""; };
      this.field.onkeydown = (event) => {
        if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); form.requestSubmit(); }
      };
      const person = element("button", { className: "person", type: "button", onclick: () => this.say(w.ask_person) }, w.person);
      const anew = element("button", { className: "person", type: "button", onclick: () => this.anew() }, w.anew);
      this.panel = element("section", { className: "panel", hidden: true, ariaLabel: w.title, lang: this.code },
        element("header", {}, element("div", {}, element("h2", {}, w.title), this.name), shut), this.log, this.status, form, element("div", { className: "more" }, person, anew));
      this.panel.onkeydown = (event) => { if (event.key === "Escape" && !full) this.shut(); };
      const root = this.attachShadow({ mode: "open" });
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(CSS);
      root.adoptedStyleSheets = [sheet];
      root.append(this.launch, this.panel);
    }

    open() {
      this.panel.hidden = false;
      this.launch.hidden = true;
      this.launch.ariaExpanded = "true";
      this.count(0);
      if (!this.hasAttribute("full")) this.field.focus();
      this.begin().then(() => this.ack(), () => {});
    }

    shut() {
      this.panel.hidden = true;
      this.launch.hidden = false;
      this.launch.ariaExpanded = "false";
      this.launch.focus();
    }

    /** Begins or continues the session once; tabs that come later continue it. */
    begin() {
      return (this.begun ??= this.start().catch((error) => { this.begun = null; throw error; }));
    }

    async start() {
      await this.session();
      await this.recall();
      this.flush();
      this.lead();
    }

    async session() {
      if (!this.kept.read().token) await this.locked("session", async () => {
        if (this.kept.read().token) return;
        const response = await this.post("init", { tenant_id: this.casino });
        if (!response.ok) {
          this.note(fill(this.words.closed, this.getAttribute("phone") ?? ""));
          throw new Error("no session");
        }
        this.kept.write(await response.json());
      });
      const { persona, casino } = this.kept.read();
      this.name.textContent = fill(this.words.with, persona);
      if (!this.told) this.note(fill(this.words.ai, persona, casino));
      this.told = true;
    }

    /** Shows the conversation so far. */
    async recall() {
      const response = await this.call("history");
      if (!response.ok) return;
      const { messages, last_event_id: last } = await response.json();
      for (const message of messages) {
        const line = this.line(message.author, message.seq);
        line.set(message.content);
        line.from(message.sources);
      }
      if (last) this.last = last.split(":").map(Number);
      for (const { id, text } of this.kept.read().outbox ?? []) this.mine(id, text);
    }

    /** One tab holds the stream and tells the others; when it closes, another one goes on. */
    lead() {
      this.locked("stream", async () => { for (;;) await this.listen(); });
    }

    async listen() {
      let pause = 2000;
      try {
        const headers = this.last[0] ? { "last-event-id": this.last.join(":") } : {};
        const response = await this.call("stream", { headers: { ...headers, accept: "text/event-stream" }, signal: (this.broken = new AbortController()).signal });
        if (response.ok) {
          this.away = 0;
          this.tell();
          for await (const frame of frames(response)) {
            this.channel.postMessage({ frame });
            this.show(frame);
          }
        }
      } catch { /* the connection broke; the next one goes on where it was */ }
      this.away = (this.away ?? 0) + 1;
      if (this.away > 1) { this.tell(); pause = Math.min(30000, 1000 * 2 ** this.away) * (0.5 + Math.random() / 2); }
      await Promise.race([wait(pause), new Promise((done) => (this.hurry = done))]);
    }

    /** Forgets the session in all tabs; the next message begins another conversation. */
    anew(told) {
      if (!told) { this.kept.write({ token: null, outbox: [] }); this.channel.postMessage({ anew: true }); }
      this.log.replaceChildren();
      this.lines.clear();
      this.last = [0, 0];
      this.told = this.ticket = null;
      this.broken?.abort();
      this.session().catch(() => {});
      if (!told) this.field.focus();
    }

    heard({ frame, said, sent, anew }) {
      if (anew) this.anew(true);
      if (frame) this.show(frame);
      if (said) this.mine(said.id, said.text);
      if (sent) this.lines.get(sent)?.wait(false);
    }

    show({ id, type, content, sources, ticket }) {
      const [seq, offset] = (id ?? "").split(":").map(Number);
      if (id) {
        if (seq < this.last[0] || (seq === this.last[0] && offset <= this.last[1])) return;
        this.last = [seq, offset];
      }
      if (type === "token") this.line("host", seq).add(content);
      else if (type === "replace") this.line("host", seq).set(content);
      else if (type === "sources") this.line("host", seq).from(sources);
      else if (type === "status") this.tell(content);
      else if (type === "error") this.note(content);
      else if (type === "escalation") { if (this.ticket !== ticket) this.note(`${content} ${fill(this.words.ticket, ticket)}`); this.ticket = ticket; }
      else if (type === "end") {
        this.tell("");
        if (this.panel.hidden) this.count(this.unread + 1);
        else this.ack();
      }
    }

    say(text) {
      if (!text.trim()) return;
      const message = { id: crypto.randomUUID(), text };
      this.kept.write({ outbox: [...(this.kept.read().outbox ?? []), message] });
      this.mine(message.id, text);
      this.channel.postMessage({ said: message });
      this.begin().then(() => this.flush(), () => {});
    }

    /** Sends what waits, in its order, from one tab at a time. A repeated message is the same one. */
    flush() {
      return this.locked("outbox", async () => {
        for (;;) {
          const [message] = this.kept.read().outbox ?? [];
          if (!message) return;
          let response;
          try {
            response = await this.post("stream", { message: message.text, message_id: message.id });
          } catch {
            this.tell();
            setTimeout(() => this.flush(), 4000);
            return;
          }
          if (response.status === 429 || response.status >= 500) {
            this.tell(this.words.busy);
            const after = Number(response.headers.get("retry-after")) || 5;
            setTimeout(() => this.flush(), 1000 * after);
            return;
          }
          this.kept.write({ outbox: this.kept.read().outbox.filter(({ id }) => id !== message.id) });
          this.channel.postMessage({ sent: message.id });
          this.lines.get(message.id)?.wait(false);
          if (!response.ok) this.note(fill(this.words.refused, (await response.json()).detail));
          else this.tell("");
        }
      });
    }

    ack() {
      if (this.last[0] && this.acked !== this.last[0]) this.post("ack", { seq: (this.acked = this.last[0]) }).catch(() => {});
    }

    mine(id, text) {
      if (this.lines.has(id)) return;
      const line = this.line("guest", id);
      line.set(text);
      line.wait(true);
    }

    /** Returns a message's line, which takes whole sentences: a screen reader reads what is added. */
    line(author, key) {
      if (key != null && this.lines.has(key)) return this.lines.get(key);
      const w = this.words;
      const text = element("p", { className: "text" });
      const small = element("p", { className: "small", hidden: true });
      const who = { guest: w.you, person: w.team }[author] ?? w.host;
      const line = element("div", { className: `line ${author}` }, element("b", {}, who), text, small);
      this.log.append(line);
      let unread = "";
      const made = {
        add: (more) => {
          unread += more;
          const end = Math.max(...[". ", "? ", "! ", "\n"].map((mark) => unread.lastIndexOf(mark)));
          if (end >= 0) { text.append(unread.slice(0, end + 2)); unread = unread.slice(end + 2); this.scroll(); }
        },
        set: (whole) => { text.textContent = whole; unread = ""; this.scroll(); },
        from: (sources) => {
          text.append(unread);
          unread = "";
          if (sources?.length) this.under(small, fill(w.sources, sources.map((one) => this.category(one)).join(", ")));
          this.scroll();
        },
        wait: (waits) => { if (waits) this.under(small, w.waits); else small.hidden = true; },
      };
      if (key != null) this.lines.set(key, made);
      return made;
    }

    under(small, text) { small.textContent = text; small.hidden = false; }
    category(name) {
      const plain = name.replaceAll("_", " ");
      return (this.code === "es" && CATEGORIES[name]) || plain[0].toUpperCase() + plain.slice(1);
    }
    note(text) { this.log.append(element("p", { className: "note" }, text)); this.scroll(); }
    scroll() { this.log.scrollTop = this.log.scrollHeight; }
    tell(text = "") {
      const away = !navigator.onLine ? this.words.offline : this.away > 2 ? this.words.away : "";
      this.status.textContent = away || text;
    }
    count(unread) {
      this.unread = unread;
      this.launch.textContent = unread ? `${this.words.open} (${fill(this.words.unread, unread)})` : this.words.open;
    }

    async call(path, options = {}) {
      const { token } = this.kept.read();
      const headers = { "accept-language": this.code, ...(token && { authorization: `Bearer ${token}` }), ...options.headers };
      const response = await fetch(`${HOME}/api/v1/chat/${path}`, { ...options, headers, credentials: "omit", cache: "no-store" });
      if (response.status === 401 && token && path !== "init") {
        // The session ended, a day after it began: another one begins.
        if (this.kept.read().token === token) this.kept.write({ token: null });
        this.last = [0, 0];
        await this.session();
        this.note(this.words.again);
        return this.call(path, options);
      }
      return response;
    }
    post(path, body) {
      return this.call(path, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json", accept: "application/json" } });
    }
    locked(name, work) {
      return navigator.locks ? navigator.locks.request(`${this.key}:${name}`, work) : work();
    }
  }

  if (!customElements.get("seven-chat")) customElements.define("seven-chat", SevenChat);
  const { casino, phone } = script.dataset;
  if (casino) {
    const place = () => document.body.append(element("seven-chat", { casino, phone: phone ?? "" }));
    document.body ? place() : addEventListener("DOMContentLoaded", place);
  }
})();
