#!/usr/bin/env python3
"""Makes shared/offline-host/data/choice.json: what the answers to a sentence are worth (D48). For authors only: needs numpy.

    AS_JSON=1 cargo run -p seven-offline-host --example talk -- DIR [CONTENT [CASINO]] > REPLIES
    scripts/data/train_choice.py [N*]LABELS=REPLIES ... [--write FILE]

LABELS are as for score_rows.py; with N* each text of a set counts N times. For each text with one weighed sentence, the worth of each answer follows from the rows that it would tell and those
that readers named as right; the weights are a ridge regression of it on the inputs. Prints what the choice reaches for dialogues that the
regression did not see.
"""
import argparse, collections, json
import numpy as np
from score_rows import labels_of

ANSWERS = ["words", "facts", "suggestion", "passed on", "noted"]
KINDS = ["ask", "suggest", "open", "act"]


# The worth of "good to know, thank you".
NOTED = {"ask": 0.05, "suggest": 0.1, "open": 0.15, "act": 0.7}


def worth_of(kind, right, told, way):
    """The worth of an answer from 0 to 1. `way` says how it answers: told, denied, chat or passed on."""
    found = [row in right for row in told]
    if kind == "ask":
        return {"told": (1 if found[:1] == [True] else 0.75 if any(found) else 0.05), "passed on": 0.35, "denied": 0.15, "chat": 0.1}[way]
    if kind == "suggest":
        share = sum(found[:2]) / max(1, len(found[:2]))
        return {"told": (0.3 + 0.7 * share if any(found) else 0.1), "passed on": 0.3, "denied": 0.2, "chat": 0.15}[way]
    if kind == "open":
        return {"told": 0.45 if any(found) else 0.1, "passed on": 1, "denied": 0.9, "chat": 0.2}[way]
    return {"told": 0.6 if any(found) else 0.1, "passed on": 0.45, "denied": 0.3, "chat": 1}[way]


def read(sets):
    """The inputs, the worth of each answer, the weight, the dialogue and the kind of each text with one weighed sentence."""
    out = []
    for number, pair in enumerate(sets):
        times, pair = pair.split("*") if "*" in pair else (1, pair)
        labels, replies = pair.split("=")
        labels = labels_of(labels)
        for line in open(replies):
            reply = json.loads(line)
            label = labels.get((reply["file"], reply["turn"]))
            if label is None or len(reply["weighed"]) != 1:
                continue
            one, (kind, right) = reply["weighed"][0], label
            ways = [one["words"], "told" if one["rows"][1] else "chat", "told" if one["rows"][2] else "chat", "passed on"]
            worth = [worth_of(kind, right, rows, way) for rows, way in zip([*one["rows"], []], ways)]
            if not one["rows"][2]:
                worth[2] = worth[0]
            worth.append(worth[0] if one["words"] == "chat" else NOTED[kind])
            out.append((one["inputs"], worth, int(times), (number, reply["file"]), kind))
    return out


def fitted(x, y, weight, penalty):
    identity = np.eye(x.shape[1]) * penalty
    identity[0, 0] = 0
    return np.linalg.solve((x * weight[:, None]).T @ x + identity, (x * weight[:, None]).T @ y)


def main():
    wanted = argparse.ArgumentParser()
    wanted.add_argument("sets", nargs="+")
    wanted.add_argument("--write")
    wanted.add_argument("--penalty", type=float, default=6)
    wanted.add_argument("--parts", type=int, default=10)
    args = wanted.parse_args()
    texts = read(args.sets)
    often = collections.Counter(name for inputs, *_ in texts for name in inputs)
    names = ["bias"] + sorted(name for name, count in often.items() if count >= 8 and name != "bias")
    x = np.array([[inputs.get(name, 0) for name in names] for inputs, *_ in texts])
    y, weight = np.array([worth for _, worth, *_ in texts]), np.array([weight for _, _, weight, *_ in texts])
    dialogues = sorted({dialogue for *_, dialogue, _ in texts})
    part = {dialogue: n % args.parts for n, dialogue in enumerate(np.random.RandomState(1).permutation(len(dialogues)))}
    of = np.array([part[dialogues.index(dialogue)] for *_, dialogue, _ in texts])
    scale = x.std(0) + 1e-3
    scale[0] = 1
    x = x / scale
    chosen = np.zeros(len(texts), int)
    for n in range(args.parts):
        chosen[of == n] = (x[of == n] @ fitted(x[of != n], y[of != n], weight[of != n], args.penalty)).argmax(1)
    got, kinds, sets = y[np.arange(len(y)), chosen], np.array([kind for *_, kind in texts]), np.array([dialogue[0] for *_, dialogue, _ in texts])
    for number, pair in [(None, "all"), *enumerate(args.sets)]:
        here = sets >= 0 if number is None else sets == number
        print(f"{pair.split('=')[-1]}: {here.sum()} texts; words {y[here, 0].mean():.3f}, chosen {got[here].mean():.3f}, best {y[here].max(1).mean():.3f};",
              "; ".join(f"{kind} {y[of_kind, 0].mean():.2f} {got[of_kind].mean():.2f}" for kind in KINDS for of_kind in [here & (kinds == kind)] if of_kind.any()),
              dict(zip(ANSWERS, np.bincount(chosen[here], minlength=5).tolist())))
    if args.write:
        weights = fitted(x, y, weight, args.penalty) / scale[:, None]
        lines = [f"  {json.dumps(name)}: {json.dumps([round(float(w), 4) for w in row])}" for name, row in zip(names, weights)]
        open(args.write, "w").write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
