"""Runs statements of DuckDB: a JSON text a line in, a line of JSON out."""

import decimal
import glob
import json
import os
import sys

import duckdb

site = os.path.join(os.path.dirname(os.path.dirname(sys.executable)), "lib", "python3*", "site-packages")
connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})
for name in ("httpfs", "postgres_scanner", "ducklake"):
    (path,) = glob.glob(os.path.join(site, f"duckdb_extension_{name}", "extensions", "*", f"{name}.duckdb_extension"))
    connection.execute(f"LOAD '{path}'")
connection.execute("SET TimeZone = 'UTC'")
connection.execute("SET enable_progress_bar = false")  # it is written between the answers


def text(value):
    if value is None:
        return ""
    return format(value, "f") if isinstance(value, decimal.Decimal) else str(value)


for line in sys.stdin:
    try:
        rows = connection.execute(json.loads(line)).fetchall()
        answer = {"rows": [[text(value) for value in row] for row in rows]}
    except Exception as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
