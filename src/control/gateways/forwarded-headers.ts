import type { GatewayObject } from '#api/gateway.ts'
import { isKind } from '#api/kinds.ts'
import type { ApiObject } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import { parseIpNetworkOrAddress } from '#base/ip-network.ts'
import type { ListenerItem, PlanItem } from '#plan/item.ts'
import { itemPath } from '#schema/index.ts'
import { ANNOTATION } from '../context/annotations.ts'
import type { ConditionFault } from '../context/condition.ts'

/** For all listeners of a Gateway (docs/behaviour/http.md, "Forwarded headers"). */
const NAME = ANNOTATION.forwardedHeaders
const PATH = itemPath('metadata.annotations', NAME)

/** The setting, and what is wrong with the annotation. */
interface Read {
  readonly setting?: NonNullable<ListenerItem['forwardedHeaders']>
  readonly invalid?: string
}

/** With an invalid value, no proxy is trusted: fields of clients do not reach backends that rely on the annotation. */
function read({ metadata: { annotations = {} } }: GatewayObject): Read {
  const text = annotations[NAME]?.trim()
  if (text === undefined || text === 'off') return {}
  if (text === 'none') return { setting: { trustedProxies: [] } }
  const trustedProxies = text.split(',').map((part) => part.trim())
  const invalid = trustedProxies.find((part) => parseIpNetworkOrAddress(part) === undefined)
  return invalid === undefined ? { setting: { trustedProxies } } : { setting: { trustedProxies: [] }, invalid }
}

export function forwardedHeaders(gateway: GatewayObject): ListenerItem['forwardedHeaders'] {
  return read(gateway).setting
}

/** What is wrong with the annotation of a Gateway, as finding and as condition. */
export function forwardedHeadersFault(gateway: GatewayObject): (ConditionFault & Omit<Finding, 'origin'>) | undefined {
  const { invalid } = read(gateway)
  if (invalid === undefined) return undefined
  const message = `${JSON.stringify(invalid)} is not an address or network of trusted proxies, such as 10.0.0.0/8 or ::1; write off, none, or a list with commas; no proxy is trusted`
  return { path: PATH, code: 'annotation-value', message, severity: 'error', reason: 'InvalidAnnotation' }
}

/** Advice for each Gateway with listeners for requests that does not say whether backends get these fields. */
export function adviseForwardedHeaders(items: Iterable<PlanItem>, objects: readonly ApiObject[]): readonly Finding[] {
  const serving = new Set<string>()
  for (const item of items) {
    if (item.kind === 'listener' && (item.protocol === 'HTTP' || item.protocol === 'HTTPS')) {
      serving.add(`${item.gateway.namespace}/${item.gateway.name}`)
    }
  }
  return objects.flatMap((object) => {
    const { namespace, name, annotations = {} } = object.metadata
    if (!isKind(object, 'Gateway') || !serving.has(`${namespace}/${name}`) || Object.hasOwn(annotations, NAME)) {
      return []
    }
    const message = `X-Forwarded-For, -Proto, -Host and X-Request-Id can be spoofed by clients; set the annotation ${NAME} to none, or to your trusted proxies ("off" silences this)`
    const { origin } = object
    return [{ path: 'metadata', code: 'forwarded-headers-unset', message, severity: 'advice', origin }]
  })
}
