//! A model that costs nothing, for measuring the performance of everything around it.

use crate::{Model, Reply, Request, Responding, Usage};

/// Answers every request with the same text, without using content.
#[derive(Debug, Clone, Copy)]
pub struct FixedModel;

const REPLY: &str = "Thank you for your text. This is the answer that measurements are made with.";

impl Model for FixedModel {
    fn name(&self) -> &'static str {
        "fixed"
    }

    fn respond<'a>(&'a self, request: &'a Request) -> Responding<'a> {
        let language = self.language(&request.texts, request.language);
        let reply = Reply {
            text: REPLY.to_owned(),
            language,
            sources: Vec::new(),
            intent: "fixed".to_owned(),
            grounded: true,
            asked: None,
            state: request.state.clone(),
            staff: Vec::new(),
            usage: Usage::default(),
        };
        Box::pin(std::future::ready(Ok(reply)))
    }
}
