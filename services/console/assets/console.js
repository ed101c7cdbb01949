// Lets htmx swap fragments under Trusted Types and the Content-Security-Policy of the console.
// htmx evaluates nothing: hx-on is never installed, and whatever asks for evaluation fails.
(() => {
  const rules = { createHTML: (html) => html, createScript: () => "" };
  class Denied {
    constructor() {
      throw new Error("evaluation is off");
    }
  }
  htmx.registerExtension("console", {
    init(api) {
      const policy = window.trustedTypes
        ? window.trustedTypes.createPolicy("htmx", rules)
        : rules;
      api.initSecurity(policy, Denied, Denied);
    },
    htmx_before_on_init: () => false,
  });
})();
// Shows in the title how many cases wait, and tells of a new one, if the person wants that here.
(() => {
  const WANTED = "seven-bell";
  const NEWEST = "seven-newest";
  const wanted = () => localStorage.getItem(WANTED) === "on";
  const ring = () => {
    const audio = new AudioContext();
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    volume.gain.value = 0.1;
    tone.connect(volume).connect(audio.destination);
    tone.start();
    tone.stop(audio.currentTime + 0.25);
    // A page on which nobody has clicked makes no sound, and its tone never ends.
    setTimeout(() => audio.close(), 2000);
  };
  const tell = (says) => {
    ring();
    if ("Notification" in window && Notification.permission === "granted") {
      new Notification("Seven", { body: says, tag: "seven-cases" });
    }
  };
  document.addEventListener("DOMContentLoaded", () => {
    const count = document.getElementById("count");
    const bell = document.getElementById("bell");
    if (!count || !bell) return;
    const title = document.title;
    new MutationObserver(() => {
      const told = count.querySelector("[data-waiting]");
      if (!told) return;
      const { waiting, newest, says } = told.dataset;
      document.title = waiting === "0" ? title : `(${waiting}) ${title}`;
      // Ids grow with time. All tabs share what was told, so that one of them rings.
      const known = localStorage.getItem(NEWEST);
      if (newest && (known === null || newest > known)) {
        localStorage.setItem(NEWEST, newest);
        if (known !== null && wanted()) tell(says);
      }
    }).observe(count, { childList: true });
    const show = () => bell.setAttribute("aria-pressed", String(wanted()));
    bell.hidden = false;
    show();
    bell.addEventListener("click", async () => {
      localStorage.setItem(WANTED, wanted() ? "off" : "on");
      show();
      if (wanted() && "Notification" in window) await Notification.requestPermission();
    });
  });
})();
