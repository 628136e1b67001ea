import type { A2aFacts, A2aResultKind } from '#exchange/a2a-facts.ts'
import { A2A_TASK_STATES } from '#exchange/a2a-facts.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import type { Head } from '#net/http/head.ts'
import { isEventStream } from '#net/http/response-rules.ts'
import type { BodySink } from '#net/stream.ts'
import type { SelectFilter } from '../../backend-protocol.ts'
import { EventData } from './event-data.ts'
import { MemberScanner } from './member-scanner.ts'

/** Ids are chosen by agents. */
const MAX_ID_LENGTH = 128

/** The members of results in protocol 1.0, each of which is one kind of result. */
const ARMS: Readonly<Record<string, A2aResultKind>> = {
  task: 'task',
  message: 'message',
  statusUpdate: 'status-update',
  artifactUpdate: 'artifact-update',
}
/** Methods whose result can be a task itself; `id` is its id. */
const RETURN_TASKS: ReadonlySet<string> = new Set([
  'SendMessage',
  'SendStreamingMessage',
  'SubscribeToTask',
  'GetTask',
  'CancelTask',
])
const KINDS: ReadonlySet<string> = new Set(Object.values(ARMS))

const RESULTS = ['', ...Object.keys(ARMS).map((arm) => `${arm}.`)].flatMap((arm) => [arm, `${arm}status.`])
const CONTAINERS: ReadonlySet<string> = new Set([
  '',
  'error',
  'result',
  ...RESULTS.flatMap((path) => [path, `result.${path}`]).map((path) => path.replace(/\.$/, '')),
])

/** Reads the answer to a call while it passes unchanged. @param isEnveloped it is a JSON-RPC response, or a stream of them */
export function selectAnswerFacts(facts: A2aFacts, isEnveloped: boolean): SelectFilter {
  return ({ response, request }) => {
    const head = response!
    facts.outcome = head.status >= 400 ? 'error' : 'unknown'
    if (request.method === 'HEAD' || !isReadable(head)) return undefined
    const reader = new AnswerReader(facts, isEnveloped, head)
    return { changesLength: false, into: (sink) => new ReadingSink(sink, reader) }
  }
}

function isReadable(head: Head): boolean {
  const coding = head.joined('content-encoding')
  if (coding !== undefined && coding.trim().toLowerCase() !== 'identity') return false
  return isEventStream(head) || /^application\/(?:[\w.+-]*\+)?json\b/i.test(head.joined('content-type')?.trim() ?? '')
}

/** Reads facts of one response. */
class AnswerReader {
  readonly #facts: A2aFacts
  /** What paths of results begin with. */
  readonly #prefix: string
  readonly #isSuccess: boolean
  readonly #scanner: MemberScanner
  readonly #events: EventData | undefined

  constructor(facts: A2aFacts, isEnveloped: boolean, head: Head) {
    this.#facts = facts
    this.#prefix = isEnveloped ? 'result.' : ''
    this.#isSuccess = head.status < 400
    this.#scanner = new MemberScanner(CONTAINERS, (path, value) => this.#read(path, value))
    const scanner = this.#scanner
    this.#events = isEventStream(head)
      ? new EventData(
          (bytes, start, end) => scanner.push(bytes, start, end),
          () => scanner.reset(),
        )
      : undefined
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    if (this.#events === undefined) this.#scanner.push(bytes, start, end)
    else this.#events.push(bytes, start, end)
  }

  end(): void {
    if (this.#isSuccess && this.#facts.outcome === 'unknown') this.#facts.outcome = 'success'
  }

  #read(path: string, value: string): void {
    const facts = this.#facts
    if (path === 'error.code') {
      facts.outcome = 'error'
      if (/^-?\d{1,9}$/.test(value)) facts.errorCode = Number(value)
      return
    }
    if (!path.startsWith(this.#prefix)) return
    const names = path.slice(this.#prefix.length).split('.')
    const arm = names.length > 1 ? ARMS[names[0]!] : undefined
    if (arm !== undefined) {
      facts.resultKind = arm
      names.shift()
    }
    this.#readMember(names.join('.'), value, arm)
  }

  #readMember(name: string, value: string, arm: A2aResultKind | undefined): void {
    const facts = this.#facts
    switch (name) {
      case 'kind':
        if (KINDS.has(value)) facts.resultKind = value as A2aResultKind
        break
      case 'id':
        if (isId(value) && (arm === 'task' || (arm === undefined && RETURN_TASKS.has(facts.method))))
          facts.taskId = value
        break
      case 'taskId':
        if (isId(value)) facts.taskId = value
        break
      case 'contextId':
        if (isId(value)) facts.contextId = value
        break
      case 'status.state':
        facts.taskState = stateOf(value)
        facts.resultKind ??= 'task'
        break
      default:
        break
    }
  }
}

function isId(value: string): boolean {
  return /^[\x21-\x7e]+$/.test(value) && value.length <= MAX_ID_LENGTH
}

/** `TASK_STATE_INPUT_REQUIRED` (1.0) is `input-required` (0.3). */
function stateOf(value: string): string {
  const state = value
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-')
  return A2A_TASK_STATES.has(state) ? state : 'unknown'
}

/** Forwards a response, also in the framing in which it arrives. */
class ReadingSink extends ForwardingSink {
  readonly #reader: AnswerReader

  constructor(sink: BodySink, reader: AnswerReader) {
    super(sink)
    this.#reader = reader
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    this.#reader.push(buffer, start, end)
    super.bytes(buffer, start, end)
  }

  override end(trailers?: Head): void {
    this.#reader.end()
    super.end(trailers)
  }
}
