import { useEffect, useState } from "react";
import { toggled } from "../lib/filters";

/** A search for names. Only what is typed, and stands still for a moment, changes the address. */
export function SearchNames({ value, set, most }: { value: string | undefined; set: (search: string) => void; most: number }) {
	const [search, setSearch] = useState(value ?? "");
	useEffect(() => {
		const timer = setTimeout(() => search !== (value ?? "") && set(search), 250);
		return () => clearTimeout(timer);
	}, [search]);
	// The address may change by the history.
	useEffect(() => setSearch(value ?? ""), [value]);
	return (
		<label>
			Search names
			<input type="search" value={search} maxLength={most} onChange={(event) => setSearch(event.target.value)} />
		</label>
	);
}

/** The statuses of a list, of which several can be chosen. None is all of them. */
export function Statuses({ of, value, set }: { of: readonly string[]; value: string | undefined; set: (status: string) => void }) {
	const chosen = (value ?? "").split(",");
	return (
		<fieldset>
			<legend>Status</legend>
			{of.map((status) => (
				<button key={status} type="button" className="chip" aria-pressed={chosen.includes(status)} onClick={() => set(toggled(value, status) ?? "")}>
					{status}
				</button>
			))}
		</fieldset>
	);
}

/** One of several values, each with its text. */
export function Choice({ name, value, values, set }: { name: string; value: string; values: string[][]; set: (value: string) => void }) {
	return (
		<label>
			{name}
			<select value={value} onChange={(event) => set(event.target.value)}>
				{values.map(([one, text]) => (
					<option key={one} value={one}>
						{text}
					</option>
				))}
			</select>
		</label>
	);
}
