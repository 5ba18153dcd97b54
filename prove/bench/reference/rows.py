#!/usr/bin/env python3
"""Runs rows of NDP again with csg-htsim, and rewrites the file.

    HTSIM=.../htsim_ndp python3 rows.py FILE [--mtu N,N] [--jobs J]

A row keeps its workload, fabric and number of seeds. The window is 7/6 of what a NIC sends in
a round trip, and a queue holds 16/13 of it, both counted in bytes on the wire as the engine
counts them: csg-htsim counts a window in packets, and a queue in payloads. With packets of
4,096 B, 400 Gb/s and 500 ns these are the 60 and 64 of the reference.
"""
import argparse
import csv
import os
import re
import statistics
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

HEADER = 64


def topology(ranks, spines, gbps, delay):
    text = [f"Nodes {ranks}", "Tiers 2", f"Podsize {ranks}", "Tier 0", f"Downlink_speed_Gbps {gbps}", "Radix_Down 8", f"Radix_Up {spines}",
            f"Downlink_Latency_ns {delay}", "Switch_Latency_ns 0"]
    if spines < 8:
        text.append(f"Oversubscribed {8 // spines}")
    text += ["Tier 1", f"Downlink_speed_Gbps {gbps}", f"Radix_Down {ranks // 8}", f"Downlink_Latency_ns {delay}", "Switch_Latency_ns 0"]
    return "\n".join(text) + "\n"


class Flows:
    """The flows of a run. A flow starts at 0, or when others trigger it."""

    def __init__(self, ranks):
        self.ranks, self.lines, self.triggers = ranks, [], 0

    def add(self, source, to, size, after=None, fires=None):
        start = f"trigger {after}" if after else "start 0"
        fire = f" send_done_trigger {fires}" if fires else ""
        self.lines.append(f"{source}->{to} id {len(self.lines) + 1} {start} size {size}{fire}")

    def text(self):
        head = [f"Nodes {self.ranks}", f"Connections {len(self.lines)}", f"Triggers {self.triggers}"]
        return "\n".join(head + self.lines + [f"trigger id {i + 1} oneshot" for i in range(self.triggers)]) + "\n"


def flows(workload, n, size):
    f = Flows(n)
    if workload.startswith("shift"):
        by = int(re.match(r"shift(\d+)", workload)[1])
        for r in range(n):
            f.add(r, (r + by) % n, size)
    elif workload.startswith("stride"):
        by = int(re.match(r"stride(\d+)", workload)[1])
        for r in range(n):
            if (to := (by * r + {3: 1, 5: 3}[by]) % n) != r:
                f.add(r, to, size)
    elif workload == "incast":
        for r in range(1, n):
            f.add(r, 0, size)
    elif workload == "alltoall_interleaved":
        for d in range(1, n):
            for r in range(n):
                f.add(r, (r + d) % n, size // n)
    elif workload == "alltoall_sequential":
        f.triggers = n * (n - 2)
        for r in range(n):
            for d in range(1, n):
                mine = r * (n - 2) + d
                f.add(r, (r + d) % n, size // n, mine - 1 if d > 1 else None, mine if d < n - 1 else None)
    elif workload == "halvingdoubling_allreduce":
        halving = [(n >> i, size >> i) for i in range(1, n.bit_length())]
        steps = halving + halving[::-1]
        f.triggers = n * (len(steps) - 1)
        begins = lambda rank, step: rank * (len(steps) - 1) + step  # the trigger of a rank's step
        for r in range(n):
            for k, (distance, part) in enumerate(steps):
                f.add(r, r ^ distance, part, begins(r, k) if k else None, begins(r ^ distance, k + 1) if k < len(steps) - 1 else None)
    elif workload == "ring_allreduce":
        steps = 2 * (n - 1)
        f.triggers = n * (steps - 1)
        for r in range(n):
            for k in range(steps):
                f.add(r, (r + 1) % n, size // n, r * (steps - 1) + k if k else None,
                      (r + 1) % n * (steps - 1) + k + 1 if k < steps - 1 else None)
    else:
        raise ValueError(workload)
    return f


def trip(gbps, delay, mtu):
    """What a link sends in a round trip across the fabric, in bytes."""
    wire, rate = mtu + HEADER, gbps / 8
    return (8 * delay + 3 * wire / rate + 4 * HEADER / rate) * rate


def run(row, seed):
    n, size, mtu = int(row["ranks"]), int(row["size_bytes"]), int(row["mtu"])
    gbps, delay = int(row.get("gbps") or 400), int(row.get("delay_ns") or 500)
    workload = row["workload"].split("_n")[0]
    spines = 8 // int(row["oversub"].split(":")[0])
    load = flows(workload, n, size)
    sent = trip(gbps, delay, mtu)
    with tempfile.TemporaryDirectory() as d:
        with open(f"{d}/t", "w") as t:
            t.write(topology(n, spines, gbps, delay))
        with open(f"{d}/m", "w") as m:
            m.write(load.text())
        spray = ["-strat", "perm"] if row["transport"].endswith("spray") else ["-strat", "ecmp_host", "-paths", "1"]
        out = subprocess.run([os.environ["HTSIM"], "-tm", f"{d}/m", "-topo", f"{d}/t", "-nodes", str(n), "-tiers", "2",
                              "-linkspeed", str(gbps * 1000), "-mtu", str(mtu), "-cwnd", str(round(sent * 7 / 6 / (mtu + HEADER))),
                              "-q", str(round(sent * 16 / 13 / mtu)), "-seed", str(seed), "-end", "20000", "-o", f"{d}/o", *spray],
                             capture_output=True, text=True, timeout=600).stdout
    ends = [float(x) for x in re.findall(r"finished at ([\d.]+)", out)]
    counts = re.search(r"New: (\d+) Rtx: (\d+)", out)
    return (max(ends), int(counts[1]), int(counts[2])) if len(ends) == len(load.lines) else None


def again(row, first):
    seeds = int(row["seeds"])
    runs = [run(row, first + i) for i in range(seeds)]
    if None in runs:
        return None
    middle = sorted(runs)[(seeds - 1) // 2]
    row["last_fct_us"], row["data_packets"], row["retransmissions"] = f"{statistics.median_low([r[0] for r in runs]):g}", middle[1], middle[2]
    if "least_us" in row:
        row["least_us"], row["most_us"] = f"{min(runs)[0]:g}", f"{max(runs)[0]:g}"
    return row


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file")
    p.add_argument("--mtu", help="only the rows with these payloads")
    p.add_argument("--first", type=int, default=301, help="the first seed")
    p.add_argument("--jobs", type=int, default=1)
    o = p.parse_args()
    with open(o.file) as f:
        reader = csv.DictReader(f)
        names, rows = reader.fieldnames, list(reader)
    chosen = lambda r: r["transport"].startswith("ndp") and (not o.mtu or r["mtu"] in o.mtu.split(","))
    with ThreadPoolExecutor(o.jobs) as pool:
        new = list(pool.map(lambda r: again(dict(r), o.first) if chosen(r) else r, rows))
    for old, row in zip(rows, new):
        if row is None:
            print("does not end:", *old.values())
        elif row != old:
            print(old["workload"], old["oversub"], old["mtu"], old["last_fct_us"], "->", row["last_fct_us"], "sent again", old["retransmissions"], "->", row["retransmissions"])
    with open(o.file, "w", newline="") as f:
        writer = csv.DictWriter(f, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(r for r in new if r is not None)


if __name__ == "__main__":
    main()
