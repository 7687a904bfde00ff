#!/usr/bin/env python3
"""gen.py FIRST LAST OUT: draws paths, runs variants, writes JSON lines."""
import json, math, random, subprocess, sys, os, tempfile
from concurrent.futures import ThreadPoolExecutor
BIN = os.environ.get('TL', '/work/target-step/release/tightlink')
JOBS = int(os.environ.get('JOBS', '2'))
def log_uniform(r, a, b): return math.exp(r.uniform(math.log(a), math.log(b)))
def path(seed):
    r = random.Random(seed)
    while True:
        p = dict(seed=seed, rate=log_uniform(r, 5e6, 500e6), rtt=log_uniform(r, 0.005, 0.2),
                 n=r.choice([2, 3, 4, 5, 6, 8, 10, 16, 24]), b=log_uniform(r, 0.05, 1.5),
                 control=r.choice(['reno', 'reno', 'cubic']))
        bdp = p['rate'] * p['rtt'] / 12000
        limit = max(2, round(p['b'] * bdp))
        w = (bdp + limit) / p['n']
        if w < 8: continue
        rtt = p['rtt'] + 0.5 * limit * 12000 / p['rate']
        dur = 120 * w / 2 * rtt
        if dur * p['rate'] / 12000 > 4e6: dur = 4e6 * 12000 / p['rate']
        dur = max(dur, 20)
        p.update(limit=limit, w=w, dur=dur, warm=max(5, dur * 0.1))
        return p
def toml(p, extra):
    return f"""title = "p"
seed = {p['seed']}
duration = "{p['dur'] + p['warm']:.3f}s"
warmup = "{p['warm']:.3f}s"
[link]
rate = "{p['rate'] / 1e6:.4f}Mbit/s"
delay = "{p['rtt'] * 250:.4f}ms"
queue.limit = "{p['limit']} packets"
[[flow]]
control = "{p['control']}"
count = {p['n']}
{extra}
[record]
columns = []
"""
def variants(p):
    tx = 12000 / p['rate']
    ms = p['rtt'] * 1e3
    rtt = f'rtt = "{ms:.4f}ms"\n'
    return {
        'alike': rtt,
        'alike-starts': rtt + f'start = {{ uniform = ["0s", "1s"] }}\n',
        'jitter-1tx': rtt + f'send_jitter = "{tx * 1e6:.3f}us"\n',
        'jitter-4tx': rtt + f'send_jitter = "{4 * tx * 1e6:.3f}us"\n',
        'rtts': f'rtt = {{ uniform = ["{ms * 0.6:.4f}ms", "{ms * 1.4:.4f}ms"] }}\n',
        'linux': rtt + 'host = "linux"\n',
    }
def one(args):
    p, name, extra = args
    with tempfile.TemporaryDirectory(dir='/tmp/step') as d:
        f = f'{d}/p.toml'
        t = toml(p, extra)
        if name == 'rtts': t = t.replace(f'delay = "{p["rtt"] * 250:.4f}ms"', f'delay = "{p["rtt"] * 100:.4f}ms"')
        open(f, 'w').write(t)
        q = subprocess.run(['timeout', '120', BIN, 'run', '--json', '--out', f'{d}/r', f], capture_output=True, text=True)
    if q.returncode: return dict(path=p, variant=name, error=q.stderr[-500:])
    s = json.loads(q.stdout)
    return dict(path=p, variant=name, share=s['synchronized_loss_share'], episodes=s['loss_episodes'],
                utilization=s['utilization'], drops=s['packets_dropped'], jain=s['jain_index'],
                noted='losses are synchronized' in q.stderr)
if __name__ == '__main__':
    first, last, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    tasks = [(p, n, e) for p in map(path, range(first, last + 1)) for n, e in variants(p).items()]
    with ThreadPoolExecutor(JOBS) as pool, open(out, 'w') as f:
        for i, r in enumerate(pool.map(one, tasks)):
            f.write(json.dumps(r) + '\n'); f.flush()
