"""Prints the findings of gosec that triage.txt does not have, and its lines that match none.

usage: triage.py FINDINGS TRIAGE
"""
import json
import os
import sys

findings = json.load(open(sys.argv[1]))["Issues"] or []
known = []
for line in open(sys.argv[2]):
    if line.strip() and not line.startswith("#"):
        rule, path, reason = line.split(None, 2)
        known.append([rule, "" if path == "." else path, 0])

failed = False
for f in findings:
    path = os.path.relpath(f["file"])
    entry = next((k for k in known if k[0] == f["rule_id"] and path.startswith(k[1])), None)
    if entry:
        entry[2] += 1
        continue
    failed = True
    print(f"{f['rule_id']} {path}:{f['line']}: {f['details']}", file=sys.stderr)
for rule, path, matched in known:
    if not matched:
        failed = True
        print(f"triage.txt: {rule} {path or '.'} matches nothing", file=sys.stderr)
print(f"gosec: {len(findings)} findings, in triage.txt")
sys.exit(failed)
