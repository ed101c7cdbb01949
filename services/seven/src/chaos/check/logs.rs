//! No personal data in logs: neither a number of a guest nor a word a guest wrote.

use std::path::Path;

use anyhow::{Context, Result};

use super::Finding;

/// Reads every file of `dir`. `phones` as the carrier writes them, `texts` as guests wrote them.
pub(crate) fn personal_data(dir: &Path, phones: &[String], texts: &[&str]) -> Result<Finding> {
    let mut finding = Finding::new("no personal data in logs", "log lines");
    let digits: std::collections::HashSet<&str> = phones.iter().map(|p| p.trim_start_matches('+')).collect();
    for file in std::fs::read_dir(dir).with_context(|| format!("reading {}", dir.display()))? {
        let path = file?.path();
        let log = std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        for (n, line) in String::from_utf8_lossy(&log).lines().enumerate() {
            let place = || format!("{}:{}", path.file_name().unwrap_or_default().to_string_lossy(), n + 1);
            let told = texts.iter().any(|text| line.to_lowercase().contains(text));
            finding.look((told || names(line, &digits)).then(place));
        }
    }
    Ok(finding)
}

/// Eleven digits in a row that are a guest's number.
pub(super) fn names(line: &str, digits: &std::collections::HashSet<&str>) -> bool {
    line.split(|c: char| !c.is_ascii_digit())
        .any(|run| digits.contains(run) || (run.len() == 10 && digits.contains(format!("1{run}").as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_numbers_and_words() {
        let dir = seven_testkit::Scratch::new("chaos-logs").unwrap();
        let log = "texts=1 ok\nto=+12035550101\nto 2035550101\nsaid Any Italian place?\nid 120355501011\n";
        std::fs::write(dir.path().join("a.log"), log).unwrap();
        let finding = personal_data(dir.path(), &["+12035550101".to_owned()], &["any italian place?"]).unwrap();
        assert_eq!(finding.violations, ["a.log:2", "a.log:3", "a.log:4"]);
        assert_eq!(finding.examined, 5);
    }
}
