use seven_domain::Language;

use super::check;

#[test]
fn english() {
    check(Language::En, ROWS);
}

pub(super) const ROWS: &[(&str, &str)] = &[
    // names
    ("I'm Maria", "name Maria"),
    ("i'm maria", "name Maria"),
    ("Hi, I’m Maria!", "name Maria"),
    ("this is Bob Smith", "name Bob | full Bob Smith"),
    ("My name is Priya Patel", "name Priya | full Priya Patel"),
    ("my name is bob", "name Bob"),
    ("MY NAME IS MARIA", "name Maria"),
    ("You can call me Jim", "name Jim"),
    ("Call me Al-x, just kidding, call me Alex", "name Alex"),
    (
        "Maria here, any tables tonight?",
        "name Maria | visit 11-22",
    ),
    ("I go by Xochitl", "name Xochitl"),
    ("I'm Xochitl and I need a room", "name Xochitl"),
    (
        "Hello this is Sean O'Brien",
        "name Sean | full Sean O'Brien",
    ),
    (
        "I am Maria de la Cruz",
        "name Maria | full Maria de la Cruz",
    ),
    ("It's Karen", "name Karen"),
    ("I'm Frank.", "name Frank"),
    ("I'm Jordan and this is Pat", "name Jordan"),
    // party
    ("party of 6", "party 6"),
    ("table for four please", "party 4"),
    ("Table for 4 at 8pm", "party 4"),
    ("the 5 of us", "party 5"),
    ("there will be six of us", "party 6"),
    ("3 of us", "party 3"),
    ("2 adults and 3 kids", "party 5 | with 3 child"),
    ("2 adults and the 2 kids", "party 4 | with 2 child"),
    ("just me this time", "party 1"),
    ("my wife and I want dinner", "party 2 | with spouse"),
    ("me and my husband", "party 2 | with spouse"),
    ("dinner for two", "party 2"),
    ("dinner for 4 on Friday", "party 4 | visit 11-27"),
    ("we're a group of 12", "party 12"),
    ("for 8 people", "party 8"),
    ("We'll be 8 people", "party 8"),
    ("4ppl", "party 4"),
    ("we are 5", "party 5"),
    // dates
    ("next Saturday", "visit 11-28"),
    ("tomorrow", "visit 11-23"),
    ("tonight", "visit 11-22"),
    ("We're coming Nov 28", "visit 11-28"),
    ("arriving November 28th", "visit 11-28"),
    ("28 November", "visit 11-28"),
    ("the 3rd of December", "visit 12-03"),
    ("Nov 28-30", "visit 11-28..11-30"),
    ("from Nov 28 to Dec 2", "visit 11-28..12-02"),
    ("Friday to Sunday", "visit 11-27..11-29"),
    ("staying Friday through Sunday", "visit 11-27..11-29"),
    ("this weekend", "visit 11-22"),
    ("next weekend", "visit 11-28..11-29"),
    ("next week", "visit 11-23..11-29"),
    ("we'd like to visit in December", "visit 12-01..12-31"),
    ("12/5", "visit 12-05"),
    ("we arrive 12/5/2026", "visit 12-05"),
    ("2026-12-05", "visit 12-05"),
    ("check in on the 28th", "visit 11-28"),
    ("coming for Christmas Eve", "visit 12-24"),
    ("book New Year's Eve", "visit 12-31"),
    ("Thanksgiving dinner reservation", "visit 11-26"),
    ("day after tomorrow", "visit 11-24"),
    ("in 3 days", "visit 11-25"),
    ("this Friday night", "visit 11-27"),
    ("Friday, Nov 27", "visit 11-27"),
    ("table on sat", "visit 11-28"),
    // diet
    ("I'm vegan", "diet vegan"),
    ("We are vegetarians", "diet vegetarian"),
    ("I need gluten-free options", "diet gluten-free"),
    ("do you have halal food?", "diet halal"),
    ("I'm allergic to shellfish", "allergy shellfish"),
    (
        "allergic to peanuts, eggs and soy",
        "allergy peanuts | allergy eggs | allergy soy",
    ),
    ("I have a nut allergy", "allergy tree nuts"),
    ("I don't eat pork", "diet no pork"),
    ("I have celiac disease", "diet celiac"),
    ("I'm lactose intolerant", "diet lactose-intolerant"),
    // occasion
    ("It's my birthday", "occasion birthday"),
    ("celebrating our anniversary", "occasion anniversary"),
    ("it's for my wife's birthday", "occasion birthday"),
    ("my sister's bachelorette party", "occasion bachelorette"),
    ("we're on our honeymoon", "occasion honeymoon"),
    ("planning my anniversary dinner", "occasion anniversary"),
    (
        "date night with my husband",
        "occasion date night | with spouse",
    ),
    // e-mail
    (
        "my email is Maria.Garcia@Email.com.",
        "email maria.garcia@email.com",
    ),
    ("bob+vip@mail.co.uk", "email bob+vip@mail.co.uk"),
    // budget
    ("budget of $200", "budget up to $200"),
    ("my budget is 150", "budget up to $150"),
    (
        "looking for something under $50 per person",
        "budget up to $50 per person",
    ),
    ("we want to spend around $300", "budget up to $300"),
    ("between $50 and $100", "budget $50-$100"),
    ("budget $50-100 each", "budget $50-$100 per person"),
    ("$80 budget", "budget up to $80"),
    // children and companions
    ("my son is 8 years old", "with child 8"),
    ("we have kids ages 5 and 8", "with child 5 | with child 8"),
    ("my 8 year old daughter", "with child 8"),
    ("my 5 and 7 year old kids", "with child 5 | with child 7"),
    ("with our two kids", "with 2 child"),
    (
        "We're driving up Friday with 4 kids",
        "visit 11-27 | with 4 child",
    ),
    ("my husband, me and 3 kids", "with 3 child"),
    ("bringing two little kids", "with 2 child"),
    ("with both kids", "with 2 child"),
    ("traveling with our twins", "with 2 child"),
    ("my three kids and I", "with 3 child"),
    ("got 2 or 3 kids with us", "with child"),
    ("coming with 2 kids, 3 and 7", "with child 3 | with child 7"),
    (
        "They're 6 and 11. Anything fun for them?",
        "with child 6 | with child 11",
    ),
    (
        "they are 3, 6 and 9 years old",
        "with child 3 | with child 6 | with child 9",
    ),
    ("ages 4 and 12", "with child 4 | with child 12"),
    ("one is 5 and the other is 8", "with child 5 | with child 8"),
    (
        "the oldest is 13, the youngest is 4",
        "with child 13 | with child 4",
    ),
    ("She's 7 years old", "with child 7"),
    ("coming with our 6 year old", "with child 6"),
    (
        "we have a 4 year old and a 7 year old",
        "with child 4 | with child 7",
    ),
    ("my wife would love a window table", "with spouse"),
    (
        "vegitarian here, can you seat 5 of us?",
        "diet vegetarian | party 5",
    ),
    ("bringing my kids (4, 9)", "with child 4 | with child 9"),
    ("with my wife Ana", "with spouse Ana"),
    ("coming with friends", "with friends"),
    ("my mom is coming too", "with mother"),
    ("my husband loves jazz", "with spouse"),
    // tastes
    (
        "I love comedy and live music",
        "interest comedy | interest live_music",
    ),
    ("we enjoy italian food", "cuisine italian"),
    ("I'm into poker", "game poker"),
    (
        "I like to play slots and blackjack",
        "game slots | game blackjack",
    ),
    ("interested in a massage", "treatment massage"),
    (
        "we love sushi, steak and jazz",
        "cuisine sushi | cuisine steak | interest jazz",
    ),
    // access
    ("I use a wheelchair", "access wheelchair"),
    (
        "my mother is in a wheelchair",
        "with mother | access wheelchair",
    ),
    ("is the theater wheelchair accessible?", "access wheelchair"),
    ("I'm hard of hearing", "access hearing"),
    ("I have a service dog", "access service dog"),
    ("we need an ADA room", "access accessible room"),
    // several facts in one text
    ("fri-sun", "visit 11-27..11-29"),
    (
        "we're thinking Dec 12-14, 4 adults",
        "visit 12-12..12-14 | party 4",
    ),
    (
        "Hey it's Mike, me and 3 friends are coming down saturday",
        "name Mike | visit 11-28",
    ),
    (
        "I'm Sarah and my husband Tom and I are coming for our anniversary on the 5th of December",
        "name Sarah | with spouse Tom | occasion anniversary | visit 12-05",
    ),
    (
        "Hi I'm Maria, party of 4 next Saturday, it's my birthday and I'm vegan",
        "name Maria | party 4 | visit 11-28 | occasion birthday | diet vegan",
    ),
];
