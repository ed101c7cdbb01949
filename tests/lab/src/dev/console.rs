//! A login for the console of `./scripts/dev`: one person with every role, whose password is drawn
//! anew at each start.

use anyhow::{Context, Result};
use seven_domain::{Language, LinkPurpose, OperatorId, Role};
use seven_settings::Settings;
use seven_staff::{
    Token,
    account::{self, Error, Invitation},
    login::{self, Entered},
};
use seven_store::{Store, operators::Account};

use crate::stack::Stack;

pub(super) const EMAIL: &str = "demo@example.com";
/// Settings of the console: its port, and no second factor, because only this machine can reach it.
pub(super) const SETTINGS: &str = "console.listen = \"127.0.0.1:7714\"\nconsole.public_url = \"http://127.0.0.1:7714\"\n\
     console.second_factor = false\n";
const BY: &str = "seven dev";

/// Creates the demo operator, or gives the existing one a new password. Returns the password.
pub(super) async fn password(stack: &Stack) -> Result<String> {
    let store = console_store(&stack.settings, stack)?;
    let password = hex::encode(rand::random::<[u8; 8]>());
    let token = match existing(&store).await? {
        Some(account) => {
            let id = OperatorId(account.operator_id);
            account::reset(&store, id, LinkPurpose::Password, BY).await?
        }
        None => add(&store, stack).await?,
    };
    let entered = Entered {
        password: Some(password.clone().into()),
        factor: None,
    };
    login::use_link(&store, &token, entered, false, stack.fleet.clock.now()).await?;
    Ok(password)
}

async fn existing(store: &Store) -> Result<Option<Account>> {
    let mut tx = store.staff().await?;
    let account = tx.account_by_email(EMAIL).await?;
    tx.commit().await?;
    Ok(account)
}

async fn add(store: &Store, stack: &Stack) -> Result<Token, Error> {
    let id: OperatorId = stack.fleet.ids.next();
    let invitation = Invitation {
        email: EMAIL.to_owned(),
        name: "Demo".to_owned(),
        language: Language::En,
        role: Role::Host,
        casino: None,
        ends_on: None,
    };
    let token = account::add(store, id, invitation, BY).await?;
    for role in [
        Role::Admin,
        Role::Editor,
        Role::Approver,
        Role::Manager,
        Role::Compliance,
    ] {
        account::set_role(store, id, (None, role), true, BY).await?;
    }
    Ok(token)
}

fn console_store(settings: &Settings, stack: &Stack) -> Result<Store> {
    let url = settings.console.postgres_url.as_ref();
    let url = url.context("the console's login is set for every fleet of this machine")?;
    Ok(Store::new(url, 2, stack.fleet.timing.sweep())?)
}
