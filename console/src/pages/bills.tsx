import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { apiBase, call, request } from "../api/client";
import type { CostTotal } from "../api/contract";
import { useSession } from "../api/session";
import { clock } from "../lib/clock";
import { compare, share, sum } from "../lib/decimal";
import { costsElsewhere } from "../lib/elsewhere";
import { count } from "../lib/units";
import { billsRoute } from "../router";
import { shown } from "../ui/curl";
import { Amount, Failure, Name, Page, Shown } from "../ui/parts";
import { Table } from "../ui/table";
import { useWorkspaces } from "../ui/workspaces";

/** What an account is charged, for people with the role billing. */
export function Bills() {
	const session = useSession();
	const search = billsRoute.useSearch();
	const navigate = useNavigate({ from: "/bills" });
	const today = new Date(clock.now() || 0).toISOString().slice(0, 10);
	const from = /^\d{4}-\d{2}-\d{2}$/.test(search.from ?? "") ? (search.from as string) : `${today.slice(0, 8)}01`;
	const to = /^\d{4}-\d{2}-\d{2}$/.test(search.to ?? "") ? (search.to as string) : today;
	if (!session?.roles.includes("billing")) {
		return (
			<Page title="Bills">
				<p>
					Bills of an account are read with the role <code>billing</code>, which your login does not have. Who manages your account at your identity provider can give it to you; then log in again.
				</p>
			</Page>
		);
	}
	const range = { startDate: from, endDate: to };
	return (
		<Page
			title="Bills"
			actions={<Link to="/bills/verify">Verify a bundle</Link>}
			calls={[
				shown("ListBalances", {}),
				shown("GetCostSummary", { query: range }),
				shown("ListCosts", { query: range }),
				shown("GetFocusDataset", { query: range }, "The same costs as a FOCUS dataset."),
				shown("ListRates", { query: { date: to } }),
			]}
			elsewhere={costsElsewhere(session.account.id, range)}
		>
			<Balance />
			<div className="filters">
				<label>
					First day
					<input type="date" value={from} max={to} onChange={(event) => navigate({ search: (old) => ({ ...old, from: event.target.value }), replace: true })} />
				</label>
				<label>
					Last day
					<input type="date" value={to} min={from} onChange={(event) => navigate({ search: (old) => ({ ...old, to: event.target.value }), replace: true })} />
				</label>
			</div>
			<Focus range={range} />
			<Summary range={range} />
			<Days range={range} />
			<Rates date={to} />
		</Page>
	);
}

/** How much a price is for: "1 024 ranks", and "1 workspace". */
const units = ({ unitSize, unitName }: { unitSize: number; unitName: string }) => `${count(unitSize)} ${unitSize === 1 ? unitName.replace(/s$/, "") : unitName}`;

/** For how long a price is: "an hour". */
const per = (period: string) => `${period === "hour" ? "an" : "a"} ${period}`;

/** The costs of the days as a dataset of FOCUS. The browser writes it to a file as it arrives. */
function Focus({ range }: { range: Range }) {
	const file = (format: "csv" | "parquet") => (
		<a href={apiBase + request(format === "csv" ? "GetFocusDataset" : "GetFocusDatasetParquet", { query: range }).path} download={`focus-${range.startDate}-${range.endDate}.${format}`}>
			{format === "csv" ? "CSV" : "Parquet"}
		</a>
	);
	return (
		<p>
			Download FOCUS 1.2: {file("csv")} or {file("parquet")}, with a CREDIT at 1 USD.
		</p>
	);
}

type Range = { startDate: string; endDate: string };

function Balance() {
	const balance = useQuery({ queryKey: ["balance"], queryFn: ({ signal }) => call("ListBalances", {}, signal) });
	return (
		<Shown of="the balance" query={balance}>
			{({ balances }) => (
				<ul className="cards">
					{balances.map((one) => (
						<li key={one.accountId + one.currency}>
							<span className="quiet">
								Balance of <Name>{one.accountName ?? one.accountId}</Name> ({one.accountType})
							</span>
							<strong>
								<Amount of={one.currentBalance} unit={one.currency} />
							</strong>
							<span>
								<Amount of={one.totalCredits} /> credited, <Amount of={one.totalDebits} /> charged
							</span>
						</li>
					))}
				</ul>
			)}
		</Shown>
	);
}

function Summary({ range }: { range: Range }) {
	const summary = useQuery({ queryKey: ["costs", "summary", range], queryFn: ({ signal }) => call("GetCostSummary", { query: range }, signal) });
	return (
		<Shown of="the costs" query={summary}>
			{(data) => {
				const charged = (["CREDIT", "USD"] as const).flatMap((currency) => {
					const of = data[currency];
					return of && compare(of.total, "0") !== 0 ? [{ currency, of }] : [];
				});
				return charged.length === 0 ? (
					<p>
						Nothing was charged from {data.startDate} to {data.endDate}. A day's costs are complete after the night that follows it.
					</p>
				) : (
					charged.map(({ currency, of }) => <Total key={currency} currency={currency} of={of} />)
				);
			}}
		</Shown>
	);
}

function Total({ currency, of }: { currency: string; of: NonNullable<CostTotal> }) {
	const workspaces = useWorkspaces().data?.workspaces ?? [];
	return (
		<section aria-label={`Costs in ${currency}`}>
			<h2>
				Cost of these days: <Amount of={of.total} unit={currency} />
			</h2>
			<Bars title="By rate" parts={of.byRate} whole={of.total} />
			<Bars title="By workspace" parts={of.byWorkspace} whole={of.total} name={(id) => workspaces.find((one) => one.id === id)?.name ?? id} />
		</section>
	);
}

function Bars({ title, parts, whole, name = (id) => id }: { title: string; parts: Record<string, string>; whole: string; name?: (id: string) => string }) {
	return (
		<>
			<h3>{title}</h3>
			<ul className="lines">
				{Object.entries(parts)
					.sort(([, a], [, b]) => compare(b, a))
					.map(([id, amount]) => (
						<li key={id}>
							<span title={id}>
								<bdi>{name(id)}</bdi>
							</span>
							<svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">
								<rect className="sending" x={0} y={20} height={60} width={Math.max(0, share(amount, whole)) * 1000} />
							</svg>
							<Amount of={amount} />
						</li>
					))}
			</ul>
		</>
	);
}

function Days({ range }: { range: Range }) {
	const costs = useInfiniteQuery({
		queryKey: ["costs", range],
		queryFn: ({ pageParam, signal }) => call("ListCosts", { query: { ...range, limit: 100, cursor: pageParam } }, signal),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (page) => page.pagination.nextCursor,
	});
	return (
		<Shown of="the daily costs" query={costs}>
			{(data) => {
				const rows = data.pages.flatMap((page) => page.costs);
				if (rows.length === 0) return null;
				const days = Map.groupBy(rows, (row) => `${row.date} ${row.costCurrency}`);
				return (
					<section aria-label="Costs by day">
						<h2>By day</h2>
						{[...days].map(([day, list]) => (
							<details key={day}>
								<summary>
									{list[0]?.date} · <Amount of={sum(list.map((row) => row.cost))} unit={list[0]?.costCurrency} plain />
									{costs.hasNextPage && day === [...days.keys()].at(-1) && " so far"}
								</summary>
								<Table
									label={`Costs of ${day}`}
									head={["Item", "Rate", "Price of the rate", "Cost"]}
									numbers={["Price of the rate", "Cost"]}
									rows={list.map((row) => ({
										id: String(row.dailyCostId),
										cells: [
											row.itemName ?? row.billingItemId,
											row.rateName,
											<>
												<Amount of={row.rateAmount} /> {per(row.details.period)}
											</>,
											<Amount key="cost" of={row.cost} />,
										],
									}))}
								/>
							</details>
						))}
						{costs.hasNextPage && (
							<button type="button" onClick={() => costs.fetchNextPage()} disabled={costs.isFetchingNextPage}>
								More days
							</button>
						)}
					</section>
				);
			}}
		</Shown>
	);
}

function Rates({ date }: { date: string }) {
	const rates = useQuery({ queryKey: ["rates", date], queryFn: ({ signal }) => call("ListRates", { query: { date, limit: 100 } }, signal) });
	if (rates.error) return <Failure of="The rates cannot be read" error={rates.error} retry={rates.refetch} />;
	return (
		<Shown of="the rates" query={rates}>
			{({ rates: list, pagination }) => (
				<section aria-label="Rates">
					<h2>Rates on {date}</h2>
					<Table
						label="Table of the rates"
						head={["Rate", "Kind", "From unit", "Price"]}
						numbers={["From unit", "Price"]}
						rows={list.map((rate) => ({
							id: String(rate.rateId),
							cells: [
								rate.rateName,
								rate.rateType,
								count(rate.tierStart),
								<>
									<Amount of={rate.amount} unit={rate.metadata.currency} /> for {units(rate.metadata)} {per(rate.period)}
								</>,
							],
						}))}
					/>
					{pagination.hasMore && <p className="quiet">These are the first {list.length}.</p>}
				</section>
			)}
		</Shown>
	);
}
