//! Extracts the event from a provider's call after verifying the call's signature. Each provider
//! has its own `Signer`; the handler is the same for both.

use std::{fmt, marker::PhantomData, sync::Arc};

use axum::{
    Extension,
    body::Body,
    extract::{FromRequest, FromRequestParts, Path, RawQuery, Request},
    http::{HeaderMap, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use seven_http::Peer;
use seven_intake::{Intake, intake, intake_form};
use seven_providers::{
    telnyx::signature::{self as telnyx, Refusal, SIGNATURE_HEADER, TIMESTAMP_HEADER},
    twilio::{self as twilio_api, signature as twilio},
};
use tokio::sync::OwnedSemaphorePermit;

use crate::{answer::Answer, app::App};

/// A call whose signature is verified, with the permit to handle it.
pub(crate) struct Verified<P> {
    pub(crate) intake: Intake,
    /// The body as it was signed.
    pub(crate) body: Bytes,
    pub(crate) permit: OwnedSemaphorePermit,
    provider: PhantomData<P>,
}

/// Defines how a provider signs its calls, and the form of the answers that the provider reads.
pub(crate) trait Signer: Sized + Send + 'static {
    /// Verifies the call and reads its event. A caller whose signature is missing or malformed is
    /// refused before its body is read.
    fn verify(
        app: &App,
        call: Head,
        body: Body,
    ) -> impl Future<Output = Result<Verified<Self>, Answer>> + Send;

    fn respond(answer: Answer) -> Response;
}

/// The parts of a call before its body.
#[derive(FromRequestParts)]
pub(crate) struct Head {
    /// The attempt id at the end of the called address. For each attempt, the sender gives the
    /// provider an address that ends with the attempt's id (D5).
    attempt: Option<Path<String>>,
    peer: Extension<Peer>,
    query: RawQuery,
    headers: HeaderMap,
}

#[derive(Debug)]
pub(crate) struct Telnyx;

#[derive(Debug)]
pub(crate) struct Twilio;

// === impl Verified ===

impl<P: Signer> FromRequest<Arc<App>> for Verified<P> {
    type Rejection = Response;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let call = Head::from_request_parts(&mut parts, app).await?;
        P::verify(app, call, body).await.map_err(P::respond)
    }
}

impl<P> fmt::Debug for Verified<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verified")
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

// === impl Head ===

impl Head {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    async fn read(&self, app: &App, body: Body) -> Result<Bytes, Answer> {
        let client = app.proxies.client(self.peer.0.0, &self.headers);
        app.places.read(client, &self.headers, body).await
    }
}

// === impl Telnyx ===

impl Signer for Telnyx {
    async fn verify(app: &App, call: Head, body: Body) -> Result<Verified<Self>, Answer> {
        let now = app.fleet.clock.now();
        let (timestamp, signature) = (call.header(TIMESTAMP_HEADER), call.header(SIGNATURE_HEADER));
        let head = telnyx::Head::parse(timestamp, signature, now.timestamp());
        let head = head.map_err(|refusal| app.refuse(refusal))?;
        let body = call.read(app, body).await?;
        app.verifiers
            .telnyx
            .verify_body(&head, &body)
            .map_err(|refusal| app.refuse(refusal))?;
        let permit = app.places.handle().await?;
        let attempt = call
            .attempt
            .as_ref()
            .and_then(|Path(attempt)| attempt.parse().ok());
        Ok(Verified {
            intake: intake(&body, attempt, now),
            body,
            permit,
            provider: PhantomData,
        })
    }

    fn respond(answer: Answer) -> Response {
        answer.into_response()
    }
}

// === impl Twilio ===

impl Signer for Twilio {
    async fn verify(app: &App, call: Head, body: Body) -> Result<Verified<Self>, Answer> {
        let Some(ours) = &app.verifiers.twilio else {
            return Err(app.refuse(Refusal::InvalidSignature));
        };
        let signature = call.header(twilio::SIGNATURE_HEADER);
        twilio::given(signature).map_err(|refusal| app.refuse(refusal))?;
        let body = call.read(app, body).await?;
        let fields = twilio_api::webhook::fields(&body);
        let attempt = call
            .attempt
            .as_ref()
            .map_or("", |Path(attempt)| attempt.as_str());
        let mut url = ours.webhook_url.clone();
        if !attempt.is_empty() {
            url.set_path(&format!("{}/{attempt}", url.path().trim_end_matches('/')));
        }
        let verified = ours
            .verifier
            .verify(&url, call.query.0.as_deref(), &fields, signature);
        verified.map_err(|refusal| app.refuse(refusal))?;
        let permit = app.places.handle().await?;
        let intake = intake_form(&fields, attempt.parse().ok(), app.fleet.clock.now());
        Ok(Verified {
            intake,
            body,
            permit,
            provider: PhantomData,
        })
    }

    /// Twilio reads a 2xx answer to an inbound message as TwiML, and reports an error if it is not
    /// TwiML. An empty `<Response/>` sends nothing.
    fn respond(answer: Answer) -> Response {
        let response = answer.into_response();
        if !response.status().is_success() {
            return response;
        }
        let mut twiml = ([(CONTENT_TYPE, "text/xml")], "<Response/>").into_response();
        *twiml.extensions_mut() = response.into_parts().0.extensions;
        twiml
    }
}
