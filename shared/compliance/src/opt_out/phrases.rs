//! The phrase list; the notation is explained in [`crate::pattern`]. Ids are kept for audit: never reuse one.

use seven_domain::Language;

use super::Phrase;

/// Words of the list that are recognised with a typo in them.
pub(crate) const TYPOS: &[&str] = &[
    "texting",
    "messaging",
    "messages",
    "message",
    "sending",
    "receiving",
    "contacting",
    "bothering",
    "spamming",
    "harassing",
    "unsubscribe",
    "unsubscribed",
    "subscription",
    "remove",
    "removed",
    "number",
    "notifications",
    "consent",
    "mensajes",
    "mensaje",
    "escriban",
    "escribirme",
    "envien",
    "enviando",
    "mandando",
    "mandarme",
    "desuscribirme",
    "suscripcion",
    "quitenme",
    "borrenme",
    "eliminen",
    "recibir",
    "numero",
    "molesten",
    "telefono",
    "contacten",
    "permiso",
];

/// Real words one letter away from them.
pub(crate) const REAL: &[&str] = &[
    "bending",
    "content",
    "contents",
    "contracting",
    "convent",
    "deceiving",
    "dumber",
    "ending",
    "enviado",
    "envied",
    "envies",
    "envion",
    "escriba",
    "escribana",
    "escribano",
    "fending",
    "fumero",
    "humero",
    "lending",
    "lumber",
    "mandado",
    "massage",
    "massages",
    "massaging",
    "menaje",
    "mending",
    "molested",
    "molester",
    "mothering",
    "numbed",
    "numbers",
    "pending",
    "permico",
    "permisa",
    "permisor",
    "premiso",
    "remote",
    "remover",
    "remotes",
    "rending",
    "sanding",
    "scamming",
    "seeding",
    "sensing",
    "sexting",
    "shamming",
    "slamming",
    "spending",
    "tending",
    "tenting",
    "testing",
    "umber",
    "vending",
    "wending",
    "minutes",
    "manages",
    "renewed",
    "removal",
    "nombre",
    "hombre",
];

pub(super) const GROUPS: &[(&str, &str)] = &[
    // English
    ("dont", "dont|do_not|dnt|donot|don_t|dont_ever|do_not_ever|dont_you|dont_u|dont_you_ever"),
    ("you", "you|u|yall|ya_ll|guys|people|them"),
    ("someone", "you|u|they|he|she|we|i|who|guys|people|friends|kids|husband|wife|did|why"),
    // "please don't stop texting me", "I can't stop texting", "tell him to stop texting me"
    (
        "keeps",
        "dont|not|never|ever|cant|cannot|couldnt|wont|didnt|doesnt|him_to|her_to|wouldnt|dont_want_to|not_want_to",
    ),
    ("self", "to|i|id|ill|im|we|lets|should|gonna|will|would|could|must|they|he|she|shall"),
    (
        "texting",
        "texting|txting|txtng|textng|txing|texing|writing_me|testing_me|messaging|msging|contacting|bothering|spamming|harassing|bugging|pestering|hounding|blowing_up|pinging|hitting_up",
    ),
    ("text", "text|txt|message|msg|contact|bother|bug|harass|sms|write"),
    ("halt", "stop|quit|cease|discontinue|stahp|sotp|stpo|stopp|stap|stpp|stoo|tsop|stp"),
    ("texts", "texts|txts|messages|mesages|msgs|sms|msg|text|txt|message|texting|messaging"),
    (
        "mail",
        "@texts|spam|alerts|notifications|coupons|reminders|blasts|updates|promos|promotions|ads|advertisements|offers|deals|junk|crap|marketing|solicitations",
    ),
    (
        "these",
        "these|those|all|any|your|ur|the|this|that|more|anymore|further|future|of|so|many|much|such|damn|stupid|\
        annoying|fucking|freaking|spam|marketing|promotional|promo|automated|random|daily|constant|unwanted|unsolicited|text|txt|\
        sms|casino|from_you",
    ),
    (
        "when",
        "before|after|until|till|til|unless|if|when|while|during|except|by_phone|by_email|by_mail|in|too|only|enough|so|as|with|the|a|an|\
        my|your|that|those|directions|on|at_work|at_night|at_home",
    ),
    ("tongue", "until|till|til|unless|in_english|in_spanish|in_caps|in_all_caps|in_espanol|in_ingles"),
    (
        "my_number",
        "me|us|my_number|this_number|my_phone|my_phone_number|my_cell|my_name|my_info|my_contact|my_contact_info",
    ),
    (
        "kind",
        "text|texting|sms|message|messaging|messages|msg|mailing|contact|contacts|marketing|distribution|call|calling|phone|promo|\
        promotional|promotions|spam|alert|alerts|notification|broadcast|subscriber|subscription|damn|stupid|fucking|freaking",
    ),
    (
        "list",
        "list|lists|database|contacts|distribution|texts|messages|thread|chat|group|directory|system|mailings|marketing",
    ),
    // Spanish
    (
        "escriban",
        "escriban|escriba|escribas|escribais|escribe|escrivan|escrivas|mensajea|texteen|textee|textees|mensajeen|mensajees|contacten|contacte|contactes|\
        fastidien|fastidies",
    ),
    ("manden", "manden|mande|mandes|mandas|envien|envie|envies|mandeis|envieis|lleguen|llegue|mandarme|enviarme"),
    (
        "mensajes",
        "mensajes|mensaje|textos|texto|sms|msjs|msj|mjs|msgs|mensages|mensajitos|promociones|promos|publicidad|spam|notificaciones|alertas|\
        ofertas|propaganda|texts|avisos|comunicaciones|recordatorios|cadenas",
    ),
    (
        "estos",
        "mas|otros|otro|tantos|tanta|tanto|tantas|estos|estas|esos|esas|este|sus|su|tus|tu|los|las|la|el|ningun|ninguna|un|una|todos|todas|\
        de|malditos",
    ),
    (
        "dejen",
        "dejen|deje|deja|dejar|dejes|dejenme|dejad|dejan|dejas|paren|pare|para|parar|parad|basta|cesen|cese|stop",
    ),
    (
        "escribirme",
        "escribirme|escribirnos|mandarme_mensajes|textearme|textearnos|molestarme|molestarnos|contactarme|contactarnos|mensajearme|fastidiarme|\
        spamearme|hostigarme|acosarme",
    ),
    (
        "cuando",
        "en|el|la|hasta|antes|despues|si|cuando|a_menos|con|por_la|por_el|por_correo|por_email|por_telefono|tan|durante|mientras",
    ),
    (
        "quitenme",
        "quitenme|quiteme|quitame|retirenme|retireme|remuevan_me|desafilienme|tachenme|saquenme|saqueme|sacame|borrenme|borreme|borrame|eliminenme|elimineme|eliminame|remuevanme|\
        remuevame|remueveme|quitarme|sacarme|borrarme|eliminarme",
    ),
    ("darme", "darme|denme|deme|dame|dar|darnos|dennos|doy|den|date|dese|dense|dele|denle|dan|das|da|dale|darse|demen"),
];

const fn en(id: &'static str, pattern: &'static str) -> Phrase {
    Phrase { id, language: Language::En, pattern }
}

const fn es(id: &'static str, pattern: &'static str) -> Phrase {
    Phrase { id, language: Language::Es, pattern }
}

pub(crate) const PHRASES: &[Phrase] = &[
    // stop texting me
    en("optout.nl.en.01", "<@keeps @halt ?fucking|constantly|fkn|freaking @texting me|us >@tongue"),
    en(
        "optout.nl.en.02",
        "<@keeps @halt calling|texting|emailing|@texting and|or|n calling|texting|@texting me|us|this_number",
    ),
    en("optout.nl.en.03", "<@keeps @halt @texting|calling my|this phone|number|cell|line"),
    en("optout.nl.en.04", "<@keeps|@self @halt @texting ?@these $"),
    en("optout.nl.en.05", "@you to ?please ?just @halt @texting|calling $"),
    en("optout.nl.en.06", "@you wont|never|dont|do_not|keep_refusing_to stop|quit @texting me|us"),
    en("optout.nl.en.07", "<@keeps|@self stop|quit calling me|us $"),
    // stop sending me messages, stop the messages
    en("optout.nl.en.08", "<@keeps @halt sending|getting|receiving ?me|us *@these @mail"),
    en(
        "optout.nl.en.09",
        "<@keeps|@self @halt sending ?me|us ?things|stuff|anything|everything|this|these|those|it|them|shit $",
    ),
    en(
        "optout.nl.en.10",
        "<@keeps @halt ?with|w *@these texts|messages|msgs|txts|sms|spam|alerts|notifications|communication|\
        communications|contact|correspondence|marketing|promos|ads",
    ),
    en("optout.nl.en.65", "<@keeps @halt getting|receiving this|these|those|them $"),
    en("optout.nl.en.11", "make this|it|these|them|the_texts|the_messages|these_texts|these_messages ?just stop $"),
    en("optout.nl.en.12", "<dont|not|never want|need|like|wish *@these @mail to ?just stop|end|cease"),
    en("optout.nl.en.13", "<dont|not want|need this|it|these|them|you to ?please ?just stop|quit $"),
    // stop, as the end of a complaint
    en("optout.nl.en.14", "^ stop|quit ?doing ?texting it|this|that|everything $"),
    en(
        "optout.nl.en.15",
        "annoying|interested|enough|wrong_number|spam|scam|harassment|ridiculous|sick_of_this|tired_of_this ?please|just|now \
        stop|unsubscribe|stopall $",
    ),
    en("optout.nl.en.16", "please|pls|plz|plse ?just stop ?this|now|it $"),
    en("optout.nl.en.17", "asked|told|want|need|begging|asking|telling @you to ?please ?just stop|quit $"),
    en("optout.nl.en.18", "^ can|could|will|would you|u|yall ?please ?just stop ?this|it|texting $"),
    en(
        "optout.nl.en.19",
        "i|ive ?have ?already texted|replied|said|sent|typed|wrote|told_you_to|told_you|asked_you_to \
        stop|quit|unsubscribe >by|at|in|for|and|over",
    ),
    en("optout.nl.en.20", "you need|have to ?please ?just stop $"),
    // don't text me
    en("optout.nl.en.21", "<@someone @dont @text me|us >@when"),
    en("optout.nl.en.22", "<@someone never ?ever @text me|us >@when"),
    en("optout.nl.en.23", "asked|told|asking|telling|want|beg @you not to @text|call me|us >@when"),
    en(
        "optout.nl.en.24",
        "<@someone @dont text|txt|message|call|contact|email or|and|nor text|txt|message|call|contact|email me|us",
    ),
    en("optout.nl.en.25", "<@someone @dont @text|call my|this phone|number|cell"),
    en("optout.nl.en.26", "<@someone @dont @text ?me anymore|any_more|again $"),
    en("optout.nl.en.27", "told|asked @you @dont @text me|us"),
    en(
        "optout.nl.en.28",
        "<@someone @dont|never send ?me|us *@these @mail|anything|stuff|things|nothing >until|till|unless|before|after|in",
    ),
    en("optout.nl.en.29", "<@someone @dont send ?me|us ?any anymore|more|any_more $"),
    // I don't want messages
    en(
        "optout.nl.en.30",
        "@dont|no_longer|not want|wish|care|wanna|consent|agree|authorize|expect ?to ?be ?receive|get|getting|receiving|have|see \
        *@these @texts|spam|promos|promotions|ads|junk|solicitations >to_stop|to_end|about_it",
    ),
    en(
        "optout.nl.en.31",
        "@dont|no_longer|not want|wish|wanna|like|need ?to ?be contacted|texted|messaged|bothered|on_your_list|on_this_list >by_phone",
    ),
    en("optout.nl.en.32", "@dont|no_longer|not want|wish|wanna ?to hear from you|yall|u|this|any >until|before|after"),
    en("optout.nl.en.33", "@dont want|need|like you|u|yall|anyone to @text me|us|my|this"),
    en("optout.nl.en.34", "@dont want|need|like you|u|yall @texting me|us"),
    en("optout.nl.en.35", "@dont|no_longer want|wish|wanna to be on|in your|this|the|ur|any *@kind list|lists"),
    en("optout.nl.en.36", "rather|prefer not ?to receive|get|have *@these @texts"),
    en("optout.nl.en.37", "not|no_longer interested in ?receiving|getting *@these @texts|spam|promotions"),
    en(
        "optout.nl.en.38",
        "sick|tired|fed_up|done of|with *@these|getting|receiving|you texts|messages|spam|msgs|texting",
    ),
    en("optout.nl.en.39", "<not|send|sent|get enough ?with|of *@these texts|messages|spam|texting|msgs"),
    en(
        "optout.nl.en.40",
        "<are|is|were|was|why|theres|there|have|has|had|got|receive|received|getting|get|see|be|been|being no more \
        *@these|please texts|messages|msgs|txts|texting|sms|messaging|spam|contact|text|message >than|at|for|from_the",
    ),
    en("optout.nl.en.41", "^ no texts|messages|texting|text_messages|texts_please|contact $"),
    // take me off your list
    en(
        "optout.nl.en.42",
        "remove|delete|take|get|drop|erase|pull|scratch @my_number off|from|out|off_of|out_of your|ur|this|that|all|any|these|yalls \
        *@kind|these|your @list >for|of|at",
    ),
    en(
        "optout.nl.en.43",
        "remove|delete|take|get|drop|erase|pull @my_number off|from|off_of the @kind *@kind list|lists|database|thread|group|chat",
    ),
    en(
        "optout.nl.en.44",
        "remove|delete|take|get|drop|erase|pull @my_number off|from|off_of the|this|these|here|your list|lists|texts|messages $",
    ),
    en("optout.nl.en.45", "remove|take|get @my_number off|from this|these|here|it $"),
    en("optout.nl.en.46", "<they|will|didnt|dont|not|did remove me|my_number|this_number $"),
    en("optout.nl.en.47", "^ take me off $"),
    en(
        "optout.nl.en.48",
        "want|need|like|ask|asked|request to ?be removed|taken_off|off|deleted ?from|off *your|ur|this|all|the|these *@kind @list >for|of|at",
    ),
    en("optout.nl.en.49", "want|need|like|ask|asked|requested to be removed|unsubscribed|taken_off|opted_out $"),
    en("optout.nl.en.50", "get|getting|want|wanna ?get off your|this|ur *@kind list|lists|texts|thread"),
    en("optout.nl.en.51", "do_not_call|do_not_contact|do_not_text|dnc|donotcall list|registry"),
    // lose my number, leave me alone
    en(
        "optout.nl.en.52",
        "<i|ill|id|dont|not|never|did|didnt|will|would|wont|might|may|could|to|you|they|we lose|delete|erase|remove my|this \
        number|phone_number|digits|cell >in|of|at|on|from_the|from_my",
    ),
    en(
        "optout.nl.en.53",
        "can|could|will|would|need|want you ?to ?please lose|delete|erase|remove my|this number|phone_number|digits|cell >in|from_the|from_my",
    ),
    en(
        "optout.nl.en.54",
        "<dont|not|never|will|would|wont|might|they|he|she|didnt|doesnt leave me|us|my_phone ?the ?hell|fuck|heck|tf alone|be \
        >time|with|at|in|for|on",
    ),
    en("optout.nl.en.55", "^ go_away|get_lost|buzz_off|bug_off $"),
    // opt out, unsubscribe, revoke
    en("optout.nl.en.56", "<@keeps opt me|us|this_number|my_number|my_phone out >of_the|of_a|of_my|of_housekeeping"),
    en("optout.nl.en.57", "<@keeps|if opt|opting out of|from|to *@these @mail|this|these|everything|all >fee|fees|on"),
    en("optout.nl.en.58", "want|like|wish|need|trying|choose|ready|wanna|requesting|prefer|decided ?to opt out $"),
    en("optout.nl.en.59", "i|do_i|can_i|to|im|am ?hereby opt|opting out $"),
    en(
        "optout.nl.en.60",
        "<if|when|because i|ive|have ?have ?already ?just opted_out|unsubscribed >of|by|accidentally|from_the",
    ),
    en(
        "optout.nl.en.61",
        "<dont|do_not|not|never|didnt|did|did_they|did_you|did_i|if|unless|accidentally|mistakenly unsubscribe|unsub|unsuscribe|unsubcribe|unsubscibe >mean|means|by_mistake|by_accident|from_the_paper|from_the_newsletter|from_your_newsletter|from_the_email|from_your_email|from_emails|from_email|from_the_catalog|from_your_emails|from_the_mail|the_newspaper|the_paper|the_newsletter|the_magazine",
    ),
    en(
        "optout.nl.en.62",
        "<@keeps revoke|withdraw|rescind|revoking|withdrawing|rescinding *my|all|any|prior|written|sms|text consent|permission|authorization",
    ),
    en("optout.nl.en.63", "@dont|never|not have|gave|give|given ?you my|any consent|permission to @text|be_texted"),
    en(
        "optout.nl.en.64",
        "<@keeps cancel|end|terminate|discontinue|deactivate|disable|turn_off *@these|my|message \
        subscription|texts|messages|msgs|notifications|alerts|sms|texting",
    ),
    en("optout.nl.en.66", "cease_and_desist"),
    en("optout.nl.en.67", "^ stop text|txt|sms|texting $"),
    en(
        "optout.nl.en.68",
        "^ stop|unsubscribe wrong_number|wrong_person|this_is_not|this_isnt|you_have_the_wrong|not_interested|im_not_interested|who_is_this",
    ),
    en("optout.nl.en.69", "<you|u|they|we @dont need *@these texts|messages|msgs $"),
    en("optout.nl.en.70", "^ opt out all $"),
    en("optout.nl.en.71", "<@someone @dont|never reach_out_to|reach_out_2 me|us >@when"),
    en("optout.nl.en.72", "<@keeps|@self @halt reaching out"),
    en("optout.nl.en.73", "wrong_number|wrong_person|not_interested ?so ?please|pls remove|delete ?me $"),
    // families: any texts to be halted, cut it out, off the list, a wrong number with a request
    en(
        "optout.nl.en.74",
        "<@keeps @halt ~3!the_menu|by|in|to|at|me_from|getting|band|my|checking texts|messages|msgs|txts|spam|promos|solicitations|texting|messaging >about_the|from_my|from_the|in_english|in_spanish|me_in|me_at|me_during|me_while",
    ),
    en(
        "optout.nl.en.75",
        "cut|knock|quit it|this|that|all_this ?out|off ?w|with|already|please|pls ~2 texts|messages|msgs|texting|messaging|spam|promos|txts|text|blasts",
    ),
    en("optout.nl.en.76", "<to|them|neighbors knock_it_off|cut_it_out|quit_it $"),
    en(
        "optout.nl.en.77",
        "no|not ?any ?a need|reason|point ~2 keep|continue|be|to ?on texting|messaging|sending|contacting|txting|text|message >you|u|until",
    ),
    en(
        "optout.nl.en.78",
        "get|take|drop|cut|leave|pull|scratch|keep|want ~1 me|us|my_number|this_number|my_name|my_phone ?please off|from|out|out_of ~1 ?of your|ur|this|the|that|these|all ~1!waiting|wait|guest|table|tables|dinner|reservation|tournament|standby|vip|waitlist list|lists|thing|thread|texts|messages|spam|texting|distribution|database|rotation|group_text|roster|blast|blasts|program|subscription|text_list|chain >for_dinner|for_the_show",
    ),
    en("optout.nl.en.79", "block|blocking|blocked ~1 this|your|ur number|contact|spam|texts >off"),
    en(
        "optout.nl.en.80",
        "<not|dont blocking|reporting|gonna_block|going_to_block|will_block|going_to_report|gonna_report|will_report|reported you|u|yall|this_as_spam|these_as_spam|this_spam|as_spam|your_number|ur_number",
    ),
    en(
        "optout.nl.en.81",
        "tcpa|fcc_complaint|report_you_to_the_fcc|can_spam_act|do_not_call_registry|fcc|ftc & text|texts|texting|messages|messaging|number|contact|calls|spam",
    ),
    en(
        "optout.nl.en.82",
        "<dont cease|end|terminate|discontinue|halt|stop all|any|further|these|this|your ~2 communication|communications|contact|correspondence|outreach|solicitation",
    ),
    en(
        "optout.nl.en.83",
        "<why|if never|didnt|did_not|dont_remember|dont_recall|not ~1 sign|signed|signing|subscribe|subscribed|consent|consented|agree|agreed|opt|opted|gave_consent|asked_for|ask_for|request|requested ~3 this|these|texts|messages|your_texts|spam|ur_texts|be_texted|receive_texts|get_texts|promos >to_be|room|fee|charge",
    ),
    en(
        "optout.nl.en.84",
        "these|this|your|ur|the ?texts|messages ~1 is|are|r|borders_on|is_now|is_pure harassment|harassing|unwanted|unsolicited|not_wanted|not_welcome|illegal_texts|spam_texts",
    ),
    en(
        "optout.nl.en.85",
        "im|i_am|were|we_are|ive ?so ?totally good|done|over|finished|through|sick|tired|had_enough|fed_up ~2 on|with|of|w ~2 texts|messages|msgs|texting|promos|spam|txts|getting_texts|alerts|your_offers",
    ),
    en(
        "optout.nl.en.86",
        "<not|never|isnt|arent enough ?already ?is_enough ?of ?w ?with ?the ?these ?ur ?your ?damn ?all texts|messages|msgs|texting|spam|promos|promo",
    ),
    en(
        "optout.nl.en.87",
        "wrong_number|wrong_person|not_my_number|new_owner|old_number|previous_owner|changed_numbers|no_longer_his|no_longer_her|isnt_his_number|isnt_her_number|not_his_number|had_this_number & stop|remove|delete|erase|take_me_off|take_us_off|dont_text|quit|no_more|take_this|lose|update_your_records|dont_message",
    ),
    en(
        "optout.nl.en.88",
        "deceased|passed_away|passed|died|dead & stop|remove|delete|take|quit|off & number|phone|texting|messages|messaging|texts|list",
    ),
    en(
        "optout.nl.en.89",
        "<dont turn|shut|switch|shutting ?off ?these ?those ?the ?all ?your ?off texts|messages|msgs|text_messages|text_alerts|promos|texting ?off",
    ),
    en(
        "optout.nl.en.90",
        "<@someone|if @dont|never|do_not|pls_dont|please_dont @text|send_texts|send_messages|send_me_texts|message|reach_out again|anymore|any_more|ever_again|ever|no_more >about_the|until|before|after",
    ),
    en(
        "optout.nl.en.91",
        "<you|u|they|do_you|if_you|i dont|do_not|no_longer ?really want|wanna|need|wish_to ~3 ur|your|any|these|get|receive|more ~2 texts|msgs|txts|messages|spam|text_messages|promos|offers >about|until|to_be",
    ),
    en(
        "optout.nl.en.92",
        "<not|dont|why_was_i|was_i|did_you want|need|wish|ask*|demand|like|request*|please|pls ~2 off|removed_from|taken_off|out_of ~1 this|your|ur|the ~2 list|thread|texts|text_list|messages|lists",
    ),
    // families: not, no, too many, off it, asked before
    en("optout.nl.en.93", "<do|does|why|did|if|will|would not ?to text|message|contact|txt|msg me|us >the|a|my|@when"),
    en(
        "optout.nl.en.94",
        "so|please|thanks|thank_you|i_said|want|pls|prefer|and|customer|anymore ~1 no texts|messages|msgs|txts|texting >yet|from_the_hotel|back",
    ),
    en(
        "optout.nl.en.95",
        "no ?thank_you|thanks|thx|more to|on|for|w|with *@these texts|messages|msgs|texting|txts|text_alerts|promos >about|when",
    ),
    en(
        "optout.nl.en.96",
        "<not|how too|way_too|so|so_damn many|much ?damn ?fucking ?of ?these ?ur ?your ?casino ?spam texts|messages|msgs|promos|spam|texting|txts",
    ),
    en(
        "optout.nl.en.97",
        "you|u|yall|guys|casino text|message|txt|texting ~2 too_much|too_often|nonstop|non_stop|constantly|all_day|all_the_time|every_day|every_single >me_back",
    ),
    en(
        "optout.nl.en.98",
        "off|out ?of whatever|any|every|all ?of ?ur ?your ?the ?these ~1!waiting|guest list|lists|text|texts|messages",
    ),
    en(
        "optout.nl.en.99",
        "get|getting|want|wanna|be|let_me|like ?me ?us ?taken off|out ?of ?this ?your ?ur ?the text|texting|texts|msg|sms|promo ~1 thing|list|thread|program|club|deal|chain|service|blast|alerts",
    ),
    en(
        "optout.nl.en.100",
        "<dont|hope|want *@these texts|messages|msgs ~1 go_away|to_go_away|disappear|have_to_stop|need_to_stop|must_stop|gotta_stop|should_stop|better_stop",
    ),
    en(
        "optout.nl.en.101",
        "no_longer|not_any_longer|not want|need|wish|interested|care_for these|this|them|it|your|ur|to_be_contacted|to_get|in_these|in_your|to_hear|in_this ?offers|texts|messages|promos|anymore|deals|service ?from ?you $",
    ),
    en(
        "optout.nl.en.102",
        "text|message|contact|txt|bother me|us again|one_more_time|1_more_time & lawyer|sue|report|block|police|legal|attorney|court|lawsuit|fcc",
    ),
    en(
        "optout.nl.en.103",
        "<@keeps @halt hitting|blowing|lighting|messing|playing me|us|my_phone|my_cell|this_number ?up|on",
    ),
    en("optout.nl.en.104", "<@keeps @halt sending ~3 @mail|content|material|stuff|communications|junk|things"),
    en(
        "optout.nl.en.105",
        "nobody|no_one|noone|i_never|i_didnt|never|didnt ask|asked|signed_up|sign_up for these|this|texts|messages|your_texts|any_texts|spam|your_spam|this_spam",
    ),
    en(
        "optout.nl.en.106",
        "number|phone|cell|texts|texting|messages|spam|customer|contact|lawyer ~10 <does|will|it|to|not|dont|the|bus|shuttle|next|last|never stop|unsubscribe|quit_texting|stop_it|stop_please|please_stop|opt_out|remove_me $",
    ),
    en(
        "optout.nl.en.107",
        "i|ive|already|keep|have|we said|told|asked|requested|replied|texted|saying|wrote ?you ?u ?yall ~2 no_more|stop|enough|unsubscribe|remove_me|opt_out|leave_me_alone $",
    ),
    en(
        "optout.nl.en.108",
        "remove|take|drop|delete|scratch|erase|get ~1 my|our|this ~1 cell|mobile|number|digits|name|contact|info|phone|email_and_phone ~3 off|from|out_of ~2!reservation|booking|wait|waiting|guest|dinner|table|tournament list|lists|system|texts|records|database|contacts|file|files|messages|whatever",
    ),
    en(
        "optout.nl.en.109",
        "respect|honor ~3 wishes|request|privacy ~4 dont|do_not|stop|no|leave ~1 write|text|contact|message|call|me",
    ),
    en(
        "optout.nl.en.110",
        "<@someone @dont|never|not write|contact|message|text|reach|bother me|us|here|this_number ~1 again|anymore|any_more|ever|any_longer|nunca_mas",
    ),
    en(
        "optout.nl.en.111",
        "<dont|how want|need|wish|make ~2 this|these|the|it|ur|your ~2 texts|messages|texting|buzzing|spam|dinging ?to stop|end|quit|go_away",
    ),
    // frames: (halt) (with) the messages, (take) my number (off) it, never hear from you
    en(
        "optout.nl.en.112",
        "<@keeps|@self @halt ?it with|w ~3 texts|messages|msgs|notifications|coupons|offers|promos|ads|reminders|alerts|spam|texting >about_the|at",
    ),
    en(
        "optout.nl.en.113",
        "<to|them knock|cut|quit|lay off|out ?on ?w ?with ~2 texts|messages|msgs|notifications|coupons|promos|texting|spam|offers",
    ),
    en(
        "optout.nl.en.114",
        "<dont|when|does end|kill|cancel|quit|stop this|the|that|ur|your|my text|texting|sms|message|promo thing|club|program|service|stuff|thread|deal|alerts",
    ),
    en(
        "optout.nl.en.115",
        "<are_there|there_are|why|got|get|no_longer|@someone no ?more ~1!than notifications|reminders|promos|texts|messages|msgs|texting|coupons|alerts >at|yet|about|in_my|for_the|from_the|than|coming|from_you_why",
    ),
    en(
        "optout.nl.en.116",
        "work|business|hospital|company|kids|sons|daughters|moms|dads|wifes|childs|someone_elses|new_persons phone|number|cell|line & take_it_off|take_this_off|please_take|stop|quit|dont_text|no_casino|remove|knock_it_off|no_more|cant_be|delete",
    ),
    en(
        "optout.nl.en.117",
        "<to|can_i|should_i|did_i|you_will|will get|take|pull|remove|cut|drop|delete|erase|scrub|yank ~1 me|us|us_both|my_number|my_digits|my_name|my_cell|this_number|my_contact|name_and_cell|number_and_name ~3 off|outta|out_of|from|out ?of ~1!waiting|wait|guest|dinner|table|tournament|reservation|booking|dining ~2 texts|text|text_club|list_u|database|there|whatever_this_is|contacts|thread|sms|promo_list|promo|system >by_#|early",
    ),
    en(
        "optout.nl.en.118",
        "pull|yank|scrub|get_rid_of|forget_you_ever_had|forget_u_ever_had|trash|dump|unclick my|this ~1 number|digits|cell|contact|info",
    ),
    en(
        "optout.nl.en.119",
        "no_longer|dont|do_not|rather_not|not ~3 receive|receiving|get|want|need|care_for|recieve ~2 these|those|this_stuff|them ?please ?thanks ?anymore ?texts ?messages $",
    ),
    en("optout.nl.en.120", "send|text|mail|sending ~1 no more|further|other >than"),
    en("optout.nl.en.121", "<@someone dont|do_not|never text|write|message|respond|reply ?me back ?again ?ever $"),
    en(
        "optout.nl.en.122",
        "hit|text|message|contact|ping|bug ~2 me|us ~2 one_more|1_more|again|once_more ~8 fcc|block|blocking|report|reporting|lawyer|sue|police|harassment",
    ),
    en(
        "optout.nl.en.123",
        "make_sure|ensure|see_to_it|guarantee|how_can_i|someway|a_way ~4 dont|never|no|not|wont|dont_ever ~2 get|hear|receive|see ~3 these|from_you|from_yall|from_u|from_this|texts|messages|another_text|them",
    ),
    en(
        "optout.nl.en.124",
        "<get|you|u ive_had_it|had_it|had_enough|im_done|i_am_done|im_tired|tired|sick|so_over|fed_up ~2 with|of|hearing|getting ~3 texts|messages|from_you|from_your|from_yall|ads|promos|notifications|texting|spam|your_offers >points|dinner",
    ),
    en(
        "optout.nl.en.125",
        "<@keeps|wont quit|stop|cease waking|bugging|interrupting|dinging|buzzing|blowing|pinging|notifying|alerting ~1 me|us|my ~6 >at_#|the_neighbors & text*|messag*|these|this|phone|notification*|promo*",
    ),
    en(
        "optout.nl.en.126",
        "email|mail|e_mail ~2 only|instead|from_now_on|please|works & no_texts|no_texting|not_text|no_text|no_sms|dont_text|not_texts|stop_texting",
    ),
    en("optout.nl.en.127", "only|just email|mail|e_mail ~5 no|not|dont texts|text|texting|sms|messages"),
    en(
        "optout.nl.en.128",
        "changed_my_mind|change_my_mind|having_second_thoughts ~4 getting|receiving|these|texts|messages|signing_up",
    ),
    en(
        "optout.nl.en.129",
        "asked|told|begged|said|telling|asking ~3 to|you stop|quit ~2 already|twice|times|before|three|texting|messaging|many|weeks|ago|last",
    ),
    en(
        "optout.nl.en.130",
        "make|let|this_is|thats ~1 that|this|it ?be the|your|ur last ~1 one|text|message|msg|time >call",
    ),
    en(
        "optout.nl.en.131",
        "no_thank_you|no_thanks|no_thx|pass|hard_pass ~4 texts|messages|texting|promos|future_texts|all_of_these|sms >about_dinner",
    ),
    en(
        "optout.nl.en.132",
        "stop|quit writing|txting|messaging|dming|pestering|bothering ?to ?me ?us ?please ?already ?now $",
    ),
    en(
        "optout.nl.en.133",
        "who|why ~2 signed|sign|put|added|add ~1 me|us|my_number ~4 & get_me|take_me|remove|off|stop|out|delete",
    ),
    en("optout.nl.en.134", "kindly|please ~1 cease|desist|refrain|discontinue >from_smoking"),
    en(
        "optout.nl.en.135",
        "phone|number ~3 belongs|now_belongs|is_now|has_a_new|changed_hands|goes_to|has_this_phone ~8 & take|remove|stop|no|delete|off|lose|dont|update",
    ),
    // ya no me escriban
    es("optout.nl.es.01", "no me|nos @escriban >@cuando"),
    es("optout.nl.es.02", "<que no me|nos molesten|moleste|molestes >@cuando"),
    es("optout.nl.es.03", "no ?me|nos|le|les @manden *@estos @mensajes|nada >hasta|antes|despues|si|cuando|en"),
    es("optout.nl.es.04", "no ?me|nos|le @manden|@escriban ?mas|nunca_mas $"),
    es("optout.nl.es.05", "no @escriban|@manden *@estos|@mensajes a este|mi numero|telefono|celular"),
    es("optout.nl.es.06", "ya no ?me|nos @manden|@escriban|molesten|moleste|molestes >@cuando|un|una|los|las|mi|de"),
    es("optout.nl.es.07", "^ no molesten|moleste|molestes ?mas $"),
    es("optout.nl.es.30", "no me|nos sigan|siga|sigas escribiendo|contactando|molestando|texteando >@cuando"),
    es("optout.nl.es.31", "no ?me|nos sigan|siga|sigas mandando|enviando *@estos @mensajes|nada|mas"),
    es("optout.nl.es.32", "no enviar|mandar|enviarme|mandarme *@estos @mensajes >@cuando"),
    // no quiero mensajes
    es(
        "optout.nl.es.08",
        "no quiero|kiero|qiero|deseo|quisiera|acepto|autorizo|queremos|necesito *recibir|seguir|recibiendo|@estos @mensajes >de_texto_aun|que_paren",
    ),
    es("optout.nl.es.09", "no quiero|kiero|qiero|deseo|quisiera ?seguir recibir|recibiendo nada|mas|estos|esto|eso $"),
    es(
        "optout.nl.es.10",
        "no quiero|kiero|qiero|deseo|quisiera|me_interesa que|q|k me|nos @escriban|@manden|molesten|moleste >@cuando",
    ),
    es(
        "optout.nl.es.11",
        "no me|nos interesa|interesan ?recibir *@estos mensajes|textos|sms|publicidad|promociones|spam",
    ),
    es("optout.nl.es.12", "<hay|habra|tengo|son|recibi|tienen no mas *@estos @mensajes"),
    es("optout.nl.es.13", "ni un|otro mensaje|texto mas"),
    // dejen de enviar mensajes
    es("optout.nl.es.14", "<no|nunca|no_puedo @dejen de @escribirme"),
    es(
        "optout.nl.es.15",
        "<no|nunca|puedo|quiero @dejen de escribir|textear|molestar|contactar|enviar|mandar|enviarme|mandarme \
        ?cosas|esto|eso|todo|estos|estas $",
    ),
    es(
        "optout.nl.es.16",
        "<no|nunca|no_puedo @dejen de enviar|mandar|enviarme|mandarme|enviarnos|mandarnos|recibir *@estos @mensajes",
    ),
    es("optout.nl.es.17", "<no basta|alto|stop de|con|a *@estos @mensajes"),
    es(
        "optout.nl.es.18",
        "<no paren|pare|detengan|detenga|detener|cancelen|cancele|cancela|cancelo|cancelar|suspendan|suspenda|stop|parar *@estos|mi|mis \
        mensajes|textos|sms|suscripcion|notificaciones|alertas|publicidad|texts",
    ),
    // darme de baja, quítenme de su lista
    es("optout.nl.es.19", "<no @darme de baja >del|de|la|el|los|las|mi|un|una|nuestra"),
    es("optout.nl.es.20", "<no @darme de baja mi|este|el numero|telefono|celular"),
    es(
        "optout.nl.es.21",
        "<no @darme de baja de|del ?su|sus|la|los|esta|estos|el lista|mensajes|textos|sms|servicio_de_mensajes|suscripcion \
        >de_espera|de_invitados|para",
    ),
    es("optout.nl.es.22", "quiero|solicito|pido|deseo|tramitar la|mi baja $"),
    es(
        "optout.nl.es.23",
        "<no @quitenme de su|sus|tu|tus|esta|la|las|esa|los lista|listas|base|contactos|sistema|mensajes >de_espera|de_invitados|para",
    ),
    es(
        "optout.nl.es.33",
        "<no me|nos quiten|quite|quites|saquen|saque|saques|borren|borre|eliminen|elimine de su|sus|tu|tus|esta|la|las|esa|los \
        lista|listas|base|contactos|sistema|mensajes >de_espera|de_invitados|para",
    ),
    es("optout.nl.es.24", "^ @quitenme $"),
    es(
        "optout.nl.es.25",
        "<no quiten|quite|quita|borren|borre|borra|eliminen|elimine|elimina|saquen|saque|saca|eliminar|borrar|quitar|sacar mi|este numero|telefono|celular \
        >de_la_reserva|de_la_reservacion|de_mi|del",
    ),
    es("optout.nl.es.26", "<no dejenme|dejeme|dejame|dejanos|dejennos en_paz|tranquilo|tranquila|tranquilos >en|con"),
    es("optout.nl.es.27", "^ ya dejenme|dejeme|dejame $"),
    es(
        "optout.nl.es.28",
        "<no desuscribirme|desuscribanme|desuscribeme|desuscribame|desuscribir|desuscriban|desinscribirme|desubscribirme",
    ),
    es("optout.nl.es.29", "<no revoco|retiro|revocar|retirar|anulo ?mi|el|la|todo consentimiento|autorizacion|permiso"),
    // familias: no recibir, no vuelvan a, bórrenlo de ahí, sin permiso
    es(
        "optout.nl.es.34",
        "<para|hasta|si no|sin|nunca ?mas recibir|recibirlos|seguir_recibiendo ~1 mas|@mensajes|nada|estos|ningun|sus|esto",
    ),
    es(
        "optout.nl.es.35",
        "<no @dejen de mandarlos|enviarlos|hacerlo|mandarmelos|enviarmelos|mandar_eso|mandarnos|textearnos|enviarle|mandarle|escribirle",
    ),
    es(
        "optout.nl.es.36",
        "<la_temporada|temporada|planta|en_la|da_de baja ?por_favor|porfa|porfavor|ya de|del|a ~2 lista|promociones|mensajes|sms|boletin|textos|notificaciones|numero >de_espera|de_invitados",
    ),
    es(
        "optout.nl.es.37",
        "no @escriban|textear|textees|llamen|escribir mas|nunca|nunca_mas|jamas ?a ?aqui|aca >temprano|tarde|que_#",
    ),
    es(
        "optout.nl.es.38",
        "cese|cesen|suspension|suspendan|interrupcion|alto ~4 mensaje|mensajes|comunicaciones|envio|envios|publicidad|sms|textos",
    ),
    es(
        "optout.nl.es.39",
        "no|nunca|jamas ?me|nos|le|se vuelvan|vuelva|vuelvas|volver|vuelven a escribir*|mandar*|textear*|contactar*|molestar*|enviar*|mensajear*|mensajearme|hablarme|marcar",
    ),
    es(
        "optout.nl.es.40",
        "dejen|deje|deja|dejenme|dejad|dejame ?en_paz mi|este|a_mi|el|a_este ~1 celular|telefono|numero|cel|movil|en_paz|tranquilo|tranquila >en_recepcion|en_la",
    ),
    es(
        "optout.nl.es.41",
        "no|nunca|jamas|sin ~2 autorizo|autorice|autorizado|di|doy|dado|consiento|acepte|autorizacion|permiso|pedi|solicite ~6!tarjeta|cuenta|pin|clave|social numero|celular|mensajes|escrib*|mandar*|telefono|mensaje|texto|textos|contact*|textear*|sms|publicidad|enviar*",
    ),
    es(
        "optout.nl.es.42",
        "siguen|sigue|sigues|andan|insisten & no_lo_hagan|no_lo_haga|no_lo_hagas|paren|dejen|basta|ya_no|no_mas & mensaje*|mandando|ofertas|numero|telefono|escribiendo|textos",
    ),
    es(
        "optout.nl.es.43",
        "numero|telefono|celular|cel|lista & saquenlo|borrenlo|quitenlo|eliminenlo|borralo|eliminalo|quitalo|sacalo|remuevanlo|saquenla|borrenla|borrelo|quitelo|eliminelo|saquelo",
    ),
    es(
        "optout.nl.es.44",
        "que|q|k|pa_que|para_que ya ?no me|nos lleguen|llegue|manden|escriban|molesten|envien|texteen|contacten >en_la",
    ),
    es(
        "optout.nl.es.45",
        "que|q|k|hago_pa_que|para_que no me|nos lleguen|manden|escriban|envien|texteen|contacten ~2 mas|@mensajes|estos",
    ),
    es(
        "optout.nl.es.46",
        "me|nos|lo|la quitan|sacan|borran|quitas|sacas|quita|saca|borras|eliminan|eliminas|sacais|quitais ~1 del|de ~3 grupo|lista|chat|mensajes|textos|contactos >de_espera|de_invitados|del_brunch|del_torneo",
    ),
    es(
        "optout.nl.es.47",
        "no me|nos interesa|interesan|hace_falta|hacen_falta|sirve|sirven ~2 que|q|k|recibir|sus|tus|estos|los ~2 escriban|manden|mensajes|avis*|promos|textos|enviando|mandando|escribiendo|sms|promociones",
    ),
    es(
        "optout.nl.es.48",
        "no contactar|contacten|contacte|llamar|molestar|escribir|textear|mandar|enviar ~1 mas|a_este|nunca",
    ),
    es(
        "optout.nl.es.49",
        "olvidense|olvidate|olvidese|olviden|olvida|borren|borra ~2 de|mi|este ?mi ?este numero|telefono|celular|contacto >de_la_reserva|del_cuarto|de_la_tintoreria",
    ),
    es(
        "optout.nl.es.50",
        "pueden|puede|podrian|puedes|podes|favor_de|agradeceria|les_pido|pido|ruego|solicito ~1 parar|dejar|cancelar|suspender|detener|quitar|que_dejen|que_paren ~3 mensajes|textos|sms|avisos|mandar*|enviar*|escribir*|promociones|notificaciones|promos >de_mi_reserva",
    ),
    es(
        "optout.nl.es.51",
        "no ~3!hay|habia|llegan|recibi|tengo|he|llega|me_llego mas|otro mensajes|textos|msjs|sms|mensaje|texto|msj|mensajitos >para",
    ),
    es(
        "optout.nl.es.52",
        "numero_equivocado|se_equivoc*|equivocado|no_soy|ya_no_es_su_numero|ya_no_es_el_numero|falleci* & borr*|quit*|no_escrib*|dejen|no_me_escrib*|no_mand*|no_vuelv*|saqu*|elimin*|paren|ya_no_mand*|no_lo_hagan",
    ),
    es(
        "optout.nl.es.53",
        "bloquear|bloqueo|bloqueando|bloqueare|reportar|denunciar|reportarlos|denunciarlos|bloquearlos ~2 este|este_numero|los|su|tu|por_spam|por_acoso|como_spam ?numero & mensaj*|numero|spam|acoso|dejan|siguen|texto*",
    ),
    es("optout.nl.es.54", "<no @halt|no_more ~1 de ?mandarme|los|mas|estos mensajes|textos|texts|mensajitos|msjs"),
    es(
        "optout.nl.es.55",
        "ya|basta|suficiente|hart*|cansad* ~2 de|con ~2 mensajes|mensajitos|textos|sms|promociones|publicidad|spam|mensajeo|msjs",
    ),
    es(
        "optout.nl.es.56",
        "ya no ?quiero|deseo ?mas ?que_me mande*|mandes|escriba*|escribas|envi*|textee* ?mas ?nada $",
    ),
    // familias: dejen de estar, no sigan, sáquenme de ahí, ya les dije
    es(
        "optout.nl.es.57",
        "<si no|ya_no quiero|kiero|deseo|quisiera|necesito|me_interesa ?seguir recibir|recibiendo|saber|tener ?mas nada|mas|ninguno|ninguna|ningun_mensaje|noticias >hasta|antes|si|cuando|informacion",
    ),
    es(
        "optout.nl.es.58",
        "<no|no_puedo|si|nunca @dejen|ya ?ya de ?estar ?andar mandando|enviando|escribiendo|molestando|texteando|chingando|fregando|jodiendo|fastidiando|mandar|enviar|escribir|molestar|textear|fregar|joder|chingar >en_la_noche|al_cuarto",
    ),
    es(
        "optout.nl.es.59",
        "paren|pare|para|basta|ya|parenle|parale|alto|dejen|bajenle ?ya ?por_favor ?porfa con ?esos ?los ?tantos ?tanto ?sus ?las mensajes|mensajitos|textos|mensaje|sms|msjs|promociones|publicidad|spam|notificaciones",
    ),
    es(
        "optout.nl.es.60",
        "no ?me ?nos sigan|siga|sigas|continuen|anden enviando|mandando|escribiendo|molestando|insistiendo|texteando|jodiendo|fregando|contactando >con_el_ruido|al_cuarto|en_la",
    ),
    es(
        "optout.nl.es.61",
        "dejame|dejenme|dejeme|dejanos|dejennos de molestar|escribir|mandar|fastidiar|fregar|joder|textear|enviar|chingar",
    ),
    es(
        "optout.nl.es.62",
        "<no @quitenme|borrar_me|sacame|quitame ?ya ?porfa ?por_favor de ahi|aqui|alli|eso|esto|ese|este|esas|esos|todo|su_sistema|sus_contactos|sus_mensajes ?lista ?grupo >de_espera|de_invitados|la_reserva",
    ),
    es(
        "optout.nl.es.63",
        "dije|dijimos|pedi|he_dicho|pedido|repito|digo|avise ?ya ?que ?q no ?ya ?quiero ?quiero_que ?me ?nos mandaran|mandaras|escribieran|escribieras|mandes|manden|molestaran|molesten|escriban|enviaran|mas_mensajes|textearan|mas_textos|mas_sms",
    ),
    es(
        "optout.nl.es.64",
        "hasta_cuando|cuando_van_a|por_que_siguen|porque_siguen|xq_siguen|por_que_me_siguen|porque_me_siguen ~4 mandando|escribiendo|molestando|dejar_de_escribir|dejar_de_mandar|enviando|texteando",
    ),
    es("optout.nl.es.65", "^ ?ya ?que paren|parenle|ya_paren|paren_ya|dejen_ya|ya_dejen ?ya ?por_favor $"),
    es(
        "optout.nl.es.66",
        "mensajes|mensaje|textos|numero|mandando|mandar|escribiendo|texteando|publicidad ~10 paren|parenle|basta|dejen_de_hacerlo|no_mas|ya_no|paren_ya|ya_paren|ya_basta $",
    ),
    es(
        "optout.nl.es.67",
        "ningun|ninguna|cero mensaje|mensajes|texto|promocion|sms|publicidad ?mas ?por_favor ?gracias $",
    ),
    es("optout.nl.es.68", "no mandar|enviar|escribir|contactar|molestar|llamar ?mas ?nunca ?mensajes ?a ?por_favor $"),
    es(
        "optout.nl.es.69",
        "<si|por_que|porque|cuando prefiero|preferiria|mejor|agradeceria|pido|quisiera|gustaria que ?ya no me|nos|le|les @escriban|@manden|molesten|contacten|llamen|escribieran|mandaran|contactaran",
    ),
    es(
        "optout.nl.es.70",
        "<no|si me|nos quiero|queremos|gustaria|puedo ?yo dar|salir|quitar|borrar|desuscribir|eliminar|sacar|darme ?de ?la ?esta ?su baja|lista|suscripcion|desuscrib* >de_espera|de_invitados|del_torneo",
    ),
    es(
        "optout.nl.es.71",
        "cancelen|cancela|cancelar|cancele|anulen|eliminen|quiten|terminen|den_fin_a ~1 mi|la|esta|estos|los|sus|las ~1 suscripcion|mensajes|alertas|notificaciones|textos|inscripcion|sms|avisos|registro_de_mensajes >de_mi_reserva",
    ),
    // moldes: salirme de esto, bájenle, fuera de mi teléfono, textos no
    es(
        "optout.nl.es.72",
        "<no|si_puedo|a_que_hora|puedo|quiero_salir_a salirme|salir|salgo|salgan|sacarme|desapuntarme|desafiliarme|desvincularme|desligarme ?ya ~2 de|del ~1 esto|textos|mensajes|mensajitos|lista|grupo|sms|promociones|promos|eso|este_chat ?de >de_espera|aqui",
    ),
    es(
        "optout.nl.es.73",
        "<no parenle|bajenle|apaguen|apaga|corten|corta|finalicen|cesen|cesar|cese|desactiven|desactiva|desactivar|detengan|frenen|terminen|pausen|quiten|cancelen|cancela|cancelar ?ya ?con ?a ?el ?los ?las ?sus ?tus ?de ?esos ~1 envio|mensajes|mensajitos|textos|sms|notificaciones|promos|promociones|avisos|anuncios|msjs|publicidad|texts|mensajes_de >de_la_tele",
    ),
    es(
        "optout.nl.es.74",
        "<no dejate|dejense|dejese|ya_estuvo|estuvo_bueno|suficiente|nada|basta|cero|harto|harta|hartos|cansado|cansada|coronilla ~1 de ~1 mensajitos|mensajes|textos|tanto_mensaje|tantos_mensajes|sms|publicidad|promociones|anuncios|notificaciones|msjs|mensajeo",
    ),
    es(
        "optout.nl.es.75",
        "no|ya_no ~1 hace_falta|es_necesario|necesito|hay_necesidad|quiero|kiero ?de ?que ?q me|nos|le escriban|escriba|escribas|manden|mandes|texteen|avisen|contacten|envien|lleguen >a_que|temprano",
    ),
    es(
        "optout.nl.es.76",
        "desinscrib*|desincrib*|desafili*|desvincul*|desapunt*|desregistr*|desubscrib*|tachen_mi|tachenme|retirenme|retireme|den_de_baja_mi ~2 >del_torneo|de_la_clase|del_tour",
    ),
    es("optout.nl.es.77", "fuera|largo|salgan ~1 de mi telefono|celular|cel|movil|numero|whatsapp"),
    es(
        "optout.nl.es.78",
        "<porque no me|nos ?vuelva ?vuelvan ?esten ?ande ?anden ?este ?a ?mas mande|manden|mandando|mandes|llegar|llegue|lleguen|yegue|yeguen|llega|avisen|avise|avises|notifiquen|llamen_ni|enviando|envien ~1 mas|cosas|eso|esto|nada|sus|de_sus|ni|ningun|anuncios|estos|otra_vez >el_periodico|periodico|el_diario|toallas|por_correo|la_cuenta",
    ),
    es(
        "optout.nl.es.79",
        "eliminar|eliminen|elimine|borrar|borren|borre|quitar|quiten|suprimir|suprime|cancelar este|mi|la|el contacto|suscripcion|inscripcion|registro_de_mensajes >de_emergencia",
    ),
    es("optout.nl.es.80", "los|las|te voy_a|vamos_a|tendre_que|tengo_que bloquear|reportar|denunciar"),
    es(
        "optout.nl.es.81",
        "que|q no me|nos ~3 llegue|lleguen|llegar|vuelva|vuelvan|manden|escriban ~3 mensaje|mensajes|nada|estos|textos|mas|otra_vez|promos|ustedes >a_tiempo",
    ),
    es("optout.nl.es.82", "ni uno|una|un ?mensaje ?texto mas ?por_favor $"),
    es(
        "optout.nl.es.83",
        "ultimo|ultima ~1 mensaje|texto|sms|promo|notificacion|vez_que ~3 que|me|y_ya|recibo|llega|mandan|escriben|quiero >no_me_llego",
    ),
    es(
        "optout.nl.es.84",
        "pierda|pierdan|pierde|olviden|olvidense_de|tiren|tira ~1 mi|este ~1 numero|contacto|celular",
    ),
    es(
        "optout.nl.es.85",
        "numero_equivocado|equivocados|equivocado & no_insistan|no_insista|dejen|no_escriban|quiten|borren|ya_no",
    ),
    es(
        "optout.nl.es.86",
        "pido|pedi|pedido|exijo|solicito|ruego|ya_dije|dije|quiero|suplico ~1 que ~2 me|nos saquen|quiten|borren|eliminen|retiren|den_de_baja|saque|quite >de_la_habitacion|la_cuenta|el_cargo|de_espera|de_la_reserva|las_toallas|de_la_mesa",
    ),
    es(
        "optout.nl.es.87",
        "dejadme|dejadnos|dejenme|dejame|dejenos|dejen ~1 en_paz|tranquilo|tranquila|de_una_vez ~1 con ~2 sms|mensajes|textos|mensajitos|promociones|publicidad",
    ),
    es(
        "optout.nl.es.88",
        "dejar_de|no|terminar_de|parar_de recibir|recibirlos|recibirlo ~1 esto|estos|esta|mas|mensajes|textos|promos|publicidad|nada|notificaciones",
    ),
    es("optout.nl.es.89", "textos|mensajes|sms|mensajitos|promos no ?mas ?por_favor ?gracias ?ya $"),
    es(
        "optout.nl.es.90",
        "<no demasiados|muchos|tantos|tanto|demasiado|mucho mensajes|textos|mensaje|sms|mensajitos|msjs|publicidad|spam ~6 cancel*|quit*|par*|dej*|basta|ya|baja|borr*|saqu*",
    ),
    es(
        "optout.nl.es.91",
        "<no darse|darme|dar|pedir|solicitar|tramitar ?de ?la baja ?por_favor ?ya ?de ?los ?sus ?esto $",
    ),
    es(
        "optout.nl.es.92",
        "como|donde|forma|manera|hay_modo ~3 darse|darme|doy|dar ?me de baja >del_torneo|de_la_clase|mi_reserva|la_habitacion",
    ),
    es(
        "optout.nl.es.93",
        "no ~2 me|nos llamen|hablen|marquen|busquen|contacten ni ?me ?nos escriban|manden|texteen|mensajeen|envien",
    ),
    es(
        "optout.nl.es.94",
        "telefono|celular|cel|tlf|movil|linea|numero ~2 de|es_de|es_del ~1 trabajo|empresa|oficina|mi_hija|mi_hijo|otra_persona|otro & no_escriban|no_manden|dejen|paren|quiten|no_texteen|saquen|borren|ya_no",
    ),
    es(
        "optout.nl.es.95",
        "remueve|remuevan|remueva|saca|saquen|tachen|tacha|retira|retiren|quita|quiten ~1 mi ~1 numero|nombre|cel|telefono|contacto ~2 de|del ~2 textos|texts|lista|envios|mensajes|sistema|promociones >de_espera|de_invitados",
    ),
    es(
        "optout.nl.es.96",
        "<no cancelen|corten|terminen|paren|acaben|cancela|corta eso|esto|con_eso|con_esto|ya_eso|todo_eso ~1 & mensaj*|texto*|sms|promos|notificaciones|publicidad",
    ),
];

/// What is no opt-out however much it looks like one: it keeps the net of likeness silent, not the phrases above.
pub(crate) const SPARED: &[&str] = &[
    "@keeps|i_cant|you_dont|why_dont_you|dont_forget_to|never_want_you_to @halt|text|texting @texting|texts|messages|getting|me|us|you",
    "cant|cannot|dont|not|never|wont|him_to|her_to|do_not @halt @texting|texts|messages|getting|sending",
    "waitlist|wait_list|waiting_list|guest_list|tournament|table_list|standby_list|raffle|reservation|reserva|reservacion|booking|lista_de_espera|\
    lista_de_invitados|torneo",
    "sending|send|text|texting|manden|mande|mandes|envien|envie|recibir me|us|nos ?the ?a ?el ?la ?los ?las ?mi menu|bill|hours|cuenta|menu|toallas|\
    flores|towels|flowers|link|mapa",
    "manden|envien|mande|envie|recibir ?el ?la ?los ?las menu|cuenta|toallas|flores|comida|maletas|factura",
    "@dont @text|send me|us ?texts ?messages @when",
    "did|was|dont|not|never|why_did ?i ?they ?you ?get unsubscribe|unsubscribed",
    "dont|didnt|not|stopped|never get|getting|receive|received|got ~1 texts|messages|text|message ~8 anymore|yet|why",
    "get|got|they|i ~1 unsubscribed|unsubscribe ~3 accident|accidentally|mistake|why",
    "why|are_there|there_are|miss|hay|llego|not_enough ?no ?more ?any ?your ?mas ?el texts|messages|mensajes|mensaje",
    "no ~1 texts|messages ~4 yet|at_the|front_desk|from_the_hotel",
    "want|quiero|send|mandenme more|mas texts|messages|mensajes",
    "no_more_than|no_mas_de|not_more_than|one_stop|your_stop|bus_stop|next_stop|non_stop|nonstop|pit_stop|in_spanish|in_english|en_ingles|en_espanol|no_way|azucar|hielo",
    "dont|not want|wanting ~3 to_stop|texts_to_stop|miss|missing|lose_my",
    "no ?me|nos|puedo molesta|dejen|dejes|deje|dejar|llego|hay ?de ?mas",
    "dont_leave|not_leave me|us alone",
];
