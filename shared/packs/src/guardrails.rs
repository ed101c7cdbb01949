//! The casino pack's guardrail rules (SEC-20): what must not reach an agent, recognised without one.

use std::sync::LazyLock;

use seven_compliance::Guardrails;

/// The rules as written; [`guardrails`] is the compiled form.
pub const CASINO_GUARDRAILS: &str = include_str!("../casino/guardrails.toml");

/// The casino pack's guardrails, compiled at first use.
pub fn guardrails() -> &'static Guardrails {
    static CASINO: LazyLock<Guardrails> = LazyLock::new(|| {
        Guardrails::parse(CASINO_GUARDRAILS).expect("the compiled-in guardrails are parsed by this crate's tests")
    });
    &CASINO
}

#[cfg(test)]
mod tests;
