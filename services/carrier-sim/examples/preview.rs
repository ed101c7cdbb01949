//! tmp
use std::time::Duration;
use axum::{Router, routing::post, extract::State, Json};
use serde_json::{Value, json};
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let l = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", l.local_addr()?);
    let mut s = seven_carrier_sim::Settings::new(url.clone(), "k", [1; 32]);
    s.listen = "127.0.0.1:7788".parse()?;
    s.casino_name = "Larkfield Casino".into();
    let sim = seven_carrier_sim::start(s).await?;
    let api = format!("{}/v2/messages", sim.url());
    let app = Router::new().fallback(post(|State((api, http)): State<(String, reqwest::Client)>, Json(b): Json<Value>| async move {
        let p = b["data"]["payload"].clone();
        if b["data"]["event_type"] == "message.received" {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(1800)).await;
                let t = p["text"].as_str().unwrap_or("").to_owned();
                let r = if t == "STOP" { "You are unsubscribed from Larkfield Casino and will get no more texts. Reply START to resume.".to_owned() }
                  else if t.starts_with('¿') { "El spa abre todos los días de 9 a. m. a 8 p. m. ¿Le reservo una hora? – Larkfield ✨".to_owned() }
                  else { format!("Open tonight: Harbor Grill until 11 pm and the Noodle Bar until 2 am. Shall I hold a table? <b>{t}</b>") };
                let _ = http.post(api).bearer_auth("k").json(&json!({"from": p["to"][0]["phone_number"], "to": p["from"]["phone_number"], "text": r})).send().await;
            });
        }
    })).with_state((api, reqwest::Client::new()));
    axum::serve(l, app).await?;
    Ok(())
}
