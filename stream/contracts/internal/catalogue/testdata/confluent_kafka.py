"""Plays a client of Kafka: reads records from standard input, then ends."""
import base64, collections, json, sys

TopicPartition = collections.namedtuple("TopicPartition", "topic partition offset")
Topic = collections.namedtuple("Topic", "partitions")
Metadata = collections.namedtuple("Metadata", "topics")


class Message:
    def __init__(self, offset, record):
        self.at, self.record = offset, record

    def error(self): return None
    def partition(self): return 0
    def offset(self): return self.at
    def key(self): return base64.b64decode(self.record["Key"])
    def value(self): return base64.b64decode(self.record["Value"])
    def headers(self): return [(h["Key"], base64.b64decode(h["Value"])) for h in self.record["Headers"]]


class Consumer:
    def __init__(self, config):
        self.isolation = config["isolation.level"]
        self.read, self.polls = False, 0

    def subscribe(self, topics):
        assert self.isolation == "read_committed" and all(t.startswith("netsim.public.") for t in topics)

    def list_topics(self, topic):
        assert self.isolation == "read_uncommitted"
        return Metadata({topic: Topic({0: None})})
    def assign(self, partitions): assert [p.offset for p in partitions] == [0]

    def commit(self, asynchronous):
        if not self.read:
            raise RuntimeError("Local: No offset stored")
        self.read = False

    def consume(self, count, timeout):
        self.polls += 1
        if self.polls == 1:
            return []  # nothing yet
        records = json.loads(sys.stdin.read() or "null")
        if records is None:
            raise SystemExit(0)
        self.read = True
        return [Message(i, r) for i, r in enumerate(records)]
