//! A pack: the agents, rules, texts and guardrails of one trade, and the offline host's words.

use std::{borrow::Cow, sync::OnceLock};

use seven_compliance::Guardrails;
use seven_domain::{CasinoConfig, Channel, DisclosureKind, Language};
use seven_guest::offers::Policy;
use seven_host::{Manifest, Prompts, prompt::Sources};

use crate::{Error, Rules, Slots, TextKey, Texts, law};

/// The contents of a pack's files. Each file has the name of its field with `.toml` appended.
#[derive(Debug, Clone)]
pub struct Files {
    pub agents: Cow<'static, str>,
    pub rules: Cow<'static, str>,
    pub texts: Cow<'static, str>,
    pub guardrails: Cow<'static, str>,
    pub offers: Cow<'static, str>,
    /// The words of the offline host, which `seven-offline-host` reads.
    pub host: Cow<'static, str>,
    pub prompts: PromptFiles,
}

/// The prompts for hosted models. Each file in `prompts/` has the name of its field with `.j2`
/// appended. Agents have one prompt per language.
#[derive(Debug, Clone)]
pub struct PromptFiles {
    pub router: Cow<'static, str>,
    pub planner: Cow<'static, str>,
    pub validator: Cow<'static, str>,
    pub agent_en: Cow<'static, str>,
    pub agent_es: Cow<'static, str>,
}

/// Everything that differs by trade (D18). A pack is checked when it is read, so that nothing is
/// missing later.
#[derive(Debug)]
pub struct Pack {
    pub name: String,
    pub agents: Manifest,
    pub rules: Rules,
    pub texts: Texts,
    /// The rules that decide which guest may get which offer.
    pub offers: Policy,
    pub files: Files,
    /// Compiled at first use, like `prompts`, because most commands and workers need neither.
    guardrails: OnceLock<Guardrails>,
    prompts: OnceLock<Prompts>,
}

// === impl Files ===

impl Files {
    /// Reads each file through `fetch`, which gets the file's name, such as `agents.toml`.
    pub fn read<E>(mut fetch: impl FnMut(&'static str) -> Result<String, E>) -> Result<Self, E> {
        Ok(Self {
            agents: fetch("agents.toml")?.into(),
            rules: fetch("rules.toml")?.into(),
            texts: fetch("texts.toml")?.into(),
            guardrails: fetch("guardrails.toml")?.into(),
            offers: fetch("offers.toml")?.into(),
            host: fetch("host.toml")?.into(),
            prompts: PromptFiles {
                router: fetch("prompts/router.j2")?.into(),
                planner: fetch("prompts/planner.j2")?.into(),
                validator: fetch("prompts/validator.j2")?.into(),
                agent_en: fetch("prompts/agent_en.j2")?.into(),
                agent_es: fetch("prompts/agent_es.j2")?.into(),
            },
        })
    }
}

// === impl PromptFiles ===

impl PromptFiles {
    fn sources(&self) -> Sources<'_> {
        Sources {
            router: &self.router,
            planner: &self.planner,
            validator: &self.validator,
            agent_en: &self.agent_en,
            agent_es: &self.agent_es,
        }
    }
}

// === impl Pack ===

impl Pack {
    /// Reads a pack. Checks every example of every guardrail, and what the law demands of the
    /// texts. The offline host's words (`host`) are not checked.
    pub fn parse(name: &str, files: &Files) -> Result<Self, Error> {
        let checked = || {
            let pack = Self::compiled_in(name, files)?;
            let guardrails = Guardrails::parse(&files.guardrails)?;
            guardrails.self_test()?;
            law::check(&pack.rules, &pack.texts, &guardrails)?;
            let prompts = Prompts::new(files.prompts.sources())?;
            Ok(Self {
                guardrails: guardrails.into(),
                prompts: prompts.into(),
                ..pack
            })
        };
        checked().map_err(|source: Error| Error::Pack {
            name: name.to_owned(),
            source: Box::new(source),
        })
    }

    /// Reads a compiled-in pack without checking it, because tests have checked it.
    pub(crate) fn compiled_in(name: &str, files: &Files) -> Result<Self, Error> {
        Ok(Self {
            name: name.to_owned(),
            agents: Manifest::parse(&files.agents)?,
            rules: Rules::parse(&files.rules)?,
            texts: Texts::parse(&files.texts)?,
            offers: Policy::parse(&files.offers).map_err(|source| Error::File {
                file: "offers.toml",
                source,
            })?,
            files: files.clone(),
            guardrails: OnceLock::new(),
            prompts: OnceLock::new(),
        })
    }

    pub fn guardrails(&self) -> &Guardrails {
        self.guardrails.get_or_init(|| {
            Guardrails::parse(&self.files.guardrails)
                .expect("the compiled-in guardrails are parsed by this crate's tests")
                .in_one_piece()
        })
    }

    pub fn prompts(&self) -> &Prompts {
        self.prompts.get_or_init(|| {
            Prompts::new(self.files.prompts.sources())
                .expect("the compiled-in prompts are tried by this crate's tests")
        })
    }

    /// Returns the text as guests of this casino read it.
    pub fn say(&self, key: TextKey, language: Language, config: &CasinoConfig) -> String {
        self.texts.render(key, language, &self.slots(config))
    }

    /// Returns the text in a safety language; `None` if the text does not exist in that language.
    pub fn say_safety(
        &self,
        key: TextKey,
        language: &str,
        config: &CasinoConfig,
    ) -> Option<String> {
        self.texts.render_safety(key, language, &self.slots(config))
    }

    /// Returns every text of the pack as guests of this casino read it.
    pub fn says(&self, config: &CasinoConfig) -> Vec<String> {
        let keys = TextKey::ALL.iter().filter(|key| self.texts.has(**key));
        let say = |key: &TextKey| {
            let own = Language::ALL.map(|language| self.say(*key, language, config));
            let others = self.texts.others(*key);
            let others = others.filter_map(|language| self.say_safety(*key, language, config));
            own.into_iter().chain(others).collect::<Vec<_>>()
        };
        keys.flat_map(say).collect()
    }

    /// Returns the reply, preceded by the disclosure of this kind; with `None`, the reply alone.
    pub fn disclosed(
        &self,
        kind: Option<DisclosureKind>,
        language: Language,
        config: &CasinoConfig,
        channel: Channel,
        reply: &str,
    ) -> String {
        let Some(kind) = kind else {
            return reply.to_owned();
        };
        let key = TextKey::disclosure(kind, channel);
        format!("{} {reply}", self.say(key, language, config))
    }

    /// Returns the values for the slots of this casino's texts. The helpline is the casino's own,
    /// otherwise the pack's, otherwise empty.
    pub fn slots<'a>(&'a self, config: &'a CasinoConfig) -> Slots<'a> {
        let own = config.regulations.responsible_gaming_helpline.as_ref();
        let state = config.regulations.state_helpline.as_ref();
        Slots {
            casino: &config.prompts.casino_name_display,
            phone: &config.operational.contact_phone,
            persona: &config.branding.persona_name,
            helpline: own
                .or(self.rules.helpline.as_ref())
                .map_or("", |line| &line.number),
            state_helpline: state.map_or("", |line| &line.number),
            min_age: config.regulations.gaming_age_minimum,
            guest: "",
            topic: "",
        }
    }
}

#[cfg(test)]
mod tests;
