#!/usr/bin/env python3
"""Compares the rows that the host's replies were made from with the rows that readers named as right (D48). For authors only.

    AS_JSON=1 cargo run -p seven-offline-host --example talk -- DIR [CONTENT [CASINO]] > REPLIES
    scripts/data/score_rows.py LABELS REPLIES [--wrong KIND]

LABELS is tests/conversations/facts/rated1.jsonl, or the dialogues.jsonl of a casino of tests/conversations/facts/train. A question or a wish is
right if one of the right rows is told; a question without an answer, if it is kept open; any other text, if no row is told that it does
not concern.
"""
import argparse, collections, json


def labels_of(path):
    labels = {}
    for n, line in enumerate(open(path)):
        read = json.loads(line)
        turns = read if isinstance(read, list) else [read]
        for at, turn in enumerate(turns):
            rows = [fact.split(".")[0] for fact in turn.get("f") or []] + (turn.get("r") or [])
            key = (turn["file"], turn["turn"]) if "file" in turn else (f"{n:03}", at)
            labels[key] = (turn["k"], list(dict.fromkeys(rows)))
    return labels


def is_right(kind, rows, reply):
    told = set(reply["r"])
    if kind == "open":
        return not reply["grounded"] or reply["staff"] > 0
    if kind == "act":
        return not told or bool(told & set(rows)) or not reply["grounded"]
    return bool(told & set(rows))


def main():
    wanted = argparse.ArgumentParser()
    wanted.add_argument("labels")
    wanted.add_argument("replies")
    wanted.add_argument("--wrong", help="print the wrong replies to texts of this kind")
    args = wanted.parse_args()
    labels = labels_of(args.labels)
    right, seen = collections.Counter(), collections.Counter()
    before = ""
    for line in open(args.replies):
        reply = json.loads(line)
        label = labels.get((reply["file"], reply["turn"]))
        if label is None:
            continue
        kind, rows = label
        seen[kind] += 1
        fine = is_right(kind, rows, reply)
        right[kind] += fine
        if args.wrong == kind and not fine:
            print(f"{reply['file']}.{reply['turn']} {reply['t']}\n    wanted {rows} named {reply['named'][:5]}\n    {reply['r']} {reply['intent']}: {reply['reply']}")
    print("; ".join(f"{kind} {right[kind]} of {seen[kind]}" for kind in sorted(seen)))


if __name__ == "__main__":
    main()
