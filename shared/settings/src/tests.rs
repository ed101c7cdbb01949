use super::*;

#[test]
fn the_defaults_are_complete_and_pass_their_checks() {
    let settings: Settings = Figment::from(Toml::string(DEFAULTS)).extract().unwrap();
    settings.check().unwrap();
    assert!(
        settings.hash_key().is_err(),
        "production must name its own secret"
    );
}

#[test] // PROD-48
fn components_log_from_info_on_and_libraries_from_warning_on() {
    let log = Settings::parse("").unwrap().telemetry.log;
    let parts: Vec<&str> = log.split(',').collect();
    assert_eq!(parts[0], "info", "{log}");
    assert!(
        parts[1..].iter().all(|part| part.ends_with("=warn")),
        "{log}"
    );
    let one = Settings::parse("telemetry.log = \"info,seven_agent_swarm=debug\"").unwrap();
    assert!(one.telemetry.log.ends_with("seven_agent_swarm=debug"));
    let bad = Settings::parse("telemetry.log = \"info,seven=loud\"").unwrap_err();
    assert!(bad.to_string().contains("telemetry.log"), "{bad}");
}

#[test]
fn a_fixed_reply_or_an_echo_never_leaves_this_machine() {
    for provider in ["fixed", "echo"] {
        let with =
            |more: &str| Settings::parse(&format!("model.provider = \"{provider}\"\n{more}"));
        assert!(with("").unwrap_err().to_string().contains("model.provider"));
        assert!(with("telnyx.base_url = \"http://127.0.0.1:8080/\"").is_ok());
        let twilio = "twilio.account_sid = \"AC1\"\ntwilio.auth_tokens = [\"x\"]\n";
        assert!(
            with(&format!(
                "{twilio}telnyx.base_url = \"http://127.0.0.1:8080/\""
            ))
            .is_err()
        );
        assert!(with("telnyx.base_url = \"http://localhost.example/\"").is_err());
    }
}

#[test] // RAG-12
fn the_local_embedding_needs_the_folder_of_its_weights() {
    let error = Settings::parse("knowledge.provider = \"local\"").unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("knowledge.folder") && said.contains("./scripts/weights"),
        "{said}"
    );
    let folder = "knowledge.folder = \"/srv/e5\"";
    let settings = Settings::parse(&format!("knowledge.provider = \"local\"\n{folder}")).unwrap();
    assert!(!settings.knowledge.provider.has_key());
    assert_eq!(
        settings.knowledge.folder.as_deref(),
        Some(Path::new("/srv/e5"))
    );
}

#[test]
fn unknown_keys_are_refused() {
    let error = Figment::from(Toml::string(DEFAULTS))
        .merge(Toml::string("[nats]\nurll = 1"))
        .extract::<Settings>()
        .unwrap_err();
    assert!(error.to_string().contains("urll"), "{error}");
}

#[test]
fn one_connection_is_too_few() {
    for key in ["postgres.connections", "postgres.own_connections"] {
        let error = Settings::parse(&format!("{key} = 1"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(key) && error.contains("at least 2"),
            "{error}"
        );
        assert!(Settings::parse(&format!("{key} = 2")).is_ok());
    }
}

#[test]
fn a_casinos_own_workers_have_connections_of_another_number() {
    let settings =
        Settings::parse("postgres.connections = 7\npostgres.own_connections = 3").unwrap();
    assert_eq!(settings.postgres.connections_of(false), 7);
    assert_eq!(settings.postgres.connections_of(true), 3);
}

#[test] // SMS-56
fn the_default_prices_of_numbers_and_campaigns_are_those_of_the_fees() {
    let usd = |text: &str| text.parse::<seven_cost::Usd>().unwrap();
    let (ours, fees) = (
        Settings::parse("").unwrap().cost,
        seven_providers::fees::fees(),
    );
    assert_eq!(
        (ours.number, ours.campaign),
        (usd(&fees.number.most), usd(&fees.campaign.month))
    );
    assert!(
        fees.tiers
            .values()
            .all(|tier| tier.vetting.parse::<seven_cost::Usd>().is_ok())
    );
}

#[test]
fn all_faults_are_told_at_once() {
    let text = "time.scale = 11\ntelemetry.queue = 0\nworker.concurrency = 0\nredis.url = \"redis://r.example:6379\"";
    let told = Settings::parse(text).unwrap_err().to_string();
    for key in [
        "time.scale",
        "telemetry.queue",
        "worker.concurrency",
        "redis.url",
    ] {
        assert!(
            told.lines()
                .any(|line| line.starts_with(&format!("setting {key}: "))),
            "{key} in {told}"
        );
    }
    assert_eq!(told.lines().count(), 4, "{told}");
}
