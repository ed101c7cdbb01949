//! The rights of each role (D26). A grant is a role for one casino or for every casino.

use seven_domain::{CasinoId, Role, text_enum};

text_enum! {
    /// One thing that a person may do at a casino.
    Right {
        /// See conversations and cases, with the words masked.
        Conversations => "conversations",
        /// Read the words of texts.
        Words => "words",
        /// Read the words of one conversation after giving a reason, which is recorded in the audit
        /// log.
        Reveal => "reveal",
        /// Take over conversations and write in them; handle cases.
        Converse => "converse",
        /// Read the audit log and the evidence of consent.
        Audit => "audit",
        /// See dead letters.
        DeadLetters => "dead_letters",
        /// See the casino's figures.
        Figures => "figures",
        /// Add, change and disable operators.
        Operators => "operators",
        /// Turn switches on and off.
        Switches => "switches",
        /// See campaigns and their figures.
        Campaigns => "campaigns",
        /// Pause, resume and cancel campaigns.
        Launch => "launch",
        /// See the casino's content and its history.
        Content => "content",
        /// Change content.
        Edit => "edit",
        /// Publish content that somebody else wrote and that needs a second person's review.
        Approve => "approve",
    }
}

/// Returns the rights of a role. A manager may read all that other roles read, and changes nothing.
fn rights(role: Role) -> &'static [Right] {
    use Right::{
        Approve, Audit, Campaigns, Content, Conversations, Converse, DeadLetters, Edit, Figures,
        Launch, Operators, Reveal, Switches, Words,
    };
    match role {
        Role::Host => &[Conversations, Words, Converse],
        Role::Marketing => &[Campaigns, Launch, Content, Edit],
        Role::Approver => &[Campaigns, Launch, Content, Approve],
        Role::Editor => &[Content, Edit],
        Role::Compliance => &[Conversations, Reveal, Audit, DeadLetters, Content],
        Role::Manager => &[
            Conversations,
            Words,
            Audit,
            DeadLetters,
            Figures,
            Campaigns,
            Content,
        ],
        Role::Admin => &[Operators, Switches, Audit, DeadLetters],
        Role::Auditor => &[Audit],
    }
}

/// The roles of one person, each at one casino or (`None`) at every casino.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants(Vec<(Option<CasinoId>, Role)>);

impl Grants {
    /// Wraps a person's roles; a role without a casino applies to every casino.
    pub fn new(grants: Vec<(Option<CasinoId>, Role)>) -> Self {
        Self(grants)
    }

    /// Returns whether the person has the right at the casino.
    pub fn may(&self, casino: &CasinoId, right: Right) -> bool {
        self.0
            .iter()
            .any(|(whose, role)| holds(whose.as_ref(), casino) && rights(*role).contains(&right))
    }

    /// Returns whether the person has the right at every casino.
    pub fn may_everywhere(&self, right: Right) -> bool {
        self.0
            .iter()
            .any(|(whose, role)| whose.is_none() && rights(*role).contains(&right))
    }

    /// Returns whether the person has any role at the casino.
    pub fn knows(&self, casino: &CasinoId) -> bool {
        self.0
            .iter()
            .any(|(whose, _)| holds(whose.as_ref(), casino))
    }

    /// Returns whether the person may give roles for this casino (`None`: for every casino). An
    /// admin gives roles only for the casinos of their own grants.
    pub fn may_grant(&self, whose: Option<&CasinoId>) -> bool {
        match whose {
            Some(casino) => self.may(casino, Right::Operators),
            None => self.may_everywhere(Right::Operators),
        }
    }

    /// Returns the person's roles at the casino.
    pub fn roles_at(&self, casino: &CasinoId) -> impl Iterator<Item = Role> {
        let here = |(whose, _): &&(Option<CasinoId>, Role)| holds(whose.as_ref(), casino);
        self.0.iter().filter(here).map(|(_, role)| *role)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Option<&CasinoId>, Role)> {
        self.0.iter().map(|(whose, role)| (whose.as_ref(), *role))
    }
}

fn holds(whose: Option<&CasinoId>, casino: &CasinoId) -> bool {
    whose.is_none_or(|whose| whose == casino)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn casino(id: &str) -> CasinoId {
        id.parse().unwrap()
    }

    #[test] // D26
    fn roles_have_the_rights_of_the_table() {
        let table = [
            (Role::Host, "conversations words converse"),
            (Role::Marketing, "campaigns launch content edit"),
            (Role::Editor, "content edit"),
            (Role::Approver, "campaigns launch content approve"),
            (
                Role::Compliance,
                "conversations reveal audit dead_letters content",
            ),
            (
                Role::Manager,
                "conversations words audit dead_letters figures campaigns content",
            ),
            (Role::Admin, "operators switches audit dead_letters"),
            (Role::Auditor, "audit"),
        ];
        assert_eq!(table.len(), Role::ALL.len());
        for (role, wanted) in table {
            let has = Grants::new(vec![(Some(casino("casino_a")), role)]);
            let found: Vec<&str> = Right::ALL
                .iter()
                .filter(|right| has.may(&casino("casino_a"), **right))
                .map(|right| right.as_str())
                .collect();
            let mut wanted: Vec<&str> = wanted.split_whitespace().collect();
            wanted.sort_by_key(|name| Right::ALL.iter().position(|right| right.as_str() == *name));
            assert_eq!(found, wanted, "{role}");
        }
    }

    #[test]
    fn a_role_at_one_casino_is_nothing_at_another() {
        for role in Role::ALL {
            let has = Grants::new(vec![(Some(casino("casino_a")), *role)]);
            assert!(has.knows(&casino("casino_a")) && !has.knows(&casino("casino_b")));
            for right in Right::ALL {
                assert!(!has.may(&casino("casino_b"), *right), "{role} {right}");
                assert!(!has.may_everywhere(*right), "{role} {right}");
            }
        }
    }

    #[test]
    fn an_admin_of_one_casino_gives_no_role_for_another_or_for_all() {
        let one = Grants::new(vec![(Some(casino("casino_a")), Role::Admin)]);
        assert!(one.may_grant(Some(&casino("casino_a"))));
        assert!(!one.may_grant(Some(&casino("casino_b"))) && !one.may_grant(None));
        let all = Grants::new(vec![(None, Role::Admin)]);
        assert!(all.may_grant(Some(&casino("casino_b"))) && all.may_grant(None));
        let host = Grants::new(vec![(None, Role::Host)]);
        assert!(!host.may_grant(Some(&casino("casino_a"))));
    }
}
