import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { call } from "../api/client";
import type { Configuration } from "../api/contract";
import { Failure } from "../ui/parts";

/** Starts a simulation from the version that the page shows. */
export function Start({ configuration }: { configuration: Configuration }) {
	const [name, setName] = useState(simulationName(configuration.name));
	const [duration, setDuration] = useState("1h");
	const client = useQueryClient();
	const navigate = useNavigate();
	const start = useMutation({
		mutationFn: () => call("StartSimulation", { body: { configurationId: configuration.id, configurationVersion: configuration.version, name, duration } }),
		onSuccess: (run) => {
			client.invalidateQueries({ queryKey: ["simulations"] });
			navigate({ to: "/simulations/$id", params: { id: run.id } });
		},
	});
	const ready = configuration.status === "validated";
	const submit = (event: FormEvent) => {
		event.preventDefault();
		start.mutate();
	};
	return (
		<section aria-labelledby="start">
			<h2 id="start">Run it</h2>
			{!ready && <p>This version is {configuration.status === "draft" ? "not validated yet" : "invalid"}. A simulation starts from a version that was validated.</p>}
			<form className="own-form" onSubmit={submit}>
				<label>
					Name of the simulation
					<input
						value={name}
						onChange={(event) => setName(event.target.value)}
						maxLength={255}
						pattern="[A-Za-z0-9][A-Za-z0-9_*\-]*"
						title="letters, digits, - _ and *, beginning with a letter or digit"
						required
					/>
				</label>
				<label>
					Longest simulated time
					<input value={duration} onChange={(event) => setDuration(event.target.value)} maxLength={64} required />
					<span className="quiet">such as 100us, 2s or 1h; at most 24h</span>
				</label>
				<button type="submit" className="main" disabled={!ready || start.isPending}>
					{start.isPending ? "Starting …" : `Run version ${configuration.version}`}
				</button>
			</form>
			{start.error && <Failure of="It was not started" error={start.error} />}
		</section>
	);
}

/** A name of a simulation from that of a configuration, which may have any letters. */
export function simulationName(name: string): string {
	const made = name
		.replace(/[^A-Za-z0-9_*-]+/g, "-")
		.replace(/^[^A-Za-z0-9]+|-+$/g, "")
		.slice(0, 255);
	return made || "simulation";
}
