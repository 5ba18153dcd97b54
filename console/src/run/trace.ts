/**
 * The spans of a run, read from the trace that GetResultData makes with the mode perfetto: packets
 * of Perfetto's TrackEvents in the wire format of protocol buffers (simulator/timeline/perfetto.go).
 * Spans are numbers in arrays, because there may be a million.
 */
export type Trace = {
	/** Lanes, in which spans do not overlap, in the order of the file: those of a rank are together. */
	lanes: Lane[];
	names: string[];
	/** Of each span, ordered by lane and then by start: ns, and the number of its name. */
	start: Float64Array;
	end: Float64Array;
	name: Uint32Array;
	/** The sum of the durations of the spans before it. */
	before: Float64Array;
	/** Of transfers: the receiving rank, the collective and the bytes; -1 for none. */
	to: Int32Array;
	collective: Float64Array;
	bytes: Float64Array;
	/** When the last span ends, ns. */
	until: number;
};

/** A lane has the spans from first up to end. Its owner is a rank or a process group. */
export type Lane = { owner: string; kind: string; first: number; end: number };

/** The height of a lane on the screen, in its pixels. */
export const rowHeight = 14;

// Keys of fields, number << 3 | type. Source: protos/perfetto/trace of Perfetto.
const tracePacket = (1 << 3) | 2;
const packet = { timestamp: 8 << 3, event: (11 << 3) | 2, interned: (12 << 3) | 2, descriptor: (60 << 3) | 2 };
const track = { uuid: 1 << 3, name: (2 << 3) | 2, parent: 5 << 3 };
const event = { annotation: (4 << 3) | 2, type: 9 << 3, name: 10 << 3, track: 11 << 3 };
const annotation = { name: 1 << 3, int: 4 << 3 };
const interned = { names: (2 << 3) | 2, annotations: (3 << 3) | 2, iid: 1 << 3, name: (2 << 3) | 2 };
const [sliceBegin, sliceEnd] = [1, 2];

const decoder = new TextDecoder();

/** A column that grows. */
class Column<A extends Float64Array | Int32Array | Uint32Array> {
	private length = 0;
	constructor(
		private values: A,
		private readonly make: (length: number) => A,
	) {}
	push(value: number): number {
		if (this.length === this.values.length) {
			const more = this.make(this.length * 2);
			more.set(this.values);
			this.values = more;
		}
		this.values[this.length] = value;
		return this.length++;
	}
	set(at: number, value: number) {
		this.values[at] = value;
	}
	get all(): A {
		return this.values.subarray(0, this.length) as A;
	}
}

const doubles = () => new Column(new Float64Array(1024), (length) => new Float64Array(length));
const whole = () => new Column(new Int32Array(1024), (length) => new Int32Array(length));

/** Reads a trace from pieces as they arrive. */
export class TraceReader {
	private rest = new Uint8Array();
	private piece = new Uint8Array();
	private at = 0;

	private readonly names = new Map<number, string>();
	private readonly annotations = new Map<number, string>();
	private readonly tracks = new Map<number, { name: string; parent: number; open: number; order: number }>();
	private readonly trackOf = whole();
	private readonly start = doubles();
	private readonly end = doubles();
	private readonly name = whole();
	private readonly to = whole();
	private readonly collective = doubles();
	private readonly bytes = doubles();

	push(piece: Uint8Array) {
		this.piece = joined(this.rest, piece);
		this.at = 0;
		let done = 0;
		for (;;) {
			const length = this.packetLength();
			if (length === undefined || this.at + length > this.piece.length) break;
			const end = this.at + length;
			this.packet(end);
			this.at = end;
			done = end;
		}
		this.rest = this.piece.slice(done);
	}

	/** The trace. It ends here, so what is left over is an error. */
	finish(): Trace {
		if (this.rest.length > 0) throw new Error("the trace ends within a packet");
		const order = [...this.tracks.values()].sort((a, b) => a.order - b.order);
		const spans = this.trackOf.all;
		const counts = new Uint32Array(order.length + 1);
		for (const of of spans) counts[of + 1] = (counts[of + 1] as number) + 1;
		for (let i = 0; i < order.length; i++) counts[i + 1] = (counts[i + 1] as number) + (counts[i] as number);
		const lanes = order.flatMap(({ name, parent }, i): Lane[] => {
			const [first, end] = [counts[i] as number, counts[i + 1] as number];
			return first === end ? [] : [{ owner: this.tracks.get(parent)?.name ?? "", kind: name, first, end }];
		});
		const place = counts.slice();
		const from = new Uint32Array(spans.length);
		for (let i = 0; i < spans.length; i++) {
			const of = spans[i] as number;
			from[place[of] as number] = i;
			place[of] = (place[of] as number) + 1;
		}
		const starts = this.start.all;
		const ends = this.end.all;
		const [nameOf, toOf, collectiveOf, bytesOf] = [this.name.all, this.to.all, this.collective.all, this.bytes.all];
		const start = Float64Array.from(from, (i) => starts[i] as number);
		const end = Float64Array.from(from, (i) => ends[i] as number);
		const before = new Float64Array(spans.length + 1);
		let until = 0;
		for (let i = 0; i < start.length; i++) {
			before[i + 1] = (before[i] as number) + (end[i] as number) - (start[i] as number);
			until = Math.max(until, end[i] as number);
		}
		const numbers = [...this.names.keys()];
		const named = new Map(numbers.map((iid, number) => [iid, number]));
		return {
			lanes,
			names: [...this.names.values()],
			start,
			end,
			before,
			name: Uint32Array.from(from, (i) => named.get(nameOf[i] as number) ?? 0),
			to: Int32Array.from(from, (i) => toOf[i] as number),
			collective: Float64Array.from(from, (i) => collectiveOf[i] as number),
			bytes: Float64Array.from(from, (i) => bytesOf[i] as number),
			until,
		};
	}

	/** The length of the packet at the place, after its key; undefined if it is not there yet. */
	private packetLength(): number | undefined {
		const [key, length] = [this.tryNumber(), this.tryNumber()];
		if (key === undefined || length === undefined) return undefined;
		if (key !== tracePacket) throw new Error("the file is no trace");
		return length;
	}

	private packet(end: number) {
		let timestamp = 0;
		while (this.at < end) {
			const key = this.number();
			if (key === packet.timestamp) timestamp = this.number();
			else if (key === packet.event) this.message((to) => this.event(to, timestamp));
			else if (key === packet.descriptor) this.message((to) => this.descriptor(to));
			else if (key === packet.interned) this.message((to) => this.interned(to));
			else this.skip(key);
		}
	}

	private descriptor(end: number) {
		let uuid = 0;
		let [name, parent] = ["", 0];
		while (this.at < end) {
			const key = this.number();
			if (key === track.uuid) uuid = this.number();
			else if (key === track.name) name = this.text();
			else if (key === track.parent) parent = this.number();
			else this.skip(key);
		}
		this.tracks.set(uuid, { name, parent, open: -1, order: this.tracks.size });
	}

	private interned(end: number) {
		while (this.at < end) {
			const key = this.number();
			const list = key === interned.names ? this.names : key === interned.annotations ? this.annotations : undefined;
			if (!list) {
				this.skip(key);
				continue;
			}
			this.message((to) => {
				let iid = 0;
				let name = "";
				while (this.at < to) {
					const part = this.number();
					if (part === interned.iid) iid = this.number();
					else if (part === interned.name) name = this.text();
					else this.skip(part);
				}
				list.set(iid, name);
			});
		}
	}

	private event(end: number, timestamp: number) {
		let [type, uuid, name] = [0, 0, 0];
		let [to, collective, bytes] = [-1, -1, -1];
		while (this.at < end) {
			const key = this.number();
			if (key === event.type) type = this.number();
			else if (key === event.track) uuid = this.number();
			else if (key === event.name) name = this.number();
			else if (key === event.annotation) {
				const [what, value] = this.annotation();
				if (what === "to rank") to = value;
				else if (what === "collective") collective = value;
				else if (what === "bytes") bytes = value;
			} else this.skip(key);
		}
		const on = this.tracks.get(uuid);
		if (!on) return;
		if (type === sliceEnd && on.open >= 0) this.end.set(on.open, timestamp);
		if (type !== sliceBegin) return;
		on.open = this.start.push(timestamp);
		this.end.push(timestamp);
		this.trackOf.push(on.order);
		this.name.push(name);
		this.to.push(to);
		this.collective.push(collective);
		this.bytes.push(bytes);
	}

	private annotation(): [string, number] {
		let what = "";
		let value = 0;
		this.message((to) => {
			while (this.at < to) {
				const key = this.number();
				if (key === annotation.name) what = this.annotations.get(this.number()) ?? "";
				else if (key === annotation.int) value = this.number();
				else this.skip(key);
			}
		});
		return [what, value];
	}

	private message(read: (end: number) => void) {
		const length = this.number();
		const end = this.at + length;
		read(end);
		this.at = end;
	}

	private text(): string {
		const length = this.number();
		this.at += length;
		return decoder.decode(this.piece.subarray(this.at - length, this.at));
	}

	/** Skips the value of a field that nothing here reads. */
	private skip(key: number) {
		const type = key & 7;
		if (type === 0) this.number();
		else if (type === 1) this.at += 8;
		else if (type === 5) this.at += 4;
		else if (type === 2) this.message(() => {});
		else throw new Error(`the trace has a field of the type ${type}`);
	}

	private number(): number {
		const value = this.tryNumber();
		if (value === undefined) throw new Error("a packet of the trace ends within a number");
		return value;
	}

	private tryNumber(): number | undefined {
		let value = 0;
		for (let factor = 1; this.at < this.piece.length; factor *= 128) {
			const byte = this.piece[this.at++] as number;
			value += (byte & 127) * factor;
			if (byte < 128) return value;
		}
		return undefined;
	}
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
	const all = new Uint8Array(a.length + b.length);
	all.set(a);
	all.set(b, a.length);
	return all;
}

/** The first of the spans from low up to high, all of one lane, that ends after a time; high if none does. */
export function firstAfter(trace: Trace, low: number, high: number, time: number): number {
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((trace.end[middle] as number) > time) high = middle;
		else low = middle + 1;
	}
	return low;
}

/** Which part of each of the columns from a time on, each as long, has spans: 0 to 1. */
export function coverage(trace: Trace, lane: Lane, from: number, each: number, into: Float32Array): void {
	into.fill(0);
	let at = firstAfter(trace, lane.first, lane.end, from);
	while (at < lane.end) {
		const start = trace.start[at] as number;
		const end = trace.end[at] as number;
		const column = Math.max(0, Math.floor((start - from) / each));
		if (column >= into.length) return;
		const last = Math.floor((end - from) / each);
		if (last > column) {
			into[column] = (into[column] as number) + (from + (column + 1) * each - Math.max(start, from)) / each;
			into.fill(1, column + 1, Math.min(last, into.length));
			if (last < into.length) into[last] = (into[last] as number) + (end - from) / each - last;
			at++;
			continue;
		}
		// All that end within the column, however many, are as much as the sums say.
		const next = Math.max(firstAfter(trace, at, lane.end, from + (column + 1) * each), at + 1);
		const busy = (trace.before[next] as number) - (trace.before[at] as number) - Math.max(0, from - start);
		into[column] = (into[column] as number) + busy / each;
		at = next;
	}
}
