import type { GatewayObject } from '#api/gateway.ts'
import type { ApiObject } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import type { TlsMaterialCheck } from '#base/tls-material.ts'
import { assembleTranslation } from './assemble-translation.ts'
import { attach } from './attach.ts'
import { buildItems } from './build-items.ts'
import { reportUnused } from './report-unused.ts'
import { createRouteMemo, type RouteMemo } from './routes/translate-routes.ts'
import { openScope } from './scope.ts'
import { settleFacts } from './status/settle-facts.ts'
import type { Translation } from './translation.ts'

export interface TranslateOptions {
  /** Where the listeners of a Gateway listen; the loopback address when unset. */
  readonly address?: (gateway: GatewayObject) => string
  /** Speeds up translating nearly the same objects again; the result does not depend on it. */
  readonly memo?: RouteMemo
  /** Looks into certificates and keys; without it only their form is looked at. */
  readonly tlsMaterial?: TlsMaterialCheck
}

const LOOPBACK = '127.0.0.1'

/**
 * Turns all objects into the plan, the statuses and the findings. Pure: the same objects, in whatever order, give the same result.
 * @param objects valid ones, at most one for each kind, namespace and name
 */
export function translate(objects: readonly ApiObject[], options: TranslateOptions = {}): Translation {
  const { address = () => LOOPBACK, memo = createRouteMemo(), tlsMaterial } = options
  const findings: Finding[] = []
  const scope = openScope(objects, findings, tlsMaterial)
  const attached = attach(scope, address, memo)
  const items = buildItems(scope, attached)
  const facts = settleFacts(scope, attached, items)
  reportUnused(scope, attached.gateways)

  const byKey = new Map(items.all.map((item) => [item.key, item]))
  return assembleTranslation({ items: byKey, facts, findings, bindings: new Map() })
}
