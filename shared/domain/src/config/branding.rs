//! How the host sounds (DEP-7).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// Warm and brief, never pushy.
    #[default]
    WarmProfessional,
    /// Quick and glad, never loud.
    Lively,
    /// Calm, few words, no enthusiasm.
    Understated,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Formality {
    /// As one speaks to a guest one knows; Spanish says usted all the same.
    #[default]
    CasualRespectful,
    /// No contractions, no colloquial words.
    Formal,
}
