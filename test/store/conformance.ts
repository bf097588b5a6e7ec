import { describe } from "bun:test";
import { cycling } from "./conformance/cycling.ts";
import type { Engine } from "./conformance/harness.ts";
import { living } from "./conformance/living.ts";
import { promoting } from "./conformance/promoting.ts";
import { publishing } from "./conformance/publishing.ts";
import { reconciling } from "./conformance/reconciling.ts";
import { recovering } from "./conformance/recovering.ts";
import { settling } from "./conformance/settling.ts";
import { suiteFor } from "./conformance/suite.ts";
import { suspecting } from "./conformance/suspecting.ts";
import { waiting } from "./conformance/waiting.ts";

/** The one suite that every store passes: the contract of `src/store/store.ts`, promise by promise. */
export function storeConformance(engine: Engine): void {
  const suite = suiteFor(engine);
  describe(`the store on ${engine.name}`, () => {
    describe("publishing", () => publishing(suite));
    describe("settling", () => settling(suite));
    describe("reserving", () => cycling(suite));
    describe("reconciling", () => reconciling(suite));
    describe("promoting", () => promoting(suite));
    describe("waiting", () => waiting(suite));
    describe("nodes", () => living(suite));
    describe("recovering", () => recovering(suite));
    describe("suspecting", () => suspecting(suite));
  });
}
