import { byKey, type View } from "./view";

/** What the keys of a drawing do, for fingers. */
export function Zoom({ view, set, most }: { view: View; set: (view: View) => void; most?: number }) {
	const keys = [
		["+", "+", "Zoom in"],
		["-", "−", "Zoom out"],
		["0", "All", "Show all"],
	] as const;
	return (
		<div className="actions" role="group" aria-label="Zoom">
			{keys.map(([key, text, label]) => (
				<button key={key} type="button" aria-label={label} disabled={key !== "+" && view.scale === 1} onClick={() => set(byKey(view, key, most) ?? view)}>
					{text}
				</button>
			))}
		</div>
	);
}
