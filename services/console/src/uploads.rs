//! Checked content files that wait until the person who uploaded them loads them. They are held in
//! this process's memory for a quarter of an hour. After that, or in another process, the person
//! must upload the file again.

use std::{sync::Arc, time::Duration};

use moka::{future::Cache, policy::EvictionPolicy};
use seven_content::load::Loaded;
use seven_domain::CasinoId;
use uuid::Uuid;

/// How long a checked file is held. `UPLOAD_BYTES`: maximum size of all held files together.
const UPLOAD_TTL: Duration = Duration::from_secs(15 * 60);
const UPLOAD_BYTES: u64 = 64 << 20;

/// The options that the person chose with the file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options {
    pub(crate) switch_off_missing: bool,
    /// Whether all changes are saved as drafts.
    pub(crate) draft: bool,
}

/// A file that was checked.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) casino: CasinoId,
    /// The person who uploaded the file and had it checked.
    pub(crate) by: String,
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) options: Options,
    /// The changes that the person was shown.
    pub(crate) planned: Loaded,
}

/// The cache of checked files, by their keys.
pub(crate) type Uploads = Cache<Uuid, Arc<Checked>>;

pub(crate) fn uploads() -> Uploads {
    Cache::builder()
        .eviction_policy(EvictionPolicy::lru())
        .max_capacity(UPLOAD_BYTES)
        .weigher(|_, checked: &Arc<Checked>| u32::try_from(checked.bytes.len()).unwrap_or(u32::MAX))
        .time_to_live(UPLOAD_TTL)
        .build()
}
