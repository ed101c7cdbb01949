//! The frame around every page's content: title, language, navigation, and the token for its forms.

use seven_domain::CasinoId;
use seven_staff::Right;

use crate::{access::Person, assets, words::Words};

#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) w: Words,
    pub(crate) title: String,
    pub(crate) assets: String,
    /// Name of the person who is logged in; empty when nobody is.
    pub(crate) name: String,
    pub(crate) forms: String,
    /// The casino to which the page belongs; empty if it belongs to none.
    pub(crate) casino: String,
    /// Whether the page listens to the stream of hints.
    pub(crate) live: bool,
    pub(crate) links: Vec<NavLink>,
}

#[derive(Debug)]
pub(crate) struct NavLink {
    pub(crate) to: String,
    pub(crate) text: &'static str,
    pub(crate) here: bool,
}

impl Frame {
    /// Returns the frame of a page for a caller who is not logged in.
    pub(crate) fn plain(w: Words, title: &str) -> Self {
        Self {
            w,
            title: title.to_owned(),
            assets: assets::folder(),
            name: String::new(),
            forms: String::new(),
            casino: String::new(),
            live: false,
            links: Vec::new(),
        }
    }

    /// Returns the frame of a page for this person. It links to the pages that the person may see.
    /// `here` is the key of the page itself.
    pub(crate) fn of(person: &Person, casino: Option<&CasinoId>, title: &str, here: &str) -> Self {
        let mut links = vec![("/".to_owned(), "casinos")];
        if let Some(casino) = casino.filter(|casino| person.may(casino, Right::Conversations)) {
            links.push((format!("/c/{casino}/now"), "now"));
            links.push((format!("/c/{casino}/conversations"), "conversations"));
            links.push((format!("/c/{casino}/cases"), "cases"));
            if person.may(casino, Right::Converse) {
                links.push((format!("/c/{casino}/held"), "held"));
                links.push((format!("/c/{casino}/replies"), "saved_replies"));
            }
            links.push((format!("/c/{casino}/incidents"), "incidents"));
        }
        if let Some(casino) = casino.filter(|casino| person.may(casino, Right::Campaigns)) {
            links.push((format!("/c/{casino}/campaigns"), "campaigns"));
        }
        if let Some(casino) = casino.filter(|casino| person.may(casino, Right::Content)) {
            links.push((format!("/c/{casino}/content"), "content"));
        }
        let may = |right| casino.filter(|casino| person.may(casino, right));
        if let Some(casino) = may(Right::Figures) {
            links.push((format!("/c/{casino}/figures"), "figures"));
        }
        if let Some(casino) = may(Right::Audit) {
            links.push((format!("/c/{casino}/compliance"), "compliance"));
        }
        if let Some(casino) = may(Right::DeadLetters) {
            links.push((format!("/c/{casino}/dead"), "dead_letters"));
        }
        if let Some(casino) = may(Right::Switches).or_else(|| may(Right::Conversations)) {
            links.push((format!("/c/{casino}/switches"), "switches"));
            links.push((format!("/c/{casino}/contacts"), "contacts"));
        }
        if person.may_manage_operators() {
            links.push(("/operators".to_owned(), "operators"));
        }
        Self {
            title: title.to_owned(),
            name: person.session.name.clone(),
            forms: person.token.for_forms(),
            casino: casino.map_or_else(String::new, ToString::to_string),
            live: may(Right::Conversations).is_some(),
            links: links
                .into_iter()
                .map(|(to, text)| NavLink {
                    to,
                    text,
                    here: text == here,
                })
                .collect(),
            ..Self::plain(person.words(), title)
        }
    }
}
