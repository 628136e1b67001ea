import type { GatewayObject } from '#api/gateway.ts'
import type { ProxyParametersObject } from '#api/proxy-parameters.ts'
import type { StageDefinition } from '#base/incremental/stage.ts'
import { CONTROLLER_NAME, GATEWAY_CLASS } from './controller.ts'
import { reportTo } from './open-context.ts'
import type { Report } from './reporting.ts'
import type { Tables } from './tables.ts'

/** Reports parameters that have no effect. */
export function parametersStage(tables: Tables): StageDefinition<ProxyParametersObject> {
  return {
    name: 'parameters',
    each: [tables.objects.ProxyParameters],
    writes: [tables.findings],
    run([parameters], work, key) {
      const report = reportTo(tables, work)(parameters!)
      reportParameters(parameters!, report)
      if (work.read(tables.parametersUsed, key).length === 0) reportUnreferenced(report)
    },
  }
}

/** Fields that should have an effect outside Kubernetes, but are not implemented yet (decision A-118). */
const UNIMPLEMENTED_PARAMETERS = ['logging', 'rawConfig', 'env']

function reportParameters({ spec }: ProxyParametersObject, report: Report): void {
  for (const field of Object.keys(spec)) {
    if (field === 'shutdown') continue
    const path = `spec.${field}`
    if (UNIMPLEMENTED_PARAMETERS.includes(field)) {
      const message = `not implemented yet: ${field} has no effect`
      report({ path, code: 'not-implemented', message, severity: 'error' })
    } else {
      const message = `${field} takes effect only on Kubernetes`
      report({ path, code: 'parameters-only-on-kubernetes', message, severity: 'warning' })
    }
  }
}

function reportUnreferenced(report: Report): void {
  const message =
    'these parameters have no effect: no Gateway refers to them, neither directly nor through its GatewayClass'
  report({ path: 'spec', code: 'no-effect', message, severity: 'warning' })
}

/** Reports that no port is open. The finding belongs to the default GatewayClass, which need not exist as an object. */
export function noGatewayStage(tables: Tables): StageDefinition<true> {
  return {
    name: 'noGateway',
    each: [tables.always],
    writes: [tables.findings],
    run(_, work) {
      if (work.count(tables.served, 'any') > 0) return
      const gateways = work.read(tables.ofKind, 'Gateway') as readonly GatewayObject[]
      const classes = [...new Set(gateways.map(({ spec }) => spec.gatewayClassName))].join(', ')
      const message =
        gateways.length === 0
          ? `there is no Gateway, so no port is open; create one with gatewayClassName ${GATEWAY_CLASS}`
          : `no port is open: no Gateway has a GatewayClass of ${CONTROLLER_NAME}, such as ${GATEWAY_CLASS}; the Gateways have ${classes}`
      const origin = { kind: 'GatewayClass', namespace: '', name: GATEWAY_CLASS }
      reportTo(tables, work)({ origin })({ path: '', code: 'no-gateway', message, severity: 'warning' })
    },
  }
}
