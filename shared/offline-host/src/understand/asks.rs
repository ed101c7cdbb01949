//! Tells questions from statements, and finds what a negation refuses.

use crate::phrases::Tokens;

/// Words that make a text a question if they are among its first four words.
const ASKING: [&str; 25] = [
    "what", "whats", "when", "whens", "where", "wheres", "which", "who", "how", "any", "que",
    "cual", "cuales", "cuando", "donde", "cuanto", "cuanta", "cuantos", "cuantas", "quien", "hay",
    "alguna", "anything", "como", "algo",
];
/// Words that make a question only at the beginning of a text: "are we ...", but not "we are ...".
const ASKING_FIRST: [&str; 28] = [
    "is", "are", "do", "does", "did", "can", "could", "should", "will", "would", "may", "tell",
    "show", "list", "tienen", "tiene", "puedo", "podemos", "puede", "esta", "estan", "aceptan",
    "necesito", "need", "looking", "busco", "abren", "cierran",
];

/// A verb and a subject that follows it make a question anywhere in a text: "My lab is big, can he
/// stay".
const INVERTED: ([&str; 11], [&str; 16]) = (
    [
        "can", "could", "do", "does", "is", "are", "will", "would", "may", "should", "did",
    ],
    [
        "i", "we", "he", "she", "they", "you", "it", "my", "there", "the", "a", "anyone",
        "someone", "that", "this", "ur",
    ],
);

pub(super) fn asks(text: &str, said: &Tokens) -> bool {
    let polite = |w: &&String| {
        [
            "hi", "hello", "hey", "hola", "and", "y", "also", "so", "please", "ok", "okay", "good",
            "morning", "evening",
        ]
        .contains(&w.as_str())
    };
    let mut words = said.words.iter().skip_while(polite);
    text.contains(['?', '¿'])
        || (0..said.words.len().min(4)).any(|at| asks_with(said, at))
        || words
            .next()
            .is_some_and(|w| ASKING_FIRST.contains(&w.as_str()))
        || said.words.windows(2).any(|pair| {
            ["guys", "yall", "they"].contains(&pair[0].as_str())
                && ["do", "have", "got", "sell", "offer", "serve", "take"]
                    .contains(&pair[1].as_str())
        })
        || (1..said.words.len()).any(|at| is_inverted(said, at))
}

/// Returns whether the word at `at` is a question word. "Que" in "dijo que" is not one: it joins
/// two sentences.
fn asks_with(said: &Tokens, at: usize) -> bool {
    const SAYING: [&str; 24] = [
        "dijo", "dice", "dicen", "dijeron", "creo", "digo", "se", "pienso", "parece", "espero",
        "hay", "tengo", "tiene", "tenemos", "mas", "lo", "la", "el", "los", "las", "ya", "es",
        "quiero", "queremos",
    ];
    let joins = said.words[at] == "que" && at > 0 && SAYING.contains(&said.words[at - 1].as_str())
        // "Como 8 personas" means "about 8 people".
        || said.words[at] == "como"
            && said.words.get(at + 1).is_some_and(|next| next.parse::<u32>().is_ok());
    ASKING.contains(&said.words[at].as_str()) && !joins
}

/// Returns whether a verb stands before its subject: "can he stay", but not "you are a lifesaver".
fn is_inverted(said: &Tokens, at: usize) -> bool {
    const SUBJECTS: [&str; 10] = [
        "i", "you", "we", "they", "he", "she", "it", "that", "this", "there",
    ];
    let (verb, subject) = (said.words[at - 1].as_str(), said.words[at].as_str());
    let told = at > 1 && SUBJECTS.contains(&said.words[at - 2].as_str());
    INVERTED.0.contains(&verb) && INVERTED.1.contains(&subject) && !told
}

/// Words that refuse what follows them.
const NOT: &[&str] = &[
    "dont", "doesnt", "not", "no", "nothing", "without", "except", "besides", "but", "never",
    "cant", "wont", "isnt", "aint", "hate", "hates", "allergic", "sin", "menos", "nada", "ni",
    "odia", "odio", "alergica", "alergico", "nunca",
];
/// Words that may stand between a refusal and the thing refused: "no le gustan los mariscos".
const PASSED: &[&str] = &[
    "le", "les", "me", "nos", "te", "gusta", "gustan", "los", "las", "el", "la", "un", "una",
    "come", "comen", "como", "comemos", "puede", "pueden", "quiero", "quiere", "queremos", "do",
    "like", "likes", "eat", "eats", "want", "wants", "any", "much", "a", "an", "al", "to", "the",
    "really", "into", "feel", "feeling", "de", "have", "with", "for", "haya", "sea", "tenga", "i",
    "we", "she", "he", "hes", "shes", "is", "does",
];

/// Returns whether the thing at `from` is refused by a word before it.
pub(super) fn is_refused(said: &Tokens, from: usize) -> bool {
    let mut at = from;
    while at > 0 && from - at < 6 {
        at -= 1;
        let word = said.words[at].as_str();
        if NOT.contains(&word) {
            return true;
        }
        if !PASSED.contains(&word) {
            return false;
        }
    }
    false
}

/// Words that refer to something named before.
const REFERRING: [&str; 19] = [
    "it", "its", "they", "theyre", "their", "them", "those", "ese", "esa", "eso", "esos", "esas",
    "ahi", "alli", "alla", "ellos", "aquel", "las", "los",
];

/// Returns whether the text refers to something by "it", "they" or "there".
pub(super) fn refers(said: &Tokens) -> bool {
    let words: Vec<&str> = said.words.iter().map(String::as_str).collect();
    let article = |n: usize| {
        let verb = words
            .get(n + 1)
            .is_some_and(|w| ["compro", "compramos", "venden", "usamos"].contains(w));
        !["las", "los"].contains(&words[n]) || verb
    };
    let at = |n: usize| {
        let before = n.checked_sub(1).map(|n| words[n]);
        match words[n] {
            "there" => !matches!(before, Some("is" | "are" | "was")),
            "that" => {
                n + 1 == words.len()
                    || matches!(
                        before,
                        Some("is" | "does" | "wheres" | "whats" | "for" | "about" | "with")
                    )
            }
            word => REFERRING.contains(&word) && article(n),
        }
    };
    (0..words.len()).any(at)
}
