//! The pack that is compiled in: the one for casinos.

use std::{
    borrow::Cow,
    sync::{Arc, LazyLock},
};

use crate::{Files, Pack, pack::PromptFiles};

/// The files of the casino pack; [`casino`] returns the checked pack.
pub static CASINO: Files = Files {
    agents: Cow::Borrowed(include_str!("../casino/agents.toml")),
    rules: Cow::Borrowed(include_str!("../casino/rules.toml")),
    texts: Cow::Borrowed(include_str!("../casino/texts.toml")),
    guardrails: Cow::Borrowed(include_str!("../casino/guardrails.toml")),
    offers: Cow::Borrowed(include_str!("../casino/offers.toml")),
    host: Cow::Borrowed(include_str!("../casino/host.toml")),
    prompts: PromptFiles {
        router: Cow::Borrowed(include_str!("../casino/prompts/router.j2")),
        planner: Cow::Borrowed(include_str!("../casino/prompts/planner.j2")),
        validator: Cow::Borrowed(include_str!("../casino/prompts/validator.j2")),
        agent_en: Cow::Borrowed(include_str!("../casino/prompts/agent_en.j2")),
        agent_es: Cow::Borrowed(include_str!("../casino/prompts/agent_es.j2")),
    },
};

/// Returns the casino pack, which is read at first use. Its guardrails are compiled later, when
/// they are first used, because that takes longest.
pub fn casino() -> &'static Arc<Pack> {
    static PACK: LazyLock<Arc<Pack>> = LazyLock::new(|| {
        Arc::new(
            Pack::compiled_in("casino", &CASINO)
                .expect("the compiled-in pack is checked by this crate's tests"),
        )
    });
    &PACK
}

#[cfg(test)]
mod tests;
