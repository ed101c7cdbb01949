#!/usr/bin/env python3
"""Makes shared/compliance/data/likeness.bin from labelled texts (D20). For authors only: needs numpy, scipy and scikit-learn.

    scripts/data/train_likeness.py [--report]

Learns from tests/corpus/train.jsonl, the patterns' own examples and the tuning half of tests/corpus/gate.jsonl. --report prints what it says about the other
half, on its own and under the patterns. Thresholds come from five-fold cross-validation: the lowest at which the net is right
often enough about texts that the patterns let pass.
"""
import json, os, struct, subprocess, sys, tomllib
import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLASSES = ["pass", "opt_out", "crisis", "emergency", "prompt_injection", "responsible_gaming", "bsa_aml", "patron_privacy", "pii",
           "age_verification", "identity", "abuse"]
BITS, MOST = 15, 1000
# How often an added verdict has to be right: where a miss may cost a life or a lawsuit, less often.
RIGHT = {"crisis": 0.83, "opt_out": 0.88, "responsible_gaming": 0.86, "emergency": 0.88, "prompt_injection": 0.83}
RIGHT_ELSE = 0.89


def fnv(data, h=0xCBF29CE484222325):
    for b in data:
        h = ((h ^ b) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return h


def load(path):
    rows = [json.loads(line) for line in open(os.path.join(ROOT, path)) if line.strip()]
    return [r for r in rows if r["expect"] in CLASSES and "\n" not in r["text"]]


def examples():
    """The patterns' own examples: what they catch, and what their exclusions let pass."""
    with open(os.path.join(ROOT, "shared/packs/casino/guardrails.toml"), "rb") as pack:
        rules = tomllib.load(pack)["rule"]
    caught = {text for rule in rules for text in rule.get("matches", [])}
    rows = [{"text": text, "expect": rule["layer"]} for rule in rules for text in rule.get("matches", [])]
    return rows + [{"text": t, "expect": "pass", "weight": 9} for rule in rules for t in rule.get("passes", []) if t not in caught]


def tool(args, texts):
    joined = "".join(t + "\n" for t in texts)
    return subprocess.run(args, input=joined, text=True, capture_output=True, check=True, cwd=ROOT).stdout.split("\n")[: len(texts)]


def occurrences(line):
    data, out = line.encode()[:MOST], []
    for i in range(len(data) - 3):
        four = fnv(data[i : i + 4])
        out.append(four >> (64 - BITS))
        if i + 6 <= len(data):
            out.append(fnv(data[i + 4 : i + 6], four) >> (64 - BITS))
    return out


def matrix(all_occurrences, rarity):
    rows, cols, norm = [], [], []
    for r, found in enumerate(all_occurrences):
        rows += [r] * len(found)
        cols += found
        norm.append(1 / max(1e-6, np.sqrt(sum(rarity[h] ** 2 for h in found))))
    m = csr_matrix((rarity[np.array(cols, dtype=int)], (rows, cols)), shape=(len(all_occurrences), 1 << BITS))
    m.sum_duplicates()
    return (diags(norm) @ m).tocsr()


def fit(found, labels, weights):
    df = np.zeros(1 << BITS)
    for o in found:
        df[list(set(o))] += 1
    rarity = np.round((np.log((1 + len(found)) / (1 + df)) + 1) * 20)
    model = LogisticRegression(C=40, max_iter=150, class_weight="balanced", tol=1e-3)
    model.fit(matrix(found, rarity), labels, sample_weight=weights)
    return model, rarity


def odds(model, rarity, found):
    p = model.predict_proba(matrix(found, rarity))
    return p[:, [list(model.classes_).index(c) for c in CLASSES]]


def main():
    halves = load("tests/corpus/gate.jsonl")
    tune = [r for r in halves if fnv(r["text"].encode()) % 2 == 0]
    report = [r for r in halves if fnv(r["text"].encode()) % 2 == 1]
    seen, rows = set(), []
    for r in examples() + load("tests/corpus/train.jsonl") + tune:
        if r["text"].lower() not in seen:
            seen.add(r["text"].lower())
            rows.append(r)
    read = tool(["cargo", "run", "-q", "-p", "seven-compliance", "--example", "reads"], [r["text"] for r in rows])
    found = [occurrences(line) for line in read]
    labels = np.array([r["expect"] for r in rows])
    heavy = np.array([r.get("weight", 1) for r in rows], dtype=float)
    held = np.zeros((len(rows), len(CLASSES)))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=7).split(found, labels):
        model, rarity = fit([found[i] for i in train], labels[train], heavy[train])
        held[test] = odds(model, rarity, [found[i] for i in test])
    best, thresholds = held[:, 1:].argmax(1) + 1, [2.0]
    for c, name in enumerate(CLASSES[1:], 1):
        ranked = sorted(((held[i, c], labels[i] == name or name in rows[i].get("accept", [])) for i in np.where(best == c)[0]), reverse=True)
        right, least = 0, 0.99
        for n, (p, good) in enumerate(ranked, 1):
            right += good
            # The last place where all above it together are right often enough, and its neighbourhood too.
            if right / n >= RIGHT.get(name, RIGHT_ELSE) + 0.05 and p >= 0.25:
                least = p
        thresholds.append(float(least))
        kept = [good for p, good in ranked if p >= least]
        total = sum(labels == name)
        print(f"{name:<20} threshold {least:.2f}  cross-validated recall {sum(kept) / total:.2f}, right {sum(kept) / max(1, len(kept)):.2f}")
    model, rarity = fit(found, labels, heavy)
    weights = model.coef_[[list(model.classes_).index(c) for c in CLASSES]] * rarity  # class by bucket
    scale = np.abs(weights).max() / 32767
    rounded = np.round(weights.T / scale)
    table = np.zeros((1 << BITS, 16), dtype="<i2")
    table[:, :12] = rounded
    table[:, 12] = rarity
    bias = model.intercept_[[list(model.classes_).index(c) for c in CLASSES]]
    path = os.path.join(ROOT, "shared/compliance/data/likeness.bin")
    with open(path, "wb") as out:
        out.write(struct.pack("<26f", scale, 1.0, *bias, *thresholds))
        out.write(table.tobytes())
    print(len(rows), "texts learnt;", os.path.getsize(path), "bytes")
    if "--report" in sys.argv:
        p = odds(model, rarity, [occurrences(l) for l in tool(["cargo", "run", "-q", "-p", "seven-compliance", "--example", "reads"], [r["text"] for r in report])])
        top = p[:, 1:].argmax(1) + 1
        for c, name in enumerate(CLASSES[1:], 1):
            said = [i for i in range(len(report)) if top[i] == c and p[i, c] >= thresholds[c]]
            right = sum(report[i]["expect"] == name for i in said)
            print(f"  unseen {name:<20} recall {right}/{sum(r['expect'] == name for r in report)}, right {right}/{len(said)}")


main()
