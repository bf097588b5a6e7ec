import {
  type SolidJobsError,
  StoreError,
  StoreFull,
  StoreUnavailable,
  StoreUnsuitable,
} from "../../foundation/errors.ts";

/**
 * Answers that mean "not now, or not this server": a new connection may find a better one. Redis 6.2 puts
 * them behind a dash into the text of the script that failed.
 */
const passing = /(?:^| -)(?:READONLY|LOADING|MASTERDOWN|MISCONF|BUSY|NOREPLICAS|TRYAGAIN|UNBLOCKED)\b/;
const clusterReply = /^(MOVED|ASK|CLUSTERDOWN|CROSSSLOT)\b/;

/**
 * The error that a failed command means to the runtime.
 *
 * @param isSent whether the command may have reached the server
 */
export function translated(
  error: unknown,
  { address, isSent }: { address: string; isSent: boolean },
): SolidJobsError {
  const { code, message } = error as { code?: string; message?: string };
  const text = message ?? String(error);
  if (/DB index is out of range/.test(text)) {
    return new StoreUnsuitable(
      "DATABASE_INDEX",
      `${address}: the server has no database of that number (${text}); choose one below its "databases" setting`,
      { cause: error },
    );
  }
  if (passing.test(text)) {
    return new StoreUnavailable(`${address} does not take commands now: ${text}`, {
      isSent: false,
      cause: error,
    });
  }
  if (/unknown command [`'"]?HELLO/i.test(text)) return tooOldError(address, "older than 6", error);
  if (code === "ERR_REDIS_AUTHENTICATION_FAILED" && !text.includes("max number of clients")) {
    return authenticationError(text, address, error);
  }
  if (clusterReply.test(text)) return clusterError(address);
  if (/^OOM\b|-OOM |OOM command not allowed/.test(text)) {
    return new StoreFull(
      `${address} is at its maxmemory and refuses new jobs; free memory or raise maxmemory (${text})`,
      { cause: error },
    );
  }
  if (/\bNOPERM\b|executing the script can't/.test(text)) {
    return new StoreError(
      `${address}: this user may not do what the store needs; grant it ~<prefix>* and the commands of docs/configuration.md (${text})`,
      { cause: error },
    );
  }
  if (code === "ERR_REDIS_SERVER_ERROR" || code === "ERR_REDIS_INVALID_COMMAND") {
    return new StoreError(`${address} answered: ${text}`, { cause: error });
  }
  if (text.includes("before secure TLS connection was established")) {
    const reason =
      "it closed the connection, or was silent, before TLS began (is this the server's TLS port?)";
    return new StoreUnavailable(`no connection to ${address}: ${reason}`, { isSent, cause: error });
  }
  if (/certificate|CERT|TLS|SSL/i.test(`${code} ${text}`)) {
    return new StoreUnsuitable(
      "TLS",
      `${address}: the TLS connection failed (${code ?? ""} ${text}); set tls_ca to the certificate authority`,
      { cause: error },
    );
  }
  const hint = isSent ? "" : "; check that the server runs there and that the URL is right";
  return new StoreUnavailable(`no connection to ${address}: ${text}${hint}`, { isSent, cause: error });
}

export function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT");
}

export function clusterError(address: string): StoreUnsuitable {
  return new StoreUnsuitable(
    "CLUSTER_MODE",
    `${address} runs in Cluster mode; solid-jobs needs one primary (with replicas if you like): its scripts touch keys of many slots`,
  );
}

export function tooOldError(address: string, version: string, cause?: unknown): StoreUnsuitable {
  return new StoreUnsuitable(
    "SERVER_TOO_OLD",
    `${address} is Redis ${version}; solid-jobs needs 6.2 or later (LMOVE, SMISMEMBER): upgrade the server`,
    { cause },
  );
}

function authenticationError(text: string, address: string, cause: unknown): StoreUnsuitable {
  const reason = text.startsWith("NOAUTH")
    ? "the server wants a password and the URL has none; write it as redis://user:password@host"
    : "the server refused the user name or password of the URL";
  return new StoreUnsuitable("AUTHENTICATION", `${address}: ${reason}`, { cause });
}
