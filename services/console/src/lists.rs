//! The rows of one casino that all its open pages share.

use std::{collections::HashMap, sync::OnceLock};

use axum::body::Bytes;
use chrono_tz::Tz;
use seven_domain::Language;
use seven_store::{
    contacts::Told,
    controls::Standing as Switched,
    conversations::ListedConversation,
    day::{Day, Waiting},
    escalations::Escalation,
    providers::Stop,
};

/// The figures of today so far, and of yesterday until the same time of day.
pub(crate) type Figures = (Day, Day);

/// The casino's conversations, the most urgent first.
#[derive(Debug)]
pub(crate) struct ConversationList {
    pub(crate) rows: Vec<ListedConversation>,
    pub(crate) zone: Option<chrono_tz::Tz>,
    pub(crate) names: HashMap<String, String>,
    /// The rendered list by filter and language. It is filled and used only while the bus is
    /// reachable.
    pub(crate) shown: HashMap<(&'static str, Language), OnceLock<Bytes>>,
}

/// The casino's open cases, and the contacts who were told of each.
#[derive(Debug)]
pub(crate) struct CaseList {
    pub(crate) cases: Vec<Escalation>,
    pub(crate) zone: Option<chrono_tz::Tz>,
    pub(crate) told: Vec<Told>,
    pub(crate) names: HashMap<String, String>,
}

/// Everything at a casino that waits for a person or is stopped.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) zone: Tz,
    pub(crate) waiting: Waiting,
    /// Open cases, those due next first.
    pub(crate) cases: Vec<Escalation>,
    pub(crate) switches: Vec<Switched>,
    pub(crate) stops: Vec<Stop>,
    pub(crate) missing: Vec<&'static str>,
}
