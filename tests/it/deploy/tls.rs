//! The rendered server uses TLS, and a client that requires TLS refuses to connect to a server
//! without TLS.

use std::{path::Path, process::Command};

use seven_bus::{Access, Bus, topology};
use seven_testkit::Scratch;

use super::{Secured, access};

fn openssl(folder: &Path, arguments: &[&str]) {
    let done = Command::new("openssl")
        .args(arguments)
        .current_dir(folder)
        .output();
    let done = done.expect("openssl, which every package of Postgres brings along");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// Makes a certificate authority, and a certificate for 127.0.0.1 that this authority signs.
fn certificates(folder: &Path) {
    let curve = [
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ];
    let authority = [
        "req",
        "-x509",
        "-days",
        "2",
        "-subj",
        "/CN=test authority",
        "-keyout",
        "ca.key",
        "-out",
        "ca.crt",
    ];
    openssl(folder, &[&authority[..], &curve[..]].concat());
    let asked = [
        "req",
        "-subj",
        "/CN=localhost",
        "-keyout",
        "tls.key",
        "-out",
        "tls.csr",
    ];
    openssl(folder, &[&asked[..], &curve[..]].concat());
    std::fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1\n").unwrap();
    openssl(
        folder,
        &[
            "x509",
            "-req",
            "-in",
            "tls.csr",
            "-CA",
            "ca.crt",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-days",
            "2",
            "-extfile",
            "names",
            "-out",
            "tls.crt",
        ],
    );
}

#[tokio::test]
async fn workers_and_servers_agree_on_tls() {
    let folder = Scratch::new("deploy_certificates").unwrap();
    certificates(folder.path());
    let path = |name: &str| folder.path().join(name);
    let secured = Secured::start(
        "deploy_tls",
        Some([path("tls.crt"), path("tls.key"), path("ca.crt")]),
    )
    .await;
    let settings = |ca_file| seven_bus::Settings {
        url: secured.nats.url(),
        access: Access {
            ca_file,
            ..access("operator")
        },
        limits: topology::Limits::default(),
        instance: "tls".to_owned(),
    };
    let bus = Bus::connect(&settings(Some(path("ca.crt")))).await.unwrap();
    bus.ensure_streams().await.unwrap();
    assert!(
        Bus::connect(&settings(None)).await.is_err(),
        "an authority nobody knows"
    );

    // A client with an authority's certificate does not connect to a server without TLS.
    let bare = Secured::start("deploy_no_tls", None).await;
    let settings = seven_bus::Settings {
        url: bare.nats.url(),
        ..settings(Some(path("ca.crt")))
    };
    assert!(Bus::connect(&settings).await.is_err());
}
