import type { ConfigProblem } from '#base/config-problem.ts'
import type { CompileContext, PolicySource } from '#policies/policy.ts'
import { compileGuards } from '../guards/compile-guards.ts'
import { exactNames } from '../json/exact-names.ts'
import { compileBodySettings, configuredFields } from '../settings/body-settings.ts'
import { compileAliases } from '../settings/model-aliases.ts'
import type { BackendAiSpec } from '../settings/policy-schema.ts'
import { compilePrompt } from '../settings/prompt-enrichment.ts'
import { compileRouteTypes } from '../settings/route-type.ts'
import type { AiSettings } from './ai-plan.ts'

type Source = PolicySource<BackendAiSpec>

/** `backend.ai`: the source of highest precedence replaces all others as a whole (decision B01); without a source the defaults apply. */
export function compileAiSettings([source]: readonly Source[], context: CompileContext): AiSettings {
  if (source === undefined) return DEFAULT_SETTINGS
  const { spec } = source
  reportSettings(source, context)
  return {
    routes: compileRouteTypes(spec.routes),
    aliases: compileAliases(spec.modelAliases),
    body: compileBodySettings(spec, (path, text) => context.expression(source, path, text, 'llm')),
    members: exactNames([...USUAL_MEMBERS, ...configuredFields(spec)]),
    prompt: compilePrompt(spec.prompt),
    guards: compileGuards(source, context),
    caching: spec.promptCaching,
  }
}

/** Members that the gateway or expressions read in requests, in any format. */
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
  caching: undefined,
}

function reportSettings(source: Source, context: CompileContext): void {
  const { spec } = source
  const report = (path: string, problem: Omit<ConfigProblem, 'path'>) => context.report(source, path, problem)
  for (const suffix of Object.keys(spec.routes ?? {})) {
    if (suffix === '*' || suffix.startsWith('/')) continue
    const message = 'a suffix without a leading "/" also matches in the middle of a path segment'
    report(`.routes[${JSON.stringify(suffix)}]`, { code: 'suffix-without-slash', message, severity: 'warning' })
  }
  for (const [alias, target] of Object.entries(spec.modelAliases ?? {})) {
    if (target !== '') continue
    const message = 'must be the name of a model'
    report(`.modelAliases[${JSON.stringify(alias)}]`, { code: 'alias-empty', message, severity: 'error' })
  }
  for (const [index, { expression }] of (spec.transformations ?? []).entries()) {
    if (!canYieldNull(expression)) continue
    const message = 'can give null, which is sent as null; fail("removed") removes the member'
    report(`.transformations[${index}].expression`, { code: 'inconsistent', message, severity: 'warning' })
  }
  for (const list of ['defaults', 'overrides'] as const) {
    for (const [index, { value }] of (spec[list] ?? []).entries()) {
      if (isExact(value)) continue
      const message =
        'whole numbers above 9007199254740991 lose precision, so a different number is sent; for the exact number use a transformation with json("...")'
      report(`.${list}[${index}].value`, { code: 'number-inexact', message, severity: 'warning' })
    }
  }
}

/** Whether an expression, or a branch of it, is the literal null. Null in comparisons is none of these. */
function canYieldNull(expression: string): boolean {
  const bare = expression.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""')
  return /(?:^|[?:])[\s(]*null[\s)]*(?:$|:)/.test(bare)
}

/** Whether the numbers of a value are exact: objects are parsed with doubles. */
function isExact(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value)
  return typeof value !== 'object' || value === null || Object.values(value).every(isExact)
}
