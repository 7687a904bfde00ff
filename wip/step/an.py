import json,sys
from collections import defaultdict
rows=[json.loads(l) for f in sys.argv[1:] for l in open(f)]
print('errors',sum('error' in r for r in rows), [r['error'][-200:] for r in rows if 'error' in r][:2])
rows=[r for r in rows if 'error' not in r]
by=defaultdict(dict)
for r in rows: by[r['path']['seed']][r['variant']]=r
V=['alike','alike-starts','jitter-1tx','jitter-4tx','rtts','linux']
def q(x,p):
    x=sorted(x); return x[min(len(x)-1,int(p*len(x)))] if x else None
for v in V:
    sh=[b[v]['share'] for b in by.values() if v in b and b[v]['share'] is not None]
    print(f'{v:13} n={len(sh)} none={sum(1 for b in by.values() if v in b and b[v]["share"] is None)} share p5 {q(sh,.05):.2f} p25 {q(sh,.25):.2f} p50 {q(sh,.5):.2f} p75 {q(sh,.75):.2f} p95 {q(sh,.95):.2f}  >=', {t:round(sum(s>=t for s in sh)/len(sh),2) for t in (.5,.6,.7,.8,.9,.95)})
# cost: utilization of linux-like jitter less alike
print('gain of utilization by variant (points) by share class of alike')
for ref in ('alike','alike-starts'):
  for other in ('jitter-4tx','linux','rtts'):
    for lo,hi in ((0,.3),(.3,.5),(.5,.7),(.7,.8),(.8,.9),(.9,.95),(.95,1.01)):
        g=[100*(b[other]['utilization']-b[ref]['utilization']) for b in by.values() if ref in b and other in b and b[ref]['share'] is not None and lo<=b[ref]['share']<hi]
        if g: print(f'{ref:13} {other:11} [{lo},{hi}) n={len(g)} mean {sum(g)/len(g):.2f} median {q(g,.5):.2f} p90 {q(g,.9):.2f}  >1pt {sum(x>1 for x in g)}')
print('by n (alike-starts / linux / rtts median share)')
for n in sorted({b['alike']['path']['n'] for b in by.values() if 'alike' in b}):
    s=lambda v:[b[v]['share'] for b in by.values() if v in b and b[v]['path']['n']==n and b[v]['share'] is not None]
    print(n,len(s('alike')),[ (v, round(q(s(v),.5),2), round(q(s(v),.95),2)) for v in V if s(v)])
