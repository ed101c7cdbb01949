//! Recognises texts that no person wrote to us, such as auto-replies and bounced mail. We do not
//! answer them. Nothing in them counts as the guest's opt-out or question, except in
//! [`Machine::Busy`].

use std::sync::LazyLock;

use regex::RegexSet;
use serde::Serialize;
use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use crate::is_invisible;

/// The kind of an automatic text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Machine {
    /// The network or a mail system reports that something was not delivered.
    Notice,
    /// An automatic answer of an office, a phone or a mail program. Guests do not use its wording.
    AutoReply,
    /// A note that somebody is busy, or thanks for a message. A person may have written it. An
    /// opt-out or a cry for help in it is therefore taken seriously.
    Busy,
}

/// The maximum length of a text that is checked, in bytes.
const LONGEST_BYTES: usize = 1_200;

static NOTICES: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        r"^\W*(?:\w[\w&-]* ){0,2}(?:free ?msg|network msg|mensaje gratis)\b",
        r"\bmessage blocking is active\b|\bservice access denied\b|\bmailer-daemon\b|\bmail delivery (?:failed|subsystem|system)\b",
        r"\b(?:unable|failed|not able) to (?:send|deliver) (?:your |the |this )?(?:message|text)",
        r"(?:^\W*|[:.!]\s*|\b(?:your|this|the|su|tu|el|este) (?:\w+ )?)(?:message|text|mensaje)s? (?:was |were |could |can)?(?:not|no)(?: be| fue| pudo ser)? (?:sent|delivered|entregado|enviado)\b",
        r"\bnot accepting (?:texts|text messages|messages)\b|\b(?:cannot|can't|can not|unable to) receive (?:texts|text messages|sms|messages)\b",
        r"\byou(?:'ve)? (?:have )?repl(?:ied|y) (?:with )?the word\b|\bblocks all texts sent from\b|\bmessaging is blocked\b",
        r"\b(?:number|person) (?:that )?you(?: are|'re)?(?: have)? (?:texted|texting|dialed|called|calling|reached|trying to reach)\b",
        r"\binvalid (?:number|recipient)\b.{0,40}\b(?:re-?send|digit)|\bdelivery status notification\b|\bundeliverable\b",
        r"\bno se pudo (?:entregar|enviar) (?:el|su|tu|este) mensaje\b|\bel numero (?:al que|que) (?:escribi|marc|env)",
        r"\b(?:el|este) numero no (?:puede recibir|acepta|recibe) (?:mensajes|textos|sms)\b|\bbloqueo de mensajes\b",
        r"\bsubscriber (?:is |you )?.{0,20}(?:unavailable|not available|not in service)\b|\b(?:number|numero)\b.{0,60}\b(?:(?:no longer|not) in service|fuera de servicio)\b",
    ])
});

static AUTO_REPLIES: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        r"^\W*(?:this is an )?(?:automatic|automated|auto)(?:[- ]generated)?[- ]?(?:reply|response|message|text|e?mail|answer|msg)\b",
        r"^\W*(?:\w+ ){0,4}(?:auto[- ]?reply|auto[- ]?respon(?:se|der)|respuesta automatica|mensaje automatico|contestacion automatica)\b",
        r"\bthis is an auto(?:mated|matic|-)|\beste es un mensaje automatico\b",
        r"^\W*out of (?:the )?office\b|\b(?:i'm|i am|we're|we are|is) (?:currently |now )?out of (?:the )?office(?: (?:until|till|from|on|and|for|through|this|today|with|returning|at)\b|\W*$|[.,;])|\bfuera de (?:la )?oficina\b",
        r"\bnotifications? (?:are |is )?(?:silenced|turned off|muted)\b|\bnot receiving notifications\b|\bdo not disturb while driving\b|\bfocus (?:mode )?(?:is )?(?:on|turned on)\b",
        r"\bnotificaciones (?:estan )?(?:silenciadas|desactivadas)\b|\bmodo (?:no molestar|concentracion|de conduccion|conducir)\b",
        r"\b(?:mailbox|inbox|number|line|account|phone) is (?:not|un)[- ]?monitored\b|\bno[- ]?reply\b.{0,30}\b(?:mailbox|number|address)|\bdo not reply to this (?:message|text|number|email)\b",
        r"[.!,;:]\s*(?:please )?(?:reply|text|txt|send|envie|responda|mande)\b[^.?'][^.?]{0,11}\b(?:stop|help|alto|ayuda)\b[^.?]{0,4}\b(?:to|for|para)\b",
        r"\b(?:msg|message)(?: ?& ?| and )data rates\b|\bmsg freq\b",
        r"\bour (?:office|store|business|clinic|shop)(?: hours)? (?:is|are) (?:now |currently )?(?:closed|monday|\d)|\b(?:nuestra|la) oficina (?:esta cerrada|cierra|abre)\b|\bnuestro horario (?:es|de)\b",
        r"\bif this is an? (?:life[- ]threatening |medical |real )?emergency\b|\bsi (?:esto )?es una emergencia\b.{0,40}\b911\b",
    ])
});

/// The first words of office auto-replies. Guests may begin this way too, so an opt-out or a cry
/// for help after these words is taken seriously.
static OFFICES: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        r"\bthank(?:s| you)(?: so much)? for (?:texting|contacting|calling|reaching out to|messaging|getting in touch with|choosing)\b",
        r"\bthank(?:s| you)(?: so much)? for your (?:message|text|call|email|inquiry|interest)\b.{0,160}\b(?:we|our|office|team|hours|business|automated|reply)\b",
        r"\bgracias por (?:escribir(?:nos)?|contactar(?:nos)?|comunicarse con|llamar a|su (?:mensaje|llamada|correo|interes))\b.{0,160}\b(?:nuestr[oa]s?|horario|oficina|atender|responder|comunicaremos|equipo)\b",
        r"\b(?:we|i) (?:have |'ve )?received your (?:message|text|email|inquiry|request)\b|\b(?:hemos recibido|recibimos) su (?:mensaje|correo|consulta|solicitud)\b",
    ])
});

/// Phrases that say that somebody is busy. A note is automatic only if it also has a phrase of
/// `LATER`, which promises a later answer.
static BUSY: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        r"\b(?:i'm|im|i am|we're|we are)\b[^.?!]{0,25}\b(?:driving|in a meeting|in class|at work|working|busy|away|unavailable|not available|on vacation|on leave|asleep|sleeping|on a call|on another call|at the movies|in a movie)\b",
        r"\b(?:can't|cant|cannot|unable to) (?:talk|text|respond|answer|reply|take your call|pick up)\b|\bsorry,? i missed your (?:call|text)\b",
        r"\b(?:estoy|estamos|ando)\b[^.?!]{0,25}\b(?:conduciendo|manejando|en una (?:reunion|junta|llamada|clase)|en clase|ocupad[oa]s?|de vacaciones|trabajando|en el trabajo|durmiendo|dormid[oa])\b",
        r"\bno (?:estoy|estamos|me encuentro) disponibles?\b|\b(?:no puedo|ahora no puedo|no podemos) (?:hablar|contestar|responder|atender)\b",
    ])
});

static LATER: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        r"\b(?:i|we)(?:'ll| will|ll)\b[^.?!]{0,15}\b(?:call|text|get back|reply|respond|return|see your|reach|be back|be in touch|answer|check|message|contact)\b",
        r"\bwill (?:call|text|get back|reply|respond|return|be back|message|contact)\b|\b(?:get|getting) back to you\b|\bcall (?:you|me) (?:back|later)\b|\btext you (?:back|later)\b",
        r"\bas soon as (?:i|we|possible)\b|\bwhen (?:i|we) (?:get|arrive|return|can|am|are)\b|\bnext business day\b|\bat my earliest convenience\b",
        r"\b(?:le|te|les|os) (?:respondo|contesto|llamo|escribo|marco|respondere|contestare|llamare|escribire|devuelvo|respondemos|contestamos|llamamos)\b",
        r"\b(?:cuando|en cuanto) (?:llegue|pueda|regrese|vuelva|termine|salga|podamos)\b|\blo antes posible\b|\ba la brevedad\b|\bmas tarde\b",
    ])
});

fn set(patterns: &[&str]) -> RegexSet {
    regex::RegexSetBuilder::new(patterns)
        .case_insensitive(true)
        .dot_matches_new_line(true)
        .build()
        .expect("the notices can be read, says a test")
}

/// Returns the kind of machine that wrote the text, if one did.
pub fn of(text: &str) -> Option<Machine> {
    if text.len() < 12 || text.len() > LONGEST_BYTES {
        return None;
    }
    let text = plain(text);
    if NOTICES.is_match(&text) {
        Some(Machine::Notice)
    } else if AUTO_REPLIES.is_match(&text) {
        Some(Machine::AutoReply)
    } else if !text.contains('?')
        && (OFFICES.is_match(&text)
            || BUSY.is_match(&text) && LATER.is_match(&text) && !wishes(&text))
        || ready_made(&text)
    {
        Some(Machine::Busy)
    } else {
        None
    }
}

/// Returns the text in ASCII: no accents, no invisible characters, plain apostrophes, and a blank
/// for any other character. Matching Unicode word boundaries would take ten times as long.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !is_invisible(*c)) {
        match c {
            '’' | '‘' | '´' => out.push('\''),
            _ if c.is_ascii() => out.push(c),
            _ => decompose_compatible(c, |part| {
                if !is_combining_mark(part) {
                    out.push(if part.is_ascii() { part } else { ' ' });
                }
            }),
        }
    }
    out
}

/// Returns whether the text asks us for something; no automatic note does.
fn wishes(text: &str) -> bool {
    static WISHES: LazyLock<RegexSet> = LazyLock::new(|| {
        set(&[
            r"\b(?:need|want|would like|book|reserve|reservation|hold|can you|could you|room|table|necesit\w+|quiero|queremos|quisiera|reserv\w+|mesa|habitacion)\b",
        ])
    });
    WISHES.is_match(text)
}

/// Returns whether the text is a status line or a short answer that phones offer during an incoming
/// call.
fn ready_made(text: &str) -> bool {
    static LINES: LazyLock<RegexSet> = LazyLock::new(|| {
        set(&[
            r"^\W*(?:sorry,? )?(?:i )?can't talk (?:right )?now\.? (?:what's up|call me later|can i call you later)\?\W*$",
            r"^\W*i(?:'ll| will) call you (?:right )?back\.?\W*$|^\W*i(?:'ll| will) call you later\.?\W*$",
            r"^\W*(?:mensaje|respuesta) automatic[oa]\b|^\W*no (?:estoy|me encuentro) disponible\W*$",
        ])
    });
    LINES.is_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_known() {
        for (text, machine) in [
            (
                "FREE MSG: Unable to send message - Message Blocking is active.",
                Some(Machine::Notice),
            ),
            (
                "NETWORK MSG: You replied with the word \"stop\" which blocks all texts sent from this number.",
                Some(Machine::Notice),
            ),
            (
                "The person you are trying to reach is not accepting texts at this time.",
                Some(Machine::Notice),
            ),
            (
                "AT&T Free Msg: your message was not delivered because messaging is blocked on this line.",
                Some(Machine::Notice),
            ),
            (
                "Unable to deliver message to this number.",
                Some(Machine::Notice),
            ),
            (
                "The number you texted is a landline and cannot receive texts.",
                Some(Machine::Notice),
            ),
            (
                "Automatic reply: I am out of the office until Monday. For help text HELP to 555-0150.",
                Some(Machine::AutoReply),
            ),
            (
                "This mailbox is not monitored. To stop receiving these messages reply STOP.",
                Some(Machine::AutoReply),
            ),
            (
                "Thanks for your message! Msg & data rates may apply. Reply HELP for help, STOP to cancel.",
                Some(Machine::AutoReply),
            ),
            ("I have notifications silenced.", Some(Machine::AutoReply)),
            (
                "Mensaje automático: no estoy disponible.",
                Some(Machine::AutoReply),
            ),
            (
                "Thanks for texting Oak Dental! Our office is closed.",
                Some(Machine::AutoReply),
            ),
            (
                "I'm driving with Do Not Disturb While Driving turned on. I'll see your message when I get where I'm going.",
                Some(Machine::AutoReply),
            ),
            ("I’m in a meeting, will call you back.", Some(Machine::Busy)),
            (
                "I'm busy right now and will get back to you.",
                Some(Machine::Busy),
            ),
            (
                "Estoy conduciendo. Le respondo cuando llegue.",
                Some(Machine::Busy),
            ),
            (
                "Thanks for texting Oak Dental! Reply STOP to opt out.",
                Some(Machine::AutoReply),
            ),
            (
                "The number you dialed is no longer in service.",
                Some(Machine::Notice),
            ),
            ("Message not sent: blocked.", Some(Machine::Notice)),
            // After an office's greeting, an opt-out or a cry for help counts as a person's.
            (
                "Thanks for texting, but please stop texting me",
                Some(Machine::Busy),
            ),
            ("I'm in a meeting, is the spa open at 5?", None),
            ("El elevador esta fuera de servicio y necesito ayuda", None),
            ("is the pool bar no longer in service", None),
            ("I think my text was not sent", None),
            (
                "I'm driving now, when we arrive we need a crib in the room",
                None,
            ),
            ("thank you for your help", None),
            ("thanks for your message", None),
            ("I'll be late", None),
            ("we were eating. text’ing stop to go", None),
            (
                "See you at nine. Text STOP to opt out.",
                Some(Machine::AutoReply),
            ),
            ("can't talk now", None),
            ("please don't text me anymore", None),
            ("reply STOP", None),
            ("is the office closed?", None),
            ("", None),
        ] {
            assert_eq!(of(text), machine, "{text}");
        }
    }
}
