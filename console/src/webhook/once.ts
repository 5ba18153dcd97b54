import { useRef } from "react";
import { random, write } from "../api/json";

/**
 * The headers of a request whose reply may be lost. The same request again has its effect once, and
 * gets the same reply, a secret too. After a reply the next one is another.
 */
export function useOnce() {
	const last = useRef({ body: "", key: "" });
	return {
		headers: (body: unknown) => {
			const text = write(body);
			if (last.current.body !== text) last.current = { body: text, key: random() };
			return { "Idempotency-Key": last.current.key };
		},
		replied: () => {
			last.current = { body: "", key: "" };
		},
	};
}
