import type { ConfigProblem } from '#base/config-problem.ts'
import { compilePattern } from '#base/pattern.ts'
import { nameWithProduct } from '#base/products.ts'
import type { DecidedBy } from '#exchange/decided-by.ts'
import { guardName } from '#exchange/guard-name.ts'
import type { CompileContext, PolicySource } from '#policies/policy.ts'
import type {
  GuardrailsServiceOneSpec,
  GuardrailsServiceTwoSpec,
  PromptGuardRequestSpec,
  PromptGuardResponseSpec,
  RegexGuardSpec,
  WebhookSpec,
} from '../settings/guard-schema.ts'
import type { BackendAiSpec } from '../settings/policy-schema.ts'
import type { Guard, PromptGuards } from './guard.ts'
import { buildRefusal } from './guard-refusals.ts'
import { compileRules } from './rules/compile-rules.ts'
import { withCircuit } from './services/circuit.ts'
import { reportGuardrailName } from './services/guardrail-name.ts'
import { guardrailsServiceOne } from './services/guardrails-service-one.ts'
import { guardrailsServiceTwo } from './services/guardrails-service-two.ts'
import { moderationEndpoint } from './services/moderation-endpoint.ts'
import type { GuardPhase, GuardService } from './services/service.ts'
import { type ForwardedHeader, webhook } from './services/webhook.ts'

type GuardSpec = PromptGuardRequestSpec | PromptGuardResponseSpec
type Source = PolicySource<BackendAiSpec>

const DEFAULT_STATUS = 403
const DEFAULT_MESSAGES: Readonly<Record<GuardPhase, string>> = {
  request: 'The request was rejected due to inappropriate content',
  response: 'The response was rejected due to inappropriate content',
}

/** Prepares guards. A guard that cannot run is reported and refuses all requests (specification 2, 2.5; decision B57). */
export function compileGuards(source: Source, context: CompileContext): PromptGuards | undefined {
  const { request = [], response = [] } = source.spec.promptGuard ?? {}
  if (request.length + response.length === 0) return undefined
  const compiler = new GuardCompiler(source, context)
  return {
    request: request.flatMap((spec, index) => compiler.compile('request', spec, index)),
    response: response.flatMap((spec, index) => compiler.compile('response', spec, index)),
    closed: compiler.closed,
  }
}

function decidedBy({ origin, path }: Source, field: string): DecidedBy {
  return { stage: 'backend', field: 'ai.promptGuard', sources: [{ origin, path: path + field }] }
}

/** A pattern that is valid, but probably matches nothing. */
function doubtAbout(pattern: string): Omit<ConfigProblem, 'path'> | undefined {
  if (pattern.includes('\b')) {
    const message =
      'has the control character U+0008, as which YAML reads \\b in double quotes, so the pattern finds nothing in usual text; write it in single quotes'
    return { code: 'no-effect', message, severity: 'warning' }
  }
  if (/^\/.+\/[gimsuvy]+$/s.test(pattern)) {
    const message =
      'has slashes and flags around it, which RE2 takes as a part of the pattern; write (?i) for the flag i'
    return { code: 'no-effect', message, severity: 'warning' }
  }
  return undefined
}

class GuardCompiler {
  readonly #source: Source
  readonly #context: CompileContext
  closed: PromptGuards['closed'] = false
  /** The path of the guard that is being compiled, for messages. */
  #guard = ''

  constructor(source: Source, context: CompileContext) {
    this.#source = source
    this.#context = context
  }

  /** @returns nothing if the guard cannot run */
  compile(phase: GuardPhase, spec: GuardSpec, index: number): Guard[] {
    this.#guard = guardName({ phase, index })
    const path = `.${this.#guard}`
    const { statusCode = DEFAULT_STATUS, message = DEFAULT_MESSAGES[phase] } = spec.response ?? {}
    const refusal = buildRefusal(statusCode, message, decidedBy(this.#source, path))
    const common = { phase, index, refusal }
    if (spec.regex !== undefined)
      return [{ ...common, kind: 'regex', ...this.#regex(phase, spec.regex, `${path}.regex`) }]
    const service = this.#service(spec, path)
    if (service === undefined) return []
    const { kind, destination } = service
    const fault = this.#context.callFault(destination)
    if (fault !== undefined) {
      this.#close(`${path}.${kind}`, `the service cannot be asked: ${fault.detail}`, fault.isReported)
      return []
    }
    const circuit = this.#context.circuit(this.#source, path, { phase, kind, destination }, spec)
    return [{ ...common, kind, service: withCircuit(service, circuit) }]
  }

  #regex(phase: GuardPhase, spec: RegexGuardSpec, path: string) {
    const rejects = phase === 'request' && spec.action === 'Reject'
    if (phase === 'response' && spec.action === 'Reject') {
      const message = 'Reject has no effect on responses: matches are masked'
      this.#context.report(this.#source, `${path}.action`, { code: 'no-effect', message, severity: 'warning' })
    }
    for (const [index, source] of (spec.matches ?? []).entries()) {
      const problem = doubtAbout(source)
      if (problem !== undefined) this.#context.report(this.#source, `${path}.matches[${index}]`, problem)
    }
    const rules = compileRules(spec, (field, message) => this.#close(path + field, message))
    return { rules, rejects }
  }

  #service(spec: GuardSpec, path: string): GuardService | undefined {
    if (spec.webhook !== undefined) return this.#webhook(spec.webhook, `${path}.webhook`)
    if ('moderationEndpoint' in spec && spec.moderationEndpoint !== undefined) {
      const { model, policies } = spec.moderationEndpoint
      if (policies?.auth === undefined) {
        const what = nameWithProduct('moderationEndpoint')
        this.#close(`${path}.moderationEndpoint`, `${what} refuses requests without a key; set policies.auth`)
      }
      return moderationEndpoint(this.#own(`${path}.moderationEndpoint`), model)
    }
    const { guardrailsServiceOne: one, guardrailsServiceTwo: two } = spec
    if (one !== undefined) return this.#serviceOne(one, `${path}.guardrailsServiceOne`)
    return two && this.#serviceTwo(two, `${path}.guardrailsServiceTwo`)
  }

  #serviceOne(spec: GuardrailsServiceOneSpec, path: string): GuardService {
    reportGuardrailName(spec, spec.region, (field, problem) =>
      this.#context.report(this.#source, path + field, problem),
    )
    return guardrailsServiceOne({ ...spec, destination: this.#own(path) })
  }

  #serviceTwo(spec: GuardrailsServiceTwoSpec, path: string): GuardService {
    for (const field of ['projectId', 'templateId'] as const) {
      if (/^[a-zA-Z0-9][a-zA-Z0-9_.:-]*$/.test(spec[field])) continue
      const message = 'is not an id: letters, digits, hyphens; the service refuses it'
      const problem = { code: 'invalid-identifier', message, severity: 'warning' } as const
      this.#context.report(this.#source, `${path}.${field}`, problem)
    }
    return guardrailsServiceTwo({ ...spec, destination: this.#own(path) })
  }

  #own(path: string): string {
    return this.#context.ownBackend(this.#source, path)
  }

  #webhook({ backendRef, forwardHeaderMatches = [] }: WebhookSpec, path: string): GuardService | undefined {
    const destination = this.#context.calledBackend(this.#source, backendRef)
    if (destination === undefined) {
      this.#close(`${path}.backendRef`, 'the reference is not permitted')
      return undefined
    }
    const forwarded = forwardHeaderMatches.map(({ type, name, value }): ForwardedHeader => {
      if (type === 'Exact') return { name: name.toLowerCase(), matches: (found) => found === value }
      // The schema refuses patterns that do not compile.
      const pattern = compilePattern(value)!
      return { name: name.toLowerCase(), matches: (found) => pattern.matches(found) }
    })
    return webhook(destination, forwarded)
  }

  #close(path: string, message: string, isReported = false): void {
    this.closed ||= { decidedBy: decidedBy(this.#source, path), detail: `${this.#guard} cannot run: ${message}` }
    if (isReported) return
    const problem = {
      code: 'guard-not-runnable',
      message: `${message}; every request is refused`,
      severity: 'error',
    } as const
    this.#context.report(this.#source, path, problem)
  }
}
