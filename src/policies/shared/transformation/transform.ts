import { heapOfJson } from '#base/heap-of-json.ts'
import type { Json } from '#base/json.ts'
import type { BodyUse } from '#exchange/body-use.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { EvaluationFailure, type Expression } from '#exchange/expression.ts'
import { type LlmReads, llmReadsOf } from '#exchange/llm-reads.ts'
import { type Outcome, proceed, type Refusal, reject } from '#exchange/outcome.ts'
import { LLM_ANSWER } from '#exchange/variables/llm-variables.ts'
import { isConnectionLevel } from '#net/http/field-name.ts'
import type { Head } from '#net/http/head.ts'
import type { CompileContext, PolicyFields, PolicySource } from '../../policy.ts'
import { readsRequestBody, readsResponseBody } from '../body-use.ts'
import {
  addField,
  type FieldEdit,
  REQUEST_PSEUDO,
  RESPONSE_PSEUDO,
  removeField,
  setField,
} from '../fields/message-field.ts'
import type { TransformationSpec, TransformSpec } from './transformation.ts'

/** Changes to one message (specification 2, 2.2.3), compiled. */
export interface Transform {
  readonly metadata: readonly (readonly [key: string, value: Expression])[]
  /** Edits in the order add, set, remove. */
  readonly edits: readonly FieldEdit[]
  readonly body: Expression | undefined
}

export interface Transformation {
  readonly request: Transform | undefined
  readonly response: Transform | undefined
  readonly readsRequestBody: BodyUse
  readonly readsResponseBody: BodyUse
  readonly llmReads: LlmReads
  readonly fields: Required<PolicyFields>
}

type Message = 'request' | 'response'

/** One transform during compilation. */
interface Site {
  readonly source: PolicySource<unknown>
  readonly context: CompileContext
  readonly message: Message
  /** Path of the transform in the source: `.request`. */
  readonly path: string
  readonly expressions: Expression[]
}

export function compileTransformation(
  source: PolicySource<unknown>,
  path: string,
  spec: TransformationSpec,
  context: CompileContext,
): Transformation {
  const expressions: Expression[] = []
  const compile = (message: Message) => {
    const transform = spec[message]
    if (transform === undefined) return undefined
    return compileTransform({ source, context, message, path: `${path}.${message}`, expressions }, transform)
  }
  const request = compile('request')
  const response = compile('response')
  if (readsResponseBody(expressions) === false) reportUnread({ source, context, path: `${path}.response` }, expressions)
  return {
    request,
    response,
    readsRequestBody: readsRequestBody(expressions),
    readsResponseBody: readsResponseBody(expressions),
    llmReads: llmReadsOf(expressions),
    fields: { request: namesIn(spec.request), response: namesIn(spec.response) },
  }
}

const ANSWER_PATHS: ReadonlySet<string> = new Set(LLM_ANSWER.map(({ path }) => path))

/** Response policies run before the body arrives, unless one of them reads it. */
function reportUnread(
  { source, context, path }: Pick<Site, 'source' | 'context' | 'path'>,
  all: readonly Expression[],
) {
  const unread = all.flatMap(({ references }) => [...references].filter((it) => ANSWER_PATHS.has(it)))[0]
  if (unread === undefined) return
  const message = `${unread} is not available, because the response head is sent before the body is read; read response.body in an expression here, unless another response policy of the request does`
  context.report(source, path, { severity: 'warning', code: 'no-effect', message })
}

/** Adding keeps existing values, so added names are not included. */
function namesIn({ set = [], remove = [] }: TransformSpec = {}): string[] {
  return [...set.map(({ name }) => name), ...remove]
}

function compileTransform(site: Site, spec: TransformSpec): Transform {
  const metadata = Object.entries(spec.metadata ?? {}).map(
    ([key, text]) => [key, expressionAt(site, `.metadata[${key}]`, text)] as const,
  )
  const added = (spec.add ?? []).flatMap(({ name, value }, i) => edit(site, `.add[${i}]`, name, value, addField))
  const set = (spec.set ?? []).flatMap(({ name, value }, i) => edit(site, `.set[${i}]`, name, value, setField))
  const removed = (spec.remove ?? []).flatMap((name, i) => removal(site, `.remove[${i}]`, name))
  return {
    metadata,
    edits: [...added, ...set, ...removed],
    body: spec.body === undefined ? undefined : expressionAt(site, '.body', spec.body),
  }
}

function expressionAt(site: Site, path: string, text: string): Expression {
  const expression = site.context.expression(site.source, `${site.path}${path}`, text, site.message)
  site.expressions.push(expression)
  return expression
}

function edit(
  site: Site,
  path: string,
  name: string,
  text: string,
  build: (lowerName: string, value: Expression) => FieldEdit,
): FieldEdit[] {
  const value = expressionAt(site, `${path}.value`, text)
  const lowerName = name.toLowerCase()
  const pseudo = (site.message === 'request' ? REQUEST_PSEUDO : RESPONSE_PSEUDO)[lowerName]
  if (pseudo !== undefined) return [pseudo(value)]
  if (lowerName.startsWith(':')) return noEffect(site, `${path}.name`, `${name} does not exist in a ${site.message}`)
  if (isConnectionLevel(lowerName)) return noEffect(site, `${path}.name`, `${name} is written by the connection itself`)
  return [build(lowerName, value)]
}

function removal(site: Site, path: string, name: string): FieldEdit[] {
  const lowerName = name.toLowerCase()
  if (lowerName.startsWith(':')) return noEffect(site, path, 'a pseudo-header cannot be removed')
  if (lowerName === 'host' && site.message === 'request') return noEffect(site, path, 'host cannot be removed')
  if (isConnectionLevel(lowerName)) return noEffect(site, path, `${name} is written by the connection itself`)
  return [removeField(lowerName)]
}

/** The setting is accepted, and reported as having no effect (decision A-06). */
function noEffect(site: Site, path: string, why: string): FieldEdit[] {
  const message = `has no effect: ${why}`
  site.context.report(site.source, `${site.path}${path}`, { severity: 'warning', code: 'no-effect', message })
  return []
}

/** In the order of decision A-89: each part sees the results of earlier parts. */
export function transformRequest(transform: Transform, exchange: Exchange): Outcome {
  const unkept = applyHead(transform, exchange, exchange.request, 'request')
  if (unkept !== undefined) return unkept
  if (transform.body === undefined) return proceed
  const body = transform.body.body(exchange)
  if (body instanceof EvaluationFailure) return reject('transformation-request-failed', { detail: body.detail })
  exchange.newRequestBody = body.bytes
  return proceed
}

/** A refusal keeps its body (docs/behaviour/http.md, "Response policies"). */
export function transformResponse(transform: Transform, exchange: Exchange): Outcome {
  const head = exchange.response
  if (head === undefined) return proceed
  const unkept = applyHead(transform, exchange, head, 'response')
  if (unkept !== undefined) return unkept
  if (transform.body === undefined || exchange.responseIsRefusal) return proceed
  const body = transform.body.body(exchange)
  if (body instanceof EvaluationFailure) return reject('transformation-response-failed', { detail: body.detail })
  exchange.newResponseBody = body.bytes
  return proceed
}

/** Smaller metadata count as part of the request. */
const SMALL_BYTES = 1024

/** @returns a refusal if the worker has no memory for the metadata, which live as long as the request */
function applyHead(transform: Transform, exchange: Exchange, head: Head, message: Message): Refusal | undefined {
  for (const [key, expression] of transform.metadata) {
    const value = expression.json(exchange)
    if (value === undefined) continue
    const bytes = heapOfJson(value)
    const refusal = bytes > SMALL_BYTES ? exchange.bodies[message].keep(bytes) : undefined
    if (refusal !== undefined) return refusal
    keep(exchange, key, value)
  }
  for (const edit of transform.edits) edit(exchange, head)
  return undefined
}

function keep(exchange: Exchange, key: string, value: Json): void {
  exchange.metadata ??= Object.create(null) as Record<string, Json>
  exchange.metadata[key] = value
}
