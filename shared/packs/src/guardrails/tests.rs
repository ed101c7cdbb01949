use super::*;

#[test]
fn every_rule_keeps_its_examples() {
    // SEC-20 to SEC-25, spec 40 sections 12.1 to 12.3
    if let Err(seven_compliance::guardrails::Error::Examples(failures)) = guardrails().self_test() {
        let list: Vec<String> = failures.iter().map(ToString::to_string).collect();
        panic!("{} examples fail:\n{}", list.len(), list.join("\n"));
    }
}
