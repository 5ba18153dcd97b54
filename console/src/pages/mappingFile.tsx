import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call, download } from "../api/client";
import type { MappingFile } from "../api/contract";
import { bytes, count } from "../lib/units";
import { mappingFileRoute } from "../router";
import { Confirm } from "../ui/confirm";
import { shown } from "../ui/curl";
import { InputTabs } from "../ui/inputs";
import { Facts, Failure, Page, Shown, Time } from "../ui/parts";
import { UseIn } from "../ui/useIn";

export function MappingFilePage() {
	const { id } = mappingFileRoute.useParams();
	const path = { mapping_file_id: id };
	const file = useQuery({ queryKey: ["mapping-file", id], queryFn: ({ signal }) => call("GetMappingFile", { path }, signal) });
	return (
		<Page title={file.data?.name ?? "Mapping file"} calls={[shown("GetMappingFile", { path }), shown("GetMappingFileDownload", { path })]}>
			<InputTabs of="files" />
			<Shown of="the mapping file" query={file}>
				{(one) => (
					<>
						{one.description && (
							<p>
								<bdi>{one.description}</bdi>
							</p>
						)}
						<Facts
							of={[
								["Ranks", count(one.rankCount)],
								["Scale-up groups", one.hasScaleUp ? count(one.scaleUpGroupCount) : "none"],
								["Size", bytes(one.sizeBytes)],
								["Created", <Time key="created" at={one.createdAt} />],
								["Checksum", <code key="hash">{one.hash}</code>],
							]}
						/>
						<Content of={one} />
						<UseIn what={{ mappingFile: id }} />
						<Remove of={one} />
					</>
				)}
			</Shown>
		</Page>
	);
}

const shownBytes = 64 * 1024;

/** The lines of the file. They come from the object store. */
function Content({ of: { id, sizeBytes } }: { of: MappingFile }) {
	const content = useQuery({
		queryKey: ["mapping-file", id, "content"],
		queryFn: async ({ signal }) => {
			const { url } = await call("GetMappingFileDownload", { path: { mapping_file_id: id } }, signal);
			return new TextDecoder().decode((await download(url, signal)).subarray(0, shownBytes));
		},
		staleTime: Number.POSITIVE_INFINITY,
		retry: false,
	});
	return (
		<section aria-labelledby="content">
			<h2 id="content">What it contains</h2>
			<Shown of="the content" query={content}>
				{(text) => (
					<>
						{sizeBytes > shownBytes && <p className="quiet">Its first {bytes(shownBytes)}:</p>}
						<pre tabIndex={0} className="content">
							{text}
						</pre>
					</>
				)}
			</Shown>
		</section>
	);
}

function Remove({ of: { id, name } }: { of: MappingFile }) {
	const [asking, ask] = useState(false);
	const client = useQueryClient();
	const navigate = useNavigate();
	const remove = useMutation({
		mutationFn: () => call("DeleteMappingFile", { path: { mapping_file_id: id } }),
		onSuccess: () => {
			client.invalidateQueries({ queryKey: ["mapping-files"] });
			navigate({ to: "/mapping-files" });
		},
		onSettled: () => ask(false),
	});
	return (
		<>
			<h2>Delete it</h2>
			<button type="button" onClick={() => ask(true)}>
				Delete this mapping file
			</button>
			{remove.error && <Failure of="It was not deleted" error={remove.error} />}
			{asking && (
				<Confirm title="Delete this mapping file?" yes="Delete it" busy={remove.isPending} onYes={() => remove.mutate()} onNo={() => ask(false)}>
					<p>
						No simulation starts from configurations that <bdi>{name}</bdi> is attached to, until another one is attached or none. Simulations that run go on.
					</p>
				</Confirm>
			)}
		</>
	);
}
