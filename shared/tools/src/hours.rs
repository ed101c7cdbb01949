//! get_restaurant_hours: tells when a place is open, in the casino's time zone. Covers hours past
//! midnight and holidays.

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use seven_knowledge::{Item, WeeklyHours, hours::clock};

use crate::{
    Toolbox,
    fault::{Answer, Fault, arguments},
    when,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The place's name or id.
    venue: String,
    /// A day, such as 2026-12-25, today, tomorrow or friday. Without it: today if `time` is given,
    /// otherwise now.
    #[serde(default)]
    date: Option<String>,
    /// A time of that day, such as 19:00 or 7pm.
    #[serde(default)]
    time: Option<String>,
}

impl Toolbox<'_> {
    pub(crate) fn get_restaurant_hours(&mut self, given: &Value) -> Answer {
        let Arguments { venue, date, time } = arguments(given)?;
        let item = self.place(&venue, |item| item.hours().is_some())?;
        let Some(hours) = item.hours() else {
            return Err(Fault::new(
                "not_in_content",
                "its hours are not known",
                self.ask_people(),
            ));
        };
        let asked = self.asked(date.as_deref(), time.as_deref())?;
        let mut result = json!({
            "id": item.id,
            "name": item.name(self.given.language),
            "hours": hours.show(self.given.language),
        });
        match asked {
            (date, None) if date.is_some() => {
                self.on(&mut result, hours, &item, date.unwrap_or_default());
            }
            (date, time) => {
                let at = time.map(|time| {
                    when::instant(
                        date.unwrap_or_else(|| self.today()).and_time(time),
                        self.zone(),
                    )
                });
                self.at(&mut result, hours, &item, at);
            }
        }
        self.show(&item, None);
        Ok(result)
    }

    pub(crate) fn asked(
        &self,
        date: Option<&str>,
        time: Option<&str>,
    ) -> Result<(Option<NaiveDate>, Option<chrono::NaiveTime>), Fault> {
        let present = |text: &&str| !text.trim().is_empty();
        let date = date
            .filter(present)
            .map(|date| when::day(date, self.today()))
            .transpose()?;
        Ok((date, time.filter(present).map(when::time).transpose()?))
    }

    /// Adds the opening hours of a whole day to the result.
    fn on(&mut self, result: &mut Value, hours: &WeeklyHours, item: &Item, date: NaiveDate) {
        use chrono::Timelike;
        let minute = |wall: chrono::NaiveDateTime| {
            u16::try_from(wall.hour() * 60 + wall.minute()).unwrap_or_default()
        };
        let openings = hours.openings_on(date).into_iter();
        let openings: Vec<String> = openings
            .map(|(from, to)| format!("{}-{}", clock(minute(from)), clock(minute(to))))
            .collect();
        let day = date.format("%A %b %-d");
        let sentence = if openings.is_empty() {
            format!("{} is closed on {day}.", item.name)
        } else {
            format!("{} is open on {day} {}.", item.name, openings.join(" and "))
        };
        result["date"] = json!(date);
        result["closed_all_day"] = json!(openings.is_empty());
        result["openings"] = json!(openings);
        result["sentence"] = json!(sentence);
        self.found(sentence);
    }

    /// Adds to the result whether the place is open at `at`, or now if `at` is `None`.
    fn at(
        &mut self,
        result: &mut Value,
        hours: &WeeklyHours,
        item: &Item,
        at: Option<chrono::DateTime<chrono::Utc>>,
    ) {
        let (zone, today, language) = (self.zone(), self.today(), self.given.language);
        let then = at.unwrap_or(self.given.now);
        let (open, until) = (hours.is_open(then, zone), hours.until(then, zone, language));
        let next = if open {
            None
        } else {
            hours.next_opening(then, zone)
        };
        let next = next.map(|moment| when::show(&moment, today, language));
        let local = then.with_timezone(&zone).format("%A %b %-d %H:%M");
        let when = if at.is_some() {
            format!("on {local}")
        } else {
            "now".to_owned()
        };
        let sentence = match (&until, &next) {
            (Some(until), _) => format!("{} is open {when}, {until}.", item.name),
            (None, Some(next)) => format!("{} is closed {when} and opens {next}.", item.name),
            (None, None) => format!("{} is closed {when}.", item.name),
        };
        result["at"] = json!(local.to_string());
        result["open"] = json!(open);
        result["until"] = json!(until);
        result["opens_next"] = json!(next);
        result["sentence"] = json!(sentence);
        self.found(sentence);
    }
}
