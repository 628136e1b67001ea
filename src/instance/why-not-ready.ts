/** The state that readiness depends on. */
export interface ServingState {
  readonly draining: boolean
  /** The first plan is in force. */
  readonly started: boolean
  /** Called only if there are no listeners, because the store may have thousands of objects. */
  readonly hasGateways: () => boolean
  /** Problems of files that may contain policies whose targets are unknown; empty once the gateway has been ready. */
  readonly unknownProtection: readonly string[]
  /**
   * Listeners of the plan in force, and why some cannot accept connections. Undefined: readiness does not depend on them, because this is a proxy
   * in a pod. Its startup probe would restart it, and delay it when they are mended; the status of its Gateway says what is wrong.
   */
  readonly listeners: readonly { readonly name: string; readonly problem: string | undefined }[] | undefined
  /** Workers that refuse new requests, because their heaps are nearly full. */
  readonly fullWorkers: readonly string[]
}

/**
 * The reasons why load balancers must not send traffic, for `/healthz/ready` and the log. Empty if at least one listener accepts connections: a
 * problem of one listener must not make the others unreachable (decision A-115). One full worker is enough for a reason, because the system gives
 * it its share of new connections as before.
 */
export function whyNotReady(state: ServingState): string[] {
  const { draining, started, hasGateways, unknownProtection, listeners, fullWorkers } = state
  if (draining) return ['draining']
  if (!started) return ['the first plan is not in force yet']
  if (unknownProtection.length > 0) return [...unknownProtection]
  if (fullWorkers.length > 0)
    return fullWorkers.map((name) => `worker ${name} refuses requests: its heap is nearly full`)
  if (listeners === undefined || listeners.some(({ problem }) => problem === undefined)) return []
  if (listeners.length > 0) return listeners.map(({ name, problem }) => `listener ${name}: ${problem}`)
  return [hasGateways() ? 'no Gateway has a valid listener' : 'no Gateway exists']
}
