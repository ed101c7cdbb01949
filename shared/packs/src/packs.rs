//! Finds packs by name.

use std::{collections::BTreeMap, sync::Arc};

use seven_domain::CasinoConfig;

use crate::{Error, Pack, casino};

/// The packs that a fleet can serve: those compiled in and those read from a directory. Cheap to
/// clone.
#[derive(Debug, Clone)]
pub struct Packs(Arc<BTreeMap<String, Arc<Pack>>>);

/// The error if a casino's document names a pack that this fleet does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no pack is called `{name}`; there is {known}; others are read from the folder that setting packs.directory names"
)]
pub struct Unknown {
    pub name: String,
    pub known: String,
}

// === impl Packs ===

impl Packs {
    /// Returns the compiled-in packs.
    pub fn shipped() -> Self {
        let shipped = [casino()].map(|pack| (pack.name.clone(), Arc::clone(pack)));
        Self(Arc::new(shipped.into()))
    }

    /// Adds packs; fails if a name is taken already.
    pub fn with(self, packs: impl IntoIterator<Item = Pack>) -> Result<Self, Error> {
        let mut all = Arc::unwrap_or_clone(self.0);
        for pack in packs {
            let name = pack.name.clone();
            if all.insert(name.clone(), Arc::new(pack)).is_some() {
                return Err(Error::Twice(name));
            }
        }
        Ok(Self(Arc::new(all)))
    }

    pub fn get(&self, name: &str) -> Result<&Arc<Pack>, Unknown> {
        self.0.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            Unknown {
                name: name.to_owned(),
                known: known.join(", "),
            }
        })
    }

    /// Returns the pack that the casino's document names.
    pub fn of(&self, config: &CasinoConfig) -> Result<&Arc<Pack>, Unknown> {
        self.get(&config.pack)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Pack>> {
        self.0.values()
    }
}

impl Default for Packs {
    fn default() -> Self {
        Self::shipped()
    }
}
