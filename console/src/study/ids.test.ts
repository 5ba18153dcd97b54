import { expect, test } from "vitest";
import { withValue } from "./ids";

test("what is chosen stands behind the other values", () => {
	expect(withValue({ field: "tracesetId", values: "" }, "ts_a").values).toBe("ts_a");
	expect(withValue({ field: "tracesetId", values: "ts_a" }, "null").values).toBe("ts_a, null");
	expect(withValue({ field: "tracesetId", values: " ts_a, " }, "ts_b").values).toBe("ts_a, ts_b");
});
