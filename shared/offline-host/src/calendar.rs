//! Words of the calendar, which name no place.

pub(crate) const MOMENTS: &str = "noon midnight mediodia medianoche";
pub(crate) const CALENDAR: &str = "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays \
    sundays lunes martes miercoles jueves viernes sabado domingo sabados domingos january february march april may june july august \
    september october november december enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre \
    daily weekdays weekends diario";

/// Returns whether the word is a weekday, a month, or a moment such as "noon".
pub(crate) fn is_calendar(word: &str) -> bool {
    CALENDAR
        .split_whitespace()
        .chain(MOMENTS.split_whitespace())
        .any(|known| known == word)
}
