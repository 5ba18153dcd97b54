import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { call, callTagged } from "../api/client";
import type { Template } from "../api/contract";
import { globals } from "../configuration/document";
import { Drawing } from "../configuration/drawing";
import { Parameters, Tree } from "../configuration/tree";
import { templateRoute } from "../router";
import { shown } from "../ui/curl";
import { InputTabs } from "../ui/inputs";
import { Facts, Failure, Name, Page, Shown } from "../ui/parts";
import { NoWorkspace, WorkspaceChoice } from "../ui/workspaces";

export function TemplatePage() {
	const { id } = templateRoute.useParams();
	const { component = globals } = templateRoute.useSearch();
	const navigate = useNavigate({ from: "/templates/$id" });
	const path = { template_id: id };
	const template = useQuery({ queryKey: ["template", id], queryFn: ({ signal }) => callTagged("GetTemplate", { path }, { signal }) });
	return (
		<Page
			title={template.data?.data.name ?? "Template"}
			calls={[shown("GetTemplate", { path }), shown("CloneTemplate", { path, body: { name: template.data?.data.name ?? "copy" } }, "Makes a configuration of it.")]}
		>
			<InputTabs of="configurations" />
			<Shown of="the template" query={template}>
				{({ data }) => (
					<>
						<p>
							<Name>{data.description}</Name>
						</p>
						<Facts
							of={[
								["Category", data.category],
								["Of", data.visibility === "account" ? "your account" : "everyone"],
								...(data.configuration.activeTraceset
									? [
											[
												"Traceset",
												<Link key="traceset" to="/tracesets/$id" params={{ id: data.configuration.activeTraceset.id }}>
													<Name>{data.configuration.activeTraceset.name}</Name>
												</Link>,
											] as [string, React.ReactNode],
										]
									: []),
							]}
						/>
						<Use template={data} />
						<Drawing document={data.configuration} />
						<h2>What it is made of</h2>
						<div className="two">
							<Tree document={data.configuration} chosen={component} choose={(name) => navigate({ search: { component: name }, replace: true })} findings={[]} edits={{}} />
							<Parameters document={data.configuration} chosen={component} findings={[]} edits={{}} />
						</div>
					</>
				)}
			</Shown>
		</Page>
	);
}

/** Makes a configuration from the template. */
function Use({ template }: { template: Template }) {
	const [name, setName] = useState(template.name);
	const [workspaceId, setWorkspace] = useState("");
	const client = useQueryClient();
	const navigate = useNavigate();
	const clone = useMutation({
		mutationFn: () => call("CloneTemplate", { path: { template_id: template.id }, body: { name, ...(workspaceId && { workspaceId }) } }),
		onSuccess: (made) => {
			client.invalidateQueries({ queryKey: ["configurations"] });
			navigate({ to: "/configurations/$id", params: { id: made.id } });
		},
	});
	const submit = (event: FormEvent) => {
		event.preventDefault();
		clone.mutate();
	};
	return (
		<section aria-labelledby="use">
			<h2 id="use">Use it</h2>
			<NoWorkspace />
			<form className="inline" onSubmit={submit}>
				<label>
					Name of the configuration
					<input dir="auto" value={name} onChange={(event) => setName(event.target.value)} maxLength={255} required />
				</label>
				<WorkspaceChoice value={workspaceId} set={setWorkspace} none="the default one" />
				<button type="submit" className="main" disabled={clone.isPending}>
					{clone.isPending ? "Making it …" : "Make a configuration"}
				</button>
			</form>
			{clone.error && <Failure of="It was not made" error={clone.error} />}
		</section>
	);
}
