use std::collections::BTreeSet;

use super::*;

#[test] // OBS-15
fn names_follow_the_conventions_and_labels_are_of_the_list() {
    let mut names = BTreeSet::new();
    for each in definitions() {
        assert!(names.insert(each.name), "{} twice", each.name);
        assert!(
            each.name.starts_with("seven_") || each.name.starts_with("process_"),
            "{}",
            each.name
        );
        assert!(
            each.help.len() > 10 || each.name == "process_threads",
            "{}: {}",
            each.name,
            each.help
        );
        for label in each.labels {
            assert!(LABELS.contains(label), "{}: {label}", each.name);
        }
        if each.name.ends_with("_seconds") {
            assert!(
                each.help.contains("Seconds")
                    || each.help.contains("seconds")
                    || each.help.contains("Age"),
                "{}",
                each.name
            );
        }
        assert_eq!(
            each.buckets.is_empty(),
            !is_histogram(each.name),
            "{}",
            each.name
        );
        assert!(each.buckets.is_sorted(), "{}", each.name);
    }
}

fn is_histogram(name: &str) -> bool {
    let timed = name.ends_with("_seconds")
        && !name.ends_with("_timestamp_seconds")
        && !matches!(
            name,
            "seven_start_seconds"
                | "seven_oldest_waiting_seconds"
                | "seven_store_check_seconds"
                | "process_start_time_seconds"
        );
    timed
        || matches!(
            name,
            "seven_retrieval_score"
                | "seven_retrieval_diversity"
                | "seven_profile_completeness_ratio"
        )
}

#[test]
fn what_is_counted_is_rendered_with_its_help() {
    metrics()
        .guests
        .sessions
        .with_label_values(&["render_test"])
        .inc();
    let text = render();
    assert!(
        text.contains("# HELP seven_sessions_total Conversations started or resumed"),
        "{text}"
    );
    assert!(text.contains("seven_sessions_total{casino=\"render_test\"} 1"));
    assert!(text.contains("process_resident_memory_bytes "));
}
