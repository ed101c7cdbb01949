//! `./scripts/dev`: the whole fleet with the demo casino and the carrier simulator, and a handset
//! to text it.

pub mod breaking;
mod console;
mod doctor;
mod explain;
mod handset;
mod observe;
mod options;
mod play;
mod start;

pub use self::options::Dev;

use anyhow::Result;

pub async fn run(dev: Dev) -> Result<()> {
    if dev.doctor {
        return doctor::run().await;
    }
    if let Some(what) = dev.r#break {
        return breaking::run(&dev, what).await;
    }
    let empty = dev.say.as_ref().is_some_and(|text| text.trim().is_empty());
    anyhow::ensure!(
        !empty,
        "--say is empty; say what the guest texts, such as \"Is the pool open?\""
    );
    if dev.say.is_some() || dev.script.is_some() {
        return play::run(&dev).await;
    }
    handset::run(&dev).await
}

pub(crate) use explain::explain;
pub(crate) use play::sent_texts;
pub(crate) use start::{House, house};
