import type { GatewayObject } from '#api/gateway.ts'
import type { GatewayClassObject } from '#api/gateway-class.ts'
import { OWN_GROUP } from '#api/groups.ts'
import type { ProxyParametersObject } from '#api/proxy-parameters.ts'
import type { ConfigProblem } from '#base/config-problem.ts'
import type { ConditionFault } from '../context/condition.ts'
import type { Inventory } from '../context/inventory.ts'
import type { Report } from '../context/reporting.ts'
import { notFound } from '../references/not-found.ts'
import { wrongReference } from '../references/wrong-reference.ts'
import { settingsProblems } from './process-settings.ts'

/** The ProxyParameters of a Gateway and its class. */
export interface GatewayParameters {
  /** Those of the class, then those of the Gateway, which take precedence (decision A-119). */
  readonly objects: readonly ProxyParametersObject[]
  /** Set if at least one of them cannot be used. */
  readonly fault?: ConditionFault
}

/** A Gateway and its class may each refer to a ProxyParameters object. If one cannot be used, the other still applies. */
export function resolveParameters(inventory: Inventory, gateway: GatewayObject, report: Report): GatewayParameters {
  const { gatewayClassName, infrastructure } = gateway.spec
  const { namespace } = gateway.metadata
  const own = infrastructure?.parametersRef
  const ofClass = inventory.find('GatewayClass', '', gatewayClassName)?.spec.parametersRef
  const references: readonly ParametersReference[] = [
    ...(ofClass === undefined ? [] : [{ path: 'spec.gatewayClassName', namespace: '', ...ofClass }]),
    ...(own === undefined ? [] : [{ path: 'spec.infrastructure.parametersRef', namespace, ...own }]),
  ]

  const objects: ProxyParametersObject[] = []
  const refused: string[] = []
  for (const reference of references) {
    const found = usableParameters(inventory, reference)
    if (!('code' in found)) {
      objects.push(found)
      continue
    }
    refused.push(found.message)
    report({ path: reference.path, ...found, severity: 'error' })
  }
  if (refused.length === 0) return { objects }
  return { objects, fault: { reason: 'InvalidParameters', message: refused.join('; ') } }
}

/** Why the ProxyParameters of a class cannot be used, whether a Gateway uses the class or not. */
export function classFault(
  inventory: Inventory,
  { spec }: GatewayClassObject,
  report: Report,
): ConditionFault | undefined {
  if (spec.parametersRef === undefined) return undefined
  const path = 'spec.parametersRef'
  const found = findParameters(inventory, { path, namespace: '', ...spec.parametersRef })
  if (!('code' in found)) return undefined
  report({ path, ...found, severity: 'error' })
  return { reason: 'InvalidParameters', message: found.message }
}

interface ParametersReference {
  /** Field path in the Gateway. */
  readonly path: string
  readonly group: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

type Unusable = Pick<ConfigProblem, 'code' | 'message'>

/** @returns the object, or why it cannot be used */
function usableParameters(inventory: Inventory, reference: ParametersReference): ProxyParametersObject | Unusable {
  const found = findParameters(inventory, reference)
  if ('code' in found) return found
  const [first] = settingsProblems(found.spec)
  if (first === undefined) return found
  const title = `ProxyParameters ${reference.namespace}/${reference.name}`
  return { code: 'object-refused', message: `${title} is not used: ${first.path}: ${first.message}` }
}

/** @returns the object, or why it cannot be found */
function findParameters(
  inventory: Inventory,
  { group, kind, namespace, name }: ParametersReference,
): ProxyParametersObject | Unusable {
  if (group !== OWN_GROUP || kind !== 'ProxyParameters') {
    const { message } = wrongReference({ group, kind }, { ProxyParameters: OWN_GROUP })
    return { code: 'parameters-invalid', message: `parametersRef: ${message}` }
  }
  const found = inventory.find('ProxyParameters', namespace, name)
  return found ?? notFound(inventory, 'parameters-invalid', { kind: 'ProxyParameters', namespace, name })
}
