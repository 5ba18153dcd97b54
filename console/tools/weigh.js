// Weighs what a browser loads before the first page shows: the index, its script and style
// sheet, and every chunk that these import at once. It fails above the limit. With --total it
// prints the sum only.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const limit = 200_000;
const dist = new URL("../dist/", import.meta.url);
const files = new Set(["index.html"]);
for (const file of files) {
	const text = readFileSync(new URL(file, dist), "utf8");
	for (const [, name] of text.matchAll(file.endsWith(".html") ? /"\.\/(assets\/[^"]+\.(?:js|css))"/g : /(?:^|[;}\s])(?:import|export)[^;()]*?"\.\/([^"]+\.js)"/g)) {
		files.add(name.startsWith("assets/") ? name : `assets/${name}`);
	}
}
const only = process.argv[2] === "--total";
let total = 0;
for (const file of files) {
	const size = gzipSync(readFileSync(new URL(file, dist)), { level: 9 }).length;
	if (!only) console.log(`${String(size).padStart(8)}  ${file}`);
	total += size;
}
console.log(only ? total : `${String(total).padStart(8)}  bytes gzipped for the first load; the limit is ${limit}`);
process.exitCode = total > limit ? 1 : 0;
