import { type FormEvent, useState } from "react";
import type { Session } from "../api/session";
import type { Filters } from "../lib/filters";
import { longestName, mostViews, readViews, slot, viewOf, withView } from "../lib/views";

/** The views of a list that a person has saved in this browser. Each is a set of filters with a name. */
export function Views({ session, filters, show }: { session: Session; filters: Filters; show: (filters: Filters) => void }) {
	const place = slot(session.account.id, session.user.id);
	const [views, setViews] = useState(() => readViews(localStorage, place));
	const [name, setName] = useState("");
	const now = viewOf(views, filters);
	const keep = (next: typeof views) => {
		localStorage.setItem(place, JSON.stringify(next));
		setViews(next);
	};
	const save = (event: FormEvent) => {
		event.preventDefault();
		if (name.trim()) keep(withView(views, name.trim(), filters));
		setName("");
	};
	return (
		<details className="views">
			<summary>{now ? <bdi>View: {now.name}</bdi> : "Saved views"}</summary>
			<ul className="plain">
				{views.map((one) => (
					<li key={one.name}>
						<button type="button" className="chip" aria-pressed={one === now} onClick={() => show(one.filters)}>
							<bdi>{one.name}</bdi>
						</button>{" "}
						<button type="button" className="link" aria-label={`Forget the view ${one.name}`} onClick={() => keep(views.filter((other) => other !== one))}>
							forget
						</button>
					</li>
				))}
			</ul>
			{views.length === mostViews ? (
				<p>There are {mostViews} views. Forget one to save another.</p>
			) : (
				<form className="filters" onSubmit={save}>
					<label>
						Save these filters as
						<input value={name} maxLength={longestName} onChange={(event) => setName(event.target.value)} />
					</label>
					<button type="submit" disabled={name.trim() === ""}>
						Save
					</button>
				</form>
			)}
		</details>
	);
}
