import { join } from "node:path";
import { randomHex } from "../../../src/foundation/ids.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { Ledger } from "./ledger.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { type Address, closePlace, type EngineName, openPlace, type Scene } from "./scene.ts";

/** One performance of a scenario: places and a ledger of its own, and how another process opens them. */
export interface Stage {
  readonly scenario: Scenario;
  readonly scene: Scene;
  readonly part: Part;
  /** Ends the connections, and removes what is in files. */
  close(): Promise<void>;
}

/** What the process that takes the steps is told, as JSON. */
export interface Part {
  readonly scenario: string;
  readonly main: Address;
  readonly other?: Address;
  readonly ledger: string;
}

/** With what is stored before the process begins. */
export async function setStage(
  scenario: Scenario,
  { engine, redisUrl }: { readonly engine: EngineName; readonly redisUrl: string },
): Promise<Stage> {
  const folder = temporaryFolder();
  const addressOf = (name: string, kind: EngineName): Address =>
    kind === "redis"
      ? { engine: kind, location: redisUrl, prefix: `${name}${randomHex(4)}:` }
      : { engine: kind, location: join(folder.path, `${name}.sqlite`), prefix: "" };
  const foreign = engine === "redis" ? "sqlite" : "redis";
  const otherEngine = scenario.other === "other engine" ? foreign : engine;
  const part: Part = {
    scenario: scenario.name,
    ledger: join(folder.path, "ledger"),
    main: addressOf("main", engine),
    ...(scenario.other === undefined ? {} : { other: addressOf("other", otherEngine) }),
  };
  const scene = sceneOf(part);
  await scenario.before?.(scene);
  return {
    scenario,
    scene,
    part,
    async close() {
      await closeScene(scene);
      folder[Symbol.dispose]();
    },
  };
}

export function sceneOf({ main: address, other, ledger }: Part): Scene {
  const main = openPlace(address);
  return { main, other: other === undefined ? main : openPlace(other), ledger: new Ledger(ledger) };
}

export async function closeScene({ main, other }: Scene): Promise<void> {
  for (const place of new Set([main, other])) await closePlace(place);
}
