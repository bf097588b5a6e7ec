import { configure } from "solid-jobs";
import { RedisConnection } from "../../src/store/redis/connection.ts";
import { LookAhead } from "../../src/worker/look-ahead.ts";

let counted = 0;

/** What an application with metrics does at least. */
class Counting {
  record(): void {
    counted += 1;
  }
}

/** Ways of doing it differently, by name: each alters the runtime of the thread that loads it. */
const changes: Readonly<Record<string, () => void>> = {
  "": () => {},
  "fixed-8": () => fixLookAhead(8),
  "fixed-64": () => fixLookAhead(64),
  listener: () => configure({ instrumenters: Counting }),
  "auto-pipelining": writeAtTheEndOfTheTurn,
};

/** @throws Error for a name that none has */
export function change(name: string): void {
  const apply = changes[name];
  if (apply === undefined) {
    throw new Error(`expected one of ${Object.keys(changes).join(", ")}, got "${name}"`);
  }
  apply();
}

/** Whatever the jobs take. */
function fixLookAhead(places: number): void {
  LookAhead.prototype.places = () => places;
}

/** The client gathers the commands of a turn of the event loop. */
function writeAtTheEndOfTheTurn(): void {
  const open = Reflect.get(RedisConnection.prototype, "open") as () => unknown;
  Reflect.set(RedisConnection.prototype, "open", function (this: RedisConnection) {
    Reflect.set(this, "writesAtOnce", false);
    return open.call(this);
  });
}

export { counted };
