//! Answers that would say again what the last reply said.

use crate::{fit::Part, host::Host, understand::Understood};

/// If the last reply said all of this answer and the guest asks on, the answer does not serve the
/// guest. Then says it again and passes the question on to a person. An answer that names the phone
/// number stays as it is.
pub(crate) fn unless_told(host: &Host<'_>, u: &Understood<'_>, part: Part) -> Part {
    let told = host
        .request
        .history
        .last()
        .is_some_and(|last| last.guest != u.text && last.host.contains(part.body.trim()));
    let asks = u.is_question || u.asks_fact();
    let is_answer = part.grounded && !part.chat && !part.is_grave && !part.sources.is_empty();
    if !told || !asks || !is_answer || part.body.contains(&host.request.contact_phone) {
        return part;
    }
    if part.is_denial {
        return host.unanswered();
    }
    let body = host.say("all_told", &[("told", &part.body)]);
    let subject = part.sources.first().map_or("", String::as_str);
    if !host.room.two(&body) {
        return host.unanswered();
    }
    Part {
        staff: host.passed_on("unanswered", String::new(), subject).staff,
        body,
        ..part
    }
}
