//! Identifies the caller. Reads the session's cookie and loads the person's present rights. Accepts
//! only forms that come from pages of that session.

use std::net::{IpAddr, SocketAddr};

use axum::{
    Form,
    extract::{ConnectInfo, FromRequest, FromRequestParts, Request},
    http::{HeaderValue, header::COOKIE, request::Parts},
};
use serde::de::DeserializeOwned;
use seven_domain::CasinoId;
use seven_staff::{Grants, Right, Token, login::actor};
use seven_store::operators::{SESSION_HOURS, Session};

use crate::{
    app::{App, Shared},
    fault::Fault,
    provider::Attempt,
    words::Words,
};

/// The session cookie's name. Its prefix makes browsers refuse the cookie over plain HTTP and from
/// other hosts.
const COOKIE_NAME: &str = "__Host-seven";
/// The session cookie's name over plain HTTP on a developer's machine, where browsers refuse the
/// prefix.
const COOKIE_NAME_HERE: &str = "seven-here";
/// Names of the cookie for a login at a casino's own login provider. It holds the login's random
/// values until the person comes back from the provider. The second name is for plain HTTP.
const ATTEMPT_NAME: &str = "__Host-seven-login";
const ATTEMPT_NAME_HERE: &str = "seven-login-here";
/// How long a person may take at the login provider, in seconds.
const ATTEMPT_SECONDS: i64 = 600;

/// A person who is logged in, with the rights that they have now.
#[derive(Debug)]
pub(crate) struct Person {
    pub(crate) token: Token,
    pub(crate) session: Session,
    pub(crate) grants: Grants,
}

/// A submitted form whose token proves that it comes from a page of this person's session.
#[derive(Debug)]
pub(crate) struct Posted<T> {
    pub(crate) person: Person,
    pub(crate) form: T,
}

impl Person {
    pub(crate) fn of(token: Token, session: Session) -> Self {
        Self {
            grants: Grants::new(session.roles.clone()),
            token,
            session,
        }
    }

    pub(crate) fn may(&self, casino: &CasinoId, right: Right) -> bool {
        self.grants.may(casino, right)
    }

    /// Checks a right. Without it, the person gets the same error as for a page that does not
    /// exist.
    pub(crate) fn needs(&self, casino: &CasinoId, right: Right) -> Result<(), Fault> {
        if self.may(casino, right) {
            Ok(())
        } else {
            Err(Fault::NotFound)
        }
    }

    /// Returns whether the person may add operators for some casino.
    pub(crate) fn may_manage_operators(&self) -> bool {
        self.grants
            .iter()
            .any(|(casino, _)| self.grants.may_grant(casino))
    }

    pub(crate) fn words(&self) -> Words {
        Words::of(&self.session.language)
    }

    /// Returns the name under which the audit log records this person.
    pub(crate) fn actor(&self) -> String {
        actor(self.session.operator)
    }
}

impl FromRequestParts<Shared> for Person {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Fault> {
        // Fetches that a page makes by itself must not keep the session alive. They are not
        // recorded as a use of the session.
        let touch = !parts.headers.contains_key("hx-request") || parts.method == "POST";
        let token = token_of(app, parts).ok_or(Fault::LoggedOut)?;
        person(app, token, touch).await
    }
}

/// Returns the person to whom the session belongs, if their login is complete. `touch` records that
/// the session was used.
pub(crate) async fn person(app: &App, token: Token, touch: bool) -> Result<Person, Fault> {
    let session = if touch {
        let mut tx = app.fleet.store.staff().await?;
        let session = tx.session(&token.hash(), true).await?;
        tx.commit().await?;
        session
    } else {
        app.fleet.store.session(&token.hash()).await?
    };
    let session = session.filter(|session| session.complete);
    let session = session.ok_or(Fault::LoggedOut)?;
    Ok(Person::of(token, session))
}

/// A form's fields, and in `forms` the session's form token, which every form carries.
#[derive(serde::Deserialize)]
struct Guarded<T> {
    #[serde(default)]
    forms: String,
    #[serde(flatten)]
    form: T,
}

impl<T: DeserializeOwned> FromRequest<Shared> for Posted<T> {
    type Rejection = Fault;

    async fn from_request(request: Request, app: &Shared) -> Result<Self, Fault> {
        let (mut parts, body) = request.into_parts();
        let person = Person::from_request_parts(&mut parts, app).await?;
        let request = Request::from_parts(parts, body);
        let Form(Guarded { forms, form }) = Form::<Guarded<T>>::from_request(request, app)
            .await
            .map_err(|_| Fault::Forbidden)?;
        if forms != person.token.for_forms() {
            return Err(Fault::Forbidden);
        }
        Ok(Self { person, form })
    }
}

/// Reads the session's token from the cookie.
pub(crate) fn token_of(app: &App, parts: &Parts) -> Option<Token> {
    Token::read(only(parts, cookie_name(app))?)
}

/// Returns the value of a cookie. `None` if two cookies have this name, because another site may
/// have planted one of them.
fn only<'a>(parts: &'a Parts, name: &str) -> Option<&'a str> {
    let lines = parts.headers.get_all(COOKIE).into_iter();
    let cookies = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='));
    let mut ours = cookies.filter(|(cookie, _)| *cookie == name);
    match (ours.next(), ours.next()) {
        (Some((_, value)), None) => Some(value),
        _ => None,
    }
}

/// Returns the header that sets the cookie with a login's random values, or removes the cookie.
/// Browsers send this cookie when the login provider redirects back (SameSite=Lax). The cookie does
/// not log anybody in.
pub(crate) fn attempt_cookie(app: &App, attempt: Option<(&str, &Attempt)>) -> HeaderValue {
    let (value, seconds) = match attempt {
        Some((id, attempt)) => {
            let drawn = [&attempt.state, &attempt.nonce, &attempt.verifier];
            let drawn = drawn.map(Token::expose).join(".");
            (format!("{id}.{drawn}"), ATTEMPT_SECONDS)
        }
        None => (String::new(), 0),
    };
    set_cookie(app, attempt_name(app), &value, "Lax", seconds)
}

/// Reads the random values of a login from the browser's cookie. `None` if the cookie belongs to a
/// login at a different provider.
pub(crate) fn attempt_of(app: &App, parts: &Parts, id: &str) -> Option<Attempt> {
    let mut values = only(parts, attempt_name(app))?.split('.');
    if values.next() != Some(id) {
        return None;
    }
    let mut next = || Token::read(values.next()?);
    Some(Attempt {
        state: next()?,
        nonce: next()?,
        verifier: next()?,
    })
}

fn attempt_name(app: &App) -> &'static str {
    if is_secure(app) {
        ATTEMPT_NAME
    } else {
        ATTEMPT_NAME_HERE
    }
}

/// Returns the header that sets the session's cookie, or removes it if there is no token.
pub(crate) fn cookie(app: &App, token: Option<&Token>) -> HeaderValue {
    let (value, seconds) = match token {
        Some(token) => (token.expose(), i64::from(SESSION_HOURS) * 3_600),
        None => (String::new(), 0),
    };
    set_cookie(app, cookie_name(app), &value, "Strict", seconds)
}

fn set_cookie(app: &App, name: &str, value: &str, same_site: &str, seconds: i64) -> HeaderValue {
    let secure = if is_secure(app) { "; Secure" } else { "" };
    let text = format!(
        "{name}={value}; Path=/; HttpOnly; SameSite={same_site}; Max-Age={seconds}{secure}"
    );
    let mut value = HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""));
    value.set_sensitive(true);
    value
}

fn is_secure(app: &App) -> bool {
    app.console.public_url.scheme() == "https"
}

fn cookie_name(app: &App) -> &'static str {
    if is_secure(app) {
        COOKIE_NAME
    } else {
        COOKIE_NAME_HERE
    }
}

/// The caller's address in the form under which failed logins are counted.
#[derive(Debug)]
pub(crate) struct From(pub(crate) String);

/// Writes an address in the form under which logins are counted. Only the first 64 bits of an IPv6
/// address are used, because all addresses that share them belong to one internet customer.
fn counted(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

impl FromRequestParts<Shared> for From {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Fault> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map(|ConnectInfo(peer)| peer.ip());
        let client = peer.and_then(|peer| app.proxies.client(peer, &parts.headers));
        Ok(Self(
            client.map_or_else(String::new, |ip| counted(ip.to_canonical())),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv6_addresses_of_one_line_count_as_one() {
        let counted = |text: &str| counted(text.parse::<IpAddr>().unwrap().to_canonical());
        assert_eq!(counted("192.0.2.1"), "192.0.2.1");
        assert_eq!(counted("::ffff:192.0.2.1"), "192.0.2.1");
        assert_eq!(counted("2001:db8:1:2::5"), counted("2001:db8:1:2:ffff::9"));
        assert_ne!(counted("2001:db8:1:2::5"), counted("2001:db8:1:3::5"));
    }
}
