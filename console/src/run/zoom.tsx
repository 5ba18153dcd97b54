import { byKey, type View } from "./view";

/** What the keys of a drawing do, for fingers. */
export function Zoom({ view, set, most, rows }: { view: View; set: (view: View) => void; most?: number; rows?: { up: boolean; down: boolean; move: (pages: number) => void } | undefined }) {
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
			{rows && (
				<>
					<button type="button" aria-label="Rows above" disabled={!rows.up} onClick={() => rows.move(-1)}>
						↑
					</button>
					<button type="button" aria-label="Rows below" disabled={!rows.down} onClick={() => rows.move(1)}>
						↓
					</button>
				</>
			)}
		</div>
	);
}
