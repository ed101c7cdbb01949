//! Tests the commands about content: an exported file loads back unchanged, and another person
//! publishes or rejects edits that wait (CMS-33, CMS-44, D31).

use seven_content::Outcome;

use super::{by, changed, item, seven};
use crate::harness::{House, Wanted, house};

const RULE: &str = "regulation_001";

/// Edits a regulation; the edit waits for another person.
async fn edited(house: &House, words: &str) {
    let outcome = changed(house, &by("ana"), RULE, |item| {
        item["description"] = words.into();
    })
    .await;
    assert!(matches!(outcome, Outcome::Saved { .. }), "{outcome:?}");
    assert_ne!(item(house, RULE).await["description"], words, "it waits");
}

#[tokio::test] // CMS-33, CMS-44, D31
async fn what_is_exported_loads_back_unchanged_and_what_waits_is_decided() {
    let house = house("editing_commands", Wanted::default()).await;
    let revisions = "select count(*) from content_revisions";
    let before = house.number(revisions).await;
    let exported = seven(&house, &["content", "export"]).await;
    let file = house.scratch.path().join("exported.json");
    std::fs::write(&file, &exported).unwrap();
    let path = file.to_str().unwrap();
    let load = ["content", "load", path, "--by", "ana", "--yes"];
    let loaded = seven(&house, &load).await;
    assert!(loaded.contains("0 new, 0 changed"), "{loaded}");
    assert_eq!(house.number(revisions).await, before);

    let listed = seven(&house, &["content", "list", "--category", "spa", "--json"]).await;
    assert!(listed.contains("spa_001"), "{listed}");
    let template = seven(&house, &["content", "template", "--category", "spa"]).await;
    let head = template.lines().next().unwrap_or_default();
    for column in ["name", "description", "treatment_type", "price"] {
        assert!(head.contains(column), "{column}: {head}");
    }

    let words = "Guests under 21 may walk through the lobby only.";
    edited(&house, words).await;
    let own = ["content", "publish", RULE, "--by", "ana", "--casino"];
    let own = house
        .seven(&[&own[..], &[house.casino().as_str()]].concat(), "")
        .await;
    assert_ne!(own.code, 0, "nobody publishes their own rule: {own:?}");
    seven(&house, &["content", "publish", RULE, "--by", "bob"]).await;
    assert_eq!(item(&house, RULE).await["description"], words);

    edited(&house, "Guests under 18 may walk through the lobby only.").await;
    let reason = ["--reason", "the law says 21"];
    let reject = ["content", "reject", RULE, "--by", "bob"];
    seven(&house, &[&reject[..], &reason].concat()).await;
    assert_eq!(item(&house, RULE).await["description"], words);
    let history = seven(&house, &["content", "history", RULE, "--json"]).await;
    assert!(
        history.contains("rejected") && history.contains("the law says 21"),
        "{history}"
    );
    house.stop().await;
}
