import type { Metric } from './metric.ts'

/** Of the event loop and of garbage collections, seconds. */
const PAUSE_DURATION = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Metrics of the gateway itself: endpoints, configuration, threads, process. */
export const GATEWAY_METRICS = {
  evictions: {
    name: 'endpoint_evictions_total',
    help: 'Evictions of endpoints.',
    type: 'counter',
    labels: ['backend', 'endpoint'],
  },
  endpoints: {
    name: 'endpoints',
    help: 'Endpoints of all backends, by state: serving or evicted.',
    type: 'gauge',
    labels: ['state'],
  },
  endpointHealth: {
    name: 'endpoint_health',
    help: 'Health of an endpoint, from 0 to 1. At most 1000 endpoints are shown, evicted and least healthy ones first.',
    type: 'gauge',
    labels: ['backend', 'endpoint'],
  },
  endpointEvicted: {
    name: 'endpoint_evicted',
    help: 'Whether an endpoint is evicted (1) or not (0), for the endpoints of gatewright_endpoint_health.',
    type: 'gauge',
    labels: ['backend', 'endpoint'],
  },
  planVersion: {
    name: 'plan_version',
    help: 'Version of the newest plan that was made of the configuration.',
    type: 'gauge',
    labels: [],
  },
  workerPlanVersion: {
    name: 'worker_plan_version',
    help: 'Version of the plan that a worker serves traffic with. 0: it has none yet.',
    type: 'gauge',
    labels: ['worker'],
  },
  configReloads: {
    name: 'config_reloads_total',
    help: 'Changes of the objects that were read, the first one included. failure: a file has errors.',
    type: 'counter',
    labels: ['outcome'],
  },
  configReloadSuccessful: {
    name: 'config_last_reload_successful',
    help: 'Whether the last read of the objects found no errors in files (1) or some (0).',
    type: 'gauge',
    labels: [],
  },
  configReloadSuccess: {
    name: 'config_last_reload_success_timestamp_seconds',
    help: 'Time of the last read of the objects without errors in files. 0 if there was none.',
    type: 'gauge',
    labels: [],
  },
  configFindings: {
    name: 'config_findings',
    help: 'Findings in force, including problems of files.',
    type: 'gauge',
    labels: ['severity', 'code'],
  },
  buildInfo: {
    name: 'build_info',
    help: 'Always 1; the labels are the versions of the gateway and of its runtime.',
    type: 'info',
    labels: ['tag', 'node_version'],
  },
  eventLoopBusy: {
    name: 'event_loop_busy_seconds_total',
    help: 'Time that the event loop of a thread (main, or a running worker) was busy.',
    type: 'counter',
    labels: ['worker'],
  },
  eventLoopDelay: {
    name: 'event_loop_delay_seconds',
    help: 'How late a timer of the event loop of a thread was, sampled ten times a second: as late are answers.',
    type: 'histogram',
    labels: ['worker'],
    endsWithWorker: true,
    buckets: PAUSE_DURATION,
  },
  gcDuration: {
    name: 'gc_duration_seconds',
    help: 'Duration of garbage collections of a thread, in which it does nothing else.',
    type: 'histogram',
    labels: ['worker', 'kind'],
    endsWithWorker: true,
    buckets: PAUSE_DURATION,
  },
  heapUsed: {
    name: 'heap_used_bytes',
    help: 'Memory of the objects of a thread, and of garbage that was not collected yet.',
    type: 'gauge',
    labels: ['worker'],
  },
  heapTotal: {
    name: 'heap_total_bytes',
    help: 'Memory that the heap of a thread has reserved.',
    type: 'gauge',
    labels: ['worker'],
  },
  heapLimit: {
    name: 'heap_limit_bytes',
    help: 'Limit of the heap of a thread; a thread that reaches it ends.',
    type: 'gauge',
    labels: ['worker'],
  },
  externalMemory: {
    name: 'external_memory_bytes',
    help: 'Memory outside of the heap that objects of a thread keep, such as bodies.',
    type: 'gauge',
    labels: ['worker'],
  },
  processCpu: {
    prefix: 'process',
    name: 'cpu_seconds_total',
    help: 'User and system CPU time of the process.',
    type: 'counter',
    labels: [],
  },
  processMemory: {
    prefix: 'process',
    name: 'resident_memory_bytes',
    help: 'Resident memory of the process.',
    type: 'gauge',
    labels: [],
  },
  processStart: {
    prefix: 'process',
    name: 'start_time_seconds',
    help: 'Start time of the process, since the epoch.',
    type: 'gauge',
    labels: [],
  },
  processOpenFiles: {
    prefix: 'process',
    name: 'open_fds',
    help: 'Open file descriptors of the process. Linux only.',
    type: 'gauge',
    labels: [],
  },
  processMaxFiles: {
    prefix: 'process',
    name: 'max_fds',
    help: 'Limit of open file descriptors. Linux only.',
    type: 'gauge',
    labels: [],
  },
} as const satisfies Record<string, Metric>
