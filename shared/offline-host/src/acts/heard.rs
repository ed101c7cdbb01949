//! The conditions of the table in `acts.rs`. Each looks at a sentence and at the dialogue state
//! before the sentence.

use seven_knowledge::Category;

use super::Heard;
use crate::{
    pack::{Field, Kind, Service},
    phrases::Tokens,
    understand::{Understood, Wish},
};

/// If the learnt table gives an act more than this probability, the table alone may decide for the
/// act.
const CLEAR: f32 = 0.5;
/// A lower limit, for sentences that mention nothing from the rows. No row could answer such a
/// sentence.
const LIKELY: f32 = 0.3;

/// First words of a question that no guest accepts with: "how do I know if they got it".
const ASKING: [&str; 8] = [
    "how", "what", "whats", "where", "wheres", "which", "como", "donde",
];

/// Returns whether the sentence speaks of something that the guest has.
pub(crate) fn speaks_of_own(u: &Understood<'_>) -> bool {
    const OWN: [&str; 13] = [
        "my", "our", "mine", "me", "have", "owe", "mi", "mis", "nuestra", "nuestro", "tengo",
        "debo", "tenemos",
    ];
    let said = &u.said.words;
    said.iter().any(|word| OWN.contains(&word.as_str()))
}

// === impl Heard ===

impl Heard<'_> {
    /// Returns whether a phrase that the pack lists for the act is in the sentence.
    pub(super) fn lists(&self, key: &str) -> bool {
        let phrases = self.pack.acts.get(key);
        phrases.is_some_and(|phrases| phrases.found(&self.u.said))
    }

    pub(super) fn words(&self) -> usize {
        self.u.said.words.len()
    }

    pub(super) fn has_word(&self, known: &[&str]) -> bool {
        let words = &self.u.said.words;
        words.iter().any(|word| known.contains(&word.as_str()))
    }

    pub(super) fn has_fact(&self, apart: &[&str]) -> bool {
        self.u.facets.iter().any(|facet| !apart.contains(facet))
    }

    /// Returns whether the sentence mentions nothing from the rows.
    pub(super) fn is_apart(&self) -> bool {
        let u = self.u;
        let kinds = u.kinds.iter().any(|kind| kind.field != Field::Kids);
        let facts = self.has_fact(&["about"]) || u.intends("cheapest");
        let named = u.venues().iter().any(|mention| mention.telling) || self.names_something;
        let only_time = u.when.is_said() && u.is_all_said();
        let of_rows = !u.topics.is_empty() || kinds || !u.wishes.is_empty() || named;
        !of_rows && !facts && !only_time
    }

    /// Returns whether the sentence asks for nothing, as in "that steak was unreal".
    pub(super) fn is_remark(&self) -> bool {
        let asks = self.u.is_question || self.u.wants("about") || self.u.intends("cheapest");
        // Facts about the guest's own party ask for nothing: "Two teens, a 2 year old and no
        // stairs".
        let of_people: &[&str] = if self.news {
            &["age", "kids", "dietary", "couples"]
        } else {
            &[]
        };
        !asks && !self.has_fact(of_people) && !self.is_fragment()
    }

    /// Returns whether the sentence has at most four words and names something in the rows: "poker
    /// blinds". Such a sentence asks for that thing.
    pub(super) fn is_fragment(&self) -> bool {
        let u = self.u;
        let of_rows = !u.topics.is_empty() || !u.kinds.is_empty() || self.names_something;
        let told = self.news || u.intends("statement") || u.intends("thanks");
        of_rows && self.words() <= 4 && !told && u.refused.is_empty()
    }

    /// Returns whether a phrase of the pack or the learnt table alone decides for the act. If the
    /// sentence asks about a rule, the phrases that the pack lists for acts are ignored.
    pub(super) fn is_shown(&self, key: &str) -> bool {
        self.u.intends(key) || self.lists(key) && !self.asks_a_rule() || self.is_clear(key)
    }

    /// Returns whether the sentence contains any phrase that the pack gives for the act.
    pub(super) fn names_act(&self, key: &str) -> bool {
        self.u.intends(key) || self.lists(key)
    }

    /// Returns whether the learnt table alone decides for the act. The sentence must mention
    /// nothing from the rows, or be a remark of more than three words.
    pub(super) fn is_clear(&self, key: &str) -> bool {
        let remark = self.is_remark() && self.words() > 3;
        (self.is_apart() || remark) && self.learnt.odds(key) > CLEAR
    }

    /// Returns whether the learnt table finds the act likely. The sentence must mention nothing
    /// from the rows.
    pub(super) fn is_learnt(&self, key: &str) -> bool {
        self.is_apart() && self.learnt.odds(key) > LIKELY
    }

    /// Returns whether the sentence may be small talk of this kind. If a question has an unknown
    /// word, the guest probably asks for the thing that the word names. It is small talk only if it
    /// contains a phrase listed for the act.
    pub(super) fn is_chat(&self, key: &str) -> bool {
        let asks = self.u.is_question && !self.u.leftover.is_empty();
        self.lists(key) || (self.is_shown(key) || self.is_learnt(key)) && !asks
    }

    /// Returns whether a guest who has complained complains again. Without the earlier complaint,
    /// the same words might ask for a fact.
    pub(super) fn complains_again(&self) -> bool {
        self.state.complaining && self.lists("complaint")
    }

    /// Returns whether the sentence may ask for something free. "Any free shows?" asks for shows,
    /// and "is parking free" asks about parking; neither asks for a favour.
    pub(super) fn can_ask_a_favour(&self) -> bool {
        let listed = self.lists("comp");
        let of_rows =
            self.u.is_question && self.names_something && !listed
                || self.u.topics.iter().any(|topic| {
                    ["entertainment", "promotions", "loyalty"].contains(&topic.as_str())
                });
        let asks = self.u.is_question || self.learnt.odds("comp") > CLEAR;
        // If the sentence names a time, it asks which shows are on: "Is there anything free
        // tonight".
        let timed = self.u.when.is_said() && !self.speaks_of_own();
        let elsewhere = self.u.wants("where") || of_rows || timed;
        !elsewhere && (listed || asks && self.is_learnt("comp"))
    }

    /// Returns whether the sentence asks about a rule, as in "can we cancel if it rains?"
    pub(super) fn asks_a_rule(&self) -> bool {
        self.u.intends("rules") || self.lists("policy")
    }

    pub(super) fn asks_a_fact(&self) -> bool {
        let service = |service: &Service| service.phrases.found(&self.u.said);
        // If a question has an unknown word, it may ask for the thing that the word names: "do you
        // have babysitting?"
        let suggestible = |topic: &Category| ["dining", "entertainment"].contains(&topic.as_str());
        let wished = self.u.topics.iter().any(suggestible) || self.names_a_kind();
        let unknown = !wished && !self.lists("recommend") && !self.u.leftover.is_empty();
        // If the guest wants suggestions, a diet is a condition and not a question: "He's vegan,
        // where can we eat".
        let conditions: &[&str] = if wished {
            &["about", "kids", "dietary", "couples"]
        } else {
            &["about"]
        };
        let asks = self.has_fact(conditions) || self.names_a_place() || unknown;
        self.u.is_question && asks
            || self.asks_for_a_list()
            || self.pack.services.iter().any(service)
    }

    pub(super) fn speaks_of_own(&self) -> bool {
        speaks_of_own(self.u)
    }

    pub(super) fn names_a_place(&self) -> bool {
        let venues = self.u.venues();
        venues
            .iter()
            .any(|mention| mention.whole && mention.telling)
    }

    pub(super) fn prefers_a_language(&self) -> bool {
        let u = self.u;
        let preferred = self.pack.language.preferred(&Tokens::new(u.text));
        // A guest may ask for a person who speaks the language of the dialogue: "Con quién hablo,
        // que hable español". That is no request to switch the language.
        let asks_for_one = self.lists("human") && preferred == self.language;
        preferred.is_some()
            && !asks_for_one
            && u.topics.is_empty()
            && u.venues().is_empty()
            && u.facets.is_empty()
    }

    pub(super) fn can_change(&self) -> bool {
        !self.asks_a_rule() && (self.lists("change") || self.is_learnt("change"))
    }

    /// Returns whether the last reply named something that the guest can choose from.
    pub(super) fn is_choosing(&self) -> bool {
        !self.state.listed.is_empty()
    }

    /// Returns whether the last reply waits for a yes or no.
    pub(super) fn is_answering(&self) -> bool {
        self.state.proposed || self.state.asked_last || self.state.request.is_some()
    }

    pub(super) fn can_compare(&self) -> bool {
        let several = self.state.listed.len() > 1 || self.u.venues().len() > 1;
        several
            || self.compares_earlier()
            || self.has_word(&["or", "o", "vs", "versus", "between", "entre"])
    }

    /// Returns whether the sentence compares rows that were just named, without naming them again:
    /// "which one is cheaper", "cual abre mas tarde".
    pub(super) fn compares_earlier(&self) -> bool {
        const MORE: [&str; 16] = [
            "cheaper", "longer", "shorter", "bigger", "larger", "later", "earlier", "closer",
            "nearer", "better", "nicer", "mas", "menos", "mejor", "mayor", "menor",
        ];
        let open = self.u.topics.is_empty() && self.u.venues().is_empty();
        let which = self.has_word(&["which", "whichs", "cual", "cuales"]);
        open && which && self.state.recent.len() > 1 && self.has_word(&MORE)
    }

    pub(super) fn can_accept(&self) -> bool {
        let thanks = self.u.intends("thanks");
        let first = self.u.said.words.first().map(String::as_str);
        let asks = self.u.text.contains('?')
            || first.is_some_and(|first| ASKING.contains(&first))
            || self.has_fact(&["about"]);
        // "We love Italian food" is a wish, although "we love it" accepts.
        let taste = self.has_word(&["like", "love", "gusta", "gustan", "encanta", "encantan"]);
        // "The blue one from before" accepts nothing where nothing was named.
        let offered = self.is_choosing() || self.state.request.is_some();
        let clear = offered || self.says_yes() || self.u.leftover.is_empty();
        self.is_answering() && clear && !asks && !thanks && !(taste && self.names_a_kind())
    }

    pub(super) fn says_yes(&self) -> bool {
        self.u.intends("ack") && self.words() <= 4
    }

    pub(super) fn can_reject(&self) -> bool {
        let asks = self.u.is_question && !self.lists("reject");
        self.is_answering() && !asks && !self.has_fact(&["about", "price"])
    }

    pub(super) fn can_correct(&self) -> bool {
        let open = self.state.category.is_some() || self.state.request.is_some();
        let planned = self.u.when.is_said() || self.lists("party");
        let requested = self.state.request.is_some() && planned;
        let shown = requested || self.lists("correct") || !self.u.is_question;
        open && shown && !self.asks_when() && (!self.u.asks_fact() || self.u.when.is_said())
    }

    pub(super) fn can_book(&self) -> bool {
        let facts = ["reservations", "where", "price", "hours"];
        !facts.iter().any(|facet| self.u.wants(facet))
            && !self.has_word(&["how", "como"])
            && !self.asks_a_rule()
            && !self.lists("recommend")
            && (self.u.intends("booking") || self.lists("booking") || self.is_learnt("booking"))
    }

    /// Returns whether the sentence consists only of a time and the last reply named exactly one
    /// row: "and on sundays?"
    pub(super) fn asks_when(&self) -> bool {
        let only_time = self.u.when.is_said() && self.u.is_all_said() && self.u.topics.is_empty();
        let about_one = self.state.listed.len() == 1 && self.state.request.is_none();
        only_time && about_one && self.u.kinds.is_empty()
    }

    pub(super) fn can_want_more(&self) -> bool {
        let listed = self.lists("more");
        let other_time = self.u.when.is_said() && self.u.kinds.is_empty() && !listed;
        // "They got anything with no meat" asks about the place just named, not for more places.
        let asks_there = self.u.points_back && self.u.is_question && !listed;
        (self.is_choosing() || self.state.category.is_some())
            && !other_time
            && !asks_there
            && (listed || !self.asks_for_a_list())
            // "What else is there, the 11 year old is bored" asks for no age rule.
            && !self.has_fact(if listed { &["about", "kids", "age"] } else { &["about", "kids"] })
            && !self.u.venues().iter().any(|mention| mention.telling)
            && !self.names_something
    }

    /// Returns whether the sentence may add conditions to the current request and ask nothing else.
    /// If the last reply named one place, "Kid friendly?" is a question about that place.
    pub(super) fn can_narrow(&self) -> bool {
        let u = self.u;
        let asks_there = u.points_back && u.is_question && u.refused.is_empty();
        let about_one = self.state.listed.len() == 1 && u.refused.is_empty() && u.is_question;
        self.state.category.is_some()
            && u.topics.is_empty()
            && !self.names_a_place()
            && !self.has_fact(&["about", "kids", "dietary", "couples", "age", "dress"])
            && !asks_there
            && !about_one
            && !self.asks_about_known()
            && !self.compares_earlier()
            && !self.asks_when()
    }

    pub(super) fn adds_conditions(&self) -> bool {
        let u = self.u;
        let plan = (u.when.is_said() || self.lists("party")) && u.is_all_said();
        u.kinds.iter().any(|kind| kind.field != Field::Kids)
            || !u.refused.is_empty()
            || self.news && !u.is_question
            || plan && self.is_choosing()
    }

    pub(super) fn can_tell(&self) -> bool {
        let tastes = !self.news && self.u.intends("statement") && self.names_a_kind();
        let shown = self.tells() || self.lists("party") || self.learnt.odds("tell") > CLEAR;
        // A sentence that asks for something is not only a statement.
        let asks = ["comp", "complaint", "booking", "change", "human"];
        let asks = asks.iter().any(|key| self.lists(key));
        self.is_remark() && shown && !asks && !self.names_a_place() && !tastes
    }

    /// Returns whether the sentence names a cuisine, dish or kind of place.
    pub(super) fn names_a_kind(&self) -> bool {
        let kind = |kind: &&Kind| !kind.is_condition();
        self.u.kinds.iter().any(kind)
    }

    /// Returns whether the sentence asks for a whole list: "what restaurants do you have?"
    pub(super) fn asks_for_a_list(&self) -> bool {
        let u = self.u;
        let plain = self.state.wishes.is_empty() && !u.wants("kids") && u.leftover.is_empty();
        plain && (u.intends("listing") && !u.topics.is_empty() || u.asks_which())
    }

    /// Returns whether the sentence may ask for suggestions. It does not if it asks for a fact:
    /// "The place that has pho, where is it".
    pub(super) fn can_recommend(&self) -> bool {
        const FACTS: [&str; 7] = [
            "where",
            "phone",
            "reservations",
            "dress",
            "starts",
            "closes",
            "hours",
        ];
        let u = self.u;
        let of_field = FACTS.iter().any(|facet| u.wants(facet));
        let of_dish = u.wants("price") && !u.kinds.is_empty() && u.topics.is_empty();
        let of_booking = u.intends("booking") && self.has_word(&["how", "como"]);
        // A sentence such as "And the spa?" repeats the last question, now about the spa.
        let repeats = u.continues() && u.leftover.is_empty() && u.kinds.is_empty();
        let repeats = repeats && u.wishes.is_empty() && !u.when.is_said() && self.is_choosing();
        // "And where do we eat after?" asks anew.
        let repeats = repeats && !u.wants("where") && !self.has_word(&["where", "donde"]);
        let of_list = self.asks_for_a_list() && !self.names_act("recommend");
        let of_fact = of_field || of_dish || of_booking || of_list || repeats || self.asks_when();
        let eats = u.topics == [Category::Dining] && u.kinds.is_empty();
        let of_listed = u.points_there()
            && u.is_question
            && (u.topics.is_empty() || eats)
            && !self.state.listed.is_empty();
        // "You know, the usual" names nothing that the host could suggest.
        let of_nothing = !u.is_question
            && !self.names_act("recommend")
            && !u.leftover.is_empty()
            && u.topics.is_empty()
            && u.kinds.is_empty()
            && u.wishes.is_empty()
            && !u.when.is_said()
            && !self.names_something;
        let of_fact =
            of_fact || of_nothing || self.compares_earlier() || of_listed && !self.lists("more");
        !(of_fact || self.asks_about_named() || self.pack.literal.found(&u.said))
    }

    /// Returns whether the sentence asks about a row that it names, or about one that the last
    /// reply named.
    fn asks_about_named(&self) -> bool {
        let u = self.u;
        // If the sentence names a row of dining, it asks about that row. The same holds in a
        // category from which the host suggests nothing: "Is there an arcade or something for
        // them".
        let named = u.venues().into_iter().any(|mention| {
            let of = mention.item.category.as_str();
            mention.telling && (of == "dining" || !is_suggestible(of))
        });
        let known = self.asks_about_known();
        self.names_a_place() || named || known || self.is_choosing() && self.asks_there()
    }

    /// Returns whether the sentence asks about a thing that the dialogue has named: "do the oysters
    /// come with a view".
    fn asks_about_known(&self) -> bool {
        let u = self.u;
        let definite = |place: &(usize, usize)| {
            let before = place.0.checked_sub(1).map(|at| u.said.words[at].as_str());
            matches!(before, Some("the" | "los" | "las"))
        };
        u.is_question && u.kind_places.iter().any(definite)
    }

    /// Returns whether the sentence points to a row just named: "can we eat there", "they got
    /// anything vegan", "is it cheaper".
    fn asks_there(&self) -> bool {
        let u = self.u;
        let of_condition =
            |kind: &&Kind| matches!(kind.field, Field::Dietary | Field::Kids | Field::Price);
        let conditions = u.points_back
            && u.topics.is_empty()
            && !u.kinds.is_empty()
            && u.kinds.iter().all(of_condition);
        // A question with "they" is about the place just named: "Could they do a dessert with a
        // candle".
        let open = self.lists("recommend") || self.lists("more") || !u.topics.is_empty();
        conditions || u.refers() && u.is_question && !open
    }

    /// Returns whether the sentence only tells something about the guest or the party.
    pub(super) fn tells(&self) -> bool {
        let u = self.u;
        let served = u.kinds.iter().any(|kind| !kind.is_condition());
        // A sentence of more than eight words tells something, unless it has a topic, names a dish
        // or cuisine, or follows a proposal of the host.
        let bar = |kind: &&Kind| kind.field == Field::Subcategory;
        let served = served && !u.kinds.iter().all(bar);
        let remark = self.words() > 8 && !served && u.topics.is_empty() && !self.state.proposed;
        self.news && u.topics.is_empty() && !served || u.is_statement() || remark
    }

    pub(super) fn wants_suggestions(&self) -> bool {
        let u = self.u;
        if u.intends("cheapest") && u.about(&"entertainment".into()) {
            return true;
        }
        let priced = u
            .topics
            .iter()
            .any(|topic| ["rooms", "entertainment"].contains(&topic.as_str()));
        let facts = u.facets.iter().any(|facet| {
            let condition = ["about", "kids", "dietary", "couples"].contains(facet);
            !(condition || priced && *facet == "price")
        });
        let served = u.topics.iter().any(|topic| is_suggestible(topic.as_str()))
            || u.kinds.iter().any(|kind| kind.field != Field::Kids);
        let known = |wish: &Wish| wish.known || wish.category.as_str() == "rooms";
        let elsewhere = u
            .topics
            .iter()
            .any(|topic| matches!(topic.as_str(), "promotions" | "loyalty" | "gaming"));
        let asks = !facts && !elsewhere && !self.asks_for_a_list() && !self.asks_a_rule();
        asks && served && u.wishes.iter().all(known)
    }
}

/// Returns whether the host makes suggestions from rows of the category.
fn is_suggestible(category: &str) -> bool {
    ["dining", "entertainment", "spa", "rooms"].contains(&category)
}
