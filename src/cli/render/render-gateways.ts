import type { GatewayObject } from '#api/gateway.ts'
import { type ApiObject, keyOf } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import type { FindingCode } from '#base/findings.ts'
import { BEHIND_SERVICES } from '#cluster/statuses/behind-services.ts'
import { type ControllerNames, DEFAULT_NAMES } from '#control/context/controller.ts'
import { inventoryOf } from '#control/context/inventory.ts'
import { isOwnClass } from '#control/gateways/resolve-gateways.ts'
import { resolveParameters } from '#control/gateways/resolve-parameters.ts'
import { translate } from '#control/translate.ts'
import type { TranslateOptions } from '#control/translator.ts'
import { GatewayPorts } from '#deploy/gateway-ports.ts'
import { type Rendered, render } from '#deploy/render.ts'
import type { DeploySettings } from '#deploy/settings.ts'
import { wholePlan } from '#plan/delta.ts'
import type { PlanItem } from '#plan/item.ts'

/** What a controller would apply for all Gateways of its classes. */
export interface RenderedGateways {
  readonly gateways: readonly (Omit<Rendered, 'findings'> & { readonly gateway: GatewayObject })[]
  readonly findings: readonly Finding[]
}

/** Renders all Gateways of our classes, in the order of their age. */
export function renderGateways(
  objects: readonly ApiObject[],
  settings: DeploySettings,
  { names = DEFAULT_NAMES, ...options }: Pick<TranslateOptions, 'names' | 'tlsMaterial'> = {},
): RenderedGateways {
  const { items, findings: ofTranslation } = translate(objects, { names, ...options, addresses: BEHIND_SERVICES })
  const { gateways, findings } = renderPlanned(objects, items, settings, names)
  const reasons = ofTranslation.filter(({ code }) => REASONS.has(code))
  return { gateways, findings: withoutRepetitions([...reasons, ...findings]) }
}

/** The same for objects that are translated. @returns findings of the deployment only */
export function renderPlanned(
  objects: readonly ApiObject[],
  items: ReadonlyMap<string, PlanItem>,
  settings: DeploySettings,
  names: ControllerNames = DEFAULT_NAMES,
): RenderedGateways {
  const findings: Finding[] = []
  const inventory = inventoryOf(objects)
  const own = inventory.all('Gateway').filter(({ spec }) => isOwnClass(inventory, names, spec.gatewayClassName))
  const ports = new GatewayPorts()
  ports.take(wholePlan(items))
  const gateways = own.map((gateway) => {
    // The translation has reported why parameters cannot be used.
    const { objects: parameters, fault } = resolveParameters(inventory, gateway, () => {})
    if (fault !== undefined) return { gateway, objects: undefined, sessionKeySecret: undefined }
    const rendered = render({ gateway, ports: ports.of(keyOf(gateway)), parameters, settings })
    findings.push(...rendered.findings)
    return { gateway, ...rendered }
  })
  return { gateways, findings: withoutRepetitions(findings) }
}

/** Findings of the translation that say why nothing is rendered. */
const REASONS: ReadonlySet<FindingCode> = new Set(['parameters-invalid', 'gateway-class-not-found', 'no-gateway'])

/** Several Gateways may use the same parameters. */
function withoutRepetitions(findings: readonly Finding[]): readonly Finding[] {
  const textOf = ({ origin, path, message }: Finding) => JSON.stringify([origin, path, message])
  return [...new Map(findings.map((finding) => [textOf(finding), finding])).values()]
}
