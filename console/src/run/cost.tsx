import { useQuery } from "@tanstack/react-query";
import { call } from "../api/client";
import type { BillingItem, DailyCost, DailyCostList, Simulation } from "../api/contract";
import { useSession } from "../api/session";
import { sum } from "../lib/decimal";
import { Amount } from "../ui/parts";

/** What a run cost, for people who may read bills. */
export function Cost({ run }: { run: Simulation }) {
	const may = useSession()?.roles.includes("billing") ?? false;
	const cost = useQuery({
		queryKey: ["cost", run.id, run.status],
		queryFn: ({ signal }) => costOf(run, signal),
		enabled: may && run.startedAt !== undefined,
		retry: false,
	});
	if (!may || run.startedAt === undefined || cost.isPending) return null;
	if (!cost.data) return <p className="quiet">What it cost cannot be read now.</p>;
	if (cost.data.length === 0) return <p className="quiet">Its costs are not accrued yet: a day's costs are complete after the night.</p>;
	const currencies = [...new Set(cost.data.map((row) => row.costCurrency))];
	return (
		<p>
			It cost{" "}
			{currencies.map((currency) => (
				<strong key={currency}>
					<Amount of={sum(cost.data.filter((row) => row.costCurrency === currency).map((row) => row.cost))} unit={currency} />
				</strong>
			))}{" "}
			so far, as {[...new Set(cost.data.map((row) => row.rateName))].join(" and ")}.
		</p>
	);
}

/** The daily costs of the items of a run. Items come newest first, so the search ends before its start. */
async function costOf(run: Simulation, signal: AbortSignal): Promise<DailyCost[]> {
	const items: BillingItem[] = [];
	let cursor: string | undefined;
	for (let page = 0; page < 5; page++) {
		const list = await call("ListBillingItems", { query: { limit: 100, cursor } }, signal);
		items.push(...list.items.filter((item) => item.details.resourceId === run.id));
		cursor = list.pagination.nextCursor;
		const oldest = list.items.at(-1)?.startTimestamp;
		if (!cursor || (oldest && oldest < run.createdAt)) break;
	}
	const first = items.at(-1);
	if (!first) return [];
	const ids = new Set(items.map((item) => item.billingItemId));
	const startDate = first.startTimestamp.slice(0, 10);
	const endDate = (run.completedAt ?? first.startTimestamp).slice(0, 10);
	const costs: DailyCost[] = [];
	cursor = undefined;
	do {
		const list: DailyCostList = await call("ListCosts", { query: { startDate, endDate, limit: 100, cursor } }, signal);
		costs.push(...list.costs.filter((cost) => ids.has(cost.billingItemId)));
		cursor = list.pagination.nextCursor;
	} while (cursor);
	return costs;
}
