use seven_domain::Language;

use super::check;

#[test]
fn spanish() {
    check(Language::Es, ROWS);
}

pub(super) const ROWS: &[(&str, &str)] = &[
    // nombres
    ("me llamo José", "name José"),
    ("Me llamo Lupe Ramirez", "name Lupe | full Lupe Ramirez"),
    ("mi nombre es ana", "name Ana"),
    ("Hola, soy Carmen", "name Carmen"),
    ("soy maria", "name Maria"),
    ("Soy Xiomara y quiero una mesa", "name Xiomara"),
    ("Le habla Pedro Gómez", "name Pedro | full Pedro Gómez"),
    ("buenas tardes soy jorge", "name Jorge"),
    // personas
    ("somos 4", "party 4"),
    ("somos cinco", "party 5"),
    ("mesa para dos", "party 2"),
    ("mesa para 4 a las 8", "party 4"),
    ("para 6 personas", "party 6"),
    ("grupo de diez", "party 10"),
    ("2 adultos y 2 niños", "party 4 | with 2 child"),
    ("mi esposa y yo", "party 2 | with spouse"),
    ("seremos 8 personas", "party 8"),
    ("solo yo", "party 1"),
    // fechas
    ("el viernes", "visit 11-27"),
    ("el próximo sábado", "visit 11-28"),
    ("el sábado que viene", "visit 11-28"),
    ("mañana", "visit 11-23"),
    ("llegamos mañana por la mañana", "visit 11-23"),
    ("pasado mañana", "visit 11-24"),
    ("28 de noviembre", "visit 11-28"),
    ("el 5 de diciembre", "visit 12-05"),
    ("del 28 al 30 de noviembre", "visit 11-28..11-30"),
    ("de viernes a domingo", "visit 11-27..11-29"),
    ("este fin de semana", "visit 11-22"),
    ("la próxima semana", "visit 11-23..11-29"),
    ("vamos en diciembre", "visit 12-01..12-31"),
    ("esta noche", "visit 11-22"),
    ("reservar para Navidad", "visit 12-25"),
    ("28/11", "visit 11-28"),
    ("vamos el 28", "visit 11-28"),
    // dieta
    ("soy vegana", "diet vegan"),
    ("somos vegetarianos", "diet vegetarian"),
    ("necesito comida sin gluten", "diet gluten-free"),
    ("soy alérgico a los mariscos", "allergy shellfish"),
    (
        "alergia al maní y a los huevos",
        "allergy peanuts | allergy eggs",
    ),
    ("no como cerdo", "diet no pork"),
    ("soy celíaca", "diet celiac"),
    ("soy intolerante a la lactosa", "diet lactose-intolerant"),
    // ocasión
    ("es mi cumpleaños", "occasion birthday"),
    ("celebramos nuestro aniversario", "occasion anniversary"),
    ("estamos de luna de miel", "occasion honeymoon"),
    (
        "la despedida de soltera de mi hermana",
        "occasion bachelorette",
    ),
    // correo, presupuesto
    ("mi correo es jose@correo.mx", "email jose@correo.mx"),
    ("presupuesto de 200", "budget up to $200"),
    (
        "busco algo de menos de 50 dólares por persona",
        "budget up to $50 per person",
    ),
    ("entre $50 y $100", "budget $50-$100"),
    // familia
    ("mi hijo tiene 6 años", "with child 6"),
    ("hijos de 5 y 8 años", "with child 5 | with child 8"),
    ("voy con mi esposo Carlos", "with spouse Carlos"),
    ("vamos con amigos", "with friends"),
    ("con mis hijos", "with child"),
    ("viajamos con cuatro niños", "with 4 child"),
    ("llevamos 2 niñas", "with 2 child"),
    ("mi esposo, yo y 2 niños", "with 2 child"),
    ("vengo con mis gemelos", "with 2 child"),
    (
        "Tienen 3, 6 y 9 años. ¿Qué hay para ellos?",
        "with child 3 | with child 6 | with child 9",
    ),
    ("tienen 5 y 12", "with child 5 | with child 12"),
    ("sus edades son 4 y 11", "with child 4 | with child 11"),
    (
        "el mayor tiene 12 y la menor tiene 5",
        "with child 12 | with child 5",
    ),
    ("Tiene 8 años", "with child 8"),
    ("mi esposa quiere saber si hay terraza", "with spouse"),
    // gustos
    ("me gusta la comida italiana", "cuisine italian"),
    ("nos encanta la música en vivo", "interest live_music"),
    ("me interesa un masaje", "treatment massage"),
    ("prefiero las tragamonedas", "game slots"),
    // acceso
    (
        "mi mamá usa silla de ruedas",
        "with mother | access wheelchair",
    ),
    (
        "necesito una habitación accesible",
        "access accessible room",
    ),
    ("tengo un perro de servicio", "access service dog"),
    (
        "Hola, soy José, somos 4 el viernes y es mi cumpleaños",
        "name José | party 4 | visit 11-27 | occasion birthday",
    ),
];
