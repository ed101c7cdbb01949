//! People with accounts, and a caller that keeps its cookie, as a browser does.

use reqwest::{
    StatusCode,
    header::{self, HeaderMap},
    redirect::Policy,
};
use seven_domain::{CasinoId, Language, OperatorId, Role};
use seven_staff::{
    Token,
    account::{self, Invitation},
    factor::Factor,
    login::{self, Entered},
};
use seven_store::Store;
use uuid::Uuid;

use crate::harness::House;

pub(crate) const PASSWORD: &str = "four green boats";

pub(crate) struct Staff<'a>(&'a House);

/// A person whose account is set up.
pub(crate) struct Member {
    pub(crate) id: OperatorId,
    email: String,
    factor: Factor,
    step: std::cell::Cell<u64>,
}

pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) location: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

pub(crate) struct Caller {
    pub(crate) base: String,
    pub(crate) http: reqwest::Client,
    pub(crate) cookie: Option<String>,
}

/// Encodes the fields of a form.
pub(crate) fn form(fields: &[(&str, &str)]) -> String {
    let mut url = url::Url::parse("http://x/").unwrap();
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

impl<'a> Staff<'a> {
    pub(crate) fn new(house: &'a House) -> Self {
        Self(house)
    }

    /// Returns a store that uses the console's own database login.
    pub(crate) fn store(&self) -> Store {
        let stack = &self.0.stack;
        let url = stack.settings.console.postgres_url.clone().unwrap();
        Store::new(&url, 2, stack.fleet.timing.sweep()).unwrap()
    }

    pub(crate) async fn invite(
        &self,
        email: &str,
        role: Role,
        casino: Option<&CasinoId>,
    ) -> (OperatorId, Token) {
        let id: OperatorId = self.0.stack.fleet.ids.next();
        let invitation = Invitation {
            email: email.to_owned(),
            name: email.split('@').next().unwrap().to_owned(),
            language: Language::En,
            role,
            casino: casino.cloned(),
            ends_on: (role == Role::Auditor).then(|| {
                let today = self.0.stack.fleet.clock.now().date_naive();
                today + chrono::Days::new(7)
            }),
        };
        let token = account::add(&self.store(), id, invitation, "test")
            .await
            .unwrap();
        (id, token)
    }

    pub(crate) async fn add(&self, email: &str, role: Role, casino: Option<&CasinoId>) -> Member {
        let (id, token) = self.invite(email, role, casino).await;
        let factor = Factor::draw(&mut rand::rng());
        let now = self.0.stack.fleet.clock.now();
        let seconds = u64::try_from(now.timestamp()).unwrap();
        let entered = Entered {
            password: Some(PASSWORD.into()),
            factor: Some((factor.clone(), factor.code_at(seconds))),
        };
        let store = self.store();
        login::use_link(&store, &token, entered, true, now)
            .await
            .unwrap();
        Member {
            id,
            email: email.to_owned(),
            factor,
            step: std::cell::Cell::new(seconds / 30),
        }
    }

    /// Returns the id of the only conversation in the database.
    pub(crate) async fn conversation(&self) -> Uuid {
        let ids = self
            .0
            .texts_of("select conversation_id::text from conversations")
            .await;
        assert_eq!(ids.len(), 1);
        ids[0].parse().unwrap()
    }
}

impl Member {
    /// Returns a code that was not used yet. It may be the code of the next 30-second step, which a
    /// login also accepts.
    pub(crate) fn next_code(&self) -> String {
        self.step.set(self.step.get() + 1);
        self.factor.code_at(self.step.get() * 30)
    }

    /// Creates a session without the login pages. A login needs a new code each time, so a person
    /// could not log in several times within 30 seconds.
    pub(crate) async fn logged_in(&self, house: &House) -> Caller {
        let token = Token::draw(&mut rand::rng());
        let staff = Staff::new(house);
        let mut tx = staff.store().staff().await.unwrap();
        tx.put_session(&token.hash(), self.id, true).await.unwrap();
        tx.commit().await.unwrap();
        Caller::with(house, &format!("seven-here={}", token.expose()))
    }

    /// Sends email and password to the login page, and returns the `Set-Cookie` header of the
    /// answer.
    pub(crate) async fn set_cookie(&self, house: &House) -> String {
        let caller = Caller::new(house);
        let fields = form(&[("email", &self.email), ("password", PASSWORD)]);
        let page = caller.send("/login", &fields).await;
        page.headers[header::SET_COOKIE]
            .to_str()
            .unwrap()
            .to_owned()
    }
}

impl Caller {
    pub(crate) fn new(house: &House) -> Self {
        Self {
            base: house.stack.console_url.clone().unwrap(),
            http: reqwest::Client::builder()
                .redirect(Policy::none())
                .build()
                .unwrap(),
            cookie: None,
        }
    }

    pub(crate) fn with(house: &House, cookie: &str) -> Self {
        Self {
            cookie: Some(cookie.to_owned()),
            ..Self::new(house)
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Page {
        let request = self.http.get(format!("{}{path}", self.base));
        self.answer(request).await
    }

    /// Fetches a part of a page, as the page's script does.
    pub(crate) async fn fetch(&self, path: &str) -> Page {
        let request = self.http.get(format!("{}{path}", self.base));
        self.answer(request.header("hx-request", "true")).await
    }

    /// Sends a form as our pages do, and keeps the cookie of the answer.
    pub(crate) async fn post(&mut self, path: &str, body: &str) -> Page {
        let page = self.send(path, body).await;
        if let Some(cookie) = page.headers.get(header::SET_COOKIE) {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            self.cookie = Some(pair.to_owned());
        }
        page
    }

    /// Sends a form with the form token that the pages of this session contain.
    pub(crate) async fn act(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let forms = self.forms();
        let all = [&[("forms", forms.as_str())], fields].concat();
        self.send(path, &form(&all)).await
    }

    pub(crate) fn forms(&self) -> String {
        let cookie = self.cookie.as_deref().unwrap();
        Token::read(cookie.split_once('=').unwrap().1)
            .unwrap()
            .for_forms()
    }

    /// Sends a form with a file, as a browser encodes it. The first of `fields` has to be the form
    /// token of the page.
    pub(crate) async fn send_file(
        &self,
        path: &str,
        fields: &[(&str, &str)],
        name: &str,
        bytes: &[u8],
    ) -> Page {
        const MARK: &str = "----of-a-test-1c5a";
        let head = |of: &str| format!("--{MARK}\r\ncontent-disposition: form-data; {of}\r\n\r\n");
        let mut body = Vec::new();
        for (field, value) in fields {
            let field = head(&format!("name=\"{field}\"")) + *value + "\r\n";
            body.extend(field.into_bytes());
        }
        body.extend(head(&format!("name=\"file\"; filename=\"{name}\"")).into_bytes());
        body.extend(bytes);
        body.extend(format!("\r\n--{MARK}--\r\n").into_bytes());
        let kind = format!("multipart/form-data; boundary={MARK}");
        let request = self
            .http
            .post(format!("{}{path}", self.base))
            .header("sec-fetch-site", "same-origin")
            .header(header::CONTENT_TYPE, kind)
            .body(body);
        self.answer(request).await
    }

    async fn send(&self, path: &str, body: &str) -> Page {
        let request = self
            .http
            .post(format!("{}{path}", self.base))
            .header("sec-fetch-site", "same-origin")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(body.to_owned());
        self.answer(request).await
    }

    async fn answer(&self, request: reqwest::RequestBuilder) -> Page {
        let request = match &self.cookie {
            Some(cookie) => request.header(header::COOKIE, cookie),
            None => request,
        };
        let answer = request.send().await.unwrap();
        let location = answer.headers().get(header::LOCATION);
        Page {
            status: answer.status(),
            location: location.map_or("", |to| to.to_str().unwrap()).to_owned(),
            headers: answer.headers().clone(),
            body: answer.text().await.unwrap(),
        }
    }
}
