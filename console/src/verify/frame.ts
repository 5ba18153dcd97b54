import { hashOf, hex, quoted, sha256, unbase64, unhex, utf8 } from "./bytes";
import { frameHeaders } from "./headers";
import { exists, millis } from "./json";
import type { EventLine } from "./lines";

const required = [0, 1, 2, 3, 4, 5, 9, 13];

/** An event with its hash. The value is absent when it is withheld. */
export type Fact = {
	type: string;
	stream: string;
	partitionKey: string;
	sequence: number; // at most 2^53 - 1
	previousHash: string;
	time: bigint; // nanoseconds since 1970
	hash: string;
	value?: Uint8Array;
};

/** Reads the event of a line, or says why it cannot be read. */
export function factOf(line: EventLine): Fact | string {
	const { frame } = line;
	if (frame.length !== frameHeaders.length) return `its frame has ${frame.length} values, not ${frameHeaders.length}`;
	let value: Uint8Array | undefined = utf8(line.value);
	if (line.valueBase64 !== "") value = unbase64(line.valueBase64);
	if (!value) return "its value: illegal base64 data";
	const bad = unreadable(frame, line.valueSha256 === "" && value.length === 0);
	if (bad) return `unreadable frame: ${bad}`;
	const fact: Fact = {
		type: frame[2] as string,
		stream: frame[3] as string,
		partitionKey: frame[4] as string,
		sequence: Number(frame[5]),
		previousHash: frame[6] as string,
		time: timeOf(frame[9] as string) as bigint,
		hash: "",
	};
	if (line.valueSha256 === "") return { ...fact, value, hash: frameHash(frame, sha256(value)) };
	const sum = hashOf(line.valueSha256);
	if ("error" in sum) return sum.error;
	return { ...fact, hash: frameHash(frame, unhex(sum.hash) as Uint8Array) };
}

function unreadable(frame: string[], empty: boolean): string {
	for (const [at, value] of frame.entries()) {
		if (value !== "" && !/^[!-~]{1,512}$/.test(value)) return `${frameHeaders[at]} is empty, too long or not printable`;
	}
	if (required.some((at) => frame[at] === "")) return "a required header is missing";
	const [version, , , , , sequence = "", previous = ""] = frame;
	const [time = "", dataVersion = ""] = [frame[9], frame[13]];
	if (version !== "1") return `version ${quoted(version ?? "")}`;
	if (!within(sequence, 2n ** 53n - 1n)) return `sequence ${quoted(sequence)}`;
	if ((sequence === "1") !== (previous === "")) return "a previous hash goes with every sequence but the first";
	if (previous !== "" && (!/^[0-9a-f]{64}$/.test(previous) || /^0+$/.test(previous))) return `previous hash ${quoted(previous)}`;
	if (timeOf(time) === undefined) return `time ${quoted(time)}`;
	if (!within(dataVersion, 2n ** 31n - 1n)) return `data version ${quoted(dataVersion)}`;
	return empty ? "no value" : "";
}

const within = (text: string, limit: bigint) => /^[1-9]\d{0,18}$/.test(text) && BigInt(text) <= limit;

function frameHash(frame: string[], valueSum: Uint8Array): string {
	const sum = sha256.create();
	const length = new DataView(new ArrayBuffer(4));
	sum.update(utf8("netsim.frame.v1\n"));
	for (const value of frame) {
		length.setUint32(0, value.length); // its characters are ASCII
		sum.update(new Uint8Array(length.buffer));
		sum.update(utf8(value));
	}
	return hex(sum.update(valueSum).digest());
}

/** Reads 2026-11-21T03:04:05.678Z, this form exactly, of the years 1 to 9999. */
export function timeOf(text: string): bigint | undefined {
	const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{3})Z$/.exec(text);
	if (!match) return undefined;
	const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, milli = 0] = match.slice(1).map(Number);
	if (year === 0 || !exists(year, month, day) || hour > 23 || minute > 59 || second > 59) return undefined;
	return BigInt(millis(year, month, day, hour, minute, second) + milli) * 1_000_000n;
}
