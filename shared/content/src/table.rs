//! Reads the rows of a spreadsheet: CSV in its common forms, and XLSX with one tab per category.
//! Sizes are limited before anything is unpacked.

use std::io::{Cursor, Read};

use calamine::{Data, Reader, Xlsx};
use encoding_rs::WINDOWS_1252;
use serde_json::{Map, Value};
use seven_knowledge::schema::Schema;

/// Maximum size of a file, in bytes; `MOST_UNPACKED_BYTES` is the limit for an unpacked workbook.
pub const MOST_BYTES: usize = 10 << 20;
const MOST_UNPACKED_BYTES: u64 = 100 << 20;
/// Maximum number of rows of all tabs together; a casino has a few hundred items.
pub(crate) const MOST_ROWS: usize = 10_000;
/// Maximum number of columns of a tab.
const MOST_COLUMNS: usize = 100;

/// A row, with the name of its tab and its number as a spreadsheet program shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRow {
    pub tab: String,
    pub number: usize,
    pub cells: Map<String, Value>,
}

/// Why a file cannot be read as a table, in words for an editor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    #[error("the file has more than 10 MB; send the tabs with content only")]
    TooLarge,
    #[error("the workbook unpacks to more than 100 MB; save it anew with the tabs of content only")]
    Unpacked,
    #[error(
        "there are more than {MOST_ROWS} rows or {MOST_COLUMNS} columns; remove what is no content"
    )]
    TooLong,
    #[error("the file is no workbook that can be read: {0}; save it as .xlsx or .csv")]
    Workbook(String),
    #[error("line {0} cannot be read as CSV; save the sheet as CSV anew")]
    Line(u64),
    #[error("`{0}`: the first row must have the column names, `name` among them")]
    NoNames(String),
}

/// Columns of an item that every category's table has.
const ITEM_COLUMNS: [&str; 8] = [
    "id",
    "name",
    "name_es",
    "description",
    "description_es",
    "keywords",
    "subcategory",
    "active",
];

/// Returns the header row of a category's table. The columns of every item come first, then the
/// category's own: required columns before optional ones.
pub fn columns(schema: Option<&Schema>) -> Vec<String> {
    let fields = || schema.into_iter().flat_map(|schema| &schema.fields);
    let of = |required| fields().filter(move |(_, field)| field.required == required);
    let own = of(true).chain(of(false)).map(|(name, _)| name.clone());
    let all = ITEM_COLUMNS.iter().map(|name| (*name).to_owned());
    all.chain(own).collect()
}

/// Reads CSV with commas, semicolons or tabs between the cells, in UTF-8 or Windows-1252. A byte
/// order mark is allowed. Every row gets `tab` as the name of its tab.
///
/// # Errors
/// Returns why the file cannot be read as a table.
pub fn read_csv(tab: &str, bytes: &[u8]) -> Result<Vec<TableRow>, TableError> {
    if bytes.len() > MOST_BYTES {
        return Err(TableError::TooLarge);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(bytes).0,
    };
    let first = text.lines().next().unwrap_or_default();
    let count = |delimiter: &char| first.matches(*delimiter).count();
    let delimiter = [',', ';', '\t']
        .into_iter()
        .max_by_key(count)
        .unwrap_or(',');
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(u8::try_from(delimiter).unwrap_or(b','))
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record
            .map_err(|error| TableError::Line(error.position().map_or(0, csv::Position::line)))?;
        let line = record.position().map_or(0, |at| line_of(&text, at));
        let cells = record.iter().map(Value::from).collect();
        rows.push((line, cells));
        if rows.len() > MOST_ROWS {
            return Err(TableError::TooLong);
        }
    }
    named(tab, rows)
}

/// Returns the line on which a record begins. The reader skips blank lines after `at`, so these are
/// added.
fn line_of(text: &str, at: &csv::Position) -> usize {
    let from = usize::try_from(at.byte()).unwrap_or_default();
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    let skipped = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    let skipped = skipped.filter(|byte| **byte == b'\n').count();
    usize::try_from(at.line()).unwrap_or_default() + skipped
}

/// Reads all tabs of a workbook except those whose names begin with `_`. A formula is read as its
/// last computed value, a date as text such as `2026-11-27`.
///
/// # Errors
/// Returns why the workbook cannot be read.
pub fn read_xlsx(bytes: &[u8]) -> Result<Vec<TableRow>, TableError> {
    if bytes.len() > MOST_BYTES {
        return Err(TableError::TooLarge);
    }
    fits(bytes)?;
    let unreadable = |error: calamine::XlsxError| TableError::Workbook(error.to_string());
    let mut book: Xlsx<_> =
        calamine::open_workbook_from_rs(Cursor::new(bytes)).map_err(unreadable)?;
    let mut all = Vec::new();
    for tab in book.sheet_names() {
        if tab.starts_with('_') {
            continue;
        }
        let range = book.worksheet_range(&tab).map_err(unreadable)?;
        if range.height() > MOST_ROWS || range.width() > MOST_COLUMNS {
            return Err(TableError::TooLong);
        }
        let first = range.start().map_or(0, |(row, _)| row as usize);
        let rows = range.rows().enumerate();
        let rows: Vec<(usize, Vec<Value>)> = rows
            .map(|(n, cells)| (first + n + 1, cells.iter().map(cell).collect()))
            .collect();
        if rows
            .iter()
            .any(|(_, cells)| cells.iter().any(|cell| !is_blank(cell)))
        {
            all.extend(named(&tab, rows)?);
        }
    }
    if all.len() > MOST_ROWS {
        return Err(TableError::TooLong);
    }
    Ok(all)
}

/// Unpacks all parts of the workbook without keeping them, and fails if the parts are too large
/// together. The sizes that the file declares cannot be trusted.
fn fits(bytes: &[u8]) -> Result<(), TableError> {
    let unreadable = |error: String| TableError::Workbook(error);
    let mut archive =
        zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| unreadable(error.to_string()))?;
    let mut left = MOST_UNPACKED_BYTES;
    for n in 0..archive.len() {
        let part = archive
            .by_index(n)
            .map_err(|error| unreadable(error.to_string()))?;
        let read = std::io::copy(&mut part.take(left + 1), &mut std::io::sink())
            .map_err(|error| unreadable(error.to_string()))?;
        left = left.checked_sub(read).ok_or(TableError::Unpacked)?;
    }
    Ok(())
}

fn cell(data: &Data) -> Value {
    match data {
        Data::Int(number) => Value::from(*number),
        // Keeps whole numbers whole: 90 minutes become 90, not 90.0.
        Data::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            Value::from(*number as i64)
        }
        Data::Float(number) => Value::from(*number),
        Data::Bool(flag) => Value::from(*flag),
        Data::DateTime(_) | Data::DateTimeIso(_) => match calamine::DataType::as_datetime(data) {
            Some(at) if at.time() == chrono::NaiveTime::MIN => at.date().to_string().into(),
            Some(at) => at.format("%Y-%m-%dT%H:%M:%S").to_string().into(),
            None => data.to_string().into(),
        },
        Data::String(text) => text.as_str().into(),
        Data::DurationIso(text) => text.as_str().into(),
        Data::Error(_) | Data::Empty => Value::Null,
    }
}

fn is_blank(cell: &Value) -> bool {
    cell.is_null() || cell.as_str().is_some_and(|text| text.trim().is_empty())
}

/// Pairs the cells of each row with the column names in the header row; blank rows are left out.
fn named(tab: &str, rows: Vec<(usize, Vec<Value>)>) -> Result<Vec<TableRow>, TableError> {
    let mut rows = rows.into_iter();
    let (_, head) = rows.next().unwrap_or_default();
    let name = |cell: &Value| cell.as_str().unwrap_or_default().trim().to_owned();
    let names: Vec<String> = head.iter().map(name).collect();
    if !names.iter().any(|name| name.eq_ignore_ascii_case("name")) {
        return Err(TableError::NoNames(tab.to_owned()));
    }
    if names.len() > MOST_COLUMNS {
        return Err(TableError::TooLong);
    }
    let row = |(number, cells): (usize, Vec<Value>)| {
        let cells: Map<String, Value> = names
            .iter()
            .cloned()
            .zip(cells)
            .filter(|(name, _)| !name.is_empty())
            .collect();
        let blank = cells.values().all(is_blank);
        (!blank).then(|| TableRow {
            tab: tab.to_owned(),
            number,
            cells,
        })
    };
    Ok(rows.filter_map(row).collect())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(rows: &[TableRow]) -> Vec<(usize, &str)> {
        let name = |row: &TableRow| row.cells.values().next().and_then(Value::as_str).is_some();
        assert!(rows.iter().all(name));
        rows.iter()
            .map(|row| (row.number, row.cells["name"].as_str().unwrap()))
            .collect()
    }

    #[test]
    fn csv_is_read_as_programs_write_it() {
        let utf8 = "name,description\nCafé,\"Warm, small\"\n\nBar,Loud\n";
        let semicolons = "\u{feff}name;description\r\nCafé;Warm\r\n;\r\nBar;Loud\r\n";
        let windows = b"name\tdescription\nCaf\xe9\tWarm\nBar\tLoud\n";
        for (bytes, second) in [
            (utf8.as_bytes(), 4),
            (semicolons.as_bytes(), 4),
            (&windows[..], 3),
        ] {
            let rows = read_csv("dining", bytes).unwrap();
            assert_eq!(names(&rows), [(2, "Café"), (second, "Bar")]);
        }
    }

    #[test]
    fn a_table_without_names_or_with_too_many_rows_is_refused() {
        let none = read_csv("dining", b"Cafe,Warm\n");
        assert_eq!(none, Err(TableError::NoNames("dining".into())));
        let long = format!("name\n{}", "x\n".repeat(100_000));
        assert_eq!(
            read_csv("dining", long.as_bytes()),
            Err(TableError::TooLong)
        );
        let large = vec![b'x'; 20 << 20];
        assert_eq!(read_csv("dining", &large), Err(TableError::TooLarge));
        assert_eq!(read_xlsx(&large), Err(TableError::TooLarge));
        assert!(matches!(
            read_xlsx(b"no workbook"),
            Err(TableError::Workbook(_))
        ));
    }

    #[test]
    fn a_small_file_that_unpacks_to_very_much_is_refused() {
        let mut bomb = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default();
        for n in 0..3 {
            bomb.start_file(format!("xl/worksheets/sheet{n}.xml"), options)
                .unwrap();
            for _ in 0..50 {
                bomb.write_all(&vec![b' '; 1 << 20]).unwrap();
            }
        }
        let bytes = bomb.finish().unwrap().into_inner();
        assert!(bytes.len() < 1 << 20);
        assert_eq!(read_xlsx(&bytes), Err(TableError::Unpacked));
    }

    fn workbook(tab: &str, rows: &[(&str, u32)]) -> Vec<u8> {
        workbook_with(tab, rows, "")
    }

    /// Writes a workbook with one tab. Its second column is a date, computed by `formula` unless
    /// `formula` is empty.
    fn workbook_with(tab: &str, rows: &[(&str, u32)], formula: &str) -> Vec<u8> {
        let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
        let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
        let package = "http://schemas.openxmlformats.org/package/2006";
        let text = |text: &str| format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>");
        let head = format!("<row r=\"1\">{}{}</row>", text("name"), text("Valid From"));
        let row = |(n, (name, day)): (usize, &(&str, u32))| {
            format!(
                "<row r=\"{}\">{}<c s=\"1\">{formula}<v>{day}</v></c></row>",
                n + 3,
                text(name)
            )
        };
        let body: String = rows.iter().enumerate().map(row).collect();
        let part = |kind: &str, target: &str| {
            format!(
                "<Relationships xmlns=\"{package}/relationships\"><Relationship Id=\"r1\" Type=\"{office}/{kind}\" Target=\"{target}\"/>"
            )
        };
        let mut book = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, xml) in [
            (
                "[Content_Types].xml",
                format!("<Types xmlns=\"{package}/content-types\"/>"),
            ),
            (
                "_rels/.rels",
                part("officeDocument", "xl/workbook.xml") + "</Relationships>",
            ),
            (
                "xl/_rels/workbook.xml.rels",
                part("worksheet", "worksheets/sheet1.xml")
                    + &format!(
                        "<Relationship Id=\"r2\" Type=\"{office}/styles\" Target=\"styles.xml\"/></Relationships>"
                    ),
            ),
            (
                "xl/workbook.xml",
                format!(
                    "<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets><sheet name=\"{tab}\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
                ),
            ),
            (
                "xl/styles.xml",
                format!(
                    "<styleSheet xmlns=\"{main}\"><cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"
                ),
            ),
            (
                "xl/worksheets/sheet1.xml",
                format!(
                    "<worksheet xmlns=\"{main}\"><sheetData>{head}{body}</sheetData></worksheet>"
                ),
            ),
        ] {
            book.start_file(name, zip::write::SimpleFileOptions::default())
                .unwrap();
            book.write_all(format!("<?xml version=\"1.0\"?>{xml}").as_bytes())
                .unwrap();
        }
        book.finish().unwrap().into_inner()
    }

    #[test]
    fn a_workbook_is_read_by_its_tabs_with_days_as_days() {
        let rows = read_xlsx(&workbook("Promotions", &[("Free Play", 46_022)])).unwrap();
        let cells = serde_json::json!({ "name": "Free Play", "Valid From": "2025-12-31" });
        let cells = cells.as_object().unwrap().clone();
        let tab = "Promotions".to_owned();
        assert_eq!(
            rows,
            [TableRow {
                tab,
                number: 3,
                cells
            }]
        );
        assert_eq!(read_xlsx(&workbook("_lists", &[("x", 1)])), Ok(Vec::new()));
    }

    #[test]
    fn a_formula_counts_as_its_last_value() {
        let rows = [("Free Play", 46_022)];
        let formula = "<f>DATE(2025,12,31)</f>";
        let read = read_xlsx(&workbook_with("Promotions", &rows, formula));
        assert_eq!(read, read_xlsx(&workbook("Promotions", &rows)));
        assert_eq!(read.unwrap()[0].cells["Valid From"], "2025-12-31");
    }

    #[test]
    fn cells_keep_what_a_person_sees() {
        use calamine::{ExcelDateTime, ExcelDateTimeType};
        let day = ExcelDateTime::new(46_022.0, ExcelDateTimeType::DateTime, false);
        for (data, value) in [
            (Data::Float(90.0), Value::from(90)),
            (Data::Float(1.5), Value::from(1.5)),
            (Data::DateTime(day), "2025-12-31".into()),
            (Data::Bool(true), true.into()),
            (
                Data::String("=cmd|' /C calc'!A0".into()),
                "=cmd|' /C calc'!A0".into(),
            ),
            (Data::Error(calamine::CellErrorType::Ref), Value::Null),
        ] {
            assert_eq!(cell(&data), value);
        }
    }
}
