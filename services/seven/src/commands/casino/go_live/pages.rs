//! Checks the pages that carriers read before they approve a campaign: that they exist and have the
//! required content.

use std::{sync::LazyLock, time::Duration};

use regex::Regex;
use reqwest::redirect::Policy;
use seven_domain::config::Operational;
use seven_settings::is_here;
use url::Url;

/// Maximum number of bytes of a page that are read.
const MOST: usize = 2 * 1024 * 1024;

/// A page and its required words. The page must contain one word or phrase of each group, in upper
/// or lower case.
struct Page {
    what: &'static str,
    says: &'static [&'static [&'static str]],
}

const PRIVACY: Page = Page {
    what: "privacy",
    says: &[&["sms", "text message", "mensajes de texto"]],
};
const TERMS: Page = Page {
    what: "terms",
    says: &[
        &["stop"],
        &["help"],
        &[
            "message frequency",
            "message frequencies",
            "msg frequency",
            "frecuencia",
        ],
        &["data rates", "message rates", "tarifas"],
    ],
};

/// Returns the pages if all are complete; otherwise the faults of the incomplete pages.
pub async fn look(ours: &Operational) -> Result<Vec<String>, Vec<String>> {
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for (page, address) in [(PRIVACY, &ours.privacy_page), (TERMS, &ours.terms_page)] {
        let what = page.what;
        match address {
            None => wrong.push(format!("set operational.{what}_page")),
            Some(address) => match read(address).await.and_then(|text| page.lacks(&text)) {
                Ok(()) => found.push(format!("{what} at {address}")),
                Err(problem) => wrong.push(format!("the {what} page {address} {problem}")),
            },
        }
    }
    if wrong.is_empty() {
        Ok(found)
    } else {
        Err(wrong)
    }
}

impl Page {
    /// Fails if the page lacks required words; the error names them. Only whole words that a
    /// visitor sees are compared.
    fn lacks(&self, page: &str) -> Result<(), String> {
        let text = words(page);
        let missing = self
            .says
            .iter()
            .filter(|group| !group.iter().any(|said| text.contains(&format!(" {said} "))));
        let missing: Vec<String> = missing
            .filter_map(|group| Some(format!("\"{}\"", group.first()?)))
            .collect();
        if missing.is_empty() {
            Ok(())
        } else {
            Err(format!("does not speak of {}", missing.join(", ")))
        }
    }
}

/// Returns the words that a visitor of the page sees, in lower case and with one space between
/// them. Scripts, styles and tags are dropped.
fn words(page: &str) -> String {
    static HIDDEN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?is)<script\b.*?</script\s*>|<style\b.*?</style\s*>|<!--.*?-->|<[^>]*>|&nbsp;|&#160;")
            .expect("it is tried by a test")
    });
    let shown = HIDDEN.replace_all(page, " ").to_lowercase();
    let words: Vec<&str> = shown
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    format!(" {} ", words.join(" "))
}

/// Reads a page only over https, also after redirects, so that no redirect leads into our own
/// network. For tests, addresses of this machine may use http.
async fn read(address: &str) -> Result<String, String> {
    let url = Url::parse(address).map_err(|error| format!("is no address: {error}"))?;
    let client = reqwest::Client::builder()
        .https_only(!is_here(&url))
        .redirect(Policy::limited(3))
        .user_agent(concat!("seven/", env!("CARGO_PKG_VERSION")))
        .timeout(Duration::from_secs(10))
        .build()
        .map_err(|error| error.to_string())?;
    let mut answer = client.get(url).send().await.map_err(|error| {
        let why = match &error {
            error if error.is_timeout() => "does not answer within 10 s",
            error if error.is_builder() => "must be an https address",
            error if error.is_redirect() => "sends on too often, or away from https",
            _ => "cannot be reached",
        };
        why.to_owned()
    })?;
    if !answer.status().is_success() {
        return Err(format!("answers {}", answer.status().as_u16()));
    }
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await.map_err(|_| "breaks off".to_owned())? {
        body.extend_from_slice(&part);
        if body.len() > MOST {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

#[cfg(test)]
mod tests {
    use axum::{Router, http::StatusCode, routing::get};

    use super::*;

    #[test] // SMS-58, C-51
    fn terms_say_how_often_what_it_costs_and_how_to_leave() {
        let whole = "Message frequency varies. Message and data rates may apply. Reply STOP to leave, HELP for help.";
        assert_eq!(TERMS.lacks(whole), Ok(()));
        for (without, named) in [
            ("STOP", "stop"),
            ("Message frequency", "message frequency"),
            ("data rates", "data rates"),
        ] {
            assert_eq!(
                TERMS.lacks(&whole.replace(without, "")),
                Err(format!("does not speak of \"{named}\"")),
                "{without}"
            );
        }
        assert_eq!(
            TERMS.lacks("La frecuencia varía. Pueden aplicar tarifas. Responda STOP o HELP."),
            Ok(())
        );
        assert_eq!(
            PRIVACY.lacks("We value your privacy."),
            Err("does not speak of \"sms\"".to_owned())
        );
        let spread =
            "<p>Message\n <b>frequency</b> varies; data&nbsp;rates apply.</p><p>STOP, HELP</p>";
        assert_eq!(TERMS.lacks(spread), Ok(()));
        let scripted = "<script>stop(); help();</script><style>.help{}</style>Message frequency, data rates. Nonstop!";
        assert_eq!(
            TERMS.lacks(scripted),
            Err("does not speak of \"stop\", \"help\"".to_owned())
        );
    }

    #[tokio::test] // SMS-58
    async fn pages_are_fetched_and_read() {
        drop(rustls::crypto::ring::default_provider().install_default());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = format!("http://{}", listener.local_addr().unwrap());
        let pages = Router::new()
            .route(
                "/privacy",
                get(async || "<p>Your SMS number is used to answer you.</p>"),
            )
            .route(
                "/terms",
                get(async || "<p>Message frequency varies; data rates may apply. STOP, HELP.</p>"),
            )
            .route("/short", get(async || "Text STOP."))
            .route("/gone", get(async || StatusCode::NOT_FOUND));
        tokio::spawn(async move { axum::serve(listener, pages).await });
        let config = crate::onboard::read_casino("casino.json", seven_packs::demo::CASINO).unwrap();
        let looked = async |privacy: Option<&str>, terms: &str| {
            let mut ours = config.operational.clone();
            ours.privacy_page = privacy.map(|path| format!("{at}{path}"));
            ours.terms_page = Some(format!("{at}{terms}"));
            look(&ours).await
        };
        assert_eq!(
            looked(Some("/privacy"), "/terms")
                .await
                .map(|found| found.len()),
            Ok(2)
        );
        let wrong = looked(Some("/gone"), "/short").await.unwrap_err();
        assert!(wrong[0].ends_with("/gone answers 404"), "{wrong:?}");
        assert!(
            wrong[1].contains("does not speak of \"help\", \"message frequency\", \"data rates\""),
            "{wrong:?}"
        );
        assert_eq!(
            looked(None, "/terms").await.unwrap_err(),
            ["set operational.privacy_page"]
        );
        let open = read("http://192.0.2.1/terms").await.unwrap_err();
        assert_eq!(open, "must be an https address");
    }
}
