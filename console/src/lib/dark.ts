import { useSyncExternalStore } from "react";

const query = "(prefers-color-scheme: dark)";

/** Whether the page is dark, for what style sheets do not reach. */
export function useDark(): boolean {
	return useSyncExternalStore(
		(changed) => {
			const media = matchMedia(query);
			media.addEventListener("change", changed);
			return () => media.removeEventListener("change", changed);
		},
		() => matchMedia(query).matches,
	);
}
