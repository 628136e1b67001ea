import type { ConfigProblem } from '#base/config-problem.ts'
import type { Expression, ExpressionPlace } from '#exchange/expression.ts'
import { pathFault } from '#net/http/path-form.ts'
import type { AiPlan, AiProviderPlan, AiSettings } from './ai-plan.ts'
import type { AiSettingsSpec } from './ai-settings.ts'
import { compileBodySettings, configuredFields } from './body-settings.ts'
import { compileGuards } from './guards/compile-guards.ts'
import { exactNames } from './json/exact-names.ts'
import { compileAliases, toModelName } from './model-aliases.ts'
import { compilePrompt } from './prompt-enrichment.ts'
import type { AiBackendSpec, LlmProviderSpec, NamedLlmProviderSpec } from './provider-spec.ts'
import type { Credential, Provider } from './providers/provider.ts'
import { buildProvider, providerDestination, providerKind, takesPathPrefix } from './providers.ts'
import { compileRouteTypes, isClientFormat, type RouteType } from './route-type.ts'
import { toPath } from './upstream-path.ts'

export type Report = (path: string, problem: Omit<ConfigProblem, 'path'>) => void

/** The `backend.ai` settings in force for a provider, and where to report what is wrong with them. */
export interface AiSettingsSource {
  readonly spec: AiSettingsSpec
  /** `path` is relative to the settings: `.promptGuard.request[0].webhook`. */
  readonly report: Report
  readonly expression: (path: string, text: string, place: ExpressionPlace) => Expression
}

/** What an AI backend is compiled from. */
export interface AiInput {
  readonly spec: AiBackendSpec
  /** `path` is relative to the backend's `ai`: `.groups[0].providers[1].pathPrefix`. */
  readonly report: Report
  /**
   * The strongest `ai` setting for the provider of that name (empty for a single provider), which replaces all others whole
   * (decision B01). Providers with the same settings get the same object.
   */
  readonly settingsOf: (provider: string) => AiSettingsSource | undefined
  /** What the auth policy of that provider puts into requests; undefined without one. */
  readonly credentialOf: (provider: string) => Credential | undefined
}

/** An AI backend made ready to run. Never throws for bad configuration: it reports, and what cannot be checked is refused. */
export function compileAi(input: AiInput): AiPlan {
  const providers: AiProviderPlan[] = []
  const compiled = new Map<AiSettingsSource | undefined, AiSettings>()
  const once = reportOnce()
  const add = (name: string, spec: LlmProviderSpec, path: string): number => {
    const source = input.settingsOf(name)
    const settings = compiled.get(source) ?? compileSettings(source)
    compiled.set(source, settings)
    const plan = compileProvider(name, spec, settings, input.credentialOf(name))
    reportProvider(spec, (field, problem) => input.report(path + field, problem))
    reportRoutes(plan, spec, source === undefined ? (_, problem) => input.report(path, problem) : once(source.report))
    return providers.push(plan) - 1
  }
  const { provider, groups = [] } = input.spec
  const indexes = provider === undefined ? [] : [[add('', provider, '.provider')]]
  groups.forEach((group, g) => {
    const addNamed = (named: NamedLlmProviderSpec, p: number) => add(named.name, named, `.groups[${g}].providers[${p}]`)
    indexes.push(group.providers.map(addNamed))
  })
  return { providers, groups: indexes }
}

/** Providers that share settings share what is wrong with them. */
function reportOnce(): (report: Report) => Report {
  const known = new Map<Report, Set<string>>()
  return (report) => (path, problem) => {
    const seen = known.get(report) ?? new Set()
    known.set(report, seen)
    const text = `${path} ${problem.message}`
    if (seen.has(text)) return
    seen.add(text)
    report(path, problem)
  }
}

function compileProvider(
  name: string,
  spec: LlmProviderSpec,
  settings: AiSettings,
  credential: Credential | undefined,
): AiProviderPlan {
  const provider = buildProvider(spec)
  return {
    name,
    provider,
    pin: provider.pin === undefined ? undefined : toModelName(provider.pin),
    destination: providerDestination(spec),
    credential,
    path: spec.path === undefined ? undefined : toPath(spec.path),
    settings,
  }
}

function compileSettings(source: AiSettingsSource | undefined): AiSettings {
  if (source === undefined) return DEFAULT_SETTINGS
  const { spec, report } = source
  reportSettings(spec, report)
  return {
    routes: compileRouteTypes(spec.routes),
    aliases: compileAliases(spec.modelAliases),
    body: compileBodySettings(spec, (path, text) => source.expression(path, text, 'llm')),
    members: exactNames([...USUAL_MEMBERS, ...configuredFields(spec)]),
    prompt: compilePrompt(spec.prompt),
    guards: compileGuards(spec.promptGuard, (path, message) =>
      report(path, { code: 'guard-not-runnable', message, severity: 'error' }),
    ),
  }
}

/** What the gateway or the expressions of users read of requests, in any format. */
const USUAL_MEMBERS = [
  ...['model', 'stream', 'stream_options', 'user', 'metadata', 'messages', 'system', 'instructions', 'input'],
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'n', 'temperature', 'top_p', 'seed'],
  ...['frequency_penalty', 'presence_penalty', 'dimensions', 'encoding_format', 'tools', 'tool_choice'],
]

const DEFAULT_SETTINGS: AiSettings = {
  routes: compileRouteTypes(undefined),
  aliases: undefined,
  body: undefined,
  members: exactNames(USUAL_MEMBERS),
  prompt: undefined,
  guards: undefined,
}

function reportSettings(spec: AiSettingsSpec, report: Report): void {
  for (const suffix of Object.keys(spec.routes ?? {})) {
    if (suffix === '*' || suffix.startsWith('/')) continue
    const message = 'a suffix without a leading "/" also matches in the middle of a path segment'
    report(`.routes[${JSON.stringify(suffix)}]`, { code: 'suffix-without-slash', message, severity: 'warning' })
  }
  for (const [alias, target] of Object.entries(spec.modelAliases ?? {})) {
    if (target !== '') continue
    const message = 'an alias must stand for the name of a model'
    report(`.modelAliases[${JSON.stringify(alias)}]`, { code: 'alias-empty', message, severity: 'error' })
  }
  for (const list of ['defaults', 'overrides'] as const) {
    for (const [index, { value }] of (spec[list] ?? []).entries()) {
      if (isExact(value)) continue
      const message =
        'objects keep whole numbers up to 9007199254740991: another one is sent. An expression can give it: json("...")'
      report(`.${list}[${index}].value`, { code: 'number-inexact', message, severity: 'warning' })
    }
  }
  if (spec.promptCaching !== undefined) {
    const message = 'prompt caching is not implemented yet: no cache points are inserted'
    report('.promptCaching', { code: 'not-implemented', message, severity: 'error' })
  }
}

/** Whether numbers in a value are what somebody wrote: objects are read with doubles. */
function isExact(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value)
  return typeof value !== 'object' || value === null || Object.values(value).every(isExact)
}

function reportProvider(spec: LlmProviderSpec, report: Report): void {
  for (const field of ['path', 'pathPrefix'] as const) {
    const fault = pathFault(toPath(spec[field] ?? '').split('?', 1)[0]!)
    if (fault === undefined) continue
    report(`.${field}`, { code: 'path-invalid', message: `holds ${fault}: requests are refused`, severity: 'error' })
  }
  if (spec.pathPrefix === undefined) return
  const kind = providerKind(spec)
  if (!takesPathPrefix(kind)) {
    const message = `pathPrefix is supported for providerOne and providerFour, not for ${kind}`
    report('.pathPrefix', { code: 'not-supported', message, severity: 'error' })
  } else if (spec.path !== undefined) {
    const message = 'path is set as well and decides: the prefix has no effect'
    report('.pathPrefix', { code: 'no-effect', message, severity: 'warning' })
  }
}

/** Says now which route types will be answered 400 or 501, and which settings a route type leaves unused. */
function reportRoutes(plan: AiProviderPlan, spec: LlmProviderSpec, report: Report): void {
  const { settings } = plan
  const { suffixes, otherwise, otherwiseGiven } = settings.routes
  const entries: [path: string, type: RouteType][] = suffixes.map(({ suffix, type }) => [pathOf(suffix), type])
  if (otherwiseGiven) entries.push([pathOf('*'), otherwise])
  else if (entries.length === 0) entries.push(['', otherwise])
  for (const [path, type] of entries) {
    const problem = routeProblem(type, plan.provider, providerKind(spec))
    if (problem !== undefined) report(path, problem)
    for (const unused of unusedSettings(type, settings)) report(path, unused)
  }
}

function pathOf(suffix: string): string {
  return `.routes[${JSON.stringify(suffix)}]`
}

/** Route types that send requests as they are leave these settings out (decisions B06, B42). */
function unusedSettings(type: RouteType, { guards, body, prompt }: AiSettings): Omit<ConfigProblem, 'path'>[] {
  if (type !== 'Passthrough' && type !== 'Detect' && type !== 'Realtime') return []
  const problems: Omit<ConfigProblem, 'path'>[] = []
  if (guards !== undefined) {
    const message = `requests of type ${type} are not guarded: promptGuard has no effect on them`
    problems.push({ code: 'guard-not-applied', message, severity: 'error' })
  }
  if (body !== undefined || prompt !== undefined) {
    const message = `requests of type ${type} go as they are: settings of the body have no effect on them`
    problems.push({ code: 'no-effect', message, severity: 'warning' })
  }
  return problems
}

function routeProblem(type: RouteType, provider: Provider, kind: string): Omit<ConfigProblem, 'path'> | undefined {
  if (type === 'Realtime') return notImplemented('Realtime is not implemented yet: answered with 501')
  if (type === 'Models') {
    const message = "the list holds pinned models and aliases; the provider's own list is not implemented yet"
    return { code: 'not-implemented', message, severity: 'warning' }
  }
  if (!isClientFormat(type)) return undefined
  const { kind: outcome } = provider.convert(type, provider.pin ?? 'any')
  if (outcome === 'not-implemented') {
    return notImplemented(`${type} requests to ${kind} are not implemented yet: answered with 501`)
  }
  if (outcome === 'native') return undefined
  if (outcome === 'model-unfit') {
    const message = 'the configured model cannot be part of a path: answered with 400'
    return { code: 'model-unfit', message, severity: 'error' }
  }
  const message = `${type} requests cannot be sent to ${kind}: answered with 400`
  return { code: 'unsupported-conversion', message, severity: 'error' }
}

function notImplemented(message: string): Omit<ConfigProblem, 'path'> {
  return { code: 'not-implemented', message, severity: 'error' }
}
