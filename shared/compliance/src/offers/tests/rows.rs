//! Replies, each with the action that the check must take.

use super::{
    Action::{Flag, Pass, Reject},
    *,
};

#[test] // SEC-41, SEC-44, SEC-45, SEC-46
fn spec_table() {
    // Table 12.4 of the specification, column "Wanted".
    for (reply, wanted) in [
        ("The ribeye is $62", Pass),
        ("You get $5 credit", Reject),
        ("You get $50 on us", Reject),
        ("You get $5 credit / $50 on us", Reject),
        ("20% off spa", Flag),
        ("$1,000.00 free play", Reject),
        ("$20 free play", Pass),
        ("complimentary valet", Flag),
        ("comp room", Flag),
        ("BOGO wings", Flag),
        ("free drinks for all", Flag),
        ("two-for-one", Flag),
        ("free room night", Flag),
    ] {
        assert_eq!(
            action(reply, &table()),
            wanted,
            "{reply:?}: {:#?}",
            check(reply, &table(), noon(), ZONE)
        );
    }
    assert_eq!(action("The ribeye is $62", &Catalogue::default()), Reject);
}

#[test]
fn replies() {
    let resort = resort();
    let rows = [
        // Nothing offered: SEC-42
        ("", Pass),
        ("Doors open at 7:30pm, dinner is at 6.", Pass),
        ("Feel free to text me any time!", Pass),
        (
            "Our gluten-free bun is great, and the lounge is smoke-free.",
            Pass,
        ),
        ("We have 50 tables and 300 rooms.", Pass),
        ("You can count on us. Questions? Rely on us!", Pass),
        ("I am 100% sure.", Pass),
        ("Dress code is smart casual.", Pass),
        ("It is a $$$ restaurant.", Pass),
        ("Estamos abiertos las 24 horas.", Pass),
        ("A table for two for dinner, done.", Pass),
        // Prices that content rows list
        ("The ribeye is $62.", Pass),
        ("Dinner for two: the $62 ribeye and the $38 trout.", Pass),
        ("Tickets are $35-$75.50.", Pass),
        ("Tickets run from $35 to $75.50.", Pass),
        ("Tickets are 35 dollars.", Pass),
        ("Valet is $20 a day, free for nobody.", Pass),
        ("Parking is free and valet is $20.", Pass),
        ("You can get the ribeye for $62.", Pass),
        ("Gift cards go from $25 to $500.", Pass),
        ("Groups pay an 18% service charge.", Pass),
        ("El ribeye cuesta $62.", Pass),
        ("La salida tardía cuesta 40 dólares.", Pass),
        ("Los boletos van desde US$35.", Pass),
        ("The credit card fee for the ribeye is $62.", Pass),
        // Prices that no content row lists
        ("The ribeye is $63.", Reject),
        ("The ribeye is $6.", Reject),
        ("The ribeye is $620.", Reject),
        ("Tickets are $35-$80.", Reject),
        ("Tickets are $35-80.", Reject),
        ("El ribeye cuesta $60.", Reject),
        ("That is sixty dollars.", Reject),
        ("Son 50 pesos.", Reject),
        ("That is €62.", Reject),
        // A price is not a gift
        ("$62 free play", Reject),
        ("You get $62 on us.", Reject),
        ("We'll give you $62.", Reject),
        ("You'll get dinner, a show and $62.", Reject),
        ("Enjoy $62 in slot play.", Reject),
        ("A bonus of $62 for you.", Reject),
        ("Your $62 ribeye voucher is ready: $62 voucher.", Reject),
        ("$62, on the house!", Reject),
        ("Save $38 today.", Reject),
        ("Le regalamos $62.", Reject),
        ("Recibe $38 de crédito.", Reject),
        ("$62 de descuento en su cena.", Reject),
        ("500 dólares gratis", Reject),
        // Promotions, worded correctly and incorrectly
        ("$20 free play", Pass),
        ("You get $20 in slot free play when you join.", Pass),
        ("Join the club and get twenty dollars in free play!", Pass),
        ("Recibe $20 de juego gratis al unirse.", Pass),
        ("20 dólares de juego gratis", Pass),
        ("US$20 de juego gratis", Pass),
        ("$5 free play", Reject),
        ("$2 free play", Reject),
        ("$200 free play", Reject),
        ("$20.50 free play", Reject),
        ("500 in free play is yours", Reject),
        ("20 in free play is yours", Pass),
        ("50 dólares de juego gratis", Reject),
        ("Cincuenta dólares de juego gratis", Reject),
        ("50 USD of credit", Reject),
        ("a hundred bucks on us", Reject),
        ("$5k free play", Reject),
        ("You get a $25 dining credit.", Pass),
        ("$25 de crédito para comidas", Pass),
        ("$25 free play", Reject),
        ("$20 dining credit", Reject),
        ("$40 off your stay", Pass),
        ("$40 off your massage", Reject),
        ("$40 menos en su estancia", Pass),
        ("Spend $100 at any restaurant and get $30 free play.", Pass),
        ("$100 free play", Reject),
        ("$50 free play", Reject),
        ("$20 match play", Reject),
        ("$20 cash", Reject),
        ("$20 hotel credit", Reject),
        ("$50 match play", Pass),
        ("$50 match bet", Flag),
        ("We will match your deposit.", Flag),
        ("bonus bet", Flag),
        ("Bono de depósito para usted", Flag),
        // Percentages
        ("15% off a massage", Pass),
        ("15 percent off your massage", Pass),
        ("15 por ciento de descuento en su masaje", Pass),
        ("15% off dinner", Flag),
        ("50% off a massage", Flag),
        ("1.5% off a massage", Flag),
        ("20 por ciento de descuento", Flag),
        ("Veinte por ciento menos", Flag),
        ("100% match", Flag),
        ("Dinner is half off", Flag),
        ("A mitad de precio", Flag),
        ("$15 off a massage", Reject),
        // Free things
        ("free drinks for all", Flag),
        ("Your free room night awaits", Flag),
        ("free slot credits", Flag),
        ("Drinks are free tonight", Flag),
        ("Bebidas gratis para todos", Flag),
        ("Una noche gratis", Flag),
        ("Cena de cortesía", Flag),
        ("La cena va por nuestra cuenta", Flag),
        ("Dinner is on us", Flag),
        ("Dessert, on the house.", Flag),
        ("Everything is comped", Flag),
        ("Dinner at no charge", Flag),
        ("Postre sin costo", Flag),
        ("Free parking", Pass),
        ("Parking is free.", Pass),
        ("Complimentary parking", Pass),
        ("El estacionamiento es gratis.", Pass),
        ("Free WiFi everywhere", Pass),
        ("El WiFi es gratis.", Pass),
        ("Free valet", Flag),
        ("Free shuttle", Flag),
        ("Third night free", Flag),
        ("Win a free car!", Flag),
        ("Enjoy a free evening, a free moment, your free time.", Pass),
        ("Service animals stay free.", Pass),
        ("Drinks on me!", Flag),
        ("We waive the resort fee.", Flag),
        ("We'll waive the $20 valet fee.", Reject),
        ("juego gratis", Pass),
        // Two for one
        ("BOGO wings", Pass),
        ("2x1 en alitas", Pass),
        ("2x1 en bebidas", Flag),
        ("Buy one, get one drinks", Pass),
        ("buy one get one drinks", Flag),
        ("2-for-1 cocktails", Flag),
        ("dos por uno en cenas", Flag),
        ("Two nights for the price of one", Flag),
        // Codes
        ("Use code TWOLEAF.", Pass),
        ("Mention promo code twoleaf when you call.", Pass),
        ("Con el código Twoleaf", Pass),
        ("There is a promo code.", Pass),
        ("Use code TWOLEAF20", Flag),
        ("Use promo code TWO-LEAF", Flag),
        ("Con el código promocional VERANO", Flag),
        ("promo code megawin", Flag),
    ];
    let wrong: Vec<String> = rows
        .into_iter()
        .map(|(reply, wanted)| (reply, wanted, check(reply, &resort, noon(), ZONE)))
        .filter(|(_, wanted, found)| found.action != *wanted)
        .map(|(reply, wanted, found)| {
            format!(
                "{reply:?} must {wanted:?}, not {:?}: {:?}",
                found.action, found.offers_found
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn record() {
    // SEC-46, SEC-47: the record of a check has feedback and wording
    let reply = "Enjoy $20 free play, a free drink and $60 on us!";
    let found = check(reply, &resort(), noon(), ZONE);
    let texts: Vec<&str> = found.offers_found.iter().map(|o| o.text.as_str()).collect();
    assert_eq!(texts, ["$20", "free play", "free drink", "$60"]);
    assert!(
        found
            .offers_found
            .iter()
            .all(|o| reply[o.span.clone()] == o.text)
    );
    assert_eq!(
        found.offers_found[0].kind,
        Kind::Money {
            cents: 2000,
            currency: Currency::Usd
        }
    );
    assert_eq!(
        found.offers_found[2].kind,
        Kind::FreeItem {
            item: Some("drink".into())
        }
    );
    let texts: Vec<&str> = found
        .unverified_offers
        .iter()
        .map(|o| o.text.as_str())
        .collect();
    assert_eq!(texts, ["free drink", "$60"]);
    assert_eq!(
        (found.has_offers, found.verified, found.action),
        (true, false, Reject)
    );
    assert!(
        found
            .feedback
            .as_ref()
            .is_some_and(|f| f.contains("\"$60\"") && !f.contains("$20")),
        "{found:?}"
    );
    assert_eq!(found.audit, None);
    assert!(found.matched_campaigns.iter().any(|id| id == "play"));

    let found = check("A free drink for you", &resort(), noon(), ZONE);
    assert_eq!((found.action, found.feedback), (Flag, None));
    assert_eq!(
        found.audit.as_deref(),
        Some("sent with wording that no current promotion supports: \"free drink\"")
    );
    assert_eq!(found.matched_campaigns, [""; 0]);

    let found = check("See you at 7", &resort(), noon(), ZONE);
    assert_eq!(
        (found.has_offers, found.verified, found.action),
        (false, true, Pass)
    ); // SEC-42
}

#[test]
fn a_reader_of_the_log_sees_the_kind() {
    let found = check("BOGO wings", &table(), noon(), ZONE);
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["action"], "flag");
    assert_eq!(json["unverified_offers"][0]["kind"], "bogo");
    assert_eq!(json["unverified_offers"][0]["text"], "BOGO");
}

#[test]
fn without_promotions_nothing_is_given() {
    for reply in ["$20 free play", "$62", "20 in free play"] {
        assert_eq!(action(reply, &Catalogue::default()), Reject, "{reply:?}");
    }
}

#[test]
fn a_price_range_before_an_hour_is_no_amount() {
    for (reply, wanted) in [
        ("Railcar (American, kids' menu, $$, 11am-12am)", Pass),
        ("Harvest Loft (Buffet, $, 7am-10pm)", Pass),
        ("$$50 in free play", Reject),
        ("$ 50 in free play", Reject),
    ] {
        assert_eq!(action(reply, &Catalogue::default()), wanted, "{reply:?}");
    }
}
