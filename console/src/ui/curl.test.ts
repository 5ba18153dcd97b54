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
