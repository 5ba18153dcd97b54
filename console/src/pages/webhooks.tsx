import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { call, callTagged, Refusal, request } from "../api/client";
import { created, emptyForm, filterWords } from "../lib/webhooks";
import { Failure, Name, Page, Shown, StatusMark, Time } from "../ui/parts";
import { StreamTabs } from "../ui/streams";
import { Table } from "../ui/table";
import { useWorkspaces } from "../ui/workspaces";
import { WebhookFields } from "../webhook/fields";
import { useOnce } from "../webhook/once";
import { Secret } from "../webhook/secret";

/** The webhooks of the account, and one more. */
export function Webhooks() {
	const client = useQueryClient();
	const [form, setForm] = useState(emptyForm);
	const once = useOnce();
	const webhooks = useQuery({ queryKey: ["webhooks"], queryFn: ({ signal }) => call("ListWebhooks", { query: { limit: 100 } }, signal) }); // an account has at most 20
	const workspaces = useWorkspaces();
	const named = (id: string) => workspaces.data?.workspaces.find((one) => one.id === id)?.name ?? id;
	const body = created(form);
	const create = useMutation({
		mutationFn: () => callTagged("CreateWebhook", { body }, { headers: once.headers(body) }),
		onSuccess: () => {
			once.replied();
			setForm(emptyForm);
			client.invalidateQueries({ queryKey: ["webhooks"] });
		},
		gcTime: 0, // the secret is gone with the page
	});
	const submit = (event: FormEvent) => {
		event.preventDefault();
		create.mutate();
	};
	const made = create.data?.data;
	const off = webhooks.error instanceof Refusal && webhooks.error.status === 404;
	return (
		<Page title="Webhooks" calls={[request("ListWebhooks", { query: { limit: 100 } }), { ...request("CreateWebhook", { body }), says: "Creates one. The reply has its secret.", act: true }]}>
			<StreamTabs />
			<p>A webhook posts facts to a URL of yours as they are recorded, signed by Standard Webhooks, those of a stream in their order.</p>
			{off ? (
				<p className="banner">This deployment sends no webhooks: its operators have given it no keys for them (NETSIM_WEBHOOK_KEYS).</p>
			) : (
				<>
					{made?.secret && (
						<>
							<p>
								<Link to="/webhooks/$id" params={{ id: made.id }}>
									The webhook
								</Link>{" "}
								to <Name>{made.url}</Name> is there.
							</p>
							<Secret of={made.secret} />
						</>
					)}
					<Shown of="the webhooks" query={webhooks}>
						{({ webhooks: all }) =>
							all.length === 0 ? (
								<p>There are no webhooks yet.</p>
							) : (
								<Table
									label="Webhooks"
									head={["URL", "State", "Events", "Created"]}
									rows={all.map((one) => ({
										id: one.id,
										cells: [
											<span key="url">
												<Link to="/webhooks/$id" params={{ id: one.id }}>
													<Name>{one.url}</Name>
												</Link>
												{one.description && (
													<>
														<br />
														<span className="quiet">
															<Name>{one.description}</Name>
														</span>
													</>
												)}
											</span>,
											<StatusMark key="state" value={one.state} />,
											<Name key="events">{filterWords(one.filter, named)}</Name>,
											<Time key="created" at={one.createdAt} />,
										],
									}))}
								/>
							)
						}
					</Shown>
					<h2>A new webhook</h2>
					<form className="own-form" onSubmit={submit}>
						<WebhookFields form={form} set={(change) => setForm({ ...form, ...change })} />
						<p className="quiet">It posts what you may see now, and goes on when your login ends: delete it when it should not.</p>
						<div className="actions">
							<button type="submit" className="main" disabled={create.isPending}>
								{create.isPending ? "Creating …" : "Create it"}
							</button>
						</div>
					</form>
					{create.error && <Failure of="It was not created" error={create.error} />}
				</>
			)}
		</Page>
	);
}
