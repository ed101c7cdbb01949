use std::process::{Command, Stdio};

use super::*;

fn sleeper() -> std::process::Child {
    Command::new("sleep")
        .arg("30")
        .stdin(Stdio::null())
        .spawn()
        .expect("sleep")
}

#[test]
fn a_leftover_is_ended_and_its_file_removed() {
    let file = std::env::temp_dir().join(format!("seven-pid-{}-a", std::process::id()));
    let mut child = sleeper();
    write(&file, child.id()).unwrap();
    assert_eq!(clear(&file).unwrap(), Some(child.id()));
    assert!(!file.exists());
    assert!(child.try_wait().unwrap().is_some(), "still running");
}

#[test]
fn a_process_that_only_has_the_same_pid_is_left_alone() {
    let file = std::env::temp_dir().join(format!("seven-pid-{}-b", std::process::id()));
    let mut child = sleeper();
    fs::write(&file, format!("{} 12345@another-boot\n", child.id())).unwrap();
    assert_eq!(clear(&file).unwrap(), Some(child.id()));
    assert!(
        child.try_wait().unwrap().is_none(),
        "ended somebody else's process"
    );
    child.kill().unwrap();
    child.wait().unwrap();
}
