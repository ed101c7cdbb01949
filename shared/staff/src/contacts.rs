//! Adds the casino's contacts (D28). A phone first gets a code by text. The phone's owner tells the
//! code to the person who adds the phone, and that person must enter it.

use std::time::Duration;

use rand::Rng as _;
use secrecy::ExposeSecret as _;
use seven_domain::{CasinoId, Channel, ContactChannel, MessageClass, PhoneE164, TraceContext};
use seven_notices::{address, code_text};
use seven_runtime::Fleet;
use seven_store::{
    Tx,
    contacts::{CodeTried, Contact, NewContact},
    guests::{GuestLaw, NewIds},
    outbound::{NewOutbound, Origin, Queued},
};
use uuid::Uuid;

/// How long a phone's code is valid.
const CODE_GOOD_FOR: Duration = Duration::from_secs(15 * 60);
/// Maximum number of codes sent to one phone in a day, so that nobody can flood a stranger's phone.
const MOST_CODES_A_DAY: i64 = 5;
const CODE: &str = "staff_code";

/// Why a contact was not added, or a code was not sent.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error(transparent)]
    Address(#[from] address::Bad),
    #[error("this fleet has no mail server yet: set notices.smtp_url and notices.mail_from first")]
    NoMail,
    #[error("the figures of the week and refused content are told by chat or mail, not by text")]
    NoLetterByText,
    #[error("that number is the casino's own; expected a phone of staff")]
    OwnNumber,
    #[error("that phone asked for no texts; it has to text START to the casino's number first")]
    Stopped,
    #[error("that phone got {MOST_CODES_A_DAY} codes today; try again tomorrow")]
    TooManyCodes,
    #[error("the casino has no such contact, or it has no phone")]
    NoPhone,
    #[error(transparent)]
    Failed(#[from] seven_runtime::Error),
}

impl From<seven_store::Error> for Refused {
    fn from(error: seven_store::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// The kinds of addresses that this fleet can reach.
#[derive(Debug, Clone, Copy)]
pub struct Reach {
    /// Whether addresses of this machine may be added, for development.
    pub local: bool,
    /// Whether a mail server is configured.
    pub mail: bool,
}

/// Adds a contact on behalf of a person. If the contact is a phone, also sends the code to it.
///
/// # Errors
/// Returns why the address cannot be used for a contact; nothing is stored then.
pub async fn add(
    fleet: &Fleet,
    casino: &CasinoId,
    new: &NewContact,
    reach: Reach,
    by: &str,
) -> Result<(), Refused> {
    address::check(new.channel, &new.address, reach.local)?;
    if new.channel == ContactChannel::Text && (new.weekly || new.content || new.outages) {
        return Err(Refused::NoLetterByText);
    }
    if new.channel == ContactChannel::Mail && !reach.mail {
        return Err(Refused::NoMail);
    }
    let mut tx = fleet.store.bind(casino).await?;
    tx.add_contact(new, by).await?;
    let queued = match new.channel {
        ContactChannel::Text => {
            let added = tx.contact(new.contact_id.0).await?;
            send_code(fleet, &mut tx, &added.ok_or(Refused::NoPhone)?).await?
        }
        ContactChannel::Chat | ContactChannel::Mail => Vec::new(),
    };
    tx.commit().await?;
    Ok(fleet.signal_queued(casino, &queued, None, "").await?)
}

/// Sends a new code to a contact's phone; the earlier code becomes invalid.
///
/// # Errors
/// Returns why no code may be sent.
pub async fn renew_code(fleet: &Fleet, casino: &CasinoId, contact: Uuid) -> Result<(), Refused> {
    let mut tx = fleet.store.bind(casino).await?;
    let found = tx.contact(contact).await?;
    let phone = found.filter(|contact| contact.channel == ContactChannel::Text);
    let queued = send_code(fleet, &mut tx, &phone.ok_or(Refused::NoPhone)?).await?;
    tx.commit().await?;
    Ok(fleet.signal_queued(casino, &queued, None, "").await?)
}

/// Checks the code that a person entered for a contact's phone, and returns the result.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn verify(
    fleet: &Fleet,
    casino: &CasinoId,
    contact: Uuid,
    code: &str,
    by: &str,
) -> Result<CodeTried, seven_store::Error> {
    let digits: String = code.chars().filter(char::is_ascii_digit).collect();
    let mut tx = fleet.store.bind(casino).await?;
    let hash = code_hash(fleet, casino, contact, &digits);
    let tried = tx.try_contact_code(contact, &hash, by).await?;
    tx.commit().await?;
    Ok(tried)
}

async fn send_code(fleet: &Fleet, tx: &mut Tx, contact: &Contact) -> Result<Vec<Queued>, Refused> {
    let phone: PhoneE164 = contact
        .address
        .expose_secret()
        .parse()
        .map_err(|_| address::Bad::Phone)?;
    if fleet.roster.casino_of(phone.as_str()).is_some() {
        return Err(Refused::OwnNumber);
    }
    let casino = tx.casino().clone();
    let row = tx.casino_row().await?.ok_or(Refused::NoPhone)?;
    let number = &row.config.operational.telnyx_phone_number;
    let hash = fleet.keys.hash(&casino, &phone);
    let ids = NewIds {
        guest: fleet.ids.next(),
        conversation: fleet.ids.next(),
    };
    let law = GuestLaw::default();
    let party = tx
        .party(&phone, &hash, number, Channel::Sms, ids, &law)
        .await?;
    if party.stopped {
        return Err(Refused::Stopped);
    }
    if tx.staff_texts_today(party.guest_id, CODE).await? >= MOST_CODES_A_DAY {
        return Err(Refused::TooManyCodes);
    }
    let code = format!("{:06}", rand::rng().random_range(0..1_000_000));
    let hash = code_hash(fleet, &casino, contact.contact_id, &code);
    tx.put_contact_code(contact.contact_id, party.recipient(), &hash, CODE_GOOD_FOR)
        .await?;
    let name = &row.config.prompts.casino_name_display;
    let body = seven_sms::transliterate(&code_text(contact.language, name, &code));
    let (id, origin) = (fleet.ids.next(), Origin::Staff(CODE));
    let to = party.recipient();
    let text = NewOutbound::new(id, to, origin, MessageClass::Staff, body, CODE_GOOD_FOR)
        .trace(&TraceContext::start().to_string());
    Ok(tx.queue(&text).await?.into_iter().collect())
}

/// Returns the keyed hash under which a code is stored, so that a copy of the database reveals no
/// code.
fn code_hash(fleet: &Fleet, casino: &CasinoId, contact: Uuid, code: &str) -> [u8; 32] {
    fleet
        .keys
        .seal(&format!("contact-code:{casino}:{contact}:{code}"))
}
