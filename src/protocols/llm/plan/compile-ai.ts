import type { ConfigProblem } from '#base/config-problem.ts'
import { withProduct } from '#base/products.ts'
import { pathFault } from '#net/http/path-form.ts'
import { auth } from '#policies/backend/auth/index.ts'
import type { AuthForm } from '#policies/backend/auth/schema.ts'
import type { CompileContext, PolicySource } from '#policies/policy.ts'
import type { BackendSettings, ProtocolBackend } from '../../backend-protocol.ts'
import type { PromptGuards } from '../guards/guard.ts'
import { reportGuardrailName } from '../guards/services/guardrail-name.ts'
import type { GuardPhase } from '../guards/services/service.ts'
import { modelOf } from '../models/models.ts'
import type { Credential } from '../providers/provider.ts'
import { buildProvider, providerDestination, providerKind } from '../providers/providers.ts'
import { toPath } from '../providers/upstream-path.ts'
import type { AiBackendSpec } from '../settings/backend-schema.ts'
import { TEXT_PATHS } from '../settings/known-paths.ts'
import { toModelName } from '../settings/model-aliases.ts'
import type { BackendAiSpec, RouteType } from '../settings/policy-schema.ts'
import type { LlmProviderSpec, NamedLlmProviderSpec, ProviderBlock, ProviderKind } from '../settings/provider-schema.ts'
import { isClientFormat, type RouteTypes } from '../settings/route-type.ts'
import type { AiPlan, AiProviderPlan, AiSettings } from './ai-plan.ts'
import { ai } from './policy.ts'

type Report = (path: string, problem: Omit<ConfigProblem, 'path'>) => void

/** Prepares an AI backend: its providers, each with the `ai` settings of highest precedence (decision B01). */
export function compileAi(
  backend: ProtocolBackend<AiBackendSpec>,
  settings: BackendSettings,
  context: CompileContext,
): AiPlan {
  const providers: AiProviderPlan[] = []
  const routed: RoutedProvider[] = []
  const shared = new SharedSettings(context)
  const add = (name: string, spec: LlmProviderSpec, path: string, group = 0): number => {
    const section = sectionOf(name)
    const source = settings.of(ai, section)[0]
    const plan = compileProvider(name, spec, shared.of(source), credentialOf(settings.of(auth, section)[0]))
    const report: Report = (field, problem) => context.report(backend, path + field, problem)
    reportProvider(spec, plan.settings, report)
    reportModel(spec, report)
    const reportRoute: Report =
      source === undefined ? (_, problem) => context.report(backend, path, problem) : shared.reportOnce(source)
    const ofPolicy = source?.origin.kind === 'ProxyPolicy'
    routed.push({ plan, kind: providerKind(spec), group, ofPolicy, report: reportRoute })
    return providers.push(plan) - 1
  }
  const { provider, groups = [] } = backend.spec
  const indexes = provider === undefined ? [] : [[add('', provider, '.provider')]]
  groups.forEach((group, g) => {
    const addNamed = (named: NamedLlmProviderSpec, p: number) =>
      add(named.name, named, `.groups[${g}].providers[${p}]`, g)
    indexes.push(group.providers.map(addNamed))
  })
  for (const provider of routed) reportRoutes(provider, routed)
  indexes.forEach((group, g) => {
    group.forEach((index, p) => {
      const report: Report = (path, problem) => context.report(backend, `.groups[${g}].providers[${p}]${path}`, problem)
      reportGuardsOfOthers(providers[index]!, providers, report)
    })
  })
  return { providers, groups: indexes }
}

/** A single provider without a name has the section name `backend` (docs/behaviour/control.md, "Sections"). */
export function sectionOf(provider: string): string {
  return provider === '' ? 'backend' : provider
}

/** Providers with the same settings share the prepared settings and their problems. */
class SharedSettings {
  readonly #context: CompileContext
  readonly #compiled = new Map<PolicySource<BackendAiSpec> | undefined, AiSettings>()
  readonly #reported = new Set<string>()

  constructor(context: CompileContext) {
    this.#context = context
  }

  of(source: PolicySource<BackendAiSpec> | undefined): AiSettings {
    let settings = this.#compiled.get(source)
    if (settings === undefined) {
      settings = ai.compile(source === undefined ? [] : [source], this.#context)
      this.#compiled.set(source, settings)
    }
    return settings
  }

  reportOnce(source: PolicySource<BackendAiSpec>): Report {
    return (path, problem) => {
      const text = `${source.target} ${source.path}${path} ${problem.message}`
      if (this.#reported.has(text)) return
      this.#reported.add(text)
      this.#context.report(source, path, problem)
    }
  }
}

function credentialOf(source: PolicySource<AuthForm> | undefined): Credential | undefined {
  if (source === undefined) return undefined
  const { key, secretRef, location } = source.spec
  return {
    source: key !== undefined || secretRef !== undefined ? 'key' : 'token',
    location: locationOf(location),
  }
}

const AMBIENT: Credential = { source: 'token', location: 'usual' }

function locationOf(location: AuthForm['location']): Credential['location'] {
  if (location === undefined) return 'usual'
  return location.header?.name.toLowerCase() === 'authorization' ? 'authorization' : 'elsewhere'
}

function compileProvider(
  name: string,
  spec: LlmProviderSpec,
  settings: AiSettings,
  credential: Credential | undefined,
): AiProviderPlan {
  const provider = buildProvider(spec)
  const destination = providerDestination(spec)
  return {
    name,
    provider,
    pin: provider.pin === undefined ? undefined : toModelName(provider.pin),
    destination,
    credential: credential ?? (destination.ambient === undefined ? undefined : AMBIENT),
    path: spec.path === undefined ? undefined : toPath(spec.path),
    settings,
  }
}

function reportProvider(spec: LlmProviderSpec, { routes }: AiSettings, report: Report): void {
  for (const field of ['path', 'pathPrefix'] as const) {
    const fault = pathFault(toPath(spec[field] ?? '').split('?', 1)[0]!)
    if (fault === undefined) continue
    report(`.${field}`, { code: 'path-invalid', message: `has ${fault}; requests are refused`, severity: 'error' })
  }
  if (spec.providerSix !== undefined) reportPlatform(spec.providerSix, report)
  const guardrail = spec.providerSeven?.guardrail
  if (guardrail !== undefined) {
    reportGuardrailName(guardrail, undefined, (field, problem) => report(`.providerSeven.guardrail${field}`, problem))
  }
  if (spec.path === undefined) return
  const types = new Set([...routes.suffixes.map(({ type }) => type), routes.otherwise])
  const replaced = [...types].filter((type) => type !== undefined && (isClientFormat(type) || type === 'Realtime'))
  if (replaced.length > 1) {
    const message = `requests of types ${replaced.join(', ')} are all sent to this path; use a provider for each type`
    report('.path', { code: 'inconsistent', message, severity: 'warning' })
  }
  if (spec.pathPrefix === undefined) return
  const message = 'has no effect: path is also set and takes precedence'
  report('.pathPrefix', { code: 'no-effect', message, severity: 'warning' })
}

/** A model of the vendor that the catalogue does not list. Other servers, and deployments on Azure, have names of their own. */
function reportModel(spec: LlmProviderSpec, report: Report): void {
  const kind = providerKind(spec)
  if (spec.host !== undefined || kind === 'providerTwo' || kind === 'providerThree') return
  const model = spec[kind]?.model
  if (model === undefined || modelOf(model).name !== undefined) return
  const message = `${JSON.stringify(model)} is not in the list of models that the gateway knows; it is treated like the newest of its family`
  report(`.${kind}.model`, { code: 'model-unknown', message, severity: 'advice' })
}

/** Project and region are parts of host and paths. */
function reportPlatform({ projectId, region }: ProviderBlock<'providerSix'>, report: Report): void {
  if (!/^[a-z0-9.:-]+$/.test(projectId)) {
    const message = 'is not a project id or number: lower-case letters, digits and hyphens; requests are refused'
    report('.providerSix.projectId', { code: 'invalid-identifier', message, severity: 'warning' })
  }
  if (!/^[a-z0-9-]+$/.test(region)) {
    const message = 'must consist of lower-case letters, digits and hyphens; the provider has no such host'
    report('.providerSix.region', { code: 'invalid-region', message, severity: 'error' })
  }
}

/** A provider whose route types are checked. */
interface RoutedProvider {
  readonly plan: AiProviderPlan
  readonly kind: ProviderKind
  /** Its priority, from 0. */
  readonly group: number
  /** Its routes are of a policy, and may hold for backends of several kinds. */
  readonly ofPolicy: boolean
  readonly report: Report
}

/** Reports route types that the provider refuses with 400 or 501, and settings that a route type does not use. */
function reportRoutes(routed: RoutedProvider, all: readonly RoutedProvider[]): void {
  const { plan, kind, report } = routed
  const { settings } = plan
  if (settings.caching !== undefined && kind !== 'providerSeven') {
    const message = `has no effect on ${withProduct(kind)}; only ${withProduct('providerSeven')} takes cache points`
    report('.promptCaching', { code: 'no-effect', message, severity: 'advice' })
  }
  const { suffixes, otherwise, unset } = settings.routes
  const entries: [path: string, type: RouteType][] = suffixes.map(({ key, type }) => [pathOf(key), type])
  if (otherwise !== undefined) entries.push([unset ? '' : pathOf('*'), otherwise])
  for (const [path, type] of entries) {
    const problem = routeProblem(type, routed)
    if (problem !== undefined)
      report(
        path,
        all.some((other) => !routeProblem(type, other)) ? leftToOthers(problem, routed) : refusedBy(problem, routed),
      )
    for (const unused of unusedSettings(type, settings)) report(path, unused)
    if (settings.guards !== undefined) reportUnguarded(path, type, settings.guards, settings.routes, report)
    if (type === 'MessagesTokenCount') reportCountSettings(plan, report)
  }
}

const COUNT_LIMIT = 'max_tokens'

/** Requests that count tokens have no limit of the answer, and their providers refuse one. */
function reportCountSettings({ provider, settings: { body } }: AiProviderPlan, report: Report): void {
  if (body === undefined || provider.convert('MessagesTokenCount', provider.pin ?? 'any', false).kind !== 'send') return
  const message = `also applies to token counts, which have no ${COUNT_LIMIT}: the provider refuses them; a transformation that reads llmRequest.${COUNT_LIMIT} applies only where a client sets it`
  const problem = { code: 'inconsistent', message, severity: 'warning' } as const
  for (const list of ['defaults', 'overrides'] as const) {
    const at = body[list].findIndex(([field]) => field === COUNT_LIMIT)
    if (at >= 0) report(`.${list}[${at}]`, problem)
  }
  const at = body.transformations.findIndex(
    ([field, { source }]) => field === COUNT_LIMIT && !source.includes(`llmRequest.${COUNT_LIMIT}`),
  )
  if (at >= 0) report(`.transformations[${at}]`, problem)
}

function pathOf(suffix: string): string {
  return `.routes[${JSON.stringify(suffix)}]`
}

/** Settings that have no effect on route types whose requests are forwarded unchanged (decision B06). */
function unusedSettings(type: RouteType, { body, prompt }: AiSettings): Omit<ConfigProblem, 'path'>[] {
  if (type !== 'Passthrough' && type !== 'Detect' && type !== 'Realtime') return []
  if (body === undefined && prompt === undefined) return []
  const message = `requests of type ${type} are forwarded unchanged; body settings have no effect on them`
  return [{ code: 'no-effect', message, severity: 'warning' }]
}

/**
 * Types that no guard checks, or only requests of them (decision B42). As `*`, they are also those of the well-known paths that have no suffix
 * of their own.
 */
function reportUnguarded(
  path: string,
  type: RouteType,
  { response }: PromptGuards,
  routes: RouteTypes,
  report: Report,
): void {
  const tell = (message: string) => report(path, { code: 'guard-not-applied', message, severity: 'error' })
  if (type === 'Realtime') {
    if (response.length > 0)
      tell('answers in sessions of type Realtime are not guarded; only promptGuard.request applies')
    return
  }
  const isRest = path === pathOf('*')
  if (type !== 'Passthrough' && type !== 'Detect' && !(type === 'Models' && isRest)) return
  const open = isRest ? TEXT_PATHS.filter((end) => routes.suffixes.every(({ suffix }) => !end.endsWith(suffix))) : []
  const rest = open.length === 0 ? '' : `; they include ${open.join(', ')}`
  tell(`requests of type ${type} are not guarded; promptGuard has no effect on them${rest}`)
}

/** A request may go to any provider of the backend, also because the one before it has failed. */
function reportGuardsOfOthers(
  { settings }: AiProviderPlan,
  providers: readonly AiProviderPlan[],
  report: Report,
): void {
  for (const phase of ['request', 'response'] as const) {
    if (hasGuards(settings, phase)) continue
    const guarded = providers.find((other) => hasGuards(other.settings, phase))
    if (guarded === undefined) continue
    const message = `has no promptGuard.${phase}, which ${guarded.name} has; the same ${phase}s pass here unguarded`
    report('', { code: 'guard-not-applied', message, severity: 'error' })
  }
}

function hasGuards({ guards }: AiSettings, phase: GuardPhase): boolean {
  return guards !== undefined && (guards.closed !== false || guards[phase].length > 0)
}

type RouteProblem = Omit<ConfigProblem, 'path'>

/**
 * Requests that a provider does not support go to the other providers of its backend (docs/behaviour/llm.md, "Failover"). Only providers of the
 * first group get requests regularly.
 */
function leftToOthers({ message, code }: RouteProblem, { group }: RoutedProvider): RouteProblem {
  return {
    code,
    message: `${message}, or with traffic.retry sent to another provider of the backend`,
    severity: group === 0 ? 'warning' : 'advice',
  }
}

/** No provider of the backend takes them. In a policy that is often intended: one map of routes for backends of which each takes a part. */
function refusedBy(problem: RouteProblem, { ofPolicy }: RoutedProvider): RouteProblem {
  return ofPolicy ? { ...problem, severity: 'advice' } : problem
}

function routeProblem(type: RouteType, { plan: { provider }, kind }: RoutedProvider): RouteProblem | undefined {
  if (type === 'Realtime') {
    if (provider.realtime?.(provider.pin ?? 'any') !== undefined) return undefined
    const message = `Realtime sessions cannot be opened at ${withProduct(kind)}; requests are refused with 501`
    return { code: 'unsupported-conversion', message, severity: 'error' }
  }
  if (!isClientFormat(type)) return undefined
  const { kind: outcome } = provider.convert(type, provider.pin ?? 'any', false)
  if (outcome === 'send' || outcome === 'count') return undefined
  if (outcome === 'model-unfit') {
    const message = 'the configured model cannot be part of a path; requests are refused with 400'
    return { code: 'model-unfit', message, severity: 'error' }
  }
  const message = `${type} requests cannot be sent to ${withProduct(kind)}; they are refused with 400`
  return { code: 'unsupported-conversion', message, severity: 'error' }
}
