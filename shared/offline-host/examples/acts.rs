//! Reads texts from standard input, one per line, and prints them as the learnt table of acts reads
//! them. `scripts/data/train_tables.py` runs this example.

use std::io::{BufRead, Write};

use seven_offline_host::OfflineModel;

fn main() {
    let model = OfflineModel::from_toml(&seven_packs::CASINO.host).expect("the pack's host");
    let (input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    for line in input.lines() {
        let line = model.folded(&line.expect("a line of text"));
        writeln!(output, "{line}").expect("an open pipe");
    }
}
