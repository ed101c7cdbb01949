//! Measures how long the finder takes for each text of stdin, and for a fact: prints the median and
//! the 95th percentile in milliseconds.
//! `cargo run --release -p seven-finder --example finds < TEXTS`
#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use std::{io::BufRead, time::Instant};

use seven_finder::{Finder, Question};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let finder = Finder::bundled()?;
    let texts: Vec<String> = std::io::stdin().lock().lines().collect::<Result<_, _>>()?;
    let mut took = Vec::new();
    for pair in texts.windows(2) {
        let question = Question {
            text: &pair[1],
            names: &["Cinder Grove", "Lakeside Pool", "Self Parking"],
            before: &pair[0],
        };
        let began = Instant::now();
        finder.hear(&question)?;
        took.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    took.sort_by(f64::total_cmp);
    let (median, most) = (took[took.len() / 2], took[took.len() * 95 / 100]);
    println!(
        "a text: median {median:.1} ms, p95 {most:.1} ms, n {}",
        took.len()
    );
    let facts: Vec<(&str, &str)> = texts
        .iter()
        .map(|text| ("a row, dining", text.as_str()))
        .collect();
    let began = Instant::now();
    finder.places(&facts)?;
    let each = began.elapsed().as_secs_f64() * 1000.0 / facts.len() as f64;
    println!("a fact: {each:.1} ms");
    Ok(())
}
