import {
  atLeastOne,
  type ConfigProblem,
  exactlyOne,
  fieldPath,
  itemPath,
  list,
  object,
  optional,
  type Parsed,
  problem,
  required,
  withMeanings,
  withRule,
} from '#schema/index.ts'
import { POLICY } from './meanings.ts'
import { type ObjectOf, ownKind } from './object.ts'
import { backendFull, frontend, traffic } from './policy-sections.ts'
import { policyStatus } from './policy-status.ts'
import {
  checkTargets,
  PORT_ON_SERVER,
  policyTargetReference,
  policyTargetSelector,
  SECTION_TARGETS,
  type TargetSection as Section,
  TARGETS_ON_SERVER,
  type Target,
} from './policy-targets.ts'

interface Targets {
  readonly targetRefs?: readonly Target[]
  readonly targetSelectors?: readonly Target[]
}

/** Both target lists with their paths. A valid policy has only one of them, but both are checked. */
function targetsOf(spec: Targets, path: string): { readonly target: Target; readonly at: string }[] {
  const at = (field: 'targetRefs' | 'targetSelectors') =>
    (spec[field] ?? []).map((target, index) => ({ target, at: itemPath(fieldPath(path, field), index) }))
  return [...at('targetRefs'), ...at('targetSelectors')]
}

function checkTargetLists(spec: Targets, path: string): readonly ConfigProblem[] {
  return [
    ...checkTargets(spec.targetRefs ?? [], fieldPath(path, 'targetRefs')),
    ...checkTargets(spec.targetSelectors ?? [], fieldPath(path, 'targetSelectors')),
  ]
}

/** Every section of the policy must be allowed for the kind of target (decision A-27). */
function checkSections(spec: Targets & { readonly [S in Section]?: unknown }, path: string): readonly ConfigProblem[] {
  const [first] = targetsOf(spec, path)
  if (first === undefined || !(SECTION_TARGETS.backend as readonly string[]).includes(first.target.kind)) return []
  return (Object.keys(SECTION_TARGETS) as Section[]).flatMap((section) => {
    const allowed: readonly string[] = SECTION_TARGETS[section]
    if (spec[section] === undefined || allowed.includes(first.target.kind)) return []
    const message = `spec.${section} can only target ${listed(allowed)}`
    return [problem(fieldPath(path, section), 'target-not-allowed', message)]
  })
}

/**
 * A condition on all targets, for API servers.
 * @param condition on `target` @param more a condition on a list of targets
 */
function everyTarget(condition: string, more?: (list: string) => string): string {
  const lists = ['self.targetRefs', 'self.targetSelectors'].map((list) => {
    const also = more === undefined ? '' : ` && ${more(list)}`
    return `(!has(${list}) || ${list}.all(target, ${condition})${also})`
  })
  return `(${lists.join(' && ')})`
}

function kindIn(kinds: readonly string[]): string {
  return `target.kind in [${kinds.map((kind) => `'${kind}'`).join(', ')}]`
}

function listed(kinds: readonly string[]): string {
  return kinds.length === 1 ? `a ${kinds[0]}` : `a ${kinds.slice(0, -1).join(', ')} or ${kinds.at(-1)}`
}

function checkFrontendHasNoSection(
  spec: Targets & { readonly frontend?: unknown },
  path: string,
): readonly ConfigProblem[] {
  if (spec.frontend === undefined) return []
  return targetsOf(spec, path)
    .filter(({ target }) => target.kind === 'Gateway' && target.sectionName !== undefined)
    .map(({ at }) => {
      const message = 'spec.frontend can only target a whole Gateway; remove sectionName'
      return problem(fieldPath(at, 'sectionName'), 'target-not-allowed', message)
    })
}

/** A member of a value with any shape; its own schema reports wrong shapes. */
function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

const PRE_ROUTING_TARGETS: readonly string[] = ['Gateway', 'ListenerSet']

function checkPhaseTarget(spec: Targets & { readonly traffic?: unknown }, path: string): readonly ConfigProblem[] {
  const [first] = targetsOf(spec, path)
  if (memberOf(spec.traffic, 'phase') !== 'PreRouting' || first === undefined) return []
  if (PRE_ROUTING_TARGETS.includes(first.target.kind)) return []
  const message = 'phase PreRouting can only target a Gateway or ListenerSet'
  return [problem(fieldPath(path, 'traffic.phase'), 'target-not-allowed', message)]
}

/** `ai` and `mcp` apply only to backends of these types, not to Services; `mcp` applies to a whole backend. */
function checkBackendKinds(spec: Targets & { readonly backend?: unknown }, path: string): readonly ConfigProblem[] {
  const at = fieldPath(path, 'backend')
  const targets = targetsOf(spec, path).map(({ target }) => target)
  const found: ConfigProblem[] = []
  for (const field of ['mcp', 'ai']) {
    if (memberOf(spec.backend, field) === undefined || !targets.some(({ kind }) => kind === 'Service')) continue
    const message = `backend.${field} cannot target a Service`
    found.push(problem(fieldPath(at, field), 'target-not-allowed', message))
  }
  const onSection = targets.some(({ kind, sectionName }) => kind === 'ProxyBackend' && sectionName !== undefined)
  if (memberOf(spec.backend, 'mcp') !== undefined && onSection) {
    const message = 'backend.mcp can only target a whole ProxyBackend; remove sectionName from the target'
    found.push(problem(fieldPath(at, 'mcp'), 'target-not-allowed', message))
  }
  return found
}

function checkOneMcpAuthentication(
  spec: { readonly traffic?: unknown; readonly backend?: unknown },
  path: string,
): readonly ConfigProblem[] {
  const onBackend = memberOf(memberOf(spec.backend, 'mcp'), 'authentication')
  if (memberOf(spec.traffic, 'jwtAuthentication') === undefined || onBackend === undefined) return []
  const message =
    'traffic.jwtAuthentication and backend.mcp.authentication cannot be set in the same policy; use traffic.jwtAuthentication.mcp'
  return [problem(fieldPath(path, 'backend.mcp.authentication'), 'not-together', message)]
}

const fields = withMeanings(
  POLICY,
  object({
    targetRefs: optional(list(policyTargetReference, { min: 1, max: 16 }), 'Objects that the policy attaches to.'),
    targetSelectors: optional(
      list(policyTargetSelector, { min: 1, max: 16 }),
      'Objects that the policy attaches to, selected by label in the namespace of the policy.',
    ),
    frontend: optional(frontend, 'Policies for client connections: TCP, TLS, HTTP, access log, tracing, metrics.'),
    traffic: optional(traffic, 'Policies for requests.'),
    backend: optional(backendFull, 'Policies for connections and requests to backends.'),
  }),
)

/** Rules that check sections against targets. */
const TARGET_RULES = [
  {
    description: 'All targets must have the same, supported kind.',
    check: checkTargetLists,
    onServer: everyTarget(
      `(${TARGETS_ON_SERVER}) && (target.kind != 'Service' || !has(target.sectionName) || ${PORT_ON_SERVER})`,
      (list) => `${list}.all(target, target.kind == ${list}[0].kind)`,
    ),
  },
  {
    description: 'Each section supports only certain kinds of target.',
    check: checkSections,
    onServer: (Object.keys(SECTION_TARGETS) as Section[])
      .map((section) => `(!has(self.${section}) || ${everyTarget(kindIn(SECTION_TARGETS[section]))})`)
      .join(' && '),
  },
  {
    description: 'frontend can only target a whole Gateway.',
    check: checkFrontendHasNoSection,
    onServer: `!has(self.frontend) || ${everyTarget('!has(target.sectionName)')}`,
  },
  {
    description: 'Phase PreRouting can only target a Gateway or ListenerSet.',
    check: checkPhaseTarget,
    onServer: `!has(self.traffic) || !has(self.traffic.phase) || self.traffic.phase != 'PreRouting' || ${everyTarget(kindIn(PRE_ROUTING_TARGETS))}`,
  },
  {
    description:
      'backend.ai and backend.mcp cannot target a Service; backend.mcp can only target a whole ProxyBackend.',
    check: checkBackendKinds,
    onServer:
      `!has(self.backend) || (!has(self.backend.ai) || ${everyTarget("target.kind != 'Service'")}) && ` +
      `(!has(self.backend.mcp) || ${everyTarget("target.kind != 'Service' && (target.kind != 'ProxyBackend' || !has(target.sectionName))")})`,
  },
]

const withTargetRules = TARGET_RULES.reduce(
  (schema, rule) => withRule(schema, { reads: ['targetRefs', 'targetSelectors'], ...rule }),
  atLeastOne(['frontend', 'traffic', 'backend'], exactlyOne(['targetRefs', 'targetSelectors'], fields)),
)

/** `spec` of a ProxyPolicy (specification 1, 2.6). */
const proxyPolicySpec = withRule(withTargetRules, {
  reads: [],
  description: 'traffic.jwtAuthentication and backend.mcp.authentication cannot be set together.',
  check: checkOneMcpAuthentication,
  onServer:
    '!has(self.traffic) || !has(self.traffic.jwtAuthentication) || ' +
    '!has(self.backend) || !has(self.backend.mcp) || !has(self.backend.mcp.authentication)',
})

export const proxyPolicy = ownKind('ProxyPolicy', {
  spec: required(proxyPolicySpec, 'Desired state.'),
  status: optional(policyStatus, 'Observed state, written by the gateway.'),
})

export type ProxyPolicySpec = Parsed<typeof proxyPolicySpec>
export type ProxyPolicyObject = ObjectOf<typeof proxyPolicy>
