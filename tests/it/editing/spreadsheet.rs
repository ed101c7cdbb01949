//! Spreadsheets that are loaded as files (CMS-51).

use crate::harness::{GUEST, Wanted, house};

#[tokio::test] // CMS-51: a spreadsheet in hand
async fn a_spreadsheet_is_loaded_whole_or_not_at_all() {
    let house = house("editing_table", Wanted::default()).await;
    let load = async |name: &str, text: &[u8]| {
        let path = house.file(name, "");
        std::fs::write(&path, text).unwrap();
        let casino = house.casino().to_string();
        let load = [
            "content", "load", &path, "--casino", &casino, "--by", "ana", "--yes",
        ];
        house.seven(&load, "").await
    };
    // The file is in Windows-1252 with semicolons, as a spreadsheet program with Spanish settings
    // writes it.
    let good = b"name;description;treatment type;duration minutes;price\nCaf\xe9 Wrap;With coffee;Body treatment;60;$140\n\
        Mint Bath;Cool;Massage;90;120\n";
    let said = load("spa.csv", good).await;
    assert!(said.code == 0 && said.out.contains("2 new"), "{said:?}");
    let again = load("spa.csv", good).await;
    assert!(
        again.out.contains("0 new, 0 changed, 2 unchanged"),
        "{again:?}"
    );
    house.text(GUEST, "How much is the Mint Bath?");
    house.settle(1).await;
    assert!(
        house.said_to(GUEST).contains("$120"),
        "{}",
        house.said_to(GUEST)
    );

    // A column of blank ids is ignored: each row changes the item that has the row's name.
    let blank = b"id,name,price\n,Mint Bath,121\n,Caf\xe9 Wrap,141\n";
    let said = load("spa.csv", blank).await;
    assert!(said.out.contains("0 new, 2 changed"), "{said:?}");

    // A season's items wait as drafts, and one command publishes them together.
    let path = house.file(
        "winter.csv",
        "name,category,description,treatment_type,duration_minutes,price\n\
        Pine Steam,spa,Hot,Steam room,30,45\nBirch Steam,spa,Hot,Steam room,30,50\n",
    );
    let casino = house.casino().to_string();
    let order = ["--casino", &casino, "--by", "ana", "--yes"];
    let said = house
        .seven(
            &[&["content", "load", &path, "--draft"][..], &order].concat(),
            "",
        )
        .await;
    assert!(said.code == 0 && said.out.contains("2 new"), "{said:?}");
    let waits = "select count(*) from content_revisions where state = 'draft'";
    assert_eq!(house.number(waits).await, 2);
    let all = [&["content", "publish-all"][..], &order].concat();
    let said = house.seven(&[&all[..], &["--dry-run"]].concat(), "").await;
    assert!(
        said.out.contains("Birch Steam (spa_") && said.out.contains("dry run"),
        "{said:?}"
    );
    assert_eq!(house.number(waits).await, 2);
    let said = house.seven(&all, "").await;
    assert!(
        said.out.contains("Published 2 item(s) as one change;"),
        "{said:?}"
    );
    assert_eq!(house.number(waits).await, 0);

    let count = "select count(*) from content_revisions";
    let before = house.number(count).await;
    let bad = "name,category,description,hours,treatment_type,duration_minutes,price\n\
        Sauna,spa,Hot,,Sauna,45,30\nPool Bar,dining,Drinks,whenever,,,\nSteam,spa,Hot,,Steam room,60,30\n";
    let said = load("mixed.csv", bad.as_bytes()).await;
    assert_eq!(said.code, 1);
    for problem in [
        "[mixed]:2:details.duration_minutes: ",
        "[mixed]:3:details.hours: ",
        "[mixed]:3:details.cuisine_type: is missing",
    ] {
        assert!(
            said.err.contains(problem),
            "`{problem}` is not in {}",
            said.err
        );
    }
    assert_eq!(house.number(count).await, before, "nothing is half stored");
    for (name, text, why) in [
        (
            "none.csv",
            &b"Sauna,Hot\n"[..],
            "the first row must have the column names",
        ),
        ("none.xlsx", b"no workbook", "no workbook that can be read"),
    ] {
        let said = load(name, text).await;
        assert!(said.code == 1 && said.err.contains(why), "{said:?}");
    }
    house.stop().await;
}
