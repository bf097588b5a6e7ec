import { readFileSync, readlinkSync } from "node:fs";
import type { NodeSighting } from "./store.ts";

/** What makes a process of this machine recognisable; empty texts where the system does not tell. */
export interface LivenessProof {
  readonly bootId: string;
  readonly pidNamespace: string;
  readonly pid: number;
  /** Clock ticks between boot and the start of the process. */
  readonly pidStarted: string;
}

export function ownProof(): LivenessProof {
  return {
    bootId: read("/proc/sys/kernel/random/boot_id"),
    pidNamespace: linkOf("/proc/self/ns/pid"),
    pid: process.pid,
    pidStarted: processFacts(process.pid)?.startedTicks ?? "",
  };
}

/**
 * Whether a node's process is gone for certain, seen from a process with `own` proof. Only within one boot
 * and one pid namespace: equal host names prove nothing (containers). A process that may not be signalled
 * is alive.
 */
export function isProvenDead(node: NodeSighting, own: LivenessProof): boolean {
  if (!isSamePlace(node, own) || node.pid === undefined || node.pidStarted === undefined) return false;
  const facts = processFacts(node.pid);
  if (facts === undefined) return isGone(node.pid);
  return facts.state === "Z" || facts.state === "X" || facts.startedTicks !== node.pidStarted;
}

/** Whether a node is an earlier incarnation of this very process (`bun --watch` re-executes in place). */
export function isEarlierSelf(node: NodeSighting, own: LivenessProof): boolean {
  return isSamePlace(node, own) && node.pid === own.pid && node.pidStarted === own.pidStarted;
}

function isSamePlace(node: NodeSighting, own: LivenessProof): boolean {
  return (
    own.bootId !== "" &&
    own.pidNamespace !== "" &&
    node.bootId === own.bootId &&
    node.pidNamespace === own.pidNamespace
  );
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/** From `/proc/<pid>/stat`; the command's name may hold spaces and parentheses. */
function processFacts(pid: number): { state: string; startedTicks: string } | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === "") return undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", startedTicks: fields[19] ?? "" };
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return ""; // this system does not tell
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // this system does not tell
  }
}
