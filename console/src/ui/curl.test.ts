import { expect, test } from "vitest";
import { script } from "./curl";

test("values are quoted for the shell", () => {
	const text = script([{ method: "POST", path: "simple/simulations", body: { name: "it's $(x)" } }, { path: "simulations?search=a&b" }], "http://h", "/p/");
	expect(text.split("\n")).toEqual([
		"NETSIM=http://h/p/api/v1",
		'AUTH="Authorization: Bearer $(netsim token)"',
		`curl -sS -H "$AUTH" -X POST -H 'Content-Type: application/json' -d '{"name":"it'\\''s $(x)"}' "$NETSIM"/simple/simulations`,
		`curl -sS -H "$AUTH" "$NETSIM"/'simulations?search=a&b'`,
	]);
});

test("what changes something is a comment, so that a pasted script only reads", () => {
	const text = script(
		[{ path: "webhooks/a" }, { method: "POST", path: "webhooks/a/replay", body: { since: "x" }, says: "Posts again.", act: true }, { method: "DELETE", path: "a\nb", act: true }],
		"http://h",
		"/p/",
	);
	const lines = text.split("\n").slice(2);
	expect(lines).toEqual([
		`curl -sS -H "$AUTH" "$NETSIM"/webhooks/a`,
		"# Posts again.",
		`# curl -sS -H "$AUTH" -X POST -H 'Content-Type: application/json' -d '{"since":"x"}' "$NETSIM"/webhooks/a/replay`,
		`# curl -sS -H "$AUTH" -X DELETE "$NETSIM"/'a`,
		"# b'",
	]);
});
