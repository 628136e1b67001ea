/** A JSON object of an API. */
type Members = Readonly<Record<string, unknown>>

export type RolloutState =
  | { readonly state: 'complete' }
  | { readonly state: 'waiting' | 'failed'; readonly why: string }

/** How far the rollout of a Deployment is, as `kubectl rollout status` tells it. */
export function rolloutState(deployment: Members): RolloutState {
  const { generation = 0 } = membersIn(deployment.metadata) as { generation?: number }
  const { replicas: wanted = 1 } = membersIn(deployment.spec) as { replicas?: number }
  const status = membersIn(deployment.status) as {
    observedGeneration?: number
    replicas?: number
    updatedReplicas?: number
    availableReplicas?: number
    conditions?: readonly { type?: string; reason?: string; message?: string }[] | null
  }
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, availableReplicas = 0, conditions } = status
  if (observedGeneration < generation) return { state: 'waiting', why: 'the Deployment has not been observed yet' }
  const stuck = conditions?.find(({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded')
  if (stuck !== undefined) return { state: 'failed', why: stuck.message ?? 'its deadline has passed' }
  if (updatedReplicas < wanted) return { state: 'waiting', why: `${updatedReplicas} of ${wanted} replicas are updated` }
  if (replicas > updatedReplicas)
    return { state: 'waiting', why: `${replicas - updatedReplicas} old replicas are left` }
  if (availableReplicas < updatedReplicas) {
    return { state: 'waiting', why: `${availableReplicas} of ${updatedReplicas} replicas are available` }
  }
  return { state: 'complete' }
}

/** The address of a Service of the type LoadBalancer: an IP address or a host name; undefined: it has none yet. */
export function loadBalancerAddress(service: Members): string | undefined {
  const { ingress } = membersIn(membersIn(service.status).loadBalancer)
  const addresses = (Array.isArray(ingress) ? ingress : []).map((one) => membersIn(one).ip || membersIn(one).hostname)
  return addresses.find((one): one is string => typeof one === 'string' && one !== '')
}

function membersIn(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}
