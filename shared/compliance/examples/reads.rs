//! Prints each line of stdin as the gate reads it: lower case, without accents, words separated by
//! single spaces. `scripts/data/train_likeness.py` trains on this output.
#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use seven_compliance::Guardrails;

fn main() -> std::io::Result<()> {
    let guardrails = Guardrails::default();
    for line in std::io::stdin().lines() {
        println!("{}", guardrails.reads(&line?));
    }
    Ok(())
}
