//! Formats results: one kind of table, fitted to the width of the terminal, with colours.

use std::{collections::HashSet, fmt, io::IsTerminal};

use clap::ValueEnum;
use comfy_table::{Attribute, Cell, Color, ContentArrangement, presets::UTF8_BORDERS_ONLY};

/// Lengths, in characters, to which ids may be cut. Each length ends at the end of one of the
/// UUID's groups of digits. The shortest keeps only the id's time; the longest is the whole id.
const ID_LENGTHS: [usize; 4] = [13, 18, 23, 36];
/// Maximum number of characters that [`short`] leaves of a text; `-o wide` shows all.
const MOST: usize = 60;

/// On a terminal, a table cell that begins with one of these words is red. In a line of text, only
/// the word itself is red, if the line begins with it.
const RED: [&str; 12] = [
    "OVERDUE", "overdue", "CRITICAL", "critical", "FAILED", "failed", "BROKEN", "AWAY", "NONE",
    "missing", "sev0", "SEV0",
];
const YELLOW: [&str; 10] = [
    "WARNING",
    "warning",
    "ALERT",
    "ON",
    "PAUSED",
    "paused",
    "suspended",
    "unknown",
    "gap",
    "sev1",
];
const GREEN: [&str; 3] = ["ok", "delivered", "active"];

/// Form of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The columns that fit 80 characters, with ids cut to a unique prefix on a terminal.
    #[default]
    Table,
    /// All columns, with whole ids.
    Wide,
}

/// How results are shown: their width and colours.
#[derive(Debug, Clone, Copy)]
pub struct View {
    pub(crate) wide: bool,
    /// Width of the terminal in characters; `None` if stdout is a file or a pipe and COLUMNS is not
    /// set.
    width: Option<u16>,
    colour: bool,
}

impl View {
    /// Returns the view that fits stdout. The environment variable COLUMNS sets the width. A
    /// NO_COLOR that is not empty turns colours off.
    pub fn of_stdout(format: Format) -> Self {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let terminal = std::io::stdout().is_terminal();
        let measured = || terminal.then(|| console::Term::stdout().size().1);
        let width = set("COLUMNS")
            .and_then(|columns| columns.parse().ok())
            .or_else(measured);
        let colour =
            terminal && set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb");
        Self {
            wide: format == Format::Wide,
            width,
            colour,
        }
    }

    /// Colours the first word of a line if it is one of the coloured words.
    pub(crate) fn line(self, line: &str) -> String {
        let word = line.split([' ', ':', ',']).next().unwrap_or_default();
        match colour_of(word).filter(|_| self.colour) {
            Some(colour) => {
                let colour = match colour {
                    Color::Red => console::Style::new().red(),
                    Color::Yellow => console::Style::new().yellow(),
                    _ => console::Style::new().green(),
                };
                format!(
                    "{}{}",
                    colour.bold().force_styling(true).apply_to(word),
                    &line[word.len()..]
                )
            }
            None => line.to_owned(),
        }
    }

    /// Cuts a line to the width of the terminal, unless the view is wide.
    pub(crate) fn cut(self, line: &str) -> String {
        match self.width.filter(|_| !self.wide) {
            Some(width) => console::truncate_str(line, usize::from(width), "…").into_owned(),
            None => line.to_owned(),
        }
    }
}

fn colour_of(word: &str) -> Option<Color> {
    [
        (&RED[..], Color::Red),
        (&YELLOW, Color::Yellow),
        (&GREEN, Color::Green),
    ]
    .into_iter()
    .find_map(|(words, colour)| words.contains(&word).then_some(colour))
}

/// A table whose columns fit the view.
#[derive(Debug)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    wide: Vec<String>,
    ids: Vec<String>,
    view: View,
}

// === impl Table ===

impl Table {
    pub fn new<const N: usize>(columns: [&str; N], view: View) -> Self {
        Self {
            columns: columns.map(str::to_owned).to_vec(),
            rows: Vec::new(),
            wide: Vec::new(),
            ids: Vec::new(),
            view,
        }
    }

    /// Names the columns that only `-o wide` shows.
    pub(crate) fn wide<const N: usize>(mut self, columns: [&str; N]) -> Self {
        self.wide = columns.map(str::to_owned).to_vec();
        self
    }

    /// Names the columns with ids. On a terminal, ids are cut to the shortest length that still
    /// tells the rows apart. Commands accept such a prefix.
    pub(crate) fn ids<const N: usize>(mut self, columns: [&str; N]) -> Self {
        self.ids = columns.map(str::to_owned).to_vec();
        self
    }

    pub fn add_row<T: ToString>(&mut self, row: impl IntoIterator<Item = T>) {
        self.rows
            .push(row.into_iter().map(|cell| cell.to_string()).collect());
    }

    fn shown(&self) -> Vec<usize> {
        let shows = |n: &usize| self.view.wide || !self.wide.contains(&self.columns[*n]);
        (0..self.columns.len()).filter(shows).collect()
    }

    fn cut(&self, column: usize) -> usize {
        let whole = self.view.wide || self.view.width.is_none();
        if whole || !self.ids.contains(&self.columns[column]) {
            return usize::MAX;
        }
        let ids: HashSet<&str> = self.rows.iter().map(|row| row[column].as_str()).collect();
        let prefix = |id: &&str, length| id.chars().take(length).collect::<String>();
        let apart = |length: &usize| {
            ids.iter()
                .map(|id| prefix(id, *length))
                .collect::<HashSet<_>>()
                .len()
                == ids.len()
        };
        ID_LENGTHS.into_iter().find(apart).unwrap_or(usize::MAX)
    }

    fn cell(&self, text: &str) -> Cell {
        let first = text.split([' ', ':', ',']).next().unwrap_or_default();
        let cell = Cell::new(text);
        match colour_of(first).filter(|_| self.view.colour) {
            Some(colour) => cell.fg(colour).add_attribute(Attribute::Bold),
            None => cell,
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.shown();
        let mut table = comfy_table::Table::new();
        table
            .load_style(UTF8_BORDERS_ONLY)
            .set_header(shown.iter().map(|n| &self.columns[*n]));
        if self.view.colour {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        if let Some(width) = self.view.width.filter(|_| !self.view.wide) {
            table
                .set_content_arrangement(ContentArrangement::Dynamic)
                .set_width(width);
        }
        let cuts: Vec<usize> = shown.iter().map(|n| self.cut(*n)).collect();
        for row in &self.rows {
            let cut = |(n, cut): (&usize, &usize)| {
                self.cell(&row[*n].chars().take(*cut).collect::<String>())
            };
            table.add_row(shown.iter().zip(&cuts).map(cut));
        }
        table.fmt(f)
    }
}

/// Shortens a text for a table cell; `-o wide` keeps it whole.
pub(crate) fn short(text: &str, view: View) -> String {
    if view.wide {
        text.to_owned()
    } else {
        console::truncate_str(text, MOST, "…").into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(width: Option<u16>, wide: bool, colour: bool) -> View {
        View {
            wide,
            width,
            colour,
        }
    }

    fn table(view: View) -> String {
        let mut table = Table::new(["case", "state", "text"], view)
            .ids(["case"])
            .wide(["text"]);
        for (id, state) in [
            ("01a2079d-1bf7-7f6e-8f3a-0caae79d99bc", "OVERDUE"),
            ("01a2079d-1bf8-7f6e-8f3a-0caae79d99bc", "open"),
        ] {
            table.add_row([id, state, "more"]);
        }
        table.to_string()
    }

    #[test]
    fn ids_are_cut_on_a_terminal_only_as_far_as_they_differ() {
        let narrow = table(view(Some(80), false, false));
        assert!(
            narrow.contains(" 01a2079d-1bf7 ") && !narrow.contains("more"),
            "{narrow}"
        );
        for whole in [
            table(view(Some(80), true, false)),
            table(view(None, false, false)),
        ] {
            assert!(
                whole.contains("01a2079d-1bf7-7f6e-8f3a-0caae79d99bc"),
                "{whole}"
            );
        }
        assert!(table(view(None, true, false)).contains("more"));
    }

    #[test]
    fn a_table_fits_the_terminal() {
        let mut table = Table::new(["a", "b"], view(Some(40), false, false));
        table.add_row(["word ".repeat(30), "x".repeat(50)]);
        let text = table.to_string();
        assert!(
            text.lines()
                .all(|line| console::measure_text_width(line) <= 40),
            "{text}"
        );
    }

    #[test]
    fn only_a_terminal_gets_colours() {
        assert!(table(view(Some(80), false, true)).contains('\u{1b}'));
        assert!(!table(view(Some(80), false, false)).contains('\u{1b}'));
        assert!(
            view(None, false, true)
                .line("FAILED  x: y")
                .starts_with('\u{1b}')
        );
        assert_eq!(
            view(None, false, false).line("FAILED  x: y"),
            "FAILED  x: y"
        );
        assert_eq!(view(None, false, true).line("nothing"), "nothing");
    }
}
