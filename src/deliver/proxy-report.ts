import { objectKey } from '#api/object.ts'
import { cutText } from '#base/cut-text.ts'
import type { Finding } from '#base/finding.ts'
import type { Json, JsonObject } from '#base/json.ts'
import { parseJson } from '#base/parse-json.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import type { Binding } from '#plan/binding.ts'
import type { Refusal, RemoteProblem } from '#plan/plan-link.ts'

/** The state of a proxy, as it reports it: always all of it, so that the last report is enough. */
export interface ProxyReport {
  /** Of its program; undefined: it is older than this field. */
  readonly version?: string | undefined
  /** Snapshot hash of the items that all of its workers run; undefined: none yet. */
  readonly inForce: string | undefined
  /** The authorities with which it checks its controller, by `digestOfAuthorities`; undefined: those of the system, or not known yet. */
  readonly trusts: string | undefined
  /** Whether its sockets accept connections, by `socketKey`. */
  readonly bindings: ReadonlyMap<string, Binding>
  /** Observed while `inForce` was in force. */
  readonly facts: readonly Pick<BackendFact, 'backend' | 'code' | 'at'>[]
  /** Of all objects that it has. */
  readonly problems: readonly RemoteProblem[]
  /** Resources that it cannot read, or only in part, by their names. */
  readonly unreadable: readonly Refusal[]
}

/** Entries of each list of a report. Those beyond are left out: they would say the same of more objects. */
const MAX_ENTRIES = 2000
const MAX_TEXT = 4096

export function writeReport(report: ProxyReport): JsonObject {
  const { version, inForce, trusts, bindings, facts, problems, unreadable } = report
  return {
    ...(version !== undefined && { version }),
    ...(inForce !== undefined && { inForce }),
    ...(trusts !== undefined && { trusts }),
    bindings: Object.fromEntries(
      [...bindings].slice(0, MAX_ENTRIES).map(([socket, binding]) => [socket, { ...binding }]),
    ),
    facts: facts.slice(0, MAX_ENTRIES).map(({ backend, code, at }) => ({ backend, code, at })),
    problems: problems
      .slice(0, MAX_ENTRIES)
      .map(({ origin: { kind, namespace, name }, path, code, message, severity }) => ({
        origin: { kind, namespace, name },
        path,
        code,
        message: cutText(message, MAX_TEXT),
        severity,
      })),
    unreadable: unreadable.slice(0, MAX_ENTRIES).map(({ key, message }) => ({ key, message })),
  }
}

/** Reads a report. What is not understood is left out: a report is about its proxy only. */
export function readReport(metadata: JsonObject): ProxyReport {
  const version = textOf(metadata.version)
  return {
    ...(version !== undefined && { version }),
    inForce: textOf(metadata.inForce),
    trusts: textOf(metadata.trusts),
    bindings: new Map(
      Object.entries(membersOf(metadata.bindings))
        .slice(0, MAX_ENTRIES)
        .flatMap(([socket, binding]) => {
          const read = readBinding(membersOf(binding))
          return read === undefined ? [] : [[socket, read] as const]
        }),
    ),
    facts: listOf(metadata.facts).flatMap((fact) => readFact(membersOf(fact)) ?? []),
    problems: listOf(metadata.problems).flatMap((problem) => readProblem(membersOf(problem)) ?? []),
    unreadable: listOf(metadata.unreadable).flatMap((entry) => readRefusal(membersOf(entry)) ?? []),
  }
}

function readBinding({ state, reason, message }: JsonObject): Binding | undefined {
  if (state === 'bound') return { state }
  return state === 'failed' ? { state, reason: textOf(reason) ?? '', message: textOf(message) ?? '' } : undefined
}

const FACTS: readonly BackendFact['code'][] = ['backend-not-http2', 'backend-is-gateway', 'llm-path-not-completions']

function readFact({ backend, code, at }: JsonObject): BackendFact | undefined {
  const known = FACTS.find((each) => each === code)
  if (known === undefined || textOf(backend) === undefined) return undefined
  return { backend: textOf(backend)!, code: known, at: textOf(at) ?? '' }
}

const SEVERITIES: readonly Finding['severity'][] = ['error', 'warning', 'advice']

function readProblem({ origin, path, code, message, severity }: JsonObject): RemoteProblem | undefined {
  const known = SEVERITIES.find((each) => each === severity)
  const { kind, namespace, name } = membersOf(origin)
  if (known === undefined || textOf(kind) === undefined || textOf(name) === undefined) return undefined
  return {
    origin: { kind: textOf(kind)!, namespace: textOf(namespace) ?? '', name: textOf(name)! },
    path: textOf(path) ?? '',
    code: textOf(code) ?? '',
    message: textOf(message) ?? '',
    severity: known,
  }
}

/** The errors among problems, as refusals by key of the object. */
export function refusalsOf(problems: ReadonlyMap<string, readonly Finding[]>): readonly Refusal[] {
  return [...problems.values()]
    .flat()
    .filter(({ severity }) => severity === 'error')
    .map(({ origin, path, message }) => ({
      key: objectKey(origin.kind, origin.namespace, origin.name),
      message: path === '' ? message : `${path}: ${message}`,
    }))
}

/** The text of `error_detail`: a JSON list. */
export function writeRefusals(refusals: readonly Refusal[]): string {
  const written = refusals
    .slice(0, MAX_ENTRIES)
    .map(({ key, message }) => ({ key, message: cutText(message, MAX_TEXT) }))
  return JSON.stringify(written)
}

/** Reads it. Another client may write any text. */
export function readRefusals(text: string): readonly Refusal[] {
  try {
    const read = listOf(parseJson(text) as Json).flatMap((entry) => readRefusal(membersOf(entry)) ?? [])
    if (read.length > 0) return read
  } catch {
    // It is not JSON.
  }
  return [{ key: '', message: cutText(text, MAX_TEXT) }]
}

function readRefusal({ key, message }: JsonObject): Refusal | undefined {
  return textOf(key) === undefined ? undefined : { key: textOf(key)!, message: textOf(message) ?? '' }
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? cutText(value, MAX_TEXT) : undefined
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value.slice(0, MAX_ENTRIES) : []
}

function membersOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}
