import { CalledBackends } from '#engine/backend/called-backends.ts'
import type { LiveBackend } from '#engine/backend/live-backend.ts'
import { type FieldName, indexOf, policyItem, stateOf } from '#engine/testing.ts'
import type { Call, CallRequest, CallResponse } from '#exchange/call.ts'
import type { BackendItem } from '#plan/item.ts'

/** Settings of policies of a backend, by field. */
export type Policies = Readonly<Partial<Record<FieldName, unknown>>>

const IDP: BackendItem = {
  kind: 'backend',
  key: 'Service/default/idp/80',
  namespace: 'default',
  name: 'idp',
  type: 'service',
  spec: { hostname: 'idp.default.svc.cluster.local', port: 80 },
  broken: undefined,
  origin: { kind: 'Service', namespace: 'default', name: 'idp' },
}

export const IDP_KEY = IDP.key

/** Finds backends by key in a plan with the Service `idp`, which has endpoints at these ports and these policies. */
export function findIdp(ports: readonly number[], policies: Policies = {}): (key: string) => LiveBackend | undefined {
  const index = indexOf(
    IDP,
    {
      kind: 'endpoints',
      key: 'Endpoints/default/idp/80',
      addresses: ports.map((port) => ({ host: '127.0.0.1', port })),
      origin: IDP.origin,
    },
    ...Object.entries(policies).map(([field, spec]) => policyItem(field as FieldName, 'Service/default/idp', spec)),
  )
  const called = new CalledBackends(stateOf())
  return (key) => called.find(key, index)
}

/** Calls a backend as for its key set. @param more differs from such a call */
export function callForKeys(call: Call, key: string, more: Partial<CallRequest> = {}): Promise<CallResponse> {
  return call(key, {
    purpose: 'key-set',
    method: 'GET',
    path: '/keys',
    headers: [],
    body: undefined,
    timeoutMs: 0,
    signal: new AbortController().signal,
    ...more,
  })
}
