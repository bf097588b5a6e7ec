export type { BulkOptions, PurgeResult, RequeueAllResult } from "./catalog/bulk.ts";
export { Catalog, type Counters, type WalkControl } from "./catalog/catalog.ts";
export type { CatalogSet, EntryReference } from "./catalog/catalog-set.ts";
export type { CatalogEntry } from "./catalog/entry.ts";
export { type IntegrityCheckOptions, integrityCheck } from "./catalog/integrity.ts";
export type {
  ClaimFault,
  DuplicateJob,
  IntegrityReport,
  InvalidClaim,
  JobState,
  MalformedEntry,
  OrphanedPayload,
} from "./catalog/integrity-report.ts";
export type { IntegrityOptions } from "./catalog/integrity-run.ts";
export type { JobLocation } from "./catalog/locate.ts";
export { type RunOptions, run } from "./cli/run-program.ts";
export { Conductor, type ConductorOptions, type NodeDescription } from "./conductor/conductor.ts";
export type { StopReport } from "./conductor/node.ts";
export type { GivenChannel, GivenSettings } from "./config/given.ts";
export type { ErrorContext, ErrorHandler, Hooks, LifecycleCallback } from "./config/hooks.ts";
export { type Configuration, configure } from "./config/process.ts";
export type { ChannelOrder, ChannelWeight, Delivery, Settings } from "./config/settings.ts";
export type { Envelope } from "./envelope/envelope.ts";
export {
  ArgumentsError,
  ConfigurationError,
  JobTimeout,
  NodeStopping,
  PayloadTooLarge,
  PoisonJob,
  PublishUnconfirmed,
  SolidJobsError,
  StoreError,
  StoreFull,
  StoreUnavailable,
  StoreUnsuitable,
  ThreadDied,
  UndecodableEnvelope,
  UnknownTask,
} from "./foundation/errors.ts";
export type {
  Instrumenter,
  InstrumenterClass,
  JobEvent,
  JobEventName,
  JobFacts,
} from "./instrumentation/events.ts";
export type { LogFields, Logger, LogLevel } from "./instrumentation/logger.ts";
export type {
  ExecuteContext,
  ExecuteInterceptor,
  PublishContext,
  PublishInterceptor,
} from "./interceptor/contexts.ts";
export type { Interceptor } from "./interceptor/onion.ts";
export { close } from "./publisher/process-publisher.ts";
export type {
  ChannelView,
  ClaimHolder,
  ClaimRecord,
  ClaimView,
  EntryPlace,
  ExecutionView,
  NodeView,
  RequeueResult,
  StoredCounters,
  StoredEntry,
} from "./store/catalog-store.ts";
export type { Enqueuer } from "./task/enqueuer.ts";
export { Task } from "./task/task.ts";
export type {
  CapturedJob,
  Execution,
  ManyArguments,
  PublishOptions,
  RetryDecision,
  RunningTask,
  Storable,
  StorableValue,
  TaskArgs,
  TaskClass,
  TaskOptions,
} from "./task/types.ts";
