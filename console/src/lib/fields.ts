/** What the fields of a submission are called, those of the base of a study too, and values that an axis begins with. Phases and groups are numbered from 0 in paths. */
const known: Record<string, { label: string; values?: string }> = {
	"topologyConstraints.switchRadix": { label: "Switch radix", values: "64x800G, 128x400G, 256x200G" },
	"topologyConstraints.subscriptionRatio": { label: "Subscription", values: "1:1, 2:1, 4:1" },
	"workload.ranks": { label: "Ranks", values: "64, 128, 256" },
	"workload.phases[].operationType": { label: "Operation" },
	"workload.phases[].dataSize": { label: "Size", values: "1 MiB, 16 MiB" },
	"workload.phases[].algorithm": { label: "Algorithm", values: "ring, recursiveHalvingDoubling" },
	"groups[].name": { label: "Name" },
	"groups[].ranks": { label: "Ranks" },
	tracesetId: { label: "Traceset" },
	rankMappingFileId: { label: "Mapping file" },
	mappingFileId: { label: "Mapping file" },
	templateId: { label: "Template" },
	duration: { label: "Longest simulated time" },
};

/** The value of a parameter of a configuration: of an entity by its name or number, or of all. */
const parameter = /^(?:(?:components|links|applications)\[([\w.-]+)\]\.typedParameters|globalParameters)\.([\w.]+)\.value$/;

/**
 * The path of a field in words: workload.phases[0].dataSize is "Size of phase 1", and
 * components[nic].typedParameters.Transport.MSS.value is "nic: Transport › MSS". A path without words stays as it is.
 */
export function fieldLabel(path: string): string {
	const [, entity = "Global", names] = (path.endsWith(".value") && parameter.exec(path)) || [];
	if (names) return `${entity}: ${names.replaceAll(".", " › ")}`;
	const indexed = path.includes("["); // most paths are not, and a study has a label for each of its points
	const label = known[indexed ? path.replace(/\[\d+\]/g, "[]") : path]?.label;
	if (!label || !indexed) return label ?? path;
	const of = [...path.matchAll(/(phase|group)s\[(\d+)\]/g)].map(([, list, at]) => ` of ${list} ${Number(at) + 1}`);
	return label + of.reverse().join("");
}

/** The fields that the form of a study offers for an axis, with values to begin with. The base has so many phases. */
export function offered(phases: number): Record<string, string> {
	return Object.fromEntries(
		Object.entries(known).flatMap(([field, { values }]) =>
			values === undefined ? [] : field.includes("[]") ? Array.from({ length: phases }, (_phase, at) => [field.replace("[]", `[${at}]`), values]) : [[field, values]],
		),
	);
}
