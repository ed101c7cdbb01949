use super::*;

const GROUPS: [(&str, &str); 3] = [
    ("end", "stop|quit"),
    ("both", "@end|do_not"),
    ("loop", "a|@loop"),
];

/// Returns a program with one rule per pattern and "please" as courtesy.
fn program(patterns: &[&str]) -> Program {
    let groups = Groups::new(GROUPS);
    let mut builder = Builder::default();
    let courtesy = builder.class(&groups.alternatives("please").unwrap());
    for pattern in patterns {
        builder.add(&Rule {
            patterns: vec![groups.pattern(pattern).unwrap()],
            unless: vec![],
        });
    }
    builder.forgive(["suicide", "texting"].into_iter(), ["testing"].into_iter());
    builder.finish(courtesy).unwrap()
}

fn search(program: &Program, text: &str) -> Vec<u32> {
    let (mut reading, mut scratch) = (Reading::default(), Scratch::default());
    program.lexicon.read(text, &mut reading);
    program.search(&reading, &mut scratch, Part::Whole).to_vec()
}

fn found(pattern: &str, text: &str) -> bool {
    search(&program(&[pattern]), text) == [0]
}

#[test]
fn elements() {
    for (pattern, yes, no) in [
        ("a b|c", "x a c x", "a x b"),
        ("a ?b c", "a b c", "a b b c"),
        ("a *b|d c", "a b d b c", "a b x c"),
        ("@both now", "do not now", "do now"),
        ("<not|do_not stop", "now stop", "do not stop"),
        ("stop >the|for_now", "stop for ever", "stop for now"),
        ("a <b|a_x c", "a c", "a x c"),
        ("^ stop $", "please stop please please", "please stop now"),
        ("a *b b", "a b b", "a"),
        ("gambl* now", "gambling now", "gambit now"),
        ("# k", "250 k", "some k"),
        ("#5-17 yo", "17yo", "18yo"),
        ("#3d #4d", "555 0142", "5555 0142"),
        ("no #code", "no X1234567", "no 1234567"),
        ("a . b", "a x b", "a b"),
        ("a ~2 b", "a x y b", "a x y z b"),
        ("a ~3!not b", "a x y b", "a x not b"),
        ("system : you", "[system] you are", "the system you"),
        ("a b & d", "d x a b", "a b c"),
        ("suicide now", "sucide now", "side now"),
        ("texting", "txeting", "testing"),
        ("kill me", "k1lll meeee", "kilt me"),
        ("kill me", "k i l l me", "k i l t me"),
        ("fuck", "what the f*ck", "f uck"),
        ("kill", "k!ll", "k.ll"),
    ] {
        assert!(found(pattern, yes), "{pattern} in {yes}");
        assert!(!found(pattern, no), "{pattern} not in {no}");
    }
}

#[test]
fn several_rules_are_found_together_and_in_their_order() {
    let program = program(&["quit", "a b", "b a", "@end", "nothing"]);
    assert_eq!(search(&program, "a b quit"), [0, 1, 3]);
    assert_eq!(search(&program, ""), [] as [u32; 0]);
}

#[test]
fn unreadable_patterns_are_refused() {
    let groups = Groups::new(GROUPS);
    for (pattern, problem) in [
        ("@nobody", Problem::NoGroup("nobody".into())),
        ("@loop", Problem::Circle("loop".into())),
        ("Stop", Problem::Word("Stop".into())),
        ("más", Problem::Word("más".into())),
        ("a ~99 b", Problem::Number("~99".into())),
        ("#x", Problem::Number("#x".into())),
        ("?a", Problem::Empty),
        ("a & ?b", Problem::Empty),
        ("", Problem::Empty),
    ] {
        assert_eq!(groups.pattern(pattern), Err(problem), "{pattern}");
    }
}

#[test]
fn a_match_is_found_wherever_it_stands_in_a_long_text() {
    let program = program(&["a ~9 b", "<never stop texting", "a b >c"]);
    for at in 0..200 {
        let lead = "x ".repeat(at);
        let tail = " x".repeat(200 - at);
        assert_eq!(
            search(&program, &format!("{lead}a x x x x x x b{tail}")),
            [0],
            "at {at}"
        );
        assert_eq!(
            search(&program, &format!("{lead}stop texting{tail}")),
            [1],
            "at {at}"
        );
        assert_eq!(
            search(&program, &format!("{lead}never stop texting{tail}")),
            [] as [u32; 0],
            "at {at}"
        );
        assert_eq!(
            search(&program, &format!("{lead}b a b c{tail}")),
            [0],
            "at {at}"
        );
    }
}

#[test]
fn work_grows_with_the_text_alone() {
    let patterns = [
        "a *b|c|d ~9 b",
        "^ a *b|c $",
        "a ~9 b ~9 c ~9 d",
        "stop *the|a|of texts",
        "b & c & d",
        "a a a a a a b",
    ];
    let program = program(&patterns);
    let work = |text: &str| {
        let (mut reading, mut scratch) = (Reading::default(), Scratch::default());
        program.lexicon.read(text, &mut reading);
        program.search(&reading, &mut scratch, Part::Whole);
        scratch.work
    };
    for piece in [
        "a b c d ",
        "a ",
        "stop the of ",
        "please ",
        "s u i c i d e ",
        "a.",
        "aaaaaa ",
    ] {
        let (short, long) = (work(&piece.repeat(400)), work(&piece.repeat(4_000)));
        assert!(long <= short.max(1) * 11, "{piece}: {short} grew to {long}");
    }
}
