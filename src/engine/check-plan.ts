import type { Finding } from '#base/finding.ts'
import { NOWHERE } from '#exchange/exchange.ts'
import type { BackendItem, PlanItem, PolicyItem } from '#plan/item.ts'
import { policyDefinition } from '#policies/index.ts'
import { adviseRawAddress } from './advise-raw-address.ts'
import { buildBackendPlace } from './build-backend.ts'
import { toSource } from './build-chain.ts'
import { PlanCompileContext, type SharedState } from './compile-context.ts'
import { Lookups } from './lookups.ts'
import type { PlanIndex } from './plan-index.ts'

/** What compiling one item brought up. */
interface Checked {
  readonly lookups: Lookups
  readonly findings: readonly Finding[]
  readonly slots: readonly string[]
}

/**
 * Compiles every policy and backend of a plan once, as the workers will, to learn what is wrong with them and which shared slots
 * they need. Items that did not change, and whose references did not, are not compiled again.
 */
export class PlanCheck {
  #checked = new Map<PlanItem, Checked>()

  /** @param state assigns slots; every key that was asked for is in `slots` of the result */
  check(index: PlanIndex, state: SharedState): { readonly findings: readonly Finding[]; readonly slots: Set<string> } {
    const next = new Map<PlanItem, Checked>()
    const findings: Finding[] = []
    const slots = new Set<string>()
    for (const item of index.items.values()) {
      if (item.kind !== 'policy' && item.kind !== 'backend') continue
      const known = this.#checked.get(item)
      const checked = known?.lookups.holdIn(index) ? known : checkItem(item, index, state)
      next.set(item, checked)
      findings.push(...checked.findings)
      for (const slot of checked.slots) slots.add(slot)
    }
    this.#checked = next
    return { findings: distinct(findings), slots }
  }
}

function checkItem(item: PolicyItem | BackendItem, index: PlanIndex, state: SharedState): Checked {
  const lookups = new Lookups(index)
  const findings: Finding[] = []
  const slots: string[] = []
  const recording: SharedState = {
    ...state,
    slotOf: (key) => {
      slots.push(key)
      return state.slotOf(key)
    },
  }
  const context = new PlanCompileContext(lookups, recording, (finding) => findings.push(finding))
  if (item.kind === 'policy') {
    checkPolicy(item, context)
    const silent = new PlanCompileContext(lookups, state, () => {})
    if (item.field === 'proxyProtocol') adviseRawAddress(item, lookups, { said: context, silent })
  } else checkBackend(item, { lookups, context, state: recording })
  return { lookups, findings, slots }
}

function checkPolicy(item: PolicyItem, context: PlanCompileContext): void {
  const definition = policyDefinition(item.section, item.field)
  if (definition !== undefined) {
    definition.compile([toSource(item)], context)
    return
  }
  context.report(toSource(item), '', {
    severity: 'error',
    code: 'not-implemented',
    message: `${item.section}.${item.field} is not implemented yet`,
  })
}

/** As a rule without policies of its own would reach it. */
function checkBackend(item: BackendItem, scope: Parameters<typeof buildBackendPlace>[1]): void {
  const reference = { backend: item.key, weight: 1, path: '' }
  const place = buildBackendPlace({ reference, names: NOWHERE, targets: [], carries: 'requests' }, scope)
  const { refusal } = place ?? {}
  if (refusal === undefined || item.broken !== undefined) return
  scope.context.report({ spec: item.spec, origin: item.origin, path: `spec.${item.type}`, target: item.key }, '', {
    severity: 'error',
    code: 'not-implemented',
    message: `${refusal.detail ?? refusal.code}: requests to it are refused`,
  })
}

/** A policy attached to several targets says the same thing at each. */
function distinct(findings: readonly Finding[]): Finding[] {
  const seen = new Map<string, Finding>()
  for (const finding of findings) {
    const { origin, path, code, message } = finding
    seen.set(`${origin.kind}/${origin.namespace}/${origin.name} ${path} ${code} ${message}`, finding)
  }
  return [...seen.values()]
}
