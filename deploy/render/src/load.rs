//! Loads the values of a fleet and its casinos from YAML files and checks them against each other.

use std::path::{Path, PathBuf};

use crate::values::{CasinoValues, Error, FleetValues, Values, check};

impl Values {
    /// Reads the fleet's file and every `*.yaml` file in `casinos`. [`Error::Bad`] lists all
    /// problems.
    pub fn load(fleet_file: &Path, casinos: &Path) -> Result<Self, Error> {
        let fleet: FleetValues = read(fleet_file)?;
        let unreadable = |source| Error::Read {
            file: casinos.to_owned(),
            source,
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(casinos).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "yaml")
            {
                files.push(path);
            }
        }
        files.sort();
        if files.is_empty() {
            return Err(Error::NoCasino(casinos.to_owned()));
        }
        let named: Vec<(PathBuf, CasinoValues)> = files
            .into_iter()
            .map(|file| read(&file).map(|values| (file, values)))
            .collect::<Result<_, _>>()?;
        let problems = check::problems(fleet_file, &fleet, &named);
        if !problems.is_empty() {
            return Err(Error::Bad(problems));
        }
        let mut casinos: Vec<CasinoValues> = named.into_iter().map(|(_, values)| values).collect();
        casinos.sort_by(|a, b| a.casino_id.cmp(&b.casino_id));
        Ok(Self { fleet, casinos })
    }
}

/// Reads the file of one casino, without checking it against the fleet.
pub fn casino(file: &Path) -> Result<CasinoValues, Error> {
    read(file)
}

fn read<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T, Error> {
    let text = std::fs::read_to_string(file).map_err(|source| Error::Read {
        file: file.to_owned(),
        source,
    })?;
    serde_yaml_ng::from_str(&text).map_err(|source| Error::Parse {
        file: file.to_owned(),
        source,
    })
}
