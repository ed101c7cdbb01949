//! Secrets as files: a folder that a secret store fills, one file per setting. Unlike environment
//! variables, files do not get into crash dumps or child processes, and can be changed in place.

use std::{io, path::Path};

use figment::{
    Error as FigmentError, Metadata, Profile, Provider,
    util::nest,
    value::{Dict, Map, Value},
};

use super::error::Error;

/// The files of a folder: `postgres__url` holds setting `postgres.url`.
#[derive(Debug)]
pub(super) struct Secrets {
    source: String,
    values: Vec<(String, Value)>,
}

impl Secrets {
    /// Reads every file except those whose names begin with a dot, which are internal to the secret
    /// store.
    pub(super) fn read(folder: &Path) -> Result<Self, Error> {
        let failed = |source: io::Error| Error::Secrets {
            folder: folder.to_owned(),
            source,
        };
        let mut values = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().to_lowercase();
            if name.starts_with('.') || !entry.path().is_file() {
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).map_err(failed)?;
            values.push((
                name.replace("__", "."),
                value_of(text.trim_end_matches(['\r', '\n'])),
            ));
        }
        Ok(Self {
            source: folder.display().to_string(),
            values,
        })
    }
}

/// Parses a list as a list and anything else as a string, even a password made of digits.
fn value_of(text: &str) -> Value {
    match text.parse::<Value>() {
        Ok(list @ Value::Array(..)) => list,
        _ => Value::from(text),
    }
}

impl Provider for Secrets {
    fn metadata(&self) -> Metadata {
        Metadata::named(format!("secrets in {}", self.source))
    }

    fn data(&self) -> Result<Map<Profile, Dict>, FigmentError> {
        let nested = self
            .values
            .iter()
            .cloned()
            .map(|(key, value)| nest(&key, value));
        let mut all = Dict::new();
        for value in nested {
            if let Value::Dict(_, dict) = value {
                for (section, inner) in dict {
                    match (all.get_mut(&section), inner) {
                        (Some(Value::Dict(_, there)), Value::Dict(_, more)) => there.extend(more),
                        (_, inner) => drop(all.insert(section, inner)),
                    }
                }
            }
        }
        Ok(Profile::Default.collect(all))
    }
}

#[cfg(test)]
mod tests {
    use figment::Figment;

    use super::*;

    #[test]
    fn a_folder_of_files_becomes_settings() {
        let folder = std::env::temp_dir().join(format!("seven-secrets-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, text) in [
            ("nats__password", "12345\n"),
            ("nats__user", "gate"),
            ("twilio__auth_tokens", "[\"one\", \"two\"]"),
            ("..data", "a link of the store"),
        ] {
            std::fs::write(folder.join(name), text).unwrap();
        }
        let read = Figment::from(Secrets::read(&folder).unwrap());
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(
            read.extract_inner::<String>("nats.password").unwrap(),
            "12345",
            "digits stay text"
        );
        assert_eq!(read.extract_inner::<String>("nats.user").unwrap(), "gate");
        assert_eq!(
            read.extract_inner::<Vec<String>>("twilio.auth_tokens")
                .unwrap(),
            ["one", "two"]
        );
        assert!(
            Secrets::read(&folder)
                .unwrap_err()
                .to_string()
                .contains("SEVEN_SECRETS")
        );
    }
}
