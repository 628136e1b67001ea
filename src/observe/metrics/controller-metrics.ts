import type { Metric } from './metric.ts'

/** Of translations and of deployments, seconds. */
const RECONCILE_DURATION = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Metrics of a controller on Kubernetes. */
export const CONTROLLER_METRICS = {
  reconciliations: {
    name: 'reconciliation_duration_seconds',
    help: 'Duration of reconciliations: translation of changed objects, or deployment of the proxies of one Gateway. failure: the API did not answer, or refused.',
    type: 'histogram',
    labels: ['part', 'outcome'],
    buckets: RECONCILE_DURATION,
  },
  writeQueue: {
    name: 'write_queue_length',
    help: 'Writes to the Kubernetes API that wait or are under way: of statuses, events, finalizers, or deployments of Gateways; images: Gateways that wait for another default image.',
    type: 'gauge',
    labels: ['queue'],
  },
  leader: {
    name: 'leader',
    help: '1: this replica of the controller writes statuses and deploys proxies; 0: another one does, or none.',
    type: 'gauge',
    labels: [],
  },
  apiRequests: {
    name: 'api_requests_total',
    help: 'Requests to the Kubernetes API. code: the status of the response; none: there was no response.',
    type: 'counter',
    labels: ['verb', 'resource', 'code'],
  },
} as const satisfies Record<string, Metric>
