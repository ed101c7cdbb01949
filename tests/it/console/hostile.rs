//! Texts that try to become markup, script or layout are shown as plain text.

use seven_domain::Role;

use super::{staff::Staff, with_console};
use crate::{
    editing::{by, changed},
    harness::GUEST,
};

/// Returns the texts of hostile guests; the tests in `browser` use them, too.
pub(crate) fn texts() -> Vec<String> {
    let fixed = [
        "<script>document.title='owned'</script>",
        "<img src=x onerror=\"document.title='owned'\">",
        "<svg/onload=document.title='owned'>",
        "</p></li></ol><h1>Admin</h1>",
        "<div hx-get=\"/operators\" hx-trigger=\"load\">x</div>",
        "<a href=\"javascript:document.title='owned'\">click</a>",
        "<form action=\"https://evil.example\"><button>Send</button></form>",
        "<style>body{display:none}</style>",
        "<meta http-equiv=refresh content=\"0;url=https://evil.example\">",
        "<iframe src=https://evil.example></iframe>",
        "<base href=https://evil.example/>",
        "<textarea></textarea><script>1</script>",
        "{{ frame.forms }} {% raw %} {{7*7}} ${7*7} #{7*7}",
        "\" autofocus onfocus=\"document.title='owned'",
        "' onmouseover='document.title=1",
        "<template><script>1</script></template>",
        "<!-- comment",
        "]]> <![CDATA[ x",
        "&lt;script&gt; &#60;b&#62; &amp;amp;",
        "<hx-partial hx-target=\"body\">x</hx-partial>",
        "<input name=forms value=x form=say>",
        "<button form=say formaction=https://evil.example>Send</button>",
        "<link rel=stylesheet href=https://evil.example/x.css>",
        "<object data=https://evil.example></object>",
        "<math><mi xlink:href=\"javascript:1\">x</mi></math>",
        "\u{202e}txet siht sesrever",
        "\u{2066}\u{2067}isolates\u{2069}",
        "\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}",
        "zero\u{200b}width\u{feff}",
        "id=texts name=mark <p id=\"who\">taken</p>",
        "\r\n\r\nHTTP/1.1 200 OK\r\nSet-Cookie: seven-here=0",
        "event: change\ndata: x\n\n",
        "data:text/html,<script>1</script>",
        "<slot hx-sse:connect=\"https://evil.example\">",
        "<p style=\"position:fixed;inset:0\">over all</p>",
        "<td><tr></table><table>",
        "<noscript><p title=\"</noscript><img src=x onerror=1>\">",
        "\u{0}null\u{0}",
    ];
    let mut all: Vec<String> = fixed.iter().map(|text| (*text).to_owned()).collect();
    all.push(format!("a{}", "\u{301}".repeat(4_000)));
    all.push("<b>".repeat(600));
    all
}

#[tokio::test] // D27
async fn hostile_texts_are_shown_as_text() {
    let house = with_console("console_hostile").await;
    let staff = Staff::new(&house);
    let hostile = texts();
    assert_eq!(hostile.len(), 40);
    for text in &hostile {
        house.text(GUEST, text);
    }
    house
        .settle_within(
            i64::try_from(hostile.len()).unwrap(),
            std::time::Duration::from_secs(60),
        )
        .await;
    let luis = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let luis = luis.logged_in(&house).await;
    let thread = format!(
        "/c/silver_birch/conversations/{}",
        staff.conversation().await
    );
    luis.act(
        &format!("{thread}/notes"),
        &[("note", "<script>alert(1)</script>")],
    )
    .await;
    for path in [
        &*thread,
        "/c/silver_birch/conversations",
        "/c/silver_birch/cases",
    ] {
        let body = luis.get(path).await.body;
        let (_, content) = body.split_once("<main").unwrap();
        for markup in [
            "<script",
            "<img",
            "<iframe",
            "<style",
            "<b>",
            "<base",
            "<meta",
            "onerror=\"",
        ] {
            assert!(!content.contains(markup), "{path}: {markup}");
        }
        assert!(!body.contains("\u{1b}"), "{path}: an escape character");
    }
    house.stop().await;
}

#[tokio::test] // issue K: cells of a sheet or a form are texts of strangers, too
async fn hostile_cells_are_shown_as_text() {
    let house = with_console("console_hostile_cells").await;
    let staff = Staff::new(&house);
    let ana = staff
        .add("ana@example.com", Role::Approver, Some(house.casino()))
        .await
        .logged_in(&house)
        .await;
    let hostile = texts();
    for text in &hostile {
        for field in ["description", "name"] {
            let change = |item: &mut serde_json::Value| item[field] = text.as_str().into();
            changed(&house, &by("luis"), "spa_001", change).await;
        }
    }
    let markup = |text: &&String| text.contains('<') && text.len() < 500;
    for path in [
        "content",
        "content?category=spa",
        "content/items/spa_001",
        "content/together",
        "content/rollback?to=1h",
        "content/gaps",
    ] {
        let page = ana.get(&format!("/c/silver_birch/{path}")).await;
        assert_eq!(page.status, reqwest::StatusCode::OK, "{path}");
        for text in hostile.iter().filter(markup) {
            assert!(!page.body.contains(text.as_str()), "{path}: {text}");
        }
        let shows = path.contains("spa_001");
        let escaped = page.body.contains("&#60;");
        assert!(escaped || !shows, "{path}: {}", page.body);
    }
    house.stop().await;
}
