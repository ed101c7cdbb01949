//! Prints each line of stdin in the folded form in which the gate reads it.
//! `scripts/data/train_likeness.py` learns from this form.
#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use seven_compliance::Guardrails;

fn main() -> std::io::Result<()> {
    let guardrails = Guardrails::default();
    for line in std::io::stdin().lines() {
        println!("{}", guardrails.reads(&line?));
    }
    Ok(())
}
