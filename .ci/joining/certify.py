"""Tries the tools of docs/joining.md on a running netsim. run starts it."""

import glob
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from decimal import Decimal

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

TOPIC, COST = "netsim.public.billing", b"netsim.billing.daily_cost_rated.v1"
PAGE = open("docs/joining.md").read()
TOOLS, ROOT = os.environ["TOOLS"], os.getcwd()
FILE = "mapfile_0000000000000000000000000a"
began = time.monotonic()


def broker(**settings):
    return {"bootstrap.servers": os.environ["NETSIM_KAFKA"], "log_level": 4, **settings}


def say(text):
    print(f"joining: {time.monotonic() - began:5.1f} s  {text}", flush=True)


def fail(text):
    sys.exit("joining: " + text)


def until(what, true, seconds=60):
    end = time.monotonic() + seconds
    while not (found := true()):
        if time.monotonic() > end:
            fail(f"waited {seconds} s in vain for {what}")
        time.sleep(0.2)
    return found


def block(heading, info):
    """Returns the block of the page with this info string below a heading."""
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE, re.S | re.M).group(1)
    found = re.findall(rf"^```{re.escape(info)}\n(.*?)^```$", section, re.S | re.M)
    if len(found) != 1:
        fail(f"docs/joining.md has {len(found)} blocks '{info}' below '{heading}', not one")
    return found[0]


def free():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Stage:
    """netsim on Apache Kafka, with everything that it needs."""

    def __init__(self, work):
        self.work, self.data = work, os.path.join(work, "data")
        os.environ.update(NETSIM_HTTP=f"127.0.0.1:{free()}", NETSIM_OPS=f"127.0.0.1:{free()}", NETSIM_DATA=self.data,
                          NETSIM_LAKE_EVERY="1s")
        self.log = open(os.path.join(work, "netsim.log"), "a")

    def start(self, program):
        os.environ["PATH"] = os.path.dirname(program) + ":" + os.environ["PATH"]
        self.process = subprocess.Popen(
            ["netsim-dev", "run", "--end-with-parent", "--jars", TOOLS + "/kafka", "--service", program],
            stdout=self.log, stderr=self.log)
        until("the service", self.ready, 120)
        for line in open(os.path.join(self.data, "environment")):
            name, _, value = line.removeprefix("export ").rstrip("\n").partition("=")
            os.environ[name] = value.strip("'")
        self.token = run("netsim token --service --ttl 1h").strip()

    def ready(self):
        if self.process.poll() is not None:
            fail(open(self.log.name).read()[-3000:])
        try:
            return urllib.request.urlopen(f"http://{os.environ['NETSIM_OPS']}/readyz").status == 200
        except OSError:
            return False

    def kill(self):
        """Kills the service. The servers then end too."""
        children = open(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read().split() or \
            run(f"ps -o pid= --ppid {self.process.pid}").split()
        service = [int(pid) for pid in children if b"serve" in open(f"/proc/{pid}/cmdline", "rb").read().split(b"\0")]
        os.kill(service[0], signal.SIGKILL)
        self.process.wait(60)

    def stop(self):
        self.process.terminate()
        self.process.wait(60)

    def get(self, path):
        request = urllib.request.Request(f"http://{os.environ['NETSIM_HTTP']}/api/v1{path}",
                                         headers={"Authorization": "Bearer " + self.token})
        return json.load(urllib.request.urlopen(request))

    def invoice(self):
        now = time.time()
        day = lambda ago: time.strftime("%Y-%m-%d", time.gmtime(now - ago * 86400))
        return Decimal(self.get(f"/billing/costs/summary?startDate={day(60)}&endDate={day(0)}")["CREDIT"]["total"])

    def settle(self):
        """Waits until the costs are booked, published and in the lake."""
        last = None

        def same():
            nonlocal last
            before, last = last, (self.invoice(), published())
            lag = sum(row["lagRecords"] for row in json.loads(run("netsim events status --json"))["items"])
            behind = json.loads(run("netsim lake status --json"))[0]["lagFacts"]
            time.sleep(1)
            return before == last and not lag and not behind
        until("the costs to settle", same, 180)


def run(command, **options):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], capture_output=True, text=True, timeout=120, **options)
    if done.returncode:
        fail(f"{command}\nended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done.stdout


def records(topic=TOPIC, isolation="read_committed"):
    """Returns all records of a topic."""
    consumer = Consumer(broker(**{"group.id": "certify", "enable.auto.commit": False,
                                  "isolation.level": isolation, "enable.partition.eof": True}))
    count = len(consumer.list_topics(topic).topics[topic].partitions)
    consumer.assign([TopicPartition(topic, number, 0) for number in range(count)])
    found, ended = [], set()
    while len(ended) < count:
        for m in consumer.consume(1000, timeout=1.0):
            if m.error():
                ended.add(m.partition())
            else:
                found.append(m)
    consumer.close()
    return found


def is_cost(m):
    return dict(m.headers())["ce_type"] == COST


def published():
    return sum(map(is_cost, records()))


def repeat(messages, topic):
    """Writes records again, each to its partition."""
    producer = Producer(broker())
    for m in messages:
        producer.produce(topic, key=m.key(), value=m.value(), headers=m.headers(), partition=m.partition())
    producer.flush()


def abort(messages):
    """Writes costs that never were, beside each of the records, in a transaction that it aborts."""
    producer = Producer(broker(**{"transactional.id": "joining"}))
    producer.init_transactions()
    producer.begin_transaction()
    for n, m in enumerate(messages):
        headers = dict(m.headers(), ce_id=str(uuid.uuid4()).encode())
        value = json.dumps(dict(json.loads(m.value()), dailyCostId=10**9 + n, cost="1000"))
        producer.produce(TOPIC, key=m.key(), value=value, headers=list(headers.items()), partition=m.partition())
    producer.flush()
    producer.abort_transaction()


class Reader:
    """A tool that follows the public topic until it is killed."""

    started = []

    def __init__(self, heading, name, group, work):
        self.heading, self.name, self.group, self.work = heading, name, group, os.path.join(work, name)
        os.mkdir(self.work)
        self.env = dict(os.environ, WORK=self.work, CONNECT=TOOLS + "/connect", FLINK=TOOLS + "/flink")

    def start(self):
        self.env.update(os.environ)
        self.env.update(WORK=self.work)
        self.prepare()
        with open(os.path.join(self.work, "log"), "a") as log:
            self.process = subprocess.Popen(["bash", "-c", self.command()], cwd=self.work, env=self.env,
                                            stdout=log, stderr=log, start_new_session=True)
        self.started.append(self.process)

    def prepare(self):
        pass

    def command(self):
        return block(self.heading, "sh read")

    def write(self, name, text):
        with open(os.path.join(self.work, name), "w") as file:
            file.write(re.sub(r"\$([A-Z_]+)", lambda m: self.env[m.group(1)], text))

    def kill(self):
        if self.process.poll() is not None:
            fail(f"{self.name} ended: {open(self.work + '/log').read()[-3000:]}")
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def reached(self, ends):
        """Reports whether the tool has committed that it read everything."""
        if self.process.poll() is not None:
            fail(f"{self.name} ended: {open(self.work + '/log').read()[-3000:]}")
        group = ConsumerGroupTopicPartitions(self.group, [TopicPartition(TOPIC, number) for number in ends])
        admin = AdminClient(broker())
        result = admin.list_consumer_group_offsets([group])[self.group].result()
        return all(p.offset >= ends[p.partition] for p in result.topic_partitions)

    def total(self):
        return run(block(self.heading, "sh total"), cwd=self.work, env=self.env)


class Python(Reader):
    def prepare(self):
        self.write("read.py", block(self.heading, "python read"))

    def command(self):
        return "exec python3 read.py"

    def total(self):
        return run("python3 -", cwd=self.work, env=self.env, input=block(self.heading, "python total"))


class Connect(Reader):
    def prepare(self):
        for name in ("worker.properties", "sink.properties"):
            self.write(name, block(self.heading, "properties " + name))


class Flink(Reader):
    def prepare(self):
        resume = ""
        if checkpoints := glob.glob(self.work + "/flink-checkpoints/*/chk-*/_metadata"):
            self.env["CHECKPOINT"] = "file://" + os.path.dirname(max(checkpoints, key=os.path.getmtime))
            resume = block(self.heading, "sql resume")
        self.write("config.yaml", block(self.heading, "yaml config.yaml"))
        self.write("read.sql", resume + block(self.heading, "sql read"))


class Lake:
    name, heading = "lake", "DuckDB on the lake"

    def __init__(self, work):
        self.work = os.path.join(work, self.name)
        os.mkdir(self.work)

    def total(self):
        run(block(self.heading, "sh attach"), cwd=self.work)
        return self.query(block(self.heading, "sql total"))

    def query(self, sql):
        return run("duckdb -init attach.sql -noheader -list -c \"$SQL\"", cwd=self.work, env=dict(os.environ, SQL=sql))

    def changed(self):
        return self.query("SELECT count(occasion) FROM lake.billing")


class Files(Lake):
    name, heading = "files", "DuckDB on exported files"

    def total(self):
        run("rm -rf export; " + block(self.heading, "sh read") + "netsim events verify export", cwd=self.work)
        return run("duckdb -noheader -list -c \"$SQL\"", cwd=self.work, env=dict(os.environ, SQL=block(self.heading, "sql total")))

    def changed(self):
        return run("duckdb -noheader -list -c \"SELECT count(occasion) FROM read_parquet('export/**/*.parquet', union_by_name = true)\"", cwd=self.work)


def ends():
    last = {}
    for m in records():
        last[m.partition()] = max(last.get(m.partition(), 0), m.offset() + 1)
    return last


def check(when, readers, snapshots, invoice):
    reach = ends()
    wrong = 0
    for tool in readers:
        until(f"{tool.name} to read everything", lambda: tool.reached(reach), 240)
    for tool in readers + snapshots:
        total = tool.total().split()[-1]
        equal = Decimal(total) == invoice
        wrong += not equal
        say(f"{when}: {tool.name:8} {total} {'equals' if equal else 'DIFFERS FROM'} {invoice}")
    if wrong:
        fail(f"{wrong} totals differ from the invoice")


def certify(work, names):
    stage = Stage(work)
    stage.start(ROOT + "/bin/netsim")
    try:
        trials(stage, work, names)
    finally:
        for process in Reader.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        stage.stop()


def trials(stage, work, names):
    readers = [make(heading, name, group, work) for make, heading, name, group in (
        (Reader, "kcat", "kcat", "kcat"), (Python, "Python", "python", "python"),
        (Connect, "Kafka Connect", "connect", "connect-costs"), (Flink, "Flink SQL", "flink", "flink"),
    ) if not names or name in names]
    snapshots = [make(work) for make in (Lake, Files) if not names or make.name in names]
    say("the service runs")
    os.environ["TOKEN"] = stage.token
    run(f"python3 .ci/focus/resources.py http://{os.environ['NETSIM_HTTP']}/api/v1")
    run(f"{TOOLS}/late created {FILE}")
    for tool in readers:
        tool.start()
    stage.settle()
    first = published()
    check("first use", readers, snapshots, stage.invoice())

    # A producer repeats the log, another aborts, and everything dies while costs are corrected.
    repeat(records("netsim.billing"), "netsim.billing")
    abort(filter(is_cost, records()))
    if len(records(isolation="read_uncommitted")) <= len(records()):
        fail("no records of aborted transactions are in the topic")
    run(f"{TOOLS}/late deleted {FILE}")
    until("corrections to be published", lambda: published() > first)
    for tool in readers:
        tool.kill()
    stage.kill()
    say("the tools and the service are killed")

    stage.start(TOOLS + "/next/netsim")
    say("the next release runs")
    for tool in readers:
        tool.start()
    os.environ["TOKEN"] = stage.token
    run(f"python3 .ci/focus/resources.py http://{os.environ['NETSIM_HTTP']}/api/v1")
    run(f"{TOOLS}/late created {FILE[:-1]}b")
    run(f"{TOOLS}/late deleted {FILE[:-1]}b")
    stage.settle()
    ids = [dict(m.headers())["ce_id"] for m in records()]
    if len(ids) != len(set(ids)):
        fail(f"{len(ids) - len(set(ids))} of {len(ids)} facts are published more than once")
    costs = [json.loads(m.value()) for m in records() if is_cost(m)]
    count = {member: sum(member in cost for cost in costs) for member in ("previousCost", "correctionOf", "occasion")}
    say(f"{len(costs)} costs are published: {count['previousCost']} supersede another, {count['correctionOf']} correct a closed "
        f"month, {count['occasion']} have the new member")
    if not all(count.values()) or count["occasion"] == len(costs):
        fail("a kind of cost is missing")
    invoice = stage.invoice()
    check("after duplicates, restart and schema change", readers, snapshots, invoice)
    for tool in snapshots:
        if tool.changed().split()[-1] != str(count["occasion"]):
            fail(f"{tool.name} has the new member {tool.changed().split()[-1]} times, not {count['occasion']}")

    repeat(filter(is_cost, records()), TOPIC)
    check("after repeats in the public topic", readers, snapshots, invoice)
    for tool in readers:
        tool.kill()


with tempfile.TemporaryDirectory(prefix="joining-") as work:
    os.chmod(work, 0o755)  # PostgreSQL may run as another user
    os.environ["GOFLAGS"] = "-trimpath"
    certify(work, sys.argv[1:])
say("each total equals the invoice")
