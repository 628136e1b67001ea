import type { ProxyParametersObject } from '#api/proxy-parameters.ts'
import { CONTROLLER_NAME, GATEWAY_CLASS } from './controller.ts'
import type { PlacedGateways } from './gateways/place-gateways.ts'
import type { Inventory } from './inventory.ts'
import type { ReportOn } from './reporting.ts'
import type { Scope } from './scope.ts'

/** What objects ask for and nobody does. */
export function reportUnused({ inventory, reportOn }: Scope, gateways: PlacedGateways): void {
  const used = new Set(gateways.gateways.flatMap(({ parameters }) => parameters.objects))
  for (const parameters of inventory.all('ProxyParameters')) {
    reportParameters(parameters, reportOn)
    if (!used.has(parameters)) reportUnreferenced(parameters, reportOn)
  }
  for (const object of inventory.all('BackendTLSPolicy')) {
    const message = 'BackendTLSPolicy is not implemented yet; this object has no effect'
    reportOn(object)({ path: 'spec', code: 'not-implemented', message, severity: 'error' })
  }
  if (gateways.gateways.length === 0) reportNoGateway(inventory, reportOn)
}

/** What is meant to work without a cluster as well, and does not yet (decision A-118). */
const UNDONE_PARAMETERS = ['logging', 'rawConfig', 'env']

function reportParameters(parameters: ProxyParametersObject, reportOn: ReportOn): void {
  for (const field of Object.keys(parameters.spec)) {
    if (field === 'shutdown') continue
    const path = `spec.${field}`
    if (UNDONE_PARAMETERS.includes(field)) {
      const message = `not implemented yet: ${field} has no effect`
      reportOn(parameters)({ path, code: 'not-implemented', message, severity: 'error' })
    } else {
      const message = `${field} takes effect only on Kubernetes`
      reportOn(parameters)({ path, code: 'parameters-only-on-kubernetes', message, severity: 'warning' })
    }
  }
}

function reportUnreferenced(parameters: ProxyParametersObject, reportOn: ReportOn): void {
  const message = 'no Gateway, and no GatewayClass that a Gateway has, refers to these parameters: they have no effect'
  reportOn(parameters)({ path: 'spec', code: 'no-effect', message, severity: 'warning' })
}

/** Without a Gateway nothing listens. The finding is in the class, which exists even when no object says so. */
function reportNoGateway(inventory: Inventory, reportOn: ReportOn): void {
  const others = inventory.all('Gateway').length
  const message =
    others === 0
      ? `no Gateway: nothing listens; create one with gatewayClassName ${GATEWAY_CLASS}`
      : `no Gateway has a class of ${CONTROLLER_NAME} (such as ${GATEWAY_CLASS}): nothing listens`
  const origin = { kind: 'GatewayClass', namespace: '', name: GATEWAY_CLASS }
  reportOn({ origin })({ path: '', code: 'no-gateway', message, severity: 'warning' })
}
