//! The vocabulary of offers, in English and Spanish.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::words::Word;

/// The kind of thing an offer is good for: "$20 free play" is not "$20 dining credit".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Class {
    Play,
    /// Play that the guest must match with their own money.
    Match,
    Credit,
    Cash,
    /// A gift that does not say what it is good for.
    Gift,
    Dining,
    Stay,
    Spa,
    Show,
    /// A thing that a casino may provide to everyone, such as parking or WiFi.
    Amenity,
}

/// The things that an offer can give, one per row: the first word is the thing's name, the others
/// are its other forms.
const THINGS: &[(Class, &str)] = &[
    (
        Class::Play,
        "play plays freeplay slot slots spin spins juego juegos jugada jugadas tragamonedas giro giros tirada tiradas",
    ),
    (Class::Play, "bet bets wager apuesta apuestas"),
    (Class::Play, "chips fichas"),
    (Class::Play, "deposit deposits deposito depositos"),
    (Class::Credit, "credit credits credito creditos"),
    (Class::Cash, "cash cashback efectivo dinero money"),
    (Class::Gift, "points puntos"),
    (
        Class::Gift,
        "voucher vouchers vale vales coupon coupons cupon cupones",
    ),
    (Class::Gift, "gift gifts regalo regalos"),
    (
        Class::Dining,
        "meal meals food dining dine comida comidas comer alimentos restaurant restaurants restaurante restaurantes",
    ),
    (Class::Dining, "dinner dinners cena cenas"),
    (Class::Dining, "lunch lunches almuerzo almuerzos"),
    (Class::Dining, "breakfast breakfasts desayuno desayunos"),
    (Class::Dining, "brunch brunches"),
    (Class::Dining, "buffet buffets bufe"),
    (
        Class::Dining,
        "drink drinks beverage beverages bebida bebidas trago tragos copa copas",
    ),
    (Class::Dining, "cocktail cocktails coctel cocteles"),
    (Class::Dining, "beer beers cerveza cervezas"),
    (Class::Dining, "wine wines champagne vino vinos champana"),
    (Class::Dining, "coffee coffees cafe cafes"),
    (Class::Dining, "dessert desserts postre postres"),
    (
        Class::Dining,
        "appetizer appetizers aperitivo aperitivos entrada entradas",
    ),
    (
        Class::Dining,
        "steak steaks ribeye burger burgers wings hamburguesa hamburguesas alitas",
    ),
    (
        Class::Stay,
        "stay stays room rooms night nights hotel noche noches estancia estancias estadia estadias \
         habitacion habitaciones cuarto cuartos hospedaje",
    ),
    (Class::Stay, "suite suites"),
    (Class::Stay, "upgrade upgrades"),
    (
        Class::Spa,
        "spa treatment treatments tratamiento tratamientos",
    ),
    (Class::Spa, "massage massages masaje masajes"),
    (Class::Spa, "facial facials faciales"),
    (Class::Show, "ticket tickets boleto boletos"),
    (
        Class::Show,
        "show shows concert concerts espectaculo espectaculos concierto conciertos",
    ),
    (Class::Amenity, "parking garage estacionamiento garaje"),
    (Class::Amenity, "valet"),
    (Class::Amenity, "wifi internet"),
    (Class::Amenity, "shuttle shuttles transporte traslado"),
    (Class::Amenity, "pool alberca piscina"),
    (Class::Amenity, "gym gimnasio"),
    (Class::Amenity, "admission entry"),
    (
        Class::Amenity,
        "program programa rewards recompensas membership membresia",
    ),
    (Class::Amenity, "lesson lessons clase clases"),
    (Class::Amenity, "crib cribs cuna cunas"),
    (
        Class::Amenity,
        "cancellation cancelling cancelacion cancelar",
    ),
];

/// Returns the name of the thing that a word is a form of, and the thing's class.
pub(super) fn thing(word: &str) -> Option<(&'static str, Class)> {
    static BY_FORM: LazyLock<HashMap<&str, (&str, Class)>> = LazyLock::new(|| {
        let forms = |&(class, row): &(Class, &'static str)| {
            let name = row.split(' ').next().unwrap_or_default();
            row.split(' ').map(move |form| (form, (name, class)))
        };
        THINGS.iter().flat_map(forms).collect()
    });
    BY_FORM.get(word).copied()
}

/// Returns whether a casino may provide the thing to everyone. Then a content row can prove it;
/// otherwise only a promotion can.
pub(super) fn may_be_free_for_all(name: &str) -> bool {
    matches!(thing(name), None | Some(("show", _) | (_, Class::Amenity)))
}

/// Returns the form in which words are compared: the thing's name, or else the word without its
/// plural ending.
pub(super) fn canonical(word: &str) -> String {
    match thing(word) {
        Some((name, _)) => name.to_owned(),
        None if word.len() > 3 => word.strip_suffix('s').unwrap_or(word).to_owned(),
        None => word.to_owned(),
    }
}

/// Returns whether the word is a function word, which can never be the thing offered.
pub(super) fn is_function_word(word: &Word) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        set(
            "a an the your our my this that all any each some and or of on in at to for with is are be it you we \
             us me so el la los las un una unos unas su sus tu tus mi y o de del en a al para por con es son esta \
             estan sea ser lo le les te nos que se totalmente completamente completely totally absolutely also \
             too tambien muy sin cost charge costo cargo hoy today tonight always siempre only solo here aqui \
             available disponible",
        )
    });
    !word.is_letters() || WORDS.contains(word.text.as_str())
}

/// Returns whether this word joins two things. The words after it then no longer describe the
/// amount before it.
pub(super) fn is_joint(word: &Word) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        set(
            "and y e but pero or o u plus with con without sin includes including include incluye incluido then \
             luego when cuando if si get gets receive at",
        )
    });
    WORDS.contains(word.text.as_str())
}

/// Returns whether the word announces a price and not a gift: "the ribeye is", "from", "for".
pub(super) fn is_price_word(word: &Word) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        set(
            "is are was were be cost costs for from starting starts start at price prices priced rate rates fee \
             fees runs tickets es son sera cuesta cuestan vale valen desde por precio precios tarifa cargo cobra \
             cobran",
        )
    });
    WORDS.contains(word.text.as_str())
}

fn set(words: &'static str) -> HashSet<&'static str> {
    words.split_whitespace().collect()
}
