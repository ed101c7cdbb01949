//! Prints each line of stdin as the gate reads it: what `scripts/data/train_likeness.py` learns from.
#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use seven_compliance::Guardrails;

fn main() -> std::io::Result<()> {
    let guardrails = Guardrails::default();
    for line in std::io::stdin().lines() {
        println!("{}", guardrails.reads(&line?));
    }
    Ok(())
}
