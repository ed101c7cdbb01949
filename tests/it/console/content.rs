//! Editors and approvers at work in the console (D31).

mod files;

use reqwest::StatusCode;
use seven_domain::Role;

use super::{
    staff::{Caller, Staff},
    with_console,
};
use crate::harness::{GUEST, House};

const SAVE: &str = "/c/silver_birch/content/save";
const MASSAGE: &str = "/c/silver_birch/content/items/spa_001";
const RULE: &str = "/c/silver_birch/content/items/regulation_001";

async fn person(house: &House, staff: &Staff<'_>, email: &str, role: Role) -> Caller {
    let added = staff.add(email, role, Some(house.casino())).await;
    added.logged_in(house).await
}

/// Returns the fields of the page's form, as a browser would send them back.
fn fields(page: &str) -> Vec<(String, String)> {
    let form = page.split("action=\"/c/silver_birch/content/save\"").nth(1);
    let form = form.unwrap_or_else(|| panic!("no form: {page}"));
    let form = form.split("</form>").next().unwrap();
    let decode = |text: &str| {
        let text = text
            .replace("&#38;", "&")
            .replace("&#39;", "'")
            .replace("&#34;", "\"");
        text.replace("&#60;", "<").replace("&#62;", ">")
    };
    let between = |text: &str, from: &str, to: &str| {
        let rest = text.split_once(from)?.1;
        Some(rest.split_once(to)?.0.to_owned())
    };
    let mut all = Vec::new();
    for part in form.split('<').skip(1) {
        let (tag, rest) = part.split_once('>').unwrap_or((part, ""));
        let name = between(tag, " name=\"", "\"");
        match (tag.split(' ').next().unwrap(), name) {
            ("input", Some(name)) if name != "forms" => {
                let value = between(tag, " value=\"", "\"").unwrap_or_default();
                all.push((name, decode(&value)));
            }
            ("textarea", Some(name)) => all.push((name, decode(rest))),
            ("select", Some(name)) => all.push((name, String::new())),
            ("option", _) if tag.contains(" selected") => {
                let value = between(tag, " value=\"", "\"").unwrap_or_default();
                all.last_mut().unwrap().1 = decode(&value);
            }
            _ => {}
        }
    }
    all
}

/// Sends the form of an item's page, with `changes` to its fields.
async fn save(
    caller: &Caller,
    fields: &[(String, String)],
    changes: &[(&str, &str)],
) -> super::staff::Page {
    let value = |name: &str, old: &str| {
        let changed = changes.iter().find(|(changed, _)| *changed == name);
        changed.map_or_else(|| old.to_owned(), |(_, new)| (*new).to_owned())
    };
    let mut sent: Vec<(String, String)> = fields
        .iter()
        .map(|(name, old)| (name.clone(), value(name, old)))
        .collect();
    for (name, new) in changes {
        if !fields.iter().any(|(field, _)| field == name) {
            sent.push(((*name).to_owned(), (*new).to_owned()));
        }
    }
    let sent: Vec<(&str, &str)> = sent.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    caller.act(SAVE, &sent).await
}

#[tokio::test(flavor = "multi_thread")] // D31, CMS-43, CMS-44
async fn an_editor_changes_a_price_and_an_approver_publishes_a_rule() {
    let house = with_console("content_pages").await;
    let staff = Staff::new(&house);
    let ana = person(&house, &staff, "ana@example.com", Role::Editor).await;
    let bob = person(&house, &staff, "bob@example.com", Role::Approver).await;
    let luis = person(&house, &staff, "luis@example.com", Role::Host).await;

    let page = ana.get("/c/silver_birch/content?category=spa").await.body;
    assert!(
        page.contains("Swedish Massage") && page.contains("New item"),
        "{page}"
    );
    let found = "/c/silver_birch/content?category=spa&find=SWED";
    let page = ana.get(found).await.body;
    assert!(
        page.contains("Swedish Massage") && !page.contains("Manicure"),
        "{page}"
    );
    let form = fields(&ana.get(MASSAGE).await.body);
    let done = save(&ana, &form, &[("d.price", "175"), ("what", "publish")]).await;
    assert_eq!(&*done.location, MASSAGE, "{}", done.body);
    house.text(GUEST, "How much is the Swedish Massage?");
    house.settle(1).await;
    assert!(
        house.said_to(GUEST).contains("$175"),
        "{}",
        house.said_to(GUEST)
    );

    // While an editor types, each problem is shown beside its field, and nothing is stored.
    let typed = |price: &str| {
        let mut all: Vec<(String, String)> = form.clone();
        all.iter_mut()
            .filter(|(name, _)| name == "d.price")
            .for_each(|(_, value)| *value = price.to_owned());
        all
    };
    let revisions = house.number("select count(*) from content_revisions").await;
    for (price, wrong) in [("-4", true), ("175", false), ("nine", true)] {
        let all = typed(price);
        let all: Vec<(&str, &str)> = all.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let part = ana.act("/c/silver_birch/content/check", &all).await;
        assert_eq!(part.status, StatusCode::OK, "{}", part.body);
        let place = part.body.split("id=\"p-d-price\"").nth(1).unwrap();
        let place = place.split('>').next().unwrap();
        assert_eq!(!place.contains("hidden"), wrong, "{price}: {}", part.body);
    }
    // An editor whose language is Spanish sees problems in Spanish (CMS-47).
    house.as_owner("update operators set language = 'es'").await;
    let all = typed("-4");
    let all: Vec<(&str, &str)> = all.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let part = ana.act("/c/silver_birch/content/check", &all).await.body;
    let spanish = "es -4; escriba un número de 0 o más";
    assert!(part.contains(spanish), "{part}");
    house.as_owner("update operators set language = 'en'").await;
    assert_eq!(
        house.number("select count(*) from content_revisions").await,
        revisions
    );

    // On the editor's page, the host answers from the unsaved form. Guests do not get this answer.
    let mut draft = typed("199");
    draft.push((
        "question".to_owned(),
        "How much is the Swedish Massage?".to_owned(),
    ));
    let draft: Vec<(&str, &str)> = draft
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_str()))
        .collect();
    let part = ana.act("/c/silver_birch/content/ask", &draft).await;
    assert!(
        part.body.contains("$199") && part.body.contains("made from this item. Nothing"),
        "{}",
        part.body
    );
    assert_eq!(
        luis.act("/c/silver_birch/content/ask", &draft).await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        house.number("select count(*) from content_revisions").await,
        revisions
    );

    // The page shows every problem beside its field, and nothing is saved.
    let form = fields(&ana.get(MASSAGE).await.body);
    let bad = [
        ("d.price", "-4"),
        ("d.treatment_type", ""),
        ("name", ""),
        ("what", "publish"),
    ];
    let refused = save(&ana, &form, &bad).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    for field in ["p-d-price", "p-d-treatment_type", "p-name"] {
        let place = format!("id=\"{field}\">");
        assert!(refused.body.contains(&place), "{field}: {}", refused.body);
    }
    let count = "select count(*) from content_revisions where item_id = 'spa_001'";
    assert_eq!(house.number(count).await, 2);

    // If two editors change the same item, the later save is refused. The form keeps what the later
    // editor wrote.
    let stale = form.clone();
    save(&ana, &form, &[("tip", "Book early."), ("what", "publish")]).await;
    let late = save(
        &ana,
        &stale,
        &[("tip", "Come late & stay."), ("what", "publish")],
    )
    .await;
    assert_eq!(late.status, StatusCode::CONFLICT);
    assert!(late.body.contains("Come late &#38; stay."), "{}", late.body);

    // If the refused form is sent again, it is refused again.
    let again = save(&ana, &fields(&late.body), &[("what", "publish")]).await;
    assert_eq!(again.status, StatusCode::CONFLICT, "{}", again.body);

    // A change of a regulation waits for the approval of a person who did not write it.
    let form = fields(&ana.get(RULE).await.body);
    let text = "Guests must be 21 or older on the whole floor.";
    save(&ana, &form, &[("description", text), ("what", "publish")]).await;
    let decide = format!("{RULE}/decide");
    let own = ana
        .act(&decide, &[("what", "publish"), ("revision", "2")])
        .await;
    assert_eq!(own.status, StatusCode::CONFLICT, "{}", own.body);
    assert!(own.body.contains("needs a second person"), "{}", own.body);
    let page = bob.get(RULE).await.body;
    assert!(
        page.contains("waits for approval") && page.contains("~ description"),
        "{page}"
    );
    let unsaid = bob
        .act(&decide, &[("what", "reject"), ("revision", "2")])
        .await;
    assert!(unsaid.body.contains("Give a reason"), "{}", unsaid.body);
    let done = bob
        .act(&decide, &[("what", "publish"), ("revision", "2")])
        .await;
    assert_eq!(&*done.location, RULE, "{}", done.body);
    let published =
        "select count(*) from content_items where item_id = 'regulation_001' and revision = 2";
    assert_eq!(house.number(published).await, 1);

    // The page shows the editor why a revision was rejected, and the editor dismisses the message.
    let form = fields(&ana.get(RULE).await.body);
    save(
        &ana,
        &form,
        &[("description", "Anyone."), ("what", "publish")],
    )
    .await;
    let no = [
        ("what", "reject"),
        ("revision", "3"),
        ("reason", "21 is the law"),
    ];
    bob.act(&decide, &no).await;
    let page = ana.get(RULE).await.body;
    assert!(
        page.contains("21 is the law") && page.contains("refused"),
        "{page}"
    );
    let done = ana
        .act(&decide, &[("what", "withdraw"), ("revision", "3")])
        .await;
    assert_eq!(&*done.location, RULE, "{}", done.body);
    let left = "select count(*) from content_revisions where item_id = 'regulation_001' and state = 'rejected'";
    assert_eq!(house.number(left).await, 0);

    // Undo makes a new revision with the earlier contents.
    let undo = format!("{MASSAGE}/decide");
    let stale = ana.act(&undo, &[("what", "undo"), ("revision", "2")]).await;
    assert_eq!(stale.status, StatusCode::CONFLICT, "{}", stale.body);
    ana.act(&undo, &[("what", "undo"), ("revision", "3")]).await;
    assert_eq!(house.number(count).await, 4);

    // A form with an empty end time removes the item's end time.
    let end = "select count(take_down_at) from content_items i join content_revisions r using (casino_id, item_id, revision) where item_id = 'spa_001'";
    for (at, ends) in [("2030-12-31T23:00", 1), ("", 0)] {
        let form = fields(&ana.get(MASSAGE).await.body);
        save(&ana, &form, &[("take_down_at", at), ("what", "publish")]).await;
        assert_eq!(house.number(end).await, ends, "{at}");
    }

    // A person with the role of host may not open these pages, and an approver may not edit.
    for path in [
        "/c/silver_birch/content",
        MASSAGE,
        "/c/silver_birch/content/new",
    ] {
        assert_eq!(luis.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let form = [("id", "spa_001"), ("category", "spa"), ("name", "Mine")];
    assert_eq!(bob.act(SAVE, &form).await.status, StatusCode::NOT_FOUND);
    assert_eq!(
        ana.get("/c/other_casino/content").await.status,
        StatusCode::NOT_FOUND
    );
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // CMS-11, CMS-34
async fn a_new_item_is_a_draft_until_it_is_published() {
    let house = with_console("content_draft").await;
    let staff = Staff::new(&house);
    let ana = person(&house, &staff, "ana@example.com", Role::Editor).await;
    let form = fields(
        &ana.get("/c/silver_birch/content/new?category=spa")
            .await
            .body,
    );
    let new = [
        ("name", "Cedar Wrap"),
        ("description", "A wrap with cedar oil."),
        ("d.treatment_type", "Body treatment"),
        ("d.duration_minutes", "60"),
        ("d.price", "140"),
    ];
    let draft = save(&ana, &form, &[&new[..], &[("what", "draft")]].concat()).await;
    let item = draft.location.to_string();
    assert!(
        item.contains("/content/items/spa_"),
        "{item} {}",
        draft.body
    );
    house.text(GUEST, "How much is the Cedar Wrap?");
    house.settle(1).await;
    assert!(
        !house.said_to(GUEST).contains("140"),
        "{}",
        house.said_to(GUEST)
    );
    let page = ana.get("/c/silver_birch/content").await.body;
    assert!(
        page.contains("Waits") && page.contains("Cedar Wrap"),
        "{page}"
    );
    let done = ana
        .act(
            &format!("{item}/decide"),
            &[("what", "publish"), ("revision", "1")],
        )
        .await;
    assert_eq!(&*done.location, &*item, "{}", done.body);
    house.text(GUEST, "How much is the Cedar Wrap?");
    house.settle(2).await;
    assert!(
        house.said_to(GUEST).contains("$140"),
        "{}",
        house.said_to(GUEST)
    );
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // D31, CMS-55
async fn an_approver_brings_an_earlier_state_back_and_removes_words() {
    let house = with_console("content_rollback").await;
    let staff = Staff::new(&house);
    let ana = person(&house, &staff, "ana@example.com", Role::Editor).await;
    let bob = person(&house, &staff, "bob@example.com", Role::Approver).await;
    let rollback = "/c/silver_birch/content/rollback";
    let price = async || {
        let page = ana.get(MASSAGE).await.body;
        let found = fields(&page)
            .into_iter()
            .find(|(name, _)| name == "d.price");
        found.unwrap().1
    };
    // Makes the published content one hour old. A rollback to five minutes ago then undoes only the
    // two changes below. The rollback form takes whole minutes only.
    house
        .change("update content_revisions set published_at = published_at - interval '1 hour'")
        .await;
    for new in ["170", "180"] {
        let form = fields(&ana.get(MASSAGE).await.body);
        save(&ana, &form, &[("d.price", new), ("what", "publish")]).await;
    }
    let zone = house.config.operational.timezone;
    let then = house.stack.fleet.clock.now() - chrono::TimeDelta::minutes(5);
    let then = then
        .with_timezone(&zone)
        .format("%Y-%m-%dT%H:%M")
        .to_string();
    assert_eq!(ana.get(rollback).await.status, StatusCode::NOT_FOUND);
    let look = format!("{rollback}?at={then}&category=spa");
    let page = bob.get(&look).await.body;
    assert!(
        page.contains("Swedish Massage") && page.contains("~ details.price: 180.0 -&#62; 165.0"),
        "{page}"
    );
    assert_eq!(price().await, "180", "looking changes nothing");
    let seal = page.split("name=\"seal\" value=\"").nth(1).unwrap();
    let seal = seal.split('"').next().unwrap().to_owned();
    let agree = [("at", &*then), ("category", "spa"), ("seal", &*seal)];
    // Ana saves a new price meanwhile. The rollback would now undo more than Bob's preview showed.
    let form = fields(&ana.get(MASSAGE).await.body);
    save(&ana, &form, &[("d.price", "190"), ("what", "publish")]).await;
    let done = bob.act(rollback, &agree).await;
    assert_eq!(done.status, StatusCode::CONFLICT);
    assert_eq!(price().await, "190");
    let seal = done.body.split("name=\"seal\" value=\"").nth(1).unwrap();
    let seal = seal.split('"').next().unwrap().to_owned();
    let agree = [("at", &*then), ("category", "spa"), ("seal", &*seal)];
    let done = bob.act(rollback, &agree).await;
    assert!(done.body.contains("Done: guests get"), "{}", done.body);
    assert_eq!(price().await, "165");
    let future = bob.get(&format!("{rollback}?at=2999-01-01T00:00")).await;
    assert!(future.body.contains("Give a time in the past."));

    // The words of an earlier revision are removed. The revision's entry in the history stays.
    let decide = format!("{MASSAGE}/decide");
    let purge = [
        ("what", "purge"),
        ("revision", "2"),
        ("reason", "a name stood there"),
    ];
    assert_eq!(ana.act(&decide, &purge).await.status, StatusCode::NOT_FOUND);
    let none = [("what", "purge"), ("revision", "2"), ("reason", " ")];
    assert_eq!(bob.act(&decide, &none).await.status, StatusCode::CONFLICT);
    let current = [("what", "purge"), ("revision", "5"), ("reason", "no")];
    let refused = bob.act(&decide, &current).await;
    assert!(
        refused.body.contains("is what guests get"),
        "{}",
        refused.body
    );
    bob.act(&decide, &purge).await;
    let left =
        "select count(*) from content_revisions where item_id = 'spa_001' and item is not null";
    assert_eq!(house.number(left).await, 4);
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // RAG-41, RAG-45
async fn a_set_of_questions_tells_which_answers_an_edit_cost() {
    let house = with_console("content_set").await;
    let staff = Staff::new(&house);
    let ana = person(&house, &staff, "ana@example.com", Role::Editor).await;
    let bob = person(&house, &staff, "bob@example.com", Role::Approver).await;
    let set = "/c/silver_birch/content/set";
    let join = [("what", "join"), ("question", "Is there a pool?")];
    let prefilled = ana.act(set, &join).await;
    assert!(prefilled.body.contains("value=\"Is there a pool?\""));
    let add = async |question: &str, expected: &str| {
        let form = [
            ("what", "add"),
            ("question", question),
            ("expected", expected),
        ];
        ana.act(set, &form).await
    };
    for (question, expected, said) in [
        (" ", "Swedish Massage", "Write the question"),
        ("How much?", "No such thing", "Name one to three items"),
        ("How much?", " ; ", "Name one to three items"),
    ] {
        let done = add(question, expected).await;
        assert_eq!(done.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(done.body.contains(said), "{}", done.body);
    }
    let massage = "How much is a Swedish massage?";
    add(massage, "swedish massage").await;
    add("Where can I eat a good steak?", "dining_001").await;
    let again = add(massage, "spa_001").await;
    assert!(again.body.contains("in the set already"), "{}", again.body);
    // The newest run is listed first, with the number of its questions and its recall.
    let recall = |percent: &str| {
        let cell = |text: &str| format!("<td class=\"number\">{text}</td>");
        format!("{}{}", cell("2"), cell(&format!("{percent} %")))
    };
    let run = [("what", "run")];
    assert_eq!(bob.act(set, &run).await.status, StatusCode::NOT_FOUND);
    ana.act(set, &run).await;
    let page = bob.get(set).await.body;
    assert!(
        page.contains(&recall("100")) && !page.contains(">missed<"),
        "{page}"
    );
    // The massage is switched off, and the next run marks its question as missed.
    let form = fields(&ana.get(MASSAGE).await.body);
    save(&ana, &form, &[("active", "false"), ("what", "publish")]).await;
    ana.act(set, &run).await;
    let page = ana.get(set).await.body;
    assert!(
        page.contains(&recall("50")) && page.contains(">missed<"),
        "{page}"
    );
    let id = "select question_id::text from content_questions where question like '%massage%'";
    let id = house.texts_of(id).await.remove(0);
    ana.act(set, &[("what", "remove"), ("id", &id)]).await;
    assert!(!ana.get(set).await.body.contains(massage));
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // RAG-21, RAG-41
async fn what_guests_asked_in_vain_is_shown_in_groups_without_names() {
    let house = with_console("content_gaps").await;
    let staff = Staff::new(&house);
    let ana = person(&house, &staff, "ana@example.com", Role::Editor).await;
    let luis = person(&house, &staff, "luis@example.com", Role::Host).await;
    for (n, text) in [
        "do you sell stamps",
        "where can i buy stamps, I'm Maria Lopez 860-555-0199",
        "do you have a babysitting service",
        "What time is check-in?",
        "I want to die",
    ]
    .iter()
    .enumerate()
    {
        house.text(&format!("+186055501{n}5"), text);
    }
    house.settle(5).await;
    let gaps = "/c/silver_birch/content/gaps";
    let page = ana.get(gaps).await.body;
    assert!(
        page.contains("stamps") && page.contains("babysitting"),
        "{page}"
    );
    for absent in ["Maria", "Lopez", "0199", "check-in", "I want to die"] {
        assert!(!page.contains(absent), "{absent}: {page}");
    }
    assert!(
        page.contains("<td class=\"number\">2</td><td class=\"number\">2</td>"),
        "{page}"
    );
    assert_eq!(luis.get(gaps).await.status, StatusCode::NOT_FOUND);
    let said = house
        .seven(
            &["content", "questions", "--casino", "silver_birch", "--json"],
            "",
        )
        .await;
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("\"guests\":2") && !said.out.contains("Lopez"),
        "{}",
        said.out
    );
    house.stop().await;
}
