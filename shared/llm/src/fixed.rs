//! Models that cost nothing and use no content, for measurements and for trying a deployment.

use crate::{Model, Reply, Request, Responding, Usage};

/// Answers every request with the same text.
#[derive(Debug, Clone, Copy)]
pub struct FixedModel;

/// Answers with the guest's newest text, so that a tester sees their own words come back.
#[derive(Debug, Clone, Copy)]
pub struct EchoModel;

const REPLY: &str = "Thank you for your text. This is the answer that measurements are made with.";

impl Model for FixedModel {
    fn name(&self) -> &'static str {
        "fixed"
    }

    fn respond<'a>(&'a self, request: &'a Request) -> Responding<'a> {
        reply(self, request, REPLY.to_owned())
    }
}

impl Model for EchoModel {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn respond<'a>(&'a self, request: &'a Request) -> Responding<'a> {
        let newest = request.texts.last();
        reply(self, request, newest.cloned().unwrap_or_default())
    }
}

fn reply<'a>(model: &impl Model, request: &Request, text: String) -> Responding<'a> {
    let reply = Reply {
        text,
        language: model.language(&request.texts, request.language),
        sources: Vec::new(),
        intent: model.name().to_owned(),
        grounded: true,
        asked: None,
        state: request.state.clone(),
        staff: Vec::new(),
        usage: Usage::default(),
    };
    Box::pin(std::future::ready(Ok(reply)))
}
