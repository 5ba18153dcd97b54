import { parse, type Read, read, type Struct, type Type, type Unreadable } from "./json";

/** The data of the events of billing (events/billing.go). Integers are bigints, times nanoseconds. */
export type Usage = {
	billingEventId: bigint;
	billingItemId: bigint;
	eventAction: string;
	rateName: string;
	itemName: string;
	previousCount: bigint;
	currentCount: bigint;
	totalBillableCount: bigint;
	workspaceId: string;
	sandboxId: string;
	userId: string;
	occurredAt: bigint;
};

export type RateSet = {
	rateId: bigint;
	accountId: string;
	rateName: string;
	rateType: string;
	amount: string;
	currency: string;
	period: string;
	minimumPeriod: string;
	tierStart: bigint;
	tierEnd: bigint; // 0 is open
	packageSize: bigint;
	startDate: string;
	endDate: string;
};

export type Segment = { from: bigint; to: bigint; units: bigint; fraction: string; count: bigint };

/** A daily cost as it is rated. */
export type Rated = {
	billingItemId: bigint;
	itemName: string;
	date: string;
	rateId: bigint;
	rateName: string;
	rateAmount: string;
	cost: string;
	currency: string;
	quantity: bigint;
	workspaceId: string;
	sandboxId: string;
	userId: string;
	segments: Segment[];
	dayPrice: string;
	unitDays: string;
	period: string;
	tierStart: bigint;
	tierEnd: bigint;
	engineVersion: string;
	firstEventId: bigint;
	lastEventId: bigint;
};

/** A daily cost as it is booked. */
export type DailyCost = Rated & { dailyCostId: bigint; previousCost: string; version: bigint; supersedes: bigint; correctionOf: bigint };

const of = (names: Record<string, Type>): Struct => ({ members: names });
const texts = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, "text" as const]));
const ints = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, "int" as const]));
const segment = of({ from: "time", to: "time", ...ints("units count"), fraction: "text" });

/** The members of each event that an account's or the platform's stream has. A test compares them with events/testdata. */
export const structs: Record<string, Struct> = {
	"netsim.billing.usage_recorded.v1": of({
		...ints("billingEventId billingItemId previousCount currentCount totalBillableCount ranks sizeBytes"),
		...texts("eventType eventAction rateName itemName workspaceId sandboxId userId resourceType resourceId causeType engine"),
		occurredAt: "time",
	}),
	"netsim.billing.daily_cost_rated.v1": of({
		...ints("dailyCostId billingItemId rateId quantity tierStart tierEnd firstEventId lastEventId version supersedes correctionOf"),
		...texts("itemName date rateName rateAmount cost previousCost currency workspaceId sandboxId userId dayPrice unitDays period engineVersion"),
		segments: { list: segment },
	}),
	"netsim.billing.rate_set.v1": of({
		...ints("rateId tierStart tierEnd packageSize"),
		...texts("accountId platform rateName rateType rateTypeRaw amount currency period minimumPeriod unitName unitSize note startDate endDate"),
	}),
	"netsim.billing.credit_granted.v1": of(texts("amount currency reference")),
	"netsim.billing.credit_held.v1": of({ ...texts("simulationId amount currency"), expiresAt: "time" }),
	"netsim.billing.credit_hold_changed.v1": of({ ...texts("simulationId amount previousAmount currency"), expiresAt: "time" }),
	"netsim.billing.credit_released.v1": of(texts("simulationId amount currency reason")),
	"netsim.billing.access_logged.v1": of(texts("caller operation filterKey subjectId")),
	"netsim.billing.quotas_set.v1": of({ quotas: { list: of({ name: "text", limit: "int" }) } }),
};

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Reads the data of an event. The error is "" for data that can be read. */
export function dataOf<T>(type: string, value: Uint8Array): Read<T> {
	const struct = Object.hasOwn(structs, type) ? structs[type] : undefined;
	if (!struct) return { data: {} as T, error: `unknown event type "${type}"` };
	try {
		const { data, error } = read<T>(struct, parse(decoder.decode(value)));
		return { data, error: error && `decode ${type}: ${error}` };
	} catch (error) {
		return { data: {} as T, error: `decode ${type}: ${(error as Unreadable).message}` };
	}
}
