import packageFacts from "../../package.json" with { type: "json" };

/** What a started node says of itself. */
export interface NodeDescription {
  readonly identity: string;
  /** Where the store is, without a password. */
  readonly store: string;
  /** The store's engine and version. */
  readonly version: string;
  readonly workers: number;
  readonly slots: number;
  readonly channels: readonly { readonly name: string; readonly weight: number }[];
  readonly tasks: readonly string[];
}

const maxTasksShown = 12;

/** The lines a terminal shows when a node has started. */
export function banner({
  identity,
  store,
  version,
  workers,
  slots,
  channels,
  tasks,
}: NodeDescription): string {
  const lines = [
    `solid-jobs ${packageFacts.version}  ${identity}`,
    `  store     ${store} (${version})`,
    `  workers   ${workers} x ${slots} ${slots === 1 ? "slot" : "slots"}`,
    `  channels  ${channels.map(channelText).join(", ")}`,
    `  tasks     ${tasksText(tasks)}`,
    "  Ctrl-C stops: running jobs may finish first",
  ];
  return `${lines.join("\n")}\n`;
}

function channelText({ name, weight }: { name: string; weight: number }): string {
  return weight === 1 ? name : `${name} (weight ${weight})`;
}

function tasksText(tasks: readonly string[]): string {
  const shown = tasks.slice(0, maxTasksShown).join(", ");
  return tasks.length > maxTasksShown ? `${shown} and ${tasks.length - maxTasksShown} more` : shown;
}
