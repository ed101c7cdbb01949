//! CSV for spreadsheets (RFC 4180). A spreadsheet would execute a cell that begins like a formula,
//! so such cells are escaped.

/// Writes a table as CSV with a header line; each line ends with `\r\n`.
pub fn table<const N: usize>(
    head: &[&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(Vec::new());
    // Writing to memory fails only if rows differ in length, which the type rules out.
    let _ = writer.write_record(head);
    for row in rows {
        let cells = row.into_iter().map(|cell| harmless(&cell));
        let _ = writer.write_record(cells);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

/// Returns the cell, with an apostrophe before it if its first character would make it a formula.
fn harmless(cell: &str) -> String {
    let first = cell.trim_start().chars().next();
    let acts = cell.starts_with(['\t', '\r', '\n'])
        || first.is_some_and(|c| matches!(c, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠'));
    if acts {
        format!("'{cell}")
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cells_that_would_be_formulas_are_text() {
        for (cell, written) in [
            ("=1+1", "'=1+1"),
            ("+18605550100", "'+18605550100"),
            ("-4", "'-4"),
            ("@SUM(A1)", "'@SUM(A1)"),
            (" =cmd|' /C calc'!A0", "' =cmd|' /C calc'!A0"),
            ("\t=1", "'\t=1"),
            ("plain", "plain"),
            ("4.5", "4.5"),
            ("", ""),
        ] {
            assert_eq!(harmless(cell), written, "{cell:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_the_cells_no_cell_begins_a_formula_and_none_is_lost(
            cells in proptest::collection::vec([".{0,12}", ".{0,12}", ".{0,12}"], 0..5)
        ) {
            let text = table(&["a", "b", "c"], cells.clone());
            let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
            let read: Vec<_> = reader.records().map(Result::unwrap).collect();
            prop_assert_eq!(read.len(), cells.len());
            for (record, cells) in read.iter().zip(&cells) {
                for (cell, given) in record.iter().zip(cells) {
                    prop_assert!(!cell.starts_with(['=', '+', '-', '@']), "{:?}", cell);
                    let text = ["'", given].concat();
                    prop_assert!(cell == given || cell == text);
                }
            }
        }
    }
}
