import { useEffect, useEffectEvent, useState } from "react";
import { type Args, apiBase, type Refusal, request } from "../api/client";
import { follow, type Live, type Message } from "../api/live";

type Stream = "FollowEvents" | "FollowSimulation" | "FollowStudy";

/** Follows a stream of the API while the component is there and it is on. */
export function useLive<Name extends Stream>(name: Name, args: Args<Name>, on: boolean, onMessage: (message: Message) => void): { state: Live | "paused"; refused?: Refusal } {
	const [state, setState] = useState<{ state: Live; refused?: Refusal }>({ state: "connecting" });
	const take = useEffectEvent(onMessage);
	const { path } = request(name, args);
	useEffect(() => {
		if (!on) return;
		const abort = new AbortController();
		follow(apiBase + path, {
			signal: abort.signal,
			onMessage: (message) => take(message),
			onState: (next, refused) => {
				if (!abort.signal.aborted) setState(refused ? { state: next, refused } : { state: next });
			},
		});
		return () => abort.abort();
	}, [path, on]);
	return on ? state : { state: "paused" };
}

/** The state in words. */
export const liveWords: Record<Live | "paused", string> = {
	connecting: "connecting",
	live: "live",
	waiting: "connection lost, trying again",
	ended: "ended",
	refused: "not live",
	paused: "paused",
};
