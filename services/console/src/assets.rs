//! Style and scripts, built into the program. Their address contains a hash of their contents, so
//! that browsers may cache them.

use std::sync::LazyLock;

use axum::{
    Router,
    extract::Path,
    http::{
        StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS},
    },
    response::{IntoResponse, Response},
    routing::get,
};
use sha2::{Digest, Sha256};

use crate::app::Shared;

const FILES: [(&str, &str, &str); 5] = [
    (
        "console.css",
        "text/css; charset=utf-8",
        include_str!("../assets/console.css"),
    ),
    (
        "icon.svg",
        "image/svg+xml",
        include_str!("../assets/icon.svg"),
    ),
    ("htmx.js", JAVASCRIPT, include_str!("../assets/htmx.min.js")),
    (
        "console.js",
        JAVASCRIPT,
        include_str!("../assets/console.js"),
    ),
    (
        "hx-sse.js",
        JAVASCRIPT,
        include_str!("../assets/hx-sse.min.js"),
    ),
];
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    FILES.iter().for_each(|(_, _, text)| hash.update(text));
    hex::encode(hash.finalize()).chars().take(16).collect()
});

pub(crate) fn routes() -> Router<Shared> {
    Router::new().route("/assets/{version}/{file}", get(asset))
}

/// Returns the path under which the assets are served; it contains a hash of their contents.
pub(crate) fn folder() -> String {
    format!("/assets/{}", *VERSION)
}

async fn asset(Path((_, file)): Path<(String, String)>) -> Response {
    let found = FILES.iter().find(|(name, ..)| *name == file);
    let Some((_, kind, text)) = found else {
        return StatusCode::NOT_FOUND.into_response();
    };
    (
        [
            (CONTENT_TYPE, *kind),
            (CACHE_CONTROL, "public, max-age=31536000, immutable"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ],
        *text,
    )
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D27: vendored files are the published ones
    fn the_vendored_scripts_are_htmx_4_0_1() {
        for (name, hash) in [
            (
                "htmx.js",
                "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130",
            ),
            (
                "hx-sse.js",
                "18ef2761356ec1fe0bb6d92612315b37517a7c1e9856b661c5ae81fef239d103",
            ),
        ] {
            let (.., text) = FILES.iter().find(|(file, ..)| *file == name).unwrap();
            assert_eq!(hex::encode(Sha256::digest(text)), hash, "{name}");
        }
    }
}
