import { expect, test } from "vitest";
import { mostViews, readViews, viewed, viewOf, withView } from "./views";

const keeping = (text: string | null) => ({ getItem: () => text, setItem: () => undefined });

test("a view is what its filters show, in any order, whatever is selected", () => {
	const views = withView([], "failed ones", { status: "failed", sort: "name:asc", selected: "sim_a" });
	expect(views).toEqual([{ name: "failed ones", filters: { sort: "name:asc", status: "failed" } }]);
	expect(viewOf(views, { sort: "name:asc", selected: "sim_b", status: "failed" })?.name).toBe("failed ones");
	expect(viewOf(views, { status: "failed" })).toBeUndefined();
	expect(viewed({ selected: "sim_a" })).toEqual({});
});

test("a name has one view, and there is a limit", () => {
	let views = withView(withView([], "b", { status: "failed" }), "a", { status: "running" });
	views = withView(views, "b", { search: "x" });
	expect(views.map(({ name, filters }) => [name, filters])).toEqual([
		["a", { status: "running" }],
		["b", { search: "x" }],
	]);
	for (let i = 0; i < 40; i++) views = withView(views, `view ${i}`, {});
	expect(views).toHaveLength(mostViews);
});

test("what is kept is read with care", () => {
	expect(readViews(keeping(null), "s")).toEqual([]);
	expect(readViews(keeping("{"), "s")).toEqual([]);
	expect(readViews(keeping('{"name":"x"}'), "s")).toEqual([]);
	expect(readViews(keeping('[null, {"name":1}, {"name":"x","filters":{"status":"failed,gone","sort":"none","other":"1"}}]'), "s")).toEqual([{ name: "x", filters: { status: "failed" } }]);
});
