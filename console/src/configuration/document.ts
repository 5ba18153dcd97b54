import type { Application, Component, Configuration, ConfigurationVersion, DistributionEntry, Finding, Params, Topology, TopologyDocument } from "../api/contract";
import { at, type Leaf, plain } from "./parameters";
import { type Declared, declared, topology } from "./references";

/** What configurations, their versions and templates have in common. */
export type Document = Pick<Configuration | ConfigurationVersion, "components" | "containers" | "applications" | "links" | "topology" | "globalParameters">;

/** What has parameters. The global ones are those of the entity of the name "". */
export type Entity = { name: string; type: string; model: string; version: string; parameters: Params };

export const globals = "";

/** The entities that have parameters, in the order of the document, the global ones first. */
export function entities(document: Document): Entity[] {
	const those = [...document.components, ...document.links, ...document.applications];
	const own = { model: "", version: "" };
	return [
		{ name: globals, type: "global", ...own, parameters: document.globalParameters },
		{ name: topology, type: "topology", ...own, parameters: topologyParameters(document.topology) },
		...those.map(({ name, type, model, version, typedParameters = {} }): Entity => ({ name, type, model, version, parameters: typedParameters })),
	];
}

/** How a person calls an entity. */
export function titleOf(entity: string): string {
	return entity === globals ? "Global parameters" : entity === topology ? "Topology" : entity;
}

const tiers = (value: unknown): Leaf => ({ value, type: "uint", enum: [1, 2, 3], description: "tiers of switches" });
const share = (value: unknown): Leaf => ({ value, type: "double", min: { value: 0 }, max: { value: 1 }, strict: true, description: "share of the distribution of applications" });

/** The values of a topology in the form of parameters: its tiers, and the share of each entry of its distribution. */
export function topologyParameters({ topologyTiers, appDistribution }: Topology): Params {
	const shares: Record<string, Record<string, unknown>> = {};
	for (const { parentApplication, distributionPercent: entry } of appDistribution?.randomApplicationDistribution ?? []) {
		shares[parentApplication] = { ...shares[parentApplication], [entry.distributionId]: share(entry.value) };
	}
	return { topologyTiers: tiers(topologyTiers), ...(Object.keys(shares).length > 0 && { Share: shares }) };
}

/** The topology with values in the form of topologyParameters. */
export function withParameters(of: Topology, tree: Params): Topology {
	const value = (...path: string[]) => at(tree, path)?.value as number;
	const entry = (one: DistributionEntry): DistributionEntry => {
		const { distributionId } = one.distributionPercent;
		return { ...one, distributionPercent: { distributionId, value: value("Share", one.parentApplication, distributionId) } };
	};
	const distribution = of.appDistribution;
	return {
		...of,
		topologyTiers: value("topologyTiers"),
		...(distribution && { appDistribution: { ...distribution, randomApplicationDistribution: distribution.randomApplicationDistribution.map(entry) } }),
	};
}

/** The body that asks for the drawing of a document. */
export function drawn(document: Document): TopologyDocument {
	const bare = <One extends Component | Application>(list: One[]) => list.map((one) => ({ ...one, typedParameters: plain(one.typedParameters ?? {}) as Params }));
	const { containers, topology } = document;
	return { applications: bare(document.applications), components: bare(document.components), links: bare(document.links), containers, topology };
}

/** A node of the tree: an entity where it is used. */
export type Use = { name: string; type: string; count: number; uses: Use[] };

/** What the topology is made of, the applications, and what is declared and not used. */
export function tree(document: Document): { used: Use[]; applications: Use[]; unused: Use[] } {
	const all = new Map(declared(document).map((one) => [one.name, one]));
	const reached = new Set<string>();
	const used = (references: Topology["components"] | undefined, above: string[]): Use[] =>
		(references ?? []).map(({ name, type, count = 1 }) => {
			reached.add(name);
			const holder = all.get(name);
			// A document that is not valid may contain itself.
			const inner = holder && "components" in holder && !above.includes(name) ? used(holder.components, [...above, name]) : [];
			return { name, type, count: Number(count), uses: inner };
		});
	const top = used(document.topology.components, []);
	const rest = [...all.values()].filter((one) => one.type !== "application" && !reached.has(one.name));
	const single = ({ name, type }: Declared): Use => ({ name, type, count: 1, uses: [] });
	return { used: top, applications: document.applications.map(single), unused: rest.map(single) };
}

/** The entity that a finding is about, by its name or its place. */
export function entityOf({ component, path = "" }: Finding): string | undefined {
	if (component) return component;
	return path.startsWith("$.globalParameters") ? globals : path.startsWith(topology) ? topology : undefined;
}

/** The findings of an entity. Those of what the topology holds are also the topology's. */
export function findingsOf(findings: Finding[], entity: string): Finding[] {
	return findings.filter((finding) => entityOf(finding) === entity || (entity === topology && finding.path?.startsWith(topology)));
}

/** Whether a finding is about the parameter at a path of its entity. */
export function isAt(finding: Finding, path: string[]): boolean {
	const dotted = path.join(".");
	return finding.parameter === dotted || (finding.path ?? "").endsWith(`.${dotted}`);
}
