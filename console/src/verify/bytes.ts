import { sha256 } from "@noble/hashes/sha2.js";

/** A SHA-256 that bytes are added to. WebCrypto's takes all bytes at once. */
export { sha256 } from "@noble/hashes/sha2.js";

const encoder = new TextEncoder();
const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export const utf8 = (text: string): Uint8Array => encoder.encode(text);

export function hex(bytes: Uint8Array): string {
	let text = "";
	for (const byte of bytes) text += digits[byte];
	return text;
}

/** The SHA-256 of bytes or of a text in UTF-8, in hex. */
export const sha = (of: Uint8Array | string): string => hex(sha256(typeof of === "string" ? utf8(of) : of));

/** Reads hex digits, of either case; nothing if there are others or an odd number. */
export function unhex(text: string): Uint8Array | undefined {
	if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) return undefined;
	return Uint8Array.from({ length: text.length / 2 }, (_, at) => Number.parseInt(text.slice(2 * at, 2 * at + 2), 16));
}

/** A SHA-256 in hex, in lower case, or why it is none. */
export function hashOf(text: string): { hash: string } | { error: string } {
	const raw = unhex(text);
	return raw?.length === 32 ? { hash: text.toLowerCase() } : { error: `${quoted(text)} is not a hash` };
}

/** Reads standard base64 with its padding; line breaks do not count. */
export function unbase64(text: string): Uint8Array<ArrayBuffer> | undefined {
	const plain = text.replace(/[\r\n]/g, "");
	if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(plain)) return undefined;
	return Uint8Array.from(atob(plain), (character) => character.charCodeAt(0));
}

/** A text in quotes, with escapes for what is not printable. */
export function quoted(text: string): string {
	const escapes: Record<string, string> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\x07": "\\a", "\b": "\\b", "\f": "\\f", "\v": "\\v" };
	return `"${text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (character) => {
		const code = character.codePointAt(0) as number;
		if (escapes[character]) return escapes[character];
		if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
		return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
	})}"`;
}

/** Orders texts by their code units, whatever the language of the browser. */
export const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
