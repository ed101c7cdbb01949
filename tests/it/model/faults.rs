//! Faults planted in the test's database or sender, which the model must find.

/// The planted faults: a rule that is too lax, a wrong order, and a check at the wrong time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The table of the pre-send check lets replies pass to guests who are opted out.
    RepliesPass,
    /// The guest's word that arrived last takes effect, not the word that was written last.
    LastArrivedWins,
    /// The sender makes the pre-send check when a text is queued, not when it is sent.
    LooksTooEarly,
}

impl Fault {
    pub(crate) fn plant(self) -> &'static str {
        match self {
            Self::RepliesPass => {
                "update send_policy set when_suppressed = 'pass_as_answer' where class = 'reply'"
            }
            Self::LastArrivedWins => {
                "create function model_fault() returns trigger language plpgsql as $$
                 begin if new.state <> 'clear' then new.as_of := clock_timestamp(); end if; return new; end $$;
                 create trigger model_fault before insert on suppressions for each row execute function model_fault()"
            }
            Self::LooksTooEarly => "select 1",
        }
    }
}
