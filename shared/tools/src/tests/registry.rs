//! Tests of which tools exist, which agents may call them, and which descriptions a model gets.

use serde_json::json;
use seven_host::Manifest;

use super::house::{House, agent, all_tools, kind};
use crate::{check, known};

fn manifest(tools: &str, more: &str) -> Manifest {
    Manifest::parse(&format!(
        "default_agent = \"one\"\n[agents.one]\ntitle = \"One\"\ntools = {tools}\n{more}"
    ))
    .unwrap()
}

#[test] // AGENT-5, D18
fn a_manifest_names_only_tools_there_are() {
    let pack = seven_packs::casino();
    check(&pack.agents).unwrap();
    let boats = "[tools.search_boats]\ndescription = \"Finds boats.\"\ncategories = [\"boats\"]\n";
    check(&manifest("[\"search_boats\", \"create_offer\"]", boats)).unwrap();
    let missing = check(&manifest("[\"search_boats\"]", ""))
        .unwrap_err()
        .to_string();
    assert!(
        missing.contains("`one` names the tool `search_boats`"),
        "{missing}"
    );
    assert!(known().all(|tool| missing.contains(tool)), "{missing}");
    let taken = check(&manifest(
        "[]",
        &boats.replace("search_boats", "create_offer"),
    ))
    .unwrap_err()
    .to_string();
    assert!(taken.contains("`create_offer`"), "{taken}");
}

#[test] // AGENT-31: schemas a provider takes: objects, closed, without references
fn every_tool_has_a_closed_schema() {
    let house = House::new();
    let names: Vec<String> = all_tools().into_iter().map(str::to_owned).collect();
    let specs = house.toolbox().specs(&names);
    assert_eq!(specs.len(), names.len());
    for spec in specs {
        let schema = &spec.parameters;
        assert_eq!(
            (&schema["type"], &schema["additionalProperties"]),
            (&json!("object"), &json!(false)),
            "{schema}"
        );
        assert!(schema["properties"].is_object(), "{schema}");
        let text = schema.to_string();
        assert!(
            !text.contains("$ref") && !text.contains("$schema") && !text.contains("$defs"),
            "{text}"
        );
        assert!(spec.description.len() > 10, "{}", spec.name);
    }
    assert!(
        house
            .toolbox_of(&["search_dining"])
            .specs(&names)
            .iter()
            .all(|spec| spec.name == "search_dining")
    );
}

#[test] // AGENT-2, AGENT-47, SUP-9
fn an_agent_has_its_own_tools_only() {
    let house = House::new();
    let mut toolbox = house.toolbox_of(&["search_dining"]);
    let colleague = toolbox.call("create_offer", &json!({"item": "promo_dinner"}));
    assert_eq!(kind(&colleague), "not_your_tool");
    assert!(
        colleague["error"]["fix"]
            .as_str()
            .unwrap()
            .contains("search_dining")
    );
    assert_eq!(kind(&toolbox.call("rm -rf", &json!({}))), "unknown_tool");
    assert!(toolbox.effects().is_empty());
    toolbox.hand_to(&agent(&["create_offer"]));
    assert_eq!(
        kind(&toolbox.call("search_dining", &json!({}))),
        "unknown_tool"
    );
    assert_eq!(
        kind(&toolbox.call("create_offer", &json!({"item": "promo_dinner"}))),
        "none"
    );
    assert_eq!(toolbox.calls().len(), 4, "every call is kept");
}

#[test]
fn a_record_stays_small() {
    let house = House::new();
    let mut toolbox = house.toolbox();
    toolbox.call(&"x".repeat(9_000), &json!({"query": "y".repeat(9_000)}));
    let kept = serde_json::to_string(toolbox.calls()).unwrap();
    assert!(
        kept.len() < 1_000 && kept.contains("omitted_bytes"),
        "{} bytes",
        kept.len()
    );
}
