//! The phrases that express an offer, in the notation of [`Phrases`], in English and Spanish.

use std::sync::LazyLock;

use super::phrase::Phrases;

macro_rules! phrases {
    ($($(#[$doc:meta])* $name:ident = [$($phrase:literal),+ $(,)?];)+) => {$(
        $(#[$doc])*
        pub(super) static $name: LazyLock<Phrases> =
            LazyLock::new(|| Phrases::new(&[$($phrase),+]));
    )+};
}

phrases! {
    /// Phrases after an amount that make it a gift: "$20 in slot free play".
    GIFT = [
        "free", "freeplay", "promo|slot play", "match", "credit|credits", "bonus", "off",
        "discount", "rebate",
        "cash ?back", "cashback", "efectivo", "reward|rewards", "voucher|vouchers",
        "comp|comps|comped",
        "complimentary", "for free", "to spend", "toward|towards", "menos", "gratis",
        "gratuito|gratuitos|gratuita",
        "de regalo", "de credito", "credito|creditos", "descuento|descuentos",
        "bono|bonos|bonificacion|bonificaciones", "reembolso", "cortesia", "para usar|gastar",
        "ahorro",
    ];
    /// Phrases that say that the guest does not pay. They make the amount before them a gift, even
    /// across a comma.
    ON_US = [
        "on us", "on the house", "is|are|its|drink|drinks|dinner|lunch|breakfast|dessert on me",
        "compliments of",
        "courtesy of", "our treat", "?va|van por nuestra cuenta", "?va|van por cuenta de la casa",
        "?va|van por cuenta nuestra", "cortesia de la casa", "invita la casa", "la casa invita",
        "nosotros invitamos",
    ];
    /// Phrases that look like one in `GIFT` or `ON_US` but offer nothing.
    NO_GIFT = [
        "credit card|cards", "card|cards credit", "tarjeta|tarjetas de credito",
        "tarjeta|tarjetas de regalo",
        "count|counting|rely|relying|depend|depends|wait|waiting|call|check|follow|based on us",
        "free to",
        "cash|efectivo only|solamente",
    ];
    /// Phrases of giving. If one comes within the twelve words before an amount, the amount is a
    /// gift, unless a price word comes between them.
    GIVING = [
        "you|youll|youd ?will|can|could ?also get|receive|earn", "you|youve ?have ?just won",
        "?we|well|ill|i ?will|can ?also give|gives|giving ?you",
        "credit|comp|comping|treat|treating|gift|gifting|send|sending|owe you",
        "waive|waiving|waived",
        "load|loaded|loading|added|adding", "save|saves|saving",
        "claim|claiming|redeem|redeeming|receive|receives",
        "congrats|congratulations",
        "le|te|les damos|doy|daremos|dare|regalamos|regalo|ofrecemos|ofrezco|obsequiamos|acreditamos|devolvemos",
        "damos|regalamos|obsequiamos|acreditamos",
        "recibe|recibes|reciba|recibira|recibiras|recibir|reciban",
        "obtiene|obtienes|obtenga|obten|obtendra|obtendras",
        "ahorra|ahorras|ahorre|ahorrara|ahorrar",
        "ganaste|reclame|reclama|canjee|canjea|felicidades",
    ];
    /// Phrases of giving that make an amount a gift only if they come directly before it.
    GIVING_DIRECTLY = [
        "enjoy|get|have|got|offer|offering|grab|take|heres|claim ?you ?a|an|your|this|our|extra|another ?extra ?up ?to",
        "here is ?a|your",
        "disfrute|disfruta|disfruten|tiene|tienes|tome|toma|lleve|lleva|aqui ?tiene|tienes ?de \
         ?un|una|su|tu|sus|tus|los ?hasta",
    ];
    /// Words that make an amount a gift if they come shortly before it: "a bonus of $50".
    GIFT_OF = [
        "free", "freeplay", "bonus", "comp|comped|complimentary", "credit|credits",
        "discount|discounts",
        "reward|rewards", "rebate", "voucher|vouchers", "cashback", "gratis", "gratuito",
        "bono|bonos",
        "credito|creditos", "descuento|descuentos", "cortesia", "regalo", "gift of", "reembolso",
    ];
    /// Phrases that say that the guest pays or stakes the amount.
    ASKED = [
        "spend|spends|spending|bet|bets|wager|deposit|buy|purchase|pay|pays|paying|minimum|min|over|least \
         ?of ?a ?minimum ?of",
        "gasta|gaste|gastar|gastando|gasto|consumo|compra|compre|apuesta|apueste|pague|paga|pagar|minimo|menos \
         ?un ?minimo ?de", "deposite|deposito|deposita \
         ?un ?minimo ?de",
    ];
    /// Words before "free" that make the thing named after "free" a gift: "a free car".
    ARTICLE = ["a|an|your|another|one|first|our"];
    /// Words after "free" that show that nothing is given away: "a free evening".
    FREE_TIME = ["time|moment|minute|hour|afternoon|evening|day|weekend|table|spot|seat|hand|spirit|agent|will"];
    NO_CHARGE = [
        "for free", "free of charge", "at|with no ?extra|additional cost|charge", "no charge",
        "?totalmente gratis|gratuito|gratuita|gratuitos|gratuitas|gratuitamente",
        "sin costo|costos|cargo",
        "de regalo", "de cortesia",
    ];
    COMP = ["comp|comps|comped|comping|complimentary|complementary|waive|waived|waiving"];
    BOGO = [
        "bogo", "for the price of one|1", "por el precio de uno|una|1",
        "buy one|1 get one|1|two|2|another|second",
        "buy one|1 and get one|1|another", "buy one|1 get a|the second", "two|2 for one|1|the",
        "2 x 1", "3 x 2",
        "dos|2 por uno|1", "tres|3 por dos|2",
        "compre|compra|lleve|lleva uno|una|1|dos|2 \
         y|e lleve|lleva|reciba|recibe|obtenga|obten|pague|paga uno|una|1|otro|otra|dos|2",
        "lleve|lleva dos|2 pague|paga|y uno|una|1",
    ];
    MATCH = [
        "match|bonus|matching play|plays|bet|bets|deposit|deposits", "play|bet|deposit match|bonus",
        "match|matching|double|doubling ?all your ?first ?next|whole deposit|bet|play|buy",
        "bono|bonos|bonificacion de|por|para|en ?su|tu|el juego|apuesta|deposito",
        "juego|apuesta|deposito de bono|bonificacion|bonificado",
        "igualamos|duplicamos|doblamos|igualaremos|duplicaremos su|tu ?primer|primera|proximo|proxima \
         deposito|apuesta|juego",
    ];
    /// Phrases after which the next word may be a promotion code.
    CODE = [
        "promo|promotion|promotional|discount|bonus|offer|coupon|booking code|codes ?is",
        "use|using|with|enter|mention|quote|apply|give|say|type ?the|this|our|your|my ?promo code ?is",
        "codigo|codigos promocional|promocionales ?es",
        "codigo|codigos de promocion|descuento|bono|oferta|reserva ?es", "codigo|codigos promo",
        "use|usa|usando|con|ingrese|ingresa|mencione|menciona|aplique|aplica|diga|di|escriba|escribe \
         ?el|este|nuestro|su|tu codigo ?promocional|promo ?es",
    ];
    /// Words after "promo code" that are not codes.
    NO_CODE = ["needed|required|necessary|box|field|entry|by|or|and|when|if|while|necesario|requerido|cuando|si|o"];
    HALF = [
        "half off",
        "half price",
        "half the price",
        "mitad de precio",
        "a mitad de precio",
        "la mitad de precio",
    ];
    PLAY_OR_CREDIT = [
        "in|of|de|en ?slot|promo|su free play", "in|of|de|en freeplay",
        "in|of|de|en ?dining|food|hotel|spa|resort credit|credits", "in|of|de|en juego gratis",
        "in|of|de|en credito|creditos", "free play", "freeplay",
        "in|of match|bonus|promo|slot play",
    ];
}
