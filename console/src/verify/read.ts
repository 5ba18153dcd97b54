import { Bundle, type Report, type Wanted } from "./bundle";
import { finish } from "./verify";

/** A record has at most about a megabyte; what is longer is no line of a bundle. */
export const longestLine = 16 << 20;

/** Calls for each line of a stream, with its line feed, and its first byte's place; nothing for one that is too long. */
export async function eachLine(stream: ReadableStream<Uint8Array>, each: (line: Uint8Array | undefined, at: number) => void, limit = longestLine): Promise<void> {
	let parts: Uint8Array[] = [];
	let [length, at] = [0, 0];
	const add = (part: Uint8Array) => {
		length += part.length;
		if (length <= limit) parts.push(part);
		else parts = [];
	};
	const end = () => {
		if (length > 0) each(length > limit ? undefined : parts.length === 1 ? parts[0] : joined(parts, length), at);
		at += length;
		[parts, length] = [[], 0];
	};
	const reader = stream.getReader();
	for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
		let from = 0;
		for (let feed = chunk.value.indexOf(10); feed >= 0; feed = chunk.value.indexOf(10, from)) {
			add(chunk.value.subarray(from, feed + 1));
			end();
			from = feed + 1;
		}
		if (from < chunk.value.length) add(chunk.value.subarray(from));
	}
	end();
}

function joined(parts: Uint8Array[], length: number): Uint8Array {
	const all = new Uint8Array(length);
	let at = 0;
	for (const part of parts) {
		all.set(part, at);
		at += part.length;
	}
	return all;
}

/** Verifies a bundle as netsim audit verify does. */
export async function verify(file: Blob, wanted: Wanted, progress: (done: number) => void = () => {}): Promise<{ report: Report; bundle: Bundle; places: number[] }> {
	const bundle = new Bundle();
	const places: number[] = []; // of the first byte of each line
	await eachLine(file.stream(), (line, at) => {
		places.push(at);
		if (line) bundle.line(line);
		else bundle.tooLong(longestLine);
		if (places.length % 256 === 0) progress(at / file.size / 2);
	});
	return { report: await finish(bundle, wanted, (done) => progress((1 + done) / 2)), bundle, places };
}
