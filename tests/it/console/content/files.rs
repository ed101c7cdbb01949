//! Uploads of content files (D31). Every file is checked before it is loaded. The items of a whole
//! season may be loaded as drafts and then published together.

use reqwest::StatusCode;
use seven_domain::Role;

use super::{
    super::{
        staff::{Caller, Page, Staff},
        with_console,
    },
    MASSAGE, fields, person, save,
};
use crate::harness::GUEST;

const UPLOAD: &str = "/c/silver_birch/content/upload";

async fn upload(caller: &Caller, name: &str, bytes: &[u8]) -> Page {
    let forms = caller.forms();
    caller
        .send_file(UPLOAD, &[("forms", &forms)], name, bytes)
        .await
}

#[tokio::test(flavor = "multi_thread")] // D31, CMS-46: checked first, loaded as it was checked
async fn a_file_is_checked_and_loaded_by_an_editor() {
    let house = with_console("content_upload").await;
    let staff = Staff::new(&house);
    let ana = person(&house, &staff, "ana@example.com", Role::Editor).await;
    let bob = person(&house, &staff, "bob@example.com", Role::Approver).await;
    let luis = person(&house, &staff, "luis@example.com", Role::Host).await;
    let revisions = "select count(*) from content_revisions";
    let before = house.number(revisions).await;

    // The page lists all problems at once, by row, and nothing is stored.
    let wrong = "name;price;treatment_type\nHot Stone;-5;massage\n;20;massage\n";
    let page = upload(&ana, "spa.csv", wrong.as_bytes()).await;
    assert_eq!(
        page.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{}",
        page.body
    );
    assert!(
        page.body.contains("spa.csv[spa]:2:") && page.body.contains("spa.csv[spa]:3:"),
        "{}",
        page.body
    );
    for (name, bytes, wanted) in [
        (
            "bomb.xlsx",
            b"PK\x03\x04nothing".to_vec(),
            "no workbook that can be read",
        ),
        ("spa.csv", vec![b'x'; 11 << 20], "more than 10 MB"),
        (
            "spa.csv",
            b"=cmd()".to_vec(),
            "the first row must have the column names",
        ),
        ("spa.csv", Vec::new(), "No file was chosen"),
    ] {
        let page = upload(&ana, name, &bytes).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{wanted}");
        assert!(page.body.contains(wanted), "{wanted}: {}", page.body);
    }
    let page = upload(&ana, "spa.csv", &vec![b'x'; 33 << 20]).await;
    assert_eq!(page.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(house.number(revisions).await, before);

    // The template of a category has the category's columns.
    let table = ana.get("/c/silver_birch/content/template/spa").await;
    assert!(
        table.body.starts_with("id,name,") && table.body.contains("treatment_type"),
        "{}",
        table.body
    );
    let none = ana.get("/c/silver_birch/content/template/nothing").await;
    assert_eq!(none.status, StatusCode::NOT_FOUND);

    // The page previews the changes of a valid file. An editor then loads exactly these changes,
    // and only once.
    let good = "name;price\nSwedish Massage;170\n";
    let page = upload(&ana, "spa.csv", good.as_bytes()).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    assert!(
        page.body.contains("Swedish Massage: ") && page.body.contains("170"),
        "{}",
        page.body
    );
    assert_eq!(
        house.number(revisions).await,
        before,
        "a check stores nothing"
    );
    let key = page.body.split("name=\"key\" value=\"").nth(1).unwrap();
    let key = key.split('"').next().unwrap().to_owned();
    let load = &format!("{UPLOAD}/load");
    let other = bob.act(load, &[("key", &key)]).await;
    assert_eq!(
        other.status,
        StatusCode::NOT_FOUND,
        "an approver does not edit"
    );
    let done = ana.act(load, &[("key", &key)]).await;
    assert!(done.body.contains("Loaded."), "{}", done.body);
    let again = ana.act(load, &[("key", &key)]).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert_eq!(house.number(revisions).await, before + 1);
    house.text(GUEST, "How much is the Swedish Massage?");
    house.settle(1).await;
    assert!(
        house.said_to(GUEST).contains("$170"),
        "{}",
        house.said_to(GUEST)
    );

    // A file is not loaded if it would now change other things than the preview showed.
    let later = "name;price\nSwedish Massage;180\n";
    let page = upload(&ana, "spa.csv", later.as_bytes()).await;
    let stale = page.body.split("name=\"key\" value=\"").nth(1).unwrap();
    let stale = stale.split('"').next().unwrap().to_owned();
    let meanwhile = fields(&ana.get(MASSAGE).await.body);
    save(&ana, &meanwhile, &[("d.price", "175"), ("what", "publish")]).await;
    let done = ana.act(load, &[("key", &stale)]).await;
    assert_eq!(done.status, StatusCode::CONFLICT);
    assert!(
        done.body.contains("would now do something else"),
        "{}",
        done.body
    );
    assert_eq!(house.number(revisions).await, before + 2);

    // A person with the role of host may not upload files. A form without the page's token is
    // refused.
    let page = upload(&luis, "spa.csv", good.as_bytes()).await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    let page = ana.send_file(UPLOAD, &[], "spa.csv", good.as_bytes()).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // CMS-46
async fn a_season_is_entered_as_drafts_and_published_as_one_change() {
    let house = with_console("content_season").await;
    let staff = Staff::new(&house);
    let ana = person(&house, &staff, "ana@example.com", Role::Editor).await;
    let bob = person(&house, &staff, "bob@example.com", Role::Approver).await;
    let together = "/c/silver_birch/content/together";
    let season = "name,description,treatment_type,duration_minutes,price\n\
        Pine Steam,Winter steam with pine,Steam room,30,47\n\
        Swedish Massage,Winter massage with warm oil,Massage,60,400\n";
    let forms = ana.forms();
    let sent = [("forms", &*forms), ("draft", "yes")];
    let page = ana
        .send_file(UPLOAD, &sent, "spa.csv", season.as_bytes())
        .await;
    let key = page.body.split("name=\"key\" value=\"").nth(1).unwrap();
    let key = key.split('"').next().unwrap().to_owned();
    let done = ana.act(&format!("{UPLOAD}/load"), &[("key", &key)]).await;
    assert!(done.body.contains("Loaded."), "{}", done.body);
    let published = "select count(*) from content_revisions where state = 'published'";
    let before = house.number(published).await;
    house.text(GUEST, "How much is the Pine Steam?");
    house.settle(1).await;
    let said = house.said_to(GUEST);
    assert!(!said.contains("$47"), "guests get no draft: {said}");

    // Only approvers publish, and they publish exactly what their page showed.
    assert_eq!(ana.get(together).await.status, StatusCode::NOT_FOUND);
    let shown = async || {
        let page = bob.get(together).await.body;
        let seen = page.split("name=\"seen:").skip(1).map(|field| {
            let (id, rest) = field.split_once('"').unwrap();
            let value = rest.split('"').nth(1).unwrap().to_owned();
            (format!("seen:{id}"), value)
        });
        seen.collect::<Vec<_>>()
    };
    let all = async |seen: &[(String, String)]| {
        let mut form: Vec<(&str, &str)> = seen.iter().map(|(n, v)| (&**n, &**v)).collect();
        form.push(("all", "yes"));
        bob.act(together, &form).await
    };
    let seen = shown().await;
    assert_eq!(seen.len(), 2);
    let none = bob.act(together, &[]).await;
    assert_eq!(none.status, StatusCode::UNPROCESSABLE_ENTITY);
    // Ana saves another revision after Bob's page was shown. That revision must not be published in
    // place of the one on the page.
    let form = fields(&ana.get(MASSAGE).await.body);
    save(&ana, &form, &[("d.price", "410"), ("what", "draft")]).await;
    let done = all(&seen).await;
    assert_eq!(done.status, StatusCode::CONFLICT, "{}", done.body);
    assert!(
        done.body.contains("Nothing was published")
            && done
                .body
                .contains("Swedish Massage</bdi>: It no longer waits"),
        "{}",
        done.body
    );
    assert_eq!(house.number(published).await, before);
    // A rejected edit of another item does not stop the publication.
    let refuse = [
        ("what", "reject"),
        ("revision", "2"),
        ("reason", "not agreed"),
    ];
    let wrap = "/c/silver_birch/content/items/spa_002";
    let form = fields(&ana.get(wrap).await.body);
    save(&ana, &form, &[("d.price", "900"), ("what", "publish")]).await;
    bob.act(&format!("{wrap}/decide"), &refuse).await;
    let done = all(&shown().await).await;
    assert!(done.body.contains("Published: 2"), "{}", done.body);
    assert_eq!(house.number(published).await, before + 2);
    let versions = "select count(distinct content_version) from content_revisions \
        where state = 'published' and item -> 'description' #>> '{}' like 'Winter%'";
    assert_eq!(house.number(versions).await, 1);
    house.text(GUEST, "How much is the Pine Steam?");
    house.settle(2).await;
    let said = house.said_to(GUEST);
    assert!(said.contains("$47"), "{said}");
    house.stop().await;
}
