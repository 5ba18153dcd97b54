import { families, offeredTypes, turned, typesOf, type WebhookForm } from "../lib/webhooks";
import { Choice } from "../ui/filters";
import { WorkspaceChoice } from "../ui/workspaces";

/** Where a webhook posts, and what. */
export function WebhookFields({ form, set }: { form: WebhookForm; set: (change: Partial<WebhookForm>) => void }) {
	const types = typesOf(form.types);
	return (
		<>
			<label>
				URL
				<input type="url" required value={form.url} maxLength={2048} placeholder="https://ci.example/hooks/netsim" spellCheck={false} onChange={(event) => set({ url: event.target.value })} />
				<span className="quiet">It is in the event log, so put no secret in it.</span>
			</label>
			<label>
				Description
				<input value={form.description} maxLength={2048} onChange={(event) => set({ description: event.target.value })} />
			</label>
			<fieldset className="phase">
				<legend>Which events: those that meet all of this</legend>
				<label>
					Types, with commas between; without one all
					<input value={form.types} spellCheck={false} placeholder={offeredTypes[0]} onChange={(event) => set({ types: event.target.value })} />
				</label>
				<div className="actions">
					{offeredTypes.map((type) => (
						<button key={type} type="button" className="chip" aria-pressed={types.includes(type)} onClick={() => set({ types: turned(form.types, type) })}>
							{type.replace(/^netsim\.|\.v1$/g, "")}
						</button>
					))}
				</div>
				<Choice name="Family" value={form.family} values={[["", "all"], ...families.map((family) => [family, family])]} set={(family) => set({ family })} />
				<label>
					Stream
					<input value={form.stream} maxLength={255} spellCheck={false} placeholder="all, or an id such as sim_…" onChange={(event) => set({ stream: event.target.value })} />
				</label>
				<WorkspaceChoice value={form.workspace} none="all" set={(workspace) => set({ workspace })} />
			</fieldset>
		</>
	);
}
