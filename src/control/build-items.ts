import type { ListenerItem, PlanItem, PolicyItem } from '#plan/item.ts'
import type { Attached } from './attach.ts'
import { isIdle, serviceItems } from './backends/service-items.ts'
import { gatewayItem } from './gateways/gateway-item.ts'
import { isServed } from './gateways/listener.ts'
import { listenerItem } from './gateways/listener-item.ts'
import { reportNoEffect } from './policies/report-no-effect.ts'
import { joinFields, translatePolicy } from './policies/translate-policy.ts'
import type { Use } from './reach.ts'
import { materialItems } from './references/material-items.ts'
import type { Scope } from './scope.ts'
import { workloadItems } from './workload-items.ts'

/** The plan, and what its making showed. */
export interface BuiltItems {
  readonly all: readonly PlanItem[]
  /** In order of precedence. */
  readonly listeners: readonly ListenerItem[]
  readonly policies: readonly PolicyItem[]
  /** Keys of Service backends without an endpoint. */
  readonly idleServices: ReadonlySet<string>
  /** Backends to which rules send their requests. */
  readonly routed: readonly Use[]
  /** Backends that policies and other backends call. */
  readonly called: readonly Use[]
}

/** Makes the items; Services, Secrets, ConfigMaps and Pods come in only when something refers to them. */
export function buildItems(scope: Scope, attached: Attached): BuiltItems {
  const { inventory, reportOn } = scope
  const ours = [...attached.gateways.listeners.values()].flat()
  for (const policy of attached.policies) {
    reportNoEffect({ inventory, listeners: ours }, policy, reportOn(policy.object))
  }
  const policies = attached.policies.map((it) => translatePolicy(scope, it, reportOn(it.object)))
  const fields = joinFields([...attached.backends.map((it) => it.fields), ...policies])
  const listeners = ours.filter(isServed).map(listenerItem)

  const routed = attached.routes.flatMap(({ uses }) => uses)
  const ofRoutes = attached.routes.flatMap(({ items }) => items)
  const called = [...fields.calls, ...attached.backends.flatMap(({ uses }) => uses)]
  const services = serviceItems(inventory, new Set([...routed, ...called].map(({ to }) => to)), reportOn)
  const ofListeners = listeners.flatMap(({ certificates, clientValidation }) => [
    ...certificates,
    ...(clientValidation?.authorities ?? []),
  ])
  const material = new Set([...fields.material, ...ofListeners])
  const applied = [...ofRoutes.filter((item) => item.kind === 'policy'), ...fields.items]
  return {
    all: [
      ...attached.gateways.gateways.map(gatewayItem),
      ...listeners,
      ...ofRoutes,
      ...attached.backends.map(({ item }) => item),
      ...services,
      ...fields.items,
      ...materialItems(inventory, material),
      ...workloadItems(inventory, applied),
    ],
    listeners,
    policies: applied,
    idleServices: new Set(services.filter(isIdle).map(({ key }) => key.replace('Endpoints/', 'Service/'))),
    routed,
    called,
  }
}
