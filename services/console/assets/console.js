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
