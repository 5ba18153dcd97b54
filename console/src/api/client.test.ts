import { expect, test } from "vitest";
import { refusal, request } from "./client";

test("an operation has the contract's method and path, and only parameters that say something", () => {
	expect(request("GetResults", { path: { sim_id: "sim_1" }, query: { limit: 5, cursor: undefined, metrics: "" } })).toEqual({ method: "GET", path: "simulations/sim_1/results?limit=5" });
	expect(request("SubmitSimple", { body: { name: "n" } })).toEqual({ method: "POST", path: "simple/simulations", body: { name: "n" } });
});

test("what stands in a path stays in its place", () => {
	expect(request("GetSimulation", { path: { sim_id: "../x?y" } }).path).toBe("simulations/..%2Fx%3Fy");
});

test("a refusal says what the service says, or what a proxy's status is", () => {
	const refused = refusal(new Response(null, { status: 429, headers: { "Retry-After": "7", "X-Request-Id": "r" } }), '{"error":{"code":"TOO_MANY","message":"slow down"}}');
	expect(refused).toMatchObject({ status: 429, message: "slow down", code: "TOO_MANY", retryAfter: 7, requestId: "r" });
	expect(refusal(new Response(null, { status: 502 }), "<html>")).toMatchObject({ status: 502, message: "status 502" });
});
