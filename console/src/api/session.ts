import { queryOptions, useQuery } from "@tanstack/react-query";
import { base, refusal, send } from "./client";
import { parse } from "./json";

/** Who is logged in. */
export type Session = {
	user: { id: string; name: string };
	account: { id: string; name: string };
	workspaces: "*" | string[];
	roles: string[];
	expires: string;
	objectStore: string | null;
	release: string;
};

/** The session, or null without one. */
export const sessionQuery = queryOptions({
	queryKey: ["session"],
	queryFn: async ({ signal }): Promise<Session | null> => {
		const response = await send(`${base}session`, { signal });
		if (response.status === 401) return null;
		const text = await response.text();
		if (!response.ok) throw refusal(response, text);
		return parse(text) as Session;
	},
	staleTime: 60_000,
});

export function useSession(): Session | null | undefined {
	return useQuery(sessionQuery).data;
}

/** Where one logs in, and is then on the page of the path. */
export function loginLink(next: string): string {
	return `${base}login?next=${encodeURIComponent(next)}`;
}

/** Ends the session. Where the provider has a page to log out of it too, it returns its address. */
export async function logout(): Promise<string | null> {
	const response = await send(`${base}logout`, { method: "POST" });
	const text = await response.text();
	if (!response.ok && response.status !== 401) throw refusal(response, text);
	return response.ok && text ? (JSON.parse(text).endSession ?? null) : null;
}
