import { expect, test } from "vitest";
import { coverage, firstAfter, TraceReader } from "./trace";

function varint(value: number): number[] {
	const bytes: number[] = [];
	for (let rest = value; ; rest = Math.floor(rest / 128)) {
		if (rest < 128) return [...bytes, rest];
		bytes.push((rest % 128) + 128);
	}
}
const field = (number: number, value: number) => [...varint(number * 8), ...varint(value)];
const message = (number: number, bytes: number[]) => [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes];
const text = (number: number, value: string) => message(number, [...new TextEncoder().encode(value)]);
const packet = (bytes: number[]) => message(1, bytes);
const interned = (list: number, iid: number, name: string) => message(list, [...field(1, iid), ...text(2, name)]);
const track = (uuid: number, name: string, parent?: number) => packet(message(60, [...field(1, uuid), ...text(2, name), ...(parent ? field(5, parent) : [])]));
const annotated = (iid: number, value: number) => message(4, [...field(1, iid), ...field(4, value)]);
const span = (on: number, name: number, start: number, end: number, more: number[] = []) => [
	...packet([...field(8, start), ...field(10, 1), ...message(11, [...field(9, 1), ...field(11, on), ...field(10, name), ...more])]),
	...packet([...field(8, end), ...field(10, 1), ...message(11, [...field(9, 2), ...field(11, on)])]),
];

// Rank 0 computes twice and sends on two lanes at once; a counter and a fixed64 field are skipped.
const file = Uint8Array.from([
	...packet([...field(13, 1), ...message(12, [...interned(2, 1, "matmul"), ...interned(2, 2, "COMM 7"), ...interned(3, 1, "to rank"), ...interned(3, 2, "collective"), ...interned(3, 3, "bytes")])]),
	...track(1, "rank 0"),
	...track(2, "computing", 1),
	...span(2, 1, 0, 100),
	...span(2, 1, 150, 400),
	...track(3, "sending", 1),
	...span(3, 2, 100, 5_000_000_000, [...annotated(1, 9), ...annotated(2, 7), ...annotated(3, 2 ** 40)]),
	...track(4, "sending", 1),
	...span(4, 2, 120, 130),
	...track(5, "links"),
	...packet([...field(8, 0), ...message(11, [...field(9, 4), ...field(11, 5), ...varint(44 * 8 + 1), 0, 0, 0, 0, 0, 0, 240, 63])]),
]);

test("a trace is the same in whatever pieces it arrives", () => {
	for (const size of [1, 7, 64, file.length]) {
		const reader = new TraceReader();
		for (let at = 0; at < file.length; at += size) reader.push(file.subarray(at, at + size));
		const trace = reader.finish();
		expect(trace.lanes).toEqual([
			{ owner: "rank 0", kind: "computing", first: 0, end: 2 },
			{ owner: "rank 0", kind: "sending", first: 2, end: 3 },
			{ owner: "rank 0", kind: "sending", first: 3, end: 4 },
		]);
		expect([...trace.start]).toEqual([0, 150, 100, 120]);
		expect([...trace.end]).toEqual([100, 400, 5_000_000_000, 130]);
		expect([...trace.name].map((name) => trace.names[name])).toEqual(["matmul", "matmul", "COMM 7", "COMM 7"]);
		expect([trace.to[2], trace.collective[2], trace.bytes[2]]).toEqual([9, 7, 2 ** 40]);
		expect([trace.to[0], trace.collective[0], trace.bytes[0]]).toEqual([-1, -1, -1]);
		expect(trace.until).toBe(5_000_000_000);
	}
});

test("a file that is cut off or no trace is an error", () => {
	const reader = new TraceReader();
	reader.push(file.subarray(0, file.length - 3));
	expect(() => reader.finish()).toThrow("within a packet");
	expect(() => new TraceReader().push(Uint8Array.from([...field(2, 1), ...field(3, 1)]))).toThrow("no trace");
});

/** A lane of short and long spans, some of which touch. */
function busy(seed: number) {
	let state = seed;
	const random = (below: number) => {
		state = (state * 1103515245 + 12345) % 2 ** 31;
		return state % below;
	};
	const bytes = [...track(1, "rank 0"), ...track(2, "computing", 1)];
	const spans: [number, number][] = [];
	for (let time = random(20); spans.length < 300; ) {
		const end = time + 1 + random(random(10) === 0 ? 400 : 6);
		spans.push([time, end]);
		bytes.push(...span(2, 1, time, end));
		time = end + random(3) * random(30);
	}
	const reader = new TraceReader();
	reader.push(Uint8Array.from(bytes));
	return { trace: reader.finish(), spans };
}

test("columns are covered as much as their spans say, at every zoom", () => {
	for (let seed = 1; seed <= 20; seed++) {
		const { trace, spans } = busy(seed);
		const lane = { owner: "", kind: "", first: 0, end: spans.length };
		for (const each of [0.25, 1, 3, 17, 1000]) {
			for (const from of [0, 13.5, trace.until / 2, trace.until]) {
				const into = new Float32Array(40);
				coverage(trace, lane, from, each, into);
				for (let column = 0; column < into.length; column++) {
					const [left, right] = [from + column * each, from + (column + 1) * each];
					const part = spans.reduce((sum, [start, end]) => sum + Math.max(0, Math.min(end, right) - Math.max(start, left)), 0) / each;
					expect(into[column], `seed ${seed}, columns of ${each} from ${from}, number ${column}`).toBeCloseTo(part, 3);
				}
			}
		}
	}
});

test("the first span after a time is found in its lane only", () => {
	const { trace, spans } = busy(3);
	for (const time of [0, 5, spans[10]?.[1] ?? 0, trace.until]) {
		const expected = spans.findIndex(([, end]) => end > time);
		expect(firstAfter(trace, 0, spans.length, time)).toBe(expected < 0 ? spans.length : expected);
	}
});
