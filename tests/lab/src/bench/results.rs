//! The results of a run of `./scripts/bench`.

use std::collections::BTreeMap;

use serde::Serialize;

/// All results of a run, as `--json` writes them; parts that were not measured are `None`.
#[derive(Debug, Serialize)]
pub(crate) struct Results {
    pub(crate) commit: &'static str,
    pub(crate) cores: usize,
    #[serde(flatten)]
    pub(crate) pipeline: Option<super::pipeline::Pipeline>,
    pub(crate) ingress: Option<super::ingress::Ingress>,
    pub(crate) slow: Option<super::slow::Slow>,
    pub(crate) growth: Option<super::growth::Growth>,
    pub(crate) isolation: Option<super::isolation::Isolation>,
    pub(crate) start: Option<BTreeMap<&'static str, super::start::Started>>,
    pub(crate) traces: Option<super::traces::Traces>,
    pub(crate) consoles: Option<super::consoles::Consoles>,
    pub(crate) web: Option<super::web::Web>,
    pub(crate) recovery: Option<super::recovery::Recovery>,
}
