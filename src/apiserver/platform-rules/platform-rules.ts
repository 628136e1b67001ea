import { GATEWAY_GROUP } from '#api/groups.ts'
import type { TSchema } from '#schema/index.ts'
import type { Resource } from '#store/resources/resource.ts'
import type { Cause, WrittenObject } from '../kinds/served-kind.ts'
import { checkEndpointSlice } from './check-endpoint-slice.ts'
import { checkConfigMap, checkSecret, completeSecret } from './check-entries.ts'
import { checkCoreEvent, checkEvent } from './check-event.ts'
import { checkGatewayApi } from './check-gateway-api.ts'
import { checkLease } from './check-lease.ts'
import { checkMetadata } from './check-metadata.ts'
import { checkNamespace, completeNamespace } from './check-namespace.ts'
import { checkPod } from './check-pod.ts'
import { checkService } from './check-service.ts'
import { compareWithPlatform } from './compare-with-platform.ts'

interface PlatformRules {
  /** Adds what an API server adds. */
  readonly complete?: (object: WrittenObject) => WrittenObject
  readonly check?: (object: WrittenObject, before: Resource | undefined) => readonly Cause[]
}

/** The rules of API servers that schemas cannot say, by group and kind. Objects of files have only their schemas. */
const RULES: Readonly<Record<string, PlatformRules>> = {
  '/ConfigMap': { check: checkConfigMap },
  '/Event': { check: checkCoreEvent },
  '/Namespace': { complete: completeNamespace, check: checkNamespace },
  '/Pod': { check: checkPod },
  '/Secret': { complete: completeSecret, check: checkSecret },
  '/Service': { check: checkService },
  'coordination.k8s.io/Lease': { check: checkLease },
  'discovery.k8s.io/EndpointSlice': { check: checkEndpointSlice },
  'events.k8s.io/Event': { check: checkEvent },
}

/**
 * Completes an object that has passed its schema, and checks the rest.
 * @param before the stored object that is replaced
 * @returns with the paths of members that the platform does not know
 */
export function applyPlatformRules(
  info: { readonly group: string; readonly kind: string; readonly schema: TSchema },
  object: WrittenObject,
  before: Resource | undefined,
): { readonly object: WrittenObject; readonly causes: readonly Cause[]; readonly unknown: readonly string[] } {
  const { group, kind } = info
  const { causes, unknown } = compareWithPlatform(object)
  // Rules read members, and rely on their types.
  if (causes.length > 0) return { object, causes, unknown }
  const key = `${group}/${kind}`
  const { complete, check } = Object.hasOwn(RULES, key) ? RULES[key]! : {}
  const completed = complete?.(object) ?? object
  const ofGatewayApi = group === GATEWAY_GROUP ? checkGatewayApi(info, completed, before) : []
  return {
    object: completed,
    unknown,
    causes: [...checkMetadata(completed), ...(check?.(completed, before) ?? []), ...ofGatewayApi],
  }
}
