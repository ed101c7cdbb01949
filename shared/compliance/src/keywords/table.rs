//! The keyword table: all words on the lists of the carriers, the provider and the FCC, and our
//! own.

use seven_domain::Language;

use super::Intent;

/// The words that a message may contain besides the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// No other words.
    Alone,
    /// Courtesy: "please", "thank you", "now".
    Polite,
    /// Courtesy, and words such as "hey" and "just". Such a row may also be a separate sentence. If
    /// the message has another keyword, as in "ok stop", such a row takes precedence.
    Core,
    /// Courtesy, and words that follow a yes, as in "yes sounds good".
    Agreeing,
}

#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(super) id: &'static str,
    pub(crate) intent: Intent,
    pub(super) language: Option<Language>,
    /// The words in folded form: lower case, without accents and apostrophes (see
    /// [`crate::normal`]).
    pub(super) words: &'static str,
    pub(super) fit: Fit,
}

const ANY: Option<Language> = None;
const EN: Option<Language> = Some(Language::En);
const ES: Option<Language> = Some(Language::Es);

const fn row(
    id: &'static str,
    intent: Intent,
    language: Option<Language>,
    words: &'static str,
    fit: Fit,
) -> Row {
    Row {
        id,
        intent,
        language,
        words,
        fit,
    }
}

use Fit::{Agreeing, Alone, Core, Polite};
use Intent::{Affirm, Delete, Help, OptIn, OptOut, Privacy};

pub(super) const ROWS: &[Row] = &[
    row("optout.kw.stop", OptOut, ANY, "stop", Core),
    row("optout.kw.stopall", OptOut, ANY, "stopall", Core),
    row("optout.kw.stop_all", OptOut, ANY, "stop all", Core),
    row("optout.kw.stop2quit", OptOut, ANY, "stop2quit", Core),
    row("optout.kw.stop2quit", OptOut, ANY, "stop 2 quit", Core),
    row("optout.kw.stop_typo", OptOut, ANY, "stopp", Core),
    row("optout.kw.stop_typo", OptOut, ANY, "sotp", Core),
    row("optout.kw.stop_typo", OptOut, ANY, "stpo", Core),
    row("optout.kw.unsubscribe", OptOut, EN, "unsubscribe", Core),
    row("optout.kw.unsubscribe", OptOut, EN, "unsubscribe me", Core),
    row("optout.kw.stop_to_end", OptOut, EN, "stop to end", Core),
    row("optout.kw.stop_to_end", OptOut, EN, "stop to stop", Core),
    row("optout.kw.stop_to_end", OptOut, EN, "stop to quit", Core),
    row("optout.kw.stop_to_end", OptOut, EN, "stop to cancel", Core),
    row("optout.kw.stop_to_end", OptOut, EN, "stop to opt out", Core),
    row(
        "optout.kw.stop_to_end",
        OptOut,
        EN,
        "stop to unsubscribe",
        Core,
    ),
    row("optout.kw.stop_to_end", OptOut, ES, "stop para salir", Core),
    row("optout.kw.remove_number", OptOut, EN, "remove number", Core),
    row(
        "optout.kw.remove_number",
        OptOut,
        EN,
        "remove my number",
        Core,
    ),
    row("optout.kw.end_all", OptOut, EN, "end all", Core),
    row("optout.kw.end_all", OptOut, EN, "quit all", Core),
    row(
        "optout.kw.unsubscribe_all",
        OptOut,
        EN,
        "unsubscribe all",
        Core,
    ),
    row(
        "optout.kw.unsubscribe_typo",
        OptOut,
        EN,
        "unscribe me",
        Core,
    ),
    row("optout.kw.unsubscribe_typo", OptOut, EN, "unsub me", Core),
    row("optout.kw.unsubscribe_typo", OptOut, EN, "unsub", Core),
    row("optout.kw.unsubscribe_typo", OptOut, EN, "unsuscribe", Core),
    row("optout.kw.unsubscribe_typo", OptOut, EN, "unsubcribe", Core),
    row("optout.kw.unsubscribe_typo", OptOut, EN, "unsubscibe", Core),
    row("optout.kw.opt_out", OptOut, EN, "opt out", Core),
    row("optout.kw.optout", OptOut, EN, "optout", Core),
    row("optout.kw.remove_me", OptOut, EN, "remove me", Core),
    row("optout.kw.cancel", OptOut, EN, "cancel", Polite),
    row("optout.kw.end", OptOut, EN, "end", Polite),
    row("optout.kw.quit", OptOut, EN, "quit", Polite),
    row("optout.kw.revoke", OptOut, EN, "revoke", Polite),
    row("optout.kw.remove", OptOut, EN, "remove", Polite),
    row("optout.kw.no_more", OptOut, EN, "no more", Polite),
    row("optout.kw.alto", OptOut, ES, "alto", Core),
    row("optout.kw.parar", OptOut, ES, "parar", Polite),
    row("optout.kw.para", OptOut, ES, "para", Polite),
    row("optout.kw.pare", OptOut, ES, "pare", Polite),
    row("optout.kw.paren", OptOut, ES, "paren", Polite),
    row("optout.kw.baja", OptOut, ES, "baja", Polite),
    row("optout.kw.dar_de_baja", OptOut, ES, "dar de baja", Polite),
    row("optout.kw.dar_de_baja", OptOut, ES, "darme de baja", Polite),
    row("optout.kw.detener", OptOut, ES, "detener", Polite),
    row("optout.kw.detener", OptOut, ES, "detente", Polite),
    row("optout.kw.cancelar", OptOut, ES, "cancelar", Polite),
    row(
        "optout.kw.cancelar",
        OptOut,
        ES,
        "cancelar suscripcion",
        Polite,
    ),
    row("optout.kw.no_mas", OptOut, ES, "no mas", Polite),
    row("optout.kw.basta", OptOut, ES, "basta", Polite),
    row("optout.kw.salir", OptOut, ES, "salir", Polite),
    row("optout.kw.desuscribir", OptOut, ES, "desuscribir", Polite),
    row("optout.kw.desuscribir", OptOut, ES, "desuscribirme", Polite),
    row("optout.kw.desuscribir", OptOut, ES, "desuscribirse", Polite),
    row("optout.kw.arret", OptOut, ANY, "arret", Polite),
    row("optout.kw.arret", OptOut, ANY, "arrete", Polite),
    row("optout.kw.arret", OptOut, ANY, "arrett", Polite),
    row("optin.kw.start", OptIn, ANY, "start", Polite),
    row("optin.kw.unstop", OptIn, ANY, "unstop", Polite),
    row("optin.kw.subscribe", OptIn, EN, "subscribe", Polite),
    row("optin.kw.resubscribe", OptIn, EN, "resubscribe", Polite),
    row("optin.kw.resubscribe", OptIn, EN, "re subscribe", Polite),
    row("optin.kw.opt_in", OptIn, EN, "opt in", Polite),
    row("optin.kw.opt_in", OptIn, EN, "optin", Polite),
    row("optin.kw.iniciar", OptIn, ES, "iniciar", Polite),
    row("optin.kw.comenzar", OptIn, ES, "comenzar", Polite),
    row("optin.kw.suscribir", OptIn, ES, "suscribir", Polite),
    row("optin.kw.suscribir", OptIn, ES, "suscribirme", Polite),
    row("help.kw.help", Help, ANY, "help", Polite),
    row("help.kw.info", Help, ANY, "info", Polite),
    row("help.kw.ayuda", Help, ES, "ayuda", Polite),
    row("help.kw.informacion", Help, ES, "informacion", Polite),
    row("affirm.kw.y", Affirm, ANY, "y", Alone),
    row("affirm.kw.ok", Affirm, ANY, "ok", Alone),
    row("affirm.kw.okay", Affirm, EN, "okay", Alone),
    row("affirm.kw.yes", Affirm, EN, "yes", Agreeing),
    row("affirm.kw.yeah", Affirm, EN, "yeah", Agreeing),
    row("affirm.kw.yep", Affirm, EN, "yep", Agreeing),
    row("affirm.kw.yep", Affirm, EN, "yup", Agreeing),
    row("affirm.kw.sure", Affirm, EN, "sure", Agreeing),
    row("affirm.kw.si", Affirm, ES, "si", Agreeing),
    row("privacy.kw.privacy", Privacy, EN, "privacy", Polite),
    row("privacy.kw.privacy", Privacy, EN, "privacy policy", Polite),
    row("privacy.kw.privacidad", Privacy, ES, "privacidad", Polite),
    row(
        "privacy.kw.privacidad",
        Privacy,
        ES,
        "politica de privacidad",
        Polite,
    ),
    row(
        "privacy.kw.privacidad",
        Privacy,
        ES,
        "aviso de privacidad",
        Polite,
    ),
    row("delete.kw.delete", Delete, EN, "delete", Polite),
    row("delete.kw.delete", Delete, EN, "delete me", Polite),
    row(
        "delete.kw.delete_data",
        Delete,
        EN,
        "delete my data",
        Polite,
    ),
    row(
        "delete.kw.delete_data",
        Delete,
        EN,
        "delete all my data",
        Polite,
    ),
    row(
        "delete.kw.delete_data",
        Delete,
        EN,
        "delete my info",
        Polite,
    ),
    row(
        "delete.kw.delete_data",
        Delete,
        EN,
        "delete my information",
        Polite,
    ),
    row("delete.kw.delete_data", Delete, EN, "erase my data", Polite),
    row("delete.kw.forget_me", Delete, EN, "forget me", Polite),
    row("delete.kw.borrar", Delete, ES, "borrar", Polite),
    row("delete.kw.eliminar", Delete, ES, "eliminar", Polite),
    row(
        "delete.kw.borrar_datos",
        Delete,
        ES,
        "borrar mis datos",
        Polite,
    ),
    row(
        "delete.kw.borrar_datos",
        Delete,
        ES,
        "borra mis datos",
        Polite,
    ),
    row(
        "delete.kw.borrar_datos",
        Delete,
        ES,
        "borren mis datos",
        Polite,
    ),
    row(
        "delete.kw.borrar_datos",
        Delete,
        ES,
        "eliminar mis datos",
        Polite,
    ),
    row(
        "delete.kw.borrar_datos",
        Delete,
        ES,
        "elimina mis datos",
        Polite,
    ),
    row(
        "delete.kw.borrar_datos",
        Delete,
        ES,
        "eliminen mis datos",
        Polite,
    ),
];
