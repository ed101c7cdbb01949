//! An editor, an approver and a manager do their work in a real browser (D31, D44).

use std::{cell::Cell, time::Duration};

use seven_domain::Role;

use super::driver::Browser;
use crate::{
    console::{
        staff::{Caller, Staff},
        with_console,
    },
    harness::{GUEST, House, until},
};

const SOON: Duration = Duration::from_secs(30);
const MASSAGE: &str = "/c/silver_birch/content/items/spa_001";
const RULE: &str = "/c/silver_birch/content/items/regulation_001";

async fn person(house: &House, staff: &Staff<'_>, email: &str, role: Role) -> Caller {
    let added = staff.add(email, role, Some(house.casino())).await;
    added.logged_in(house).await
}

const QUESTIONS: [&str; 3] = [
    "How much is the Swedish Massage?",
    "What does the Swedish Massage cost?",
    "And the price of the Swedish Massage?",
];
/// Maximum time for an answer on a busy machine.
const ASKED_FOR: Duration = Duration::from_secs(120);

/// Asks as a guest until the answer contains `price`.
async fn answered(house: &House, price: &str) {
    // The gate closes a text that is equal to the one before, so the questions alternate.
    let asked = Cell::new(0);
    until(&format!("guests are told {price}"), ASKED_FOR, || async {
        let before = house.texts_to(GUEST).len();
        let n = asked.replace(asked.get() + 1);
        house.text(GUEST, QUESTIONS[n % QUESTIONS.len()]);
        until("an answer", ASKED_FOR, || async {
            house.texts_to(GUEST).len() > before
        })
        .await;
        house.texts_to(GUEST).last().unwrap().contains(price)
    })
    .await;
}

#[tokio::test] // D31, CMS-44, CMS-57
async fn a_price_goes_from_the_form_to_the_handset_and_back() {
    let house = with_console("browser_editor").await;
    let staff = Staff::new(&house);
    let ana = person(&house, &staff, "ana@example.com", Role::Editor).await;
    let bob = person(&house, &staff, "bob@example.com", Role::Approver).await;
    let mia = person(&house, &staff, "mia@example.com", Role::Manager).await;
    let browser = Browser::start(&house).await;
    browser.open_as(&ana, MASSAGE).await;
    // The page shows a problem beside its field before the form is sent. The problem disappears
    // when the value is corrected.
    browser.fill("f-d-price", "-4").await;
    browser.see("#p-d-price", "write a number").await;
    browser.fill("f-d-price", "172").await;
    until("the problem is gone", SOON, || async {
        browser.text("#p-d-price").await.is_empty()
    })
    .await;
    // On the editor's page, the host answers from the unsaved form. Guests still get the old price.
    browser
        .fill("question", "How much is the Swedish Massage?")
        .await;
    browser.click("button[hx-post$='/content/ask']").await;
    browser.see("#asked", "$172").await;
    answered(&house, "$165").await;
    browser.submit("button[value='publish']").await;
    browser.see("#main", "2 guests get this").await;
    answered(&house, "$172").await;
    browser.submit("button[value='undo']").await;
    answered(&house, "$165").await;
    // A change of a regulation waits for a second person.
    browser.open_as(&ana, RULE).await;
    browser
        .fill(
            "f-description",
            "Guests must be 21 on the floor; bring a photo ID.",
        )
        .await;
    browser.submit("button[value='publish']").await;
    browser.see("section.notice", "waits").await;
    browser.open_as(&bob, RULE).await;
    browser
        .submit("section.notice button[value='publish']")
        .await;
    let published = "select count(*) from content_items where item_id = 'regulation_001' and item->>'description' like '%bring a photo ID.'";
    assert_eq!(house.number(published).await, 1);
    // The manager sees the number of texts from guests.
    browser.open_as(&mia, "/c/silver_birch/figures").await;
    browser.see("#main", "Texts from guests").await;
    browser.click("table.figures summary").await;
    browser
        .see(
            "table.figures details[open] p",
            "by the time at which they reached us",
        )
        .await;
    assert_eq!(browser.violations().await, Vec::<String>::new());
    browser.stop().await;
    house.stop().await;
}
