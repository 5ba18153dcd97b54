import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client";
import { Failure, Shown } from "../ui/parts";
import type { Document } from "./document";
import { declarationKey, type Edits } from "./edits";
import { bounds, type Declaration, wrongName } from "./references";

/** Declares an entity of a model of the catalogue, which then can be held by others. */
export function Declare({ now, edit, choose }: { now: Document; edit: (change: Edits) => void; choose: (name: string) => void }) {
	const [name, setName] = useState("");
	const [wanted, want] = useState("");
	const catalogue = useQuery({
		queryKey: ["catalogue"],
		queryFn: ({ signal }) => call("ListComponents", { query: { limit: 100 } }, signal),
		staleTime: Number.POSITIVE_INFINITY, // it ships with the service
	});
	const bad = name === "" ? undefined : wrongName(now, name);
	const declare = useMutation({
		mutationFn: async (model: string) => ({ model, ...(await call("GetComponent", { path: { component_id: model } })) }),
		onSuccess: ({ model, type, version, trafficType }) => {
			const declaration: Declaration = { type, model, version, ...(trafficType && { trafficType }) };
			edit({ [declarationKey(name)]: { declaration } });
			choose(name);
			setName("");
		},
	});
	return (
		<details>
			<summary>Declare another component, container, link or application</summary>
			<Shown of="the catalogue" query={catalogue}>
				{({ components }) => {
					const model = components.find((one) => one.model === wanted) ?? components[0];
					return (
						<form
							className="fields"
							onSubmit={(event) => {
								event.preventDefault();
								if (model && name !== "" && !bad) declare.mutate(model.model);
							}}
						>
							<label>
								Model
								<select value={model?.model} onChange={(event) => want(event.target.value)}>
									{components.map((one) => (
										<option key={one.id} value={one.model}>
											{one.type}: {one.name}
										</option>
									))}
								</select>
							</label>
							{model && <p className="quiet">{model.description}</p>}
							<label>
								Its name in this configuration
								<input value={name} maxLength={bounds.group} aria-invalid={bad !== undefined} onChange={(event) => setName(event.target.value)} />
							</label>
							{bad && <div className="bad">{bad}</div>}
							<div className="actions">
								<button type="submit" disabled={name === "" || bad !== undefined || declare.isPending}>
									Declare it
								</button>
							</div>
						</form>
					);
				}}
			</Shown>
			{declare.error && <Failure of="It was not declared" error={declare.error} />}
		</details>
	);
}
