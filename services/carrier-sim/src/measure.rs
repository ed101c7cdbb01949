//! Encoding and parts in Telnyx's words.

/// What Telnyx would report of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measured {
    /// "GSM-7" or "UCS-2".
    pub(crate) encoding: &'static str,
    /// At least 1, for an MMS without text too.
    pub(crate) parts: u32,
}

const GSM: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿\
     abcdefghijklmnopqrstuvwxyzäöñüà";
const GSM_ESCAPED: &str = "\u{c}^{}\\[~]|€";

pub(crate) fn measure(text: &str) -> Measured {
    let gsm: Option<Vec<u32>> = text.chars().map(septets).collect();
    match gsm {
        Some(units) => Measured { encoding: "GSM-7", parts: pack(&units, 160, 153) },
        None => {
            let units: Vec<u32> = text.chars().map(|c| if c.len_utf16() == 2 { 2 } else { 1 }).collect();
            Measured { encoding: "UCS-2", parts: pack(&units, 70, 67) }
        }
    }
}

fn septets(c: char) -> Option<u32> {
    if GSM.contains(c) {
        Some(1)
    } else {
        GSM_ESCAPED.contains(c).then_some(2)
    }
}

/// Greedy: no character is split over two parts.
fn pack(units: &[u32], single: u32, part: u32) -> u32 {
    if units.iter().sum::<u32>() <= single {
        return 1;
    }
    let (mut parts, mut used) = (1, 0);
    for unit in units {
        if used + unit > part {
            parts += 1;
            used = 0;
        }
        used += unit;
    }
    parts
}
