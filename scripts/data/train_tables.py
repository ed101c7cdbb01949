#!/usr/bin/env python3
"""Makes the tables by which the offline host tells acts (shared/offline-host/data/acts.bin) and subjects (subjects.bin) of texts
apart. For authors only: needs numpy, scipy and scikit-learn.

    scripts/data/train_tables.py acts|subjects [--judge FILE ...]

Learns from tests/conversations/acts/train/*.jsonl ({"act", "text"} per line) or tests/conversations/subjects/train/*.jsonl ({"subject",
"text"}). --judge prints how often the table alone is right about other files, never the texts. The form of the table is that of
seven_text::linear.
"""
import glob, json, os, struct, subprocess, sys
import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.linear_model import LogisticRegression

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The order of `KEYS` in shared/offline-host/src/acts/learnt.rs.
ACTS = ["ask", "recommend", "narrow", "correct", "compare", "more", "reject", "accept", "book", "change", "comp", "complaint",
        "account", "thanks", "sarcasm", "smalltalk", "competitor", "tell", "goodbye", "human", "greeting", "policy"]
# The order of `KEYS` in shared/offline-host/src/subject.rs.
SUBJECTS = ["food", "diet", "kids_food", "buffet", "drinks", "room_service", "dress", "reserve", "shows", "nightlife", "watch_sports",
            "kids", "minors", "pool", "spa", "salon", "gym", "rooms", "room_items", "check_in", "check_out", "pets", "smoking", "fees",
            "slots", "tables", "poker", "sportsbook", "bingo", "tournament", "gaming", "club", "points", "account", "offers", "comp",
            "parking", "transport", "directions", "wifi", "access", "lost", "id", "money", "gift_card", "shops", "groups", "outdoors",
            "luggage", "holiday", "weather", "medical", "rules", "gift_wish", "quality", "complaint", "change", "human", "robot",
            "help_wish", "chat", "refers"]
# For each table: the label's key, its classes, the bytes per row and the number of rows as a power of two.
TABLES = {"acts": ("act", ACTS, 24, 15), "subjects": ("subject", SUBJECTS, 64, 15)}
NAME = sys.argv[1] if len(sys.argv) > 1 and sys.argv[1] in TABLES else sys.exit(__doc__)
KEY, CLASSES, ROW, BITS = TABLES[NAME]
TABLE = os.path.join(ROOT, f"shared/offline-host/data/{NAME}.bin")
TRAIN = os.path.join(ROOT, f"tests/conversations/{NAME}/train/*.jsonl")
MOST = 1000
WORD, PRIME, SPREAD, ALL = 0xCBF29CE484222325, 0x100000001B3, 0x9E3779B97F4A7C15, (1 << 64) - 1


def rotate(h, bits):
    return ((h << bits) | (h >> (64 - bits))) & ALL


def load(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.strip()]


def folded(texts):
    """The texts as the offline host reads them."""
    built = os.path.join(ROOT, "target/debug/examples/acts")
    tool = [built] if os.path.exists(built) else ["cargo", "run", "-q", "-p", "seven-offline-host", "--example", "acts"]
    joined = "".join(text.replace("\n", " ") + "\n" for text in texts)
    return subprocess.run(tool, input=joined, text=True, capture_output=True, check=True, cwd=ROOT).stdout.split("\n")[: len(texts)]


def features(line):
    """As `features` in shared/text/src/linear.rs."""
    out, run, word, before, long_before = [], 0, WORD, None, None
    for at, byte in enumerate(line.encode()[:MOST]):
        run = (run << 8 | byte) & 0xFFFFFFFFFF
        if at >= 4:
            out.append(run)
        if byte != 32:
            word = ((word ^ byte) * PRIME) & ALL
        elif word != WORD:
            out.append(word)
            if before is not None:
                out.append(rotate(before, 7) ^ word)
            if long_before is not None:
                out.append(rotate(long_before, 21) ^ word)
            long_before, before, word = before, word, WORD
    return [((f * SPREAD) & ALL) >> (64 - BITS) for f in out]


def counts(rows):
    found = [features(line) for line in folded([r["text"] for r in rows])]
    at = np.repeat(np.arange(len(found)), [len(f) for f in found])
    m = csr_matrix((np.ones(len(at)), (at, np.concatenate(found).astype(int))), shape=(len(found), 1 << BITS))
    m.sum_duplicates()
    return m


def scaled(m, rarity):
    length = np.sqrt(np.asarray((m @ diags(rarity**2)).sum(1)).ravel())
    return (diags(1 / np.maximum(length, 1)) @ m @ diags(rarity)).tocsr()


def fit(m, labels):
    df = np.asarray((m > 0).sum(0)).ravel()
    rarity = np.minimum(127, np.round((np.log((1 + m.shape[0]) / (1 + df)) + 1) * 12))
    model = LogisticRegression(C=20, max_iter=300, class_weight="balanced", tol=1e-3)
    model.fit(scaled(m, rarity), labels)
    order = [list(model.classes_).index(c) for c in CLASSES]
    product = model.coef_[order] * rarity
    scale = np.quantile(np.abs(product[product != 0]), 0.9999) / 127
    weights = np.clip(np.round(product / scale), -127, 127)
    return {"weights": weights, "scale": scale, "bias": model.intercept_[order], "rarity": rarity}


def odds(net, m):
    length = np.sqrt(np.asarray((m @ diags(net["rarity"] ** 2)).sum(1)).ravel())
    scores = (m @ net["weights"].T) * net["scale"] / np.maximum(length, 1)[:, None] + net["bias"]
    p = np.exp(scores - scores.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True)


def judge(name, rows, p):
    said = [CLASSES[c] for c in p.argmax(1)]
    right = sum(r[KEY] == s for r, s in zip(rows, said))
    print(f"{name}: {right} of {len(rows)} = {right / len(rows):.3f}")
    for label in CLASSES:
        mine = [s for r, s in zip(rows, said) if r[KEY] == label]
        if mine:
            wrong = sorted({s: mine.count(s) for s in mine if s != label}.items(), key=lambda x: -x[1])[:4]
            print(f"  {label:<14} {mine.count(label)}/{len(mine)}  {wrong}")


def main():
    files = sorted(glob.glob(TRAIN))
    seen, rows = set(), []
    for r in (r for path in files for r in load(path)):
        if r["text"].lower() not in seen and r[KEY] in CLASSES:
            seen.add(r["text"].lower())
            rows.append(r)
    m, labels = counts(rows), np.array([r[KEY] for r in rows])
    held = np.arange(len(rows)) % 5 == 0
    part = fit(m[~held], labels[~held])
    judge("a fifth held back", [r for r, h in zip(rows, held) if h], odds(part, m[held]))
    net = fit(m, labels)
    table = np.zeros((1 << BITS, ROW), dtype=np.uint8)
    table[:, : len(CLASSES)] = net["weights"].T.astype(np.int8).view(np.uint8)
    table[:, len(CLASSES)] = net["rarity"]
    os.makedirs(os.path.dirname(TABLE), exist_ok=True)
    with open(TABLE, "wb") as out:
        out.write(struct.pack(f"<{1 + len(CLASSES)}f", net["scale"], *net["bias"]))
        out.write(table.tobytes())
    print(len(rows), "texts learnt;", os.path.getsize(TABLE), "bytes")
    for path in sys.argv[sys.argv.index("--judge") + 1 :] if "--judge" in sys.argv else []:
        judged = load(path)
        judge(path, judged, odds(net, counts(judged)))


main()
