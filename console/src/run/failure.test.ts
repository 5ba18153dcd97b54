import { expect, test } from "vitest";
import { Refusal, stored } from "../api/refusal";
import { failed, failure } from "./failure";

test("what a worker tells of a refusal is that refusal for the page, so that it says what can be done", () => {
	const told = failed(failure(new Refusal(503, "the object store replies 503")));
	expect(told).toBeInstanceOf(Refusal);
	expect(told).toMatchObject({ status: 503, message: "the object store replies 503" });
	const other = failed(failure(new TypeError("no canvas")));
	expect(other).not.toBeInstanceOf(Refusal);
	expect(other.message).toBe("no canvas");
});

test("a store that cannot be reached is a refusal without a status", async () => {
	// Port 1 of this machine has no store.
	await expect(stored("http://127.0.0.1:1/x")).rejects.toMatchObject({ status: 0, message: "the object store cannot be reached from this browser" });
});
