//! Prints the gate's decision on each line of stdin as fields separated by tabs. The fields are:
//! - the verdict
//! - the pattern of the keyword
//! - the patterns of the guardrails' hits
//! - the likely opt-out or cry, with its margin
//! - who wrote the text: a guest, a phone's reaction or a machine
//! - the classifier's odds
#![expect(clippy::print_stdout, reason = "its output is its purpose")]

fn main() -> std::io::Result<()> {
    let rails = seven_packs::casino().guardrails();
    for line in std::io::stdin().lines() {
        let line = line?;
        let decision = seven_reader::decide(rails, &line).expect("the bundled weights");
        let keyword = decision.keyword.map_or("", |keyword| keyword.pattern_id);
        let hits: Vec<_> = decision
            .hits
            .iter()
            .map(|hit| format!("{}:{}", hit.layer.as_str(), hit.pattern_id))
            .collect();
        let odds = rails.likeness(&line).unwrap_or_default();
        let odds: Vec<_> = odds
            .iter()
            .map(|(kind, odd)| format!("{kind}:{odd:.3}"))
            .collect();
        let likely = decision.likely.map_or(String::new(), |likely| {
            format!("{}:{}", likely.kind.as_str(), likely.margin)
        });
        let verdict = decision.verdict.as_str();
        println!(
            "{verdict}\t{keyword}\t{}\t{likely}\t{:?}\t{}",
            hits.join(" "),
            decision.author,
            odds.join(" ")
        );
    }
    Ok(())
}
