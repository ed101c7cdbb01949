//! Handles one text: stores and judges it, then answers from the pack, closes it with a reason, or
//! signals the swarm.

use std::sync::Arc;

use seven_bus::{Delivery, Handler, Outcome, events::InboundText};
use seven_compliance::{
    Decision, Layer,
    area_codes::{self, Prefix},
};
use seven_domain::{
    Address, CasinoId, Disposition, GuestHash, GuestStatus, InboundId, Stage, TraceContext,
};
use seven_faults::failpoint;
use seven_runtime::{Error, outcome_of};
use seven_store::{
    Tx,
    audit::Entry,
    casinos::Casino,
    guests::{GuestLaw, NewIds},
    inbound::Known,
};
use seven_telemetry::{metrics, trace as spans};

use crate::{
    cries, decide, likely, moved, mutant, reading,
    types::{Case, Gate, Next, Text},
};

impl Handler for Gate {
    type Event = InboundText;
    const STAGE: Stage = Stage::Gate;

    async fn handle(&self, delivery: Delivery<InboundText>) -> Outcome {
        match process(self, &delivery).await {
            Ok(()) => Outcome::Done,
            Err(error) => outcome_of(&error, delivery.tries),
        }
    }

    async fn ready(&self) -> bool {
        self.fleet.ready().await
    }
}

async fn process(gate: &Gate, delivery: &Delivery<InboundText>) -> Result<(), Error> {
    let mut text = Text::read(&delivery.event)?;
    if mutant::ages_from_reading() {
        text.received_at = gate.fleet.clock.now();
    }
    let casino = &delivery.casino;
    if mutant::noted_before(
        &gate.fleet.cache,
        casino,
        &format!("in:{}", text.provider_message_id),
    )
    .await
    {
        return Ok(());
    }
    let mut tx = gate.fleet.store.bind(casino).await?;
    let guest = gate.fleet.keys.hash_address(casino, &text.from);
    let new = NewIds {
        guest: gate.fleet.ids.next(),
        conversation: gate.fleet.ids.next(),
    };
    let (party, Casino { config, .. }) = tx
        .meet(
            &text.from,
            &guest,
            text.number(),
            text.channel(),
            new,
            &law_of(&text.from),
        )
        .await?;
    let pack = Arc::clone(gate.fleet.packs.of(&config)?);
    if party
        .erased_until
        .is_some_and(|until| text.occurred_at <= until)
    {
        // This is a late copy of a text that was deleted at the guest's request. The transaction is
        // dropped, so that nothing is stored.
        metrics()
            .inbound
            .with_label_values(&[casino.as_str(), "none", "erased_before"])
            .inc();
        return forget(gate, delivery).await;
    }
    let decision = reading::judge(gate, &mut tx, &pack, &config, &guest, &text).await?;
    // The row keeps the trace that ingress began. The trace then stays whole even if this process
    // dies before it exports its span.
    let context = TraceContext {
        sampled: delivery.trace.sampled || seven_reader::matters(&decision),
        ..delivery.trace
    };
    let mut trace = context.to_string();
    let personal = decision.hits.iter().any(|hit| hit.layer == Layer::Pii);
    if spans::on() {
        spans::set("seven.guest_phone_hash", guest.tag());
        spans::tell("seven.thread_id", &party.conversation_id);
    }
    let inbound_id: InboundId = gate.fleet.ids.next();
    let row = text.row(
        inbound_id,
        &decision,
        config.operational.session_timeout_hours,
        personal,
        delivery,
        &trace,
    );
    let stored = tx
        .insert_inbound(&party, &row, &audit_entry(&text, &decision, &guest))
        .await?;
    let (next, name, copy) = if stored {
        let case = Case {
            config,
            pack,
            party,
            inbound_id,
            guest,
            text: &text,
            decision,
            trace: trace.clone(),
        };
        if matches!(case.party.status, GuestStatus::Warm | GuestStatus::Archived) {
            tx.set_guest_status(case.party.guest_id, GuestStatus::Active)
                .await?;
        }
        count_unknown_code(&case, casino);
        if case.text.profile().tickets {
            tx.reopen_ticket(case.party.conversation_id).await?;
        }
        cries::note_hits(gate, &mut tx, &case).await?;
        let line_is_news = likely::note_likely(gate, &mut tx, &case).await? && !case.party.stopped;
        let line = if line_is_news {
            likely::name_the_line(gate, &mut tx, &case).await?
        } else {
            Next::nothing()
        };
        let answer = line.and(decide::decide(gate, &mut tx, &case).await?);
        let notice = moved::tell_of_change(gate, &mut tx, &case, &answer).await?;
        let mut next = answer.and(notice);
        let name = next.name();
        if case.text.profile().streams {
            let (asked, by) = (case.text.received_at, "compliance-gate");
            let shown = gate
                .fleet
                .show_at_once(&mut tx, &case.guest, asked, next.texts, by);
            next.texts = shown.await?;
        }
        (next, name, None)
    } else {
        // A duplicate skips the effect and repeats the publish (D3).
        metrics()
            .duplicates
            .with_label_values(&[Stage::Gate.as_str()])
            .inc();
        let known = tx
            .known_inbound(&text.provider, &text.provider_message_id)
            .await?;
        let Some(known) = known else {
            // The number was handed on from one casino to another, and the other casino has this
            // text (D40). The transaction is dropped, so that this casino stores no guest who never
            // wrote to it.
            tracing::info!(%casino, "the text belongs to another casino that had its number");
            return Ok(());
        };
        trace.clone_from(&known.trace);
        spans::adopt(&trace);
        let next = repeat(&mut tx, known).await?;
        let copy = format!("dup:{}", delivery.stream_seq);
        let name = next.name();
        (next, name, Some(copy))
    };
    failpoint!("gate.before_commit");
    tx.commit().await?;
    failpoint!("gate.after_commit");
    spans::set("seven.duplicate", !stored);
    spans::set("seven.next", name);
    tracing::info!(
        %casino,
        inbound_id = %inbound_id,
        stored,
        next = name,
        trace,
        "text judged"
    );
    mutant::dawdle().await;
    publish(gate, casino, &next, inbound_id, copy, &trace).await?;
    if text.profile().streams {
        // Sends a hint to the guest's stream even if there is no answer, because the stream waits
        // for the text's disposition.
        gate.fleet.bus.hint(casino, &guest.bytes).await;
    }
    failpoint!("gate.after_publish");
    gate.fleet
        .cache
        .mark_done(casino, &format!("in:{}", text.provider_message_id))
        .await;
    if personal {
        forget(gate, delivery).await?;
    }
    Ok(())
}

/// Erases the event from its stream, because its text must not be kept.
async fn forget(gate: &Gate, delivery: &Delivery<InboundText>) -> Result<(), Error> {
    gate.fleet
        .bus
        .erase(Stage::Gate, delivery.stream_seq)
        .await?;
    Ok(())
}

async fn repeat(tx: &mut Tx, known: Known) -> Result<Next, Error> {
    if mutant::forgets_duplicates() {
        return Ok(Next::nothing());
    }
    let texts = match known.disposition {
        Disposition::Open | Disposition::Canned => tx.queued_of(known.inbound_id.0).await?,
        _ => Vec::new(),
    };
    let signal = (known.disposition == Disposition::Open).then_some(known.conversation_id);
    Ok(Next { signal, texts })
}

async fn publish(
    gate: &Gate,
    casino: &CasinoId,
    next: &Next,
    cause: InboundId,
    copy: Option<String>,
    trace: &str,
) -> Result<(), Error> {
    if let Some(conversation) = next.signal {
        gate.fleet
            .bus
            .signal_conversation(casino, conversation.0, cause.0, copy.clone(), trace)
            .await?;
    }
    if !next.texts.is_empty() {
        gate.fleet
            .signal_queued(casino, &next.texts, copy.as_deref(), trace)
            .await?;
    }
    Ok(())
}

/// Builds the audit entry of the text, whose row is the entry's subject.
fn audit_entry<'a>(text: &Text, decision: &Decision, guest: &'a GuestHash) -> Entry<'a> {
    let hit = decision.hits.first();
    let detail = serde_json::json!({
        "message_length": text.body.chars().count(), "media": text.media_count,
        "verdict": decision.verdict.as_str(),
        "guardrail_result": {
            "triggered": hit.is_some(),
            "layer": hit.map_or("none", |h| h.layer.as_str()),
        },
    });
    Entry {
        guest: Some(guest),
        ..Entry::of(text.profile().inbound, "compliance-gate", "", detail)
    }
}

/// Counts a new guest whose area code is not in the table, so that somebody adds the code
/// (`data/area_codes.csv`).
fn count_unknown_code(case: &Case<'_>, casino: &CasinoId) {
    if let Some(phone) = case.text.from.phone()
        && let Prefix::UnknownCode(code) = area_codes::prefix_of(phone)
        && case.party.new
    {
        metrics()
            .guests
            .unknown_area_codes
            .with_label_values(&[casino.as_str()])
            .inc();
        tracing::warn!(
            %casino,
            area_code = code,
            "a guest's area code is not in the table; the strictest window holds"
        );
    }
}

/// Returns the disclosure laws of every state to which this number may belong (D15). A visitor of
/// the website may be anywhere, so the disclosure is always required.
fn law_of(address: &Address) -> GuestLaw {
    let Some(phone) = address.phone() else {
        return GuestLaw {
            disclosure_required: true,
            disclosure_law: None,
        };
    };
    let rules = seven_compliance::jurisdiction::of(phone, None);
    let laws = rules.ai_disclosure_laws.join("; ");
    GuestLaw {
        disclosure_required: rules.ai_disclosure_required,
        disclosure_law: (!laws.is_empty()).then_some(laws),
    }
}
