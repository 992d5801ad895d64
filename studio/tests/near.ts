import assert from "node:assert/strict";

/** The same nesting, and numbers that hardly differ. */
export function near(found: unknown, expected: unknown, tolerance: number): void {
  if (typeof expected === "number") {
    assert.ok(typeof found === "number", `${String(found)} is no number`);
    assert.ok(Math.abs(found - expected) <= tolerance, `${found} is not ${expected}`);
    return;
  }
  assert.ok(Array.isArray(expected) && Array.isArray(found));
  assert.equal(found.length, expected.length);
  expected.forEach((one: unknown, i) => near(found[i], one, tolerance));
}
