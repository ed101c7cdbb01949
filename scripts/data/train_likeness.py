#!/usr/bin/env python3
"""Makes shared/compliance/data/likeness.bin from labelled texts (D20). For authors only: needs numpy, scipy and scikit-learn.

    scripts/data/train_likeness.py [--judge FILE ...]

Learns from tests/corpus/train.jsonl, roundabout.jsonl, dialogue.jsonl and everyday.jsonl, the patterns' and the opt-outs' own examples, the tuning half of
tests/corpus/gate.jsonl, and the half by hash (FNV-1a 64 of the line, even) of the ordinary talk of real people in ../shared/data, which is read from there and
never copied. --judge prints how often the new net alone is right about other files, never the texts.
"""
import glob, json, os, struct, subprocess, sys, tomllib
import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.linear_model import LogisticRegression

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(ROOT, "shared/compliance/data/likeness.bin")
CLASSES = ["pass", "opt_out", "crisis", "emergency", "prompt_injection", "responsible_gaming", "bsa_aml", "patron_privacy", "pii",
           "age_verification", "identity", "abuse"]
BITS, MOST = 17, 1000
# Ordinary talk counts so much: a false alarm in it is what guests meet every day.
ORDINARY = 8
WORD, PRIME, SPREAD, ALL = 0xCBF29CE484222325, 0x100000001B3, 0x9E3779B97F4A7C15, (1 << 64) - 1


def fnv(data):
    h = WORD
    for b in data:
        h = ((h ^ b) * PRIME) & ALL
    return h


def rotate(h, bits):
    return ((h << bits) | (h >> (64 - bits))) & ALL


def load(path):
    with open(os.path.join(ROOT, path)) as file:
        rows = [json.loads(line) for line in file if line.strip()]
    return [r for r in rows if r["expect"] in CLASSES and "\n" not in r["text"]]


def examples():
    """The patterns' own examples: what they catch, and what their exclusions let pass."""
    with open(os.path.join(ROOT, "shared/compliance/data/opt_out_examples.toml"), "rb") as file:
        opt_outs = tomllib.load(file)
    out = [{"text": text, "expect": "opt_out"} for text in opt_outs["yes"]]
    out += [{"text": text, "expect": "pass", "weight": 9} for text in opt_outs["no"]]
    with open(os.path.join(ROOT, "shared/packs/casino/guardrails.toml"), "rb") as pack:
        rules = tomllib.load(pack)["rule"]
    caught = {text for rule in rules for text in rule.get("matches", [])}
    rows = [{"text": text, "expect": rule["layer"]} for rule in rules for text in rule.get("matches", [])]
    return out + rows + [{"text": t, "expect": "pass", "weight": 9} for rule in rules for t in rule.get("passes", []) if t not in caught]


def ordinary():
    """Real people's talk: the half of each set that may be seen."""
    shared = os.path.join(os.path.dirname(ROOT), "shared/data")
    files = sorted(glob.glob(f"{shared}/ordinary-sms/half.txt") + glob.glob(f"{shared}/ordinary-domain/*.txt"))
    if not files:
        sys.exit(f"{shared} has no ordinary talk; a net without it would alarm on one ordinary text in ten")
    lines = [line.rstrip("\n") for path in files for line in open(path, encoding="utf8") if line.strip()]
    return [{"text": line, "expect": "pass", "weight": ORDINARY} for line in lines if fnv(line.encode()) % 2 == 0]


def folded(rows):
    """The texts as the gate reads them."""
    joined = "".join(r["text"] + "\n" for r in rows)
    tool = ["cargo", "run", "-q", "-p", "seven-compliance", "--example", "reads"]
    return subprocess.run(tool, input=joined, text=True, capture_output=True, check=True, cwd=ROOT).stdout.split("\n")[: len(rows)]


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
    found = [features(line) for line in folded(rows)]
    at = np.repeat(np.arange(len(found)), [len(f) for f in found])
    m = csr_matrix((np.ones(len(at)), (at, np.concatenate(found).astype(int))), shape=(len(found), 1 << BITS))
    m.sum_duplicates()
    return m


def scaled(m, rarity):
    length = np.sqrt(np.asarray((m @ diags(rarity**2)).sum(1)).ravel())
    return (diags(1 / np.maximum(length, 1)) @ m @ diags(rarity)).tocsr()


def fit(m, labels, weights):
    df = np.asarray((m > 0).sum(0)).ravel()
    rarity = np.minimum(255, np.round((np.log((1 + m.shape[0]) / (1 + df)) + 1) * 20))
    model = LogisticRegression(C=40, max_iter=400, class_weight="balanced", tol=1e-4)
    model.fit(scaled(m, rarity), labels, sample_weight=weights)
    order = [list(model.classes_).index(c) for c in CLASSES]
    product = model.coef_[order] * rarity
    # A few features would stretch the scale for all: what is beyond goes to the edge.
    scale = np.quantile(np.abs(product[product != 0]), 0.9999) / 127
    weights = np.clip(np.round(product / scale), -127, 127)
    return {"weights": weights, "scale": scale, "bias": model.intercept_[order], "rarity": rarity}


def odds(net, m):
    length = np.sqrt(np.asarray((m @ diags(net["rarity"] ** 2)).sum(1)).ravel())
    scores = (m @ net["weights"].T) * net["scale"] / np.maximum(length, 1)[:, None] + net["bias"]
    p = np.exp(scores - scores.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True)


def right(row, name):
    return row["expect"] == name or name in row.get("accept", [])


def judge(path, net):
    rows = load(path)
    p = odds(net, counts(rows))
    said = [CLASSES[c] for c in p.argmax(1)]
    for name in CLASSES:
        mine, its = [i for i, r in enumerate(rows) if r["expect"] == name], [i for i, s in enumerate(said) if s == name]
        good = lambda all: sum(right(rows[i], said[i]) for i in all)
        print(f"  {path} {name:<20} recall {good(mine)}/{len(mine)}, right {good(its)}/{len(its)}")


def main():
    tune = [r for r in load("tests/corpus/gate.jsonl") if fnv(r["text"].encode()) % 2 == 0]
    seen, rows = set(), []
    weighed = lambda name, weight: [dict(r, weight=weight) for r in load(f"tests/corpus/{name}.jsonl")]
    talk = weighed("dialogue", ORDINARY) + weighed("everyday", ORDINARY) + ordinary()
    for r in examples() + load("tests/corpus/train.jsonl") + tune + weighed("roundabout", 2) + talk:
        if r["text"].lower() not in seen:
            seen.add(r["text"].lower())
            rows.append(r)
    m, labels = counts(rows), np.array([r["expect"] for r in rows])
    weights = np.array([r.get("weight", 1) for r in rows], dtype=float)
    net = fit(m, labels, weights)
    table = np.zeros((1 << BITS, 16), dtype=np.uint8)
    table[:, :12] = net["weights"].T.astype(np.int8).view(np.uint8)
    table[:, 12] = net["rarity"]
    with open(TABLE, "wb") as out:
        out.write(struct.pack("<13f", net["scale"], *net["bias"]))
        out.write(table.tobytes())
    print(len(rows), "texts learnt;", os.path.getsize(TABLE), "bytes")
    for path in sys.argv[sys.argv.index("--judge") + 1 :] if "--judge" in sys.argv else []:
        judge(path, net)


main()
