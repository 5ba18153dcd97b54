"""The rule of netsim's log in Python: which records of a partition are facts.

Standard library only. To read a topic with any Kafka client, feed every record
of a partition, from offset 0 on and with isolation level read_uncommitted:

    partition = Partition(number, count)          # count: partitions of the topic
    verdict, hash = partition.judge(key, value, headers)
    if verdict == "accepted": ...                 # the record is a fact

Key and value are bytes or None, headers a list of (str, bytes or None). With
the writer's keys, as NETSIM_WRITER_KEYS has them, and the topic's family, such
as "billing", it finds what is forged; without them it takes seals on trust. To
join at a signed checkpoint instead of at offset 0, use Partition.load. Run as a
program it judges the records of the golden files that it is given.
"""
import base64, datetime, hashlib, hmac, io, json, re, struct, sys

FRAME = ["ce_frameversion", "ce_id", "ce_type", "ce_subject", "ce_partitionkey", "ce_sequence",
         "ce_previoushash", "ce_commandid", "ce_commanddigest", "ce_time", "ce_actor",
         "ce_correlationid", "ce_causeid", "ce_dataversion"]
OPTIONAL = {"ce_previoushash", "ce_commandid", "ce_commanddigest", "ce_actor", "ce_correlationid", "ce_causeid"}
TIME = re.compile(rb"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{3})Z")


def number(text, limit):
    return re.fullmatch(rb"[1-9][0-9]*", text) is not None and int(text[:20]) <= limit


def real_time(text):
    match = TIME.fullmatch(text)
    try:
        return match is not None and bool(datetime.datetime(*map(int, match.groups())))
    except ValueError:
        return False


def read_frame(key, value, headers):
    """The frame's fields and the event's hash, or None when nobody can read it."""
    frame = {}
    for name, content in headers:
        if name in FRAME:
            if name in frame or not content or len(content) > 512 or any(c < 0x21 or c > 0x7E for c in content):
                return None
            frame[name] = content
    if any(name not in frame and name not in OPTIONAL for name in FRAME):
        return None
    previous = frame.get("ce_previoushash")
    if (frame["ce_frameversion"] != b"1"
            or not number(frame["ce_sequence"], 2**53 - 1) or not number(frame["ce_dataversion"], 2**31 - 1)
            or (frame["ce_sequence"] == b"1") != (previous is None)
            or (previous and (not re.fullmatch(rb"[0-9a-f]{64}", previous) or previous == b"0" * 64))
            or not real_time(frame["ce_time"]) or key != frame["ce_subject"] or not value):
        return None
    content = b"netsim.frame.v1\n"
    for name in FRAME:
        content += struct.pack(">I", len(frame.get(name, b""))) + frame.get(name, b"")
    return frame, hashlib.sha256(content + hashlib.sha256(value).digest()).hexdigest()


def partition_of(key, count):
    h = 0x811C9DC5  # FNV-1a, 32 bit
    for c in key:
        h = (h ^ c) * 0x01000193 % 2**32
    return h % count


def hmac256(key, content):
    return hmac.new(key, content, hashlib.sha256)


class Partition:
    def __init__(self, number, count, family=None, keys=None):
        self.number, self.count, self.family = number, count, family
        secrets = [bytes.fromhex(key) for key in keys or []]
        self.keys = {hmac256(s, b"netsim.seal.v1\n").hexdigest()[:16]: s for s in secrets}
        self.sealing = []  # the keys that sealed a netsim.log.sealed.v1, in order
        self.heads = {}  # stream -> (sequence, hash) of its last fact
        self.facts, self.digest = 0, bytes(32)
        self.next = 0  # the offset of the first record to judge

    @classmethod
    def load(cls, note, index, heads, family, number, keys=None):
        """A partition at a checkpoint: feed it the records from offset .next on.

        The note is the text of the signed checkpoint; verify its signature first.
        The index is the file that its line "heads" names, as bytes; heads are the
        lines of the partition's file, as bytes, not compressed: any open binary
        file. Raises ValueError if they are not those of the checkpoint.
        """
        lines = [line.split(" ") for line in note.split("\n\n")[0].split("\n")]
        if [["heads", hashlib.sha256(index).hexdigest()]] != [line for line in lines if line[0] == "heads"]:
            raise ValueError("the index is not that of the checkpoint")
        name = [family, str(number)]
        listed = [line.split(" ") for line in index.decode().splitlines()]
        count, streams, digest, *sealing = next(line[3:] for line in listed if line[0] == "partition" and line[1:3] == name)
        self, read = cls(number, int(count), family, keys), hashlib.sha256()
        for line in heads:
            read.update(line)
            stream, sequence, hash = line.split()
            self.heads[stream] = (int(sequence), hash.decode())
        if read.hexdigest() != digest or len(self.heads) != int(streams):
            raise ValueError(f"the heads of {family}/{number} are not those of the checkpoint")
        at = next(line[4:] for line in lines if line[0] == "partition" and line[1::2][:2] == name)
        self.next, self.facts, self.digest = int(at[0]), int(at[1]), bytes.fromhex(at[3])
        self.sealing = sealing
        return self

    def sealer(self, headers, hash):
        """The id of the key whose seal the record bears, or None."""
        seals = [content for name, content in headers if name == "netsim-seal"]
        if len(seals) != 1 or not re.fullmatch(rb"[0-9a-f]{16}:[0-9a-f]{64}", seals[0] or b""):
            return None
        id, given = seals[0].decode().split(":")
        content = b"netsim.seal.v1\n" + self.family.encode() + b"\n" + bytes.fromhex(hash)
        return id if id in self.keys and hmac256(self.keys[id], content).hexdigest() == given else None

    def judge(self, key, value, headers):
        read = read_frame(key, value, headers)
        if read is None:
            return "bad-frame", ""
        frame, hash = read
        sequence, previous = int(frame["ce_sequence"]), frame.get("ce_previoushash", b"").decode()
        head, head_hash = self.heads.get(key, (0, ""))
        if partition_of(frame["ce_partitionkey"], self.count) != self.number:
            return "misplaced", hash
        sealer, seals = self.sealer(headers, hash) if self.keys else None, frame["ce_type"] == b"netsim.log.sealed.v1"
        if self.keys and (self.sealing or seals) and (sealer is None or sealer in self.sealing[:-1]):
            return "forged", hash
        if sequence > head + 1:
            return "gap", hash
        if sequence <= head:
            return ("duplicate" if hash == head_hash else "stale"), hash
        if previous != head_hash:
            return "broken", hash
        self.heads[key] = (sequence, hash)
        if sealer and seals and sealer not in self.sealing[-1:]:
            self.sealing.append(sealer)
        self.facts += 1
        self.digest = hashlib.sha256(self.digest + bytes.fromhex(hash)).digest()
        return "accepted", hash


def main(*paths):
    decode = lambda text: None if text is None else base64.b64decode(text)
    for case in [case for path in paths for case in json.load(open(path))]:
        number, family, keys = case["partition"], case.get("family"), case.get("keys")
        partition = Partition(number, case["partitions"], family, keys)
        if "note" in case:
            heads = io.BytesIO(case.get("heads", "").encode())
            partition = Partition.load(case["note"], case["index"].encode(), heads, family, number, keys)
        print("#", case["name"])
        for r in case["records"]:
            headers = [(h["name"], decode(h["value"])) for h in r["headers"]]
            print(*partition.judge(decode(r["key"]), decode(r["value"]), headers))
        print(partition.facts, partition.digest.hex())


if __name__ == "__main__":
    main(*sys.argv[1:])
