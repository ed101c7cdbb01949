//! Draws bars per day as SVG. Each bar's title has its numbers; the page also shows them as a
//! table.

use askama::{Template, filters::HtmlSafe};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 180.0;
/// Space in SVG units. `LEFT` of the bars is the axis' greatest number, `BELOW` them are the days.
/// `ABOVE` them is a margin.
const LEFT: f64 = 76.0;
const BELOW: f64 = 24.0;
const ABOVE: f64 = 12.0;

/// One day's value, and the part of it that is drawn in the stronger colour.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point {
    pub(crate) label: String,
    pub(crate) title: String,
    pub(crate) whole: f64,
    pub(crate) part: f64,
}

#[derive(Debug, Template)]
#[template(path = "chart.html")]
pub(crate) struct Chart {
    title: String,
    /// The greatest value, as the axis labels it.
    most: String,
    bars: Vec<Bar>,
    labels: Vec<Label>,
    base: f64,
}

/// Pages may insert the chart unescaped, because its own template already escapes its values.
impl HtmlSafe for Chart {}

#[derive(Debug, PartialEq)]
struct Bar {
    x: f64,
    width: f64,
    whole_y: f64,
    whole_height: f64,
    part_y: f64,
    part_height: f64,
    title: String,
}

#[derive(Debug, PartialEq)]
struct Label {
    x: f64,
    anchor: &'static str,
    text: String,
}

impl Chart {
    /// Draws the points from left to right; `written` formats the greatest value for the axis.
    pub(crate) fn new(title: &str, points: &[Point], written: impl Fn(f64) -> String) -> Self {
        let most = points.iter().map(|point| point.whole).fold(0.0, f64::max);
        let base = HEIGHT - BELOW;
        let scale = if most > 0.0 {
            (base - ABOVE) / most
        } else {
            0.0
        };
        let step = (WIDTH - LEFT) / points.len().max(1) as f64;
        let label = |at: usize, anchor| {
            let point = points.get(at)?;
            let x = match anchor {
                "start" => LEFT,
                "end" => WIDTH,
                _ => LEFT + step * (at as f64 + 0.5),
            };
            let text = point.label.clone();
            Some(Label { x, anchor, text })
        };
        let last = points.len().saturating_sub(1);
        let mut labels = vec![label(0, "start")];
        if last >= 6 {
            labels.push(label(last / 2, "middle"));
        }
        if last >= 1 {
            labels.push(label(last, "end"));
        }
        let bars = points.iter().enumerate().map(|(n, point)| {
            let (whole, part) = (point.whole * scale, point.part.min(point.whole) * scale);
            Bar {
                x: rounded(LEFT + step * n as f64),
                width: rounded(step * 0.8),
                whole_y: rounded(base - whole),
                whole_height: rounded(whole),
                part_y: rounded(base - part),
                part_height: rounded(part),
                title: point.title.clone(),
            }
        });
        Self {
            title: title.to_owned(),
            most: written(most),
            bars: bars.collect(),
            labels: labels.into_iter().flatten().collect(),
            base,
        }
    }
}

fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: &[(f64, f64)]) -> Vec<Point> {
        let point = |(n, (whole, part)): (usize, &(f64, f64))| Point {
            label: format!("day {n}"),
            title: format!("<{n}>"),
            whole: *whole,
            part: *part,
        };
        values.iter().enumerate().map(point).collect()
    }

    #[test]
    fn the_greatest_bar_fills_the_height_and_titles_are_text() {
        let chart = Chart::new("t", &points(&[(4.0, 1.0), (8.0, 8.0)]), |most| {
            format!("{most}")
        });
        assert_eq!(chart.most, "8");
        assert_eq!(
            (chart.bars[1].whole_y, chart.bars[1].whole_height),
            (ABOVE, 144.0)
        );
        assert_eq!(
            (chart.bars[0].whole_height, chart.bars[0].part_height),
            (72.0, 18.0)
        );
        let svg = chart.render().unwrap();
        assert!(svg.contains("&#60;0&#62;") && !svg.contains("<0>"), "{svg}");
        assert!(!svg.contains("style="), "the policy allows no inline style");
    }

    #[test]
    fn nothing_and_zeros_are_drawn_without_a_fault() {
        for values in [&[][..], &[(0.0, 0.0)], &[(0.0, 0.0); 40]] {
            let chart = Chart::new("t", &points(values), |most| most.to_string());
            let svg = chart.render().unwrap();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
