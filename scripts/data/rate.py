#!/usr/bin/env python3
"""Mixes the replies of two builds for raters who must not know which build wrote what, and counts their ratings.

    scripts/data/rate.py mix BEFORE.json AFTER.json SHEET.txt KEY.json [--seed N]
    scripts/data/rate.py score KEY.json RATINGS_A.txt RATINGS_B.txt

BEFORE and AFTER are reports of `./scripts/eval --json` on the same dialogues (several joined by commas). Each dialogue of each build
becomes one block of SHEET under a number; KEY says which number is whose. Raters write a line `NUMBER TURN RATING` per reply, 0 (wrong
or harmful) to 3 (what an excellent host writes). `score` prints for each build the mean, the share of zeros, the means by writer and by
language (of the dialogues in tests/conversations/rated and rated2), and how well the two raters agree (Cohen's kappa with quadratic weights).
"""
import glob, json, os, random, re, sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def dialogues(paths):
    rows = []
    for path in paths.split(","):
        with open(path) as file:
            rows += json.load(file)["dialogues"]
    return {row["file"]: row for row in rows}


def mix(before, after, sheet, key, seed):
    builds = {"before": dialogues(before), "after": dialogues(after)}
    if builds["before"].keys() != builds["after"].keys():
        sys.exit("the two reports are of different dialogues")
    blocks = [(build, name) for build, rows in builds.items() for name in rows]
    random.Random(seed).shuffle(blocks)
    told = {}
    with open(sheet, "w") as out:
        for number, (build, name) in enumerate(blocks, 1):
            row = builds[build][name]
            told[number] = {"build": build, "file": name, "tags": row["tags"], "turns": len(row["turns"])}
            out.write(f"\n=== {number}\n")
            for n, turn in enumerate(row["turns"], 1):
                out.write(f"{n} GUEST {' / '.join(turn['guest'])}\n")
                out.write(f"{n} HOST  {' / '.join(turn['reply']) or '(no reply)'}\n")
    with open(key, "w") as out:
        json.dump(told, out, indent=1)


def ratings(path):
    with open(path) as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {(int(number), int(turn)): int(rating) for number, turn, rating, *_ in rows}


def kappa(pairs):
    n = len(pairs)
    weight = lambda a, b: (a - b) ** 2 / 9
    seen = sum(weight(a, b) for a, b in pairs) / n
    left = [sum(a == r for a, _ in pairs) / n for r in range(4)]
    right = [sum(b == r for _, b in pairs) / n for r in range(4)]
    chance = sum(weight(a, b) * left[a] * right[b] for a in range(4) for b in range(4))
    return 1 - seen / chance if chance else 1.0


def language(entry):
    if "mixed" in entry["tags"]:
        return "mixed"
    for path in glob.glob(os.path.join(ROOT, "tests/conversations/rated*/*", entry["file"] + ".yaml")):
        with open(path) as file:
            return re.search(r"^language: (\w+)", file.read(), re.M)[1]
    return "unknown language"


def score(key, one, other):
    with open(key) as file:
        told = {int(number): entry for number, entry in json.load(file).items()}
    a, b = ratings(one), ratings(other)
    both = sorted(a.keys() & b.keys())
    wanted = sum(entry["turns"] for entry in told.values())
    if not both:
        sys.exit(f"no reply of the {wanted} is rated by both")
    print(f"{len(both)} of {wanted} replies rated by both; kappa {kappa([(a[k], b[k]) for k in both]):.2f}")
    for build in ("before", "after"):
        mine = [k for k in both if told[k[0]]["build"] == build]
        if not mine:
            print(f"{build}: no reply is rated by both")
            continue
        marks = [(a[k] + b[k]) / 2 for k in mine]
        zeros = sum(a[k] == 0 or b[k] == 0 for k in mine)
        agreed = sum(a[k] == 0 and b[k] == 0 for k in mine)
        print(f"{build}: mean {sum(marks) / len(marks):.2f}, zeros {zeros} ({100 * zeros / len(marks):.1f} %; both raters {agreed})")
        for lot in (lambda entry: entry["file"].split("-")[0], language):
            parts = {}
            for k in mine:
                parts.setdefault(lot(told[k[0]]), []).append((a[k] + b[k]) / 2)
            for name, part in sorted(parts.items()):
                print(f"  {name}: {sum(part) / len(part):.2f} of {len(part)}")


match sys.argv[1:]:
    case ["mix", before, after, sheet, key, *rest]:
        mix(before, after, sheet, key, int(rest[1]) if rest[:1] == ["--seed"] else 1)
    case ["score", key, one, other]:
        score(key, one, other)
    case _:
        sys.exit(__doc__)
