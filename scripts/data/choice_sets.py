#!/usr/bin/env python3
"""Plays the dialogues from which shared/offline-host/data/choice.json is learnt, and learns it (D48). For authors only: needs numpy, and
`cargo build --workspace --example talk` before.

    scripts/data/choice_sets.py WORK_FOLDER [--write shared/offline-host/data/choice.json]

Three kinds of sets count, the last two twice per text because they are small:
- dialogues whose writers named the right rows (tests/conversations/facts: choice/, train/d21, rated1.jsonl), and texts of acts that ask for nothing
  (tests/conversations/acts);
- single questions and follow-ups of casinos that the builder reads (shared/offline-host/tests): the right rows are those of the words' answer if it has
  what is wanted, else those whose text has most of it;
- the project's dialogues (tests/conversations/*.yaml), which the words answer almost without error: their answers are taken as right.
"""
import argparse, json, os, random, shutil, subprocess, sys, unicodedata

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = f"{ROOT}/shared/offline-host/tests"
TALK = os.environ.get("TALK", f"{ROOT}/target/debug/examples/talk")
DEMO = f"{ROOT}/shared/packs/demo"
MESA = f"{ROOT}/tests/conversations/rated/copper-mesa"
FACTS = f"{ROOT}/tests/conversations/facts"
# Casinos whose single questions the builder reads, with their time zones.
READ = {
    "coyote_wash": "America/Phoenix",
    "bahia_lucero": "America/Puerto_Rico",
    "harbor_lantern": "America/Chicago",
    "cedar_falls": "America/New_York",
    "granite_point": "America/Chicago",
    "mesa_dorada": "America/Los_Angeles",
}
ASK_NOTHING = ("comp", "complaint", "account", "human", "thanks", "goodbye", "sarcasm", "smalltalk", "competitor", "greeting", "tell")


def fold(text):
    return "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))


def items_of(path):
    read = json.load(open(path))
    return read["items"] if isinstance(read, dict) else read


class Set:
    """Dialogues of one casino, the labels of their texts, and the replies."""

    def __init__(self, work, name, content=f"{DEMO}/content.json", casino=f"{DEMO}/casino.json", zone=None, times=1):
        self.folder, self.content, self.times = f"{work}/{name}", content, times
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(f"{self.folder}/dialogues")
        document = json.load(open(casino))
        if zone:
            document["operational"]["timezone"] = zone
        self.casino = f"{self.folder}/casino.json"
        json.dump(document, open(self.casino, "w"))
        self.many, self.labels = 0, []

    def add(self, texts, at):
        with open(f"{self.folder}/dialogues/{self.many:03}.yaml", "w") as file:
            turns = "".join(f"  - guest: {json.dumps(text, ensure_ascii=False)}\n" for text in texts)
            file.write(f"name: d\nat: {at}\nturns:\n{turns}")
        self.many += 1
        return f"{self.many - 1:03}"

    def label(self, file, turn, kind, rows):
        self.labels.append({"file": file, "turn": turn, "k": kind, "r": rows})

    def play(self, folder=None, words_alone=False):
        more = {"AS_JSON": "1", **({"WORDS_ALONE": "1"} if words_alone else {})}
        command = [TALK, folder or f"{self.folder}/dialogues", self.content, self.casino]
        out = subprocess.run(command, env={**os.environ, **more}, check=True, capture_output=True, text=True).stdout
        return [json.loads(line) for line in out.splitlines()]

    def finish(self, folder=None):
        with open(f"{self.folder}/labels.jsonl", "w") as file:
            file.writelines(json.dumps(label) + "\n" for label in self.labels)
        with open(f"{self.folder}/replies.jsonl", "w") as file:
            file.writelines(json.dumps(reply) + "\n" for reply in self.play(folder))
        return f"{self.times}*{self.folder}/labels.jsonl={self.folder}/replies.jsonl"


def labelled(work, name, path, at, **house):
    """Dialogues whose writers named the right rows."""
    out = Set(work, name, **house)
    for line in open(path):
        turns = json.loads(line)
        file = out.add([turn["t"] for turn in turns], at)
        for n, turn in enumerate(turns):
            rows = [fact.split(".")[0] for fact in turn.get("f") or []] + (turn.get("r") or [])
            out.label(file, n, turn["k"], list(dict.fromkeys(rows)))
    return out.finish()


def acts(work):
    read = lambda path: [json.loads(line) for line in open(f"{ROOT}/tests/conversations/acts/{path}")]
    texts, more = read("dev.jsonl"), read("train/t9.jsonl")
    draw = random.Random(3)
    for act in ASK_NOTHING[:-1]:
        texts += draw.sample([row for row in more if row["act"] == act], 12)
    out = Set(work, "acts")
    for row in texts:
        if row["act"] in ASK_NOTHING:
            said = [row["before"]] * bool(row.get("before")) + [row["text"]]
            out.label(out.add(said, "2026-11-25T14:00:00"), len(said) - 1, "act", [])
    return out.finish()


def wanted_rows(items, parts):
    """The rows whose text has most of what is wanted."""
    has = {row["id"]: sum(any(a in fold(json.dumps(row, ensure_ascii=False)) for a in part) for part in parts) for row in items}
    most = max(has.values())
    rows = [row for row, count in has.items() if count == most]
    return rows if most and len(rows) <= 4 else None


def questions(work, name, lines, content, zone, between):
    """Lines of `(texts, wanted, forbidden)`; alternatives of what is forbidden are joined by `between`."""
    out = Set(work, name, content=content, casino=f"{DEMO}/casino.json", zone=zone, times=2)
    cases = [(out.add(texts, "2026-11-20T18:30:00"), len(texts) - 1, wanted, forbidden) for texts, wanted, forbidden in lines]
    replies = {(reply["file"], reply["turn"]): reply for reply in out.play(words_alone=True)}
    for file, turn, wanted, forbidden in cases:
        if wanted == "!":
            out.label(file, turn, "open", [])
            continue
        reply, parts = replies[file, turn], [[fold(a.strip()) for a in part.split(" / ")] for part in wanted.split(" + ")]
        said = fold(reply["reply"])
        is_right = all(any(a in said for a in part) for part in parts) and not any(fold(a.strip()) in said for a in forbidden.split(between) if a.strip())
        if is_right and not (reply["r"] and reply["grounded"]):
            continue
        rows = reply["r"][:4] if is_right else wanted_rows(items_of(content), parts)
        if rows:
            out.label(file, turn, "ask", rows)
    return out.finish()


def lines_of(path):
    return [[part.strip() for part in line.split("|", 3)] for line in open(path) if line.strip() and not line.startswith("#")]


def own(work):
    """The project's dialogues, with the words' answers as the right ones."""
    out = Set(work, "own", times=2)
    for reply in out.play(f"{ROOT}/tests/conversations", words_alone=True):
        kind = "ask" if reply["r"] and reply["grounded"] else "open" if not reply["grounded"] else "act"
        out.label(reply["file"], reply["turn"], kind, reply["r"][:4])
    return out.finish(f"{ROOT}/tests/conversations")


def rated(work):
    out = Set(work, "rated1")
    shutil.copy(f"{FACTS}/rated1.jsonl", f"{out.folder}/labels.jsonl")
    replies = [reply for w in ("w1", "w2") for reply in out.play(f"{ROOT}/tests/conversations/rated/{w}")]
    out.content, out.casino = f"{MESA}/content.json", f"{MESA}/casino.json"
    replies += out.play(f"{ROOT}/tests/conversations/rated/w3")
    with open(f"{out.folder}/replies.jsonl", "w") as file:
        file.writelines(json.dumps(reply) + "\n" for reply in replies)
    return f"{out.folder}/labels.jsonl={out.folder}/replies.jsonl"


def main():
    wanted = argparse.ArgumentParser()
    wanted.add_argument("work")
    wanted.add_argument("--write")
    args = wanted.parse_args()
    mesa = {"content": f"{MESA}/content.json", "casino": f"{MESA}/casino.json"}
    sets = [labelled(args.work, m, f"{FACTS}/choice/{m}.jsonl", "2026-11-25T14:00:00", **(mesa if m in ("m3", "m4") else {})) for m in ("m1", "m2", "m3", "m4", "m5")]
    d21 = f"{FACTS}/train/d21"
    sets.append(labelled(args.work, "d21", f"{d21}/dialogues.jsonl", "2026-11-05T14:00:00", content=f"{d21}/as_content.json"))
    sets += [rated(args.work), acts(args.work)]
    for name, zone in READ.items():
        lines = [(texts.split(">>"), wanted, forbidden) for _, texts, wanted, forbidden in lines_of(f"{HERE}/unseen/{name}.txt")]
        sets.append(questions(args.work, name, lines, f"{HERE}/unseen/{name}.json", zone, " | "))
    follow = [line for path in ("follow_ups.txt", "follow_ups_dev.txt") for line in lines_of(f"{HERE}/{path}")]
    places = {"bahia": ("bahia_lucero", f"{HERE}/unseen/bahia_lucero.json"), "coyote": ("coyote_wash", f"{HERE}/unseen/coyote_wash.json")}
    for casino in ("bahia", "coyote", "demo"):
        lines = [(texts.split(">>"), wanted, forbidden) for place, texts, wanted, forbidden in follow if (place if place in places else "demo") == casino]
        name, content = places.get(casino, (None, f"{DEMO}/content.json"))
        sets.append(questions(args.work, f"follow_{casino}", lines, content, READ.get(name), " / "))
    sets.append(own(args.work))
    train = [sys.executable, f"{ROOT}/scripts/data/train_choice.py", *sets]
    return subprocess.run(train + (["--write", args.write] if args.write else []), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
