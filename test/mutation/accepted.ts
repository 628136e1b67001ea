import { ACCEPTED_FRAMING } from './accepted-framing.ts'
import { ACCEPTED_GUARDS } from './accepted-guards.ts'
import { ACCEPTED_SECURITY } from './accepted-security.ts'
import type { Mutant } from './mutate.ts'

/** A mutant that no test needs to notice. It is known by the text of its line, so that it stays known when lines move. */
export interface Accepted {
  /** Below `src/`. */
  readonly file: string
  /** The line, without the space around it. */
  readonly line: string
  readonly original: string
  readonly replacement: string
  readonly reason: string
}

export const ACCEPTED: readonly Accepted[] = [
  ...ACCEPTED_FRAMING,
  ...ACCEPTED_GUARDS,
  ...ACCEPTED_SECURITY,
  {
    file: 'engine/backend/balance.ts',
    line: 'return tried.length === 0 ? drawAny(groups, random) : chooseAgain(groups, tried, random)',
    original: 'tried.length === 0',
    replacement: 'false',
    reason: 'the same choice: without earlier attempts, chooseAgain draws among the serving endpoints, then among all',
  },
  {
    file: 'policies/traffic/api-key-authentication/run.ts',
    line: 'const holder = key === INVALID ? undefined : (plan.presented.get(key) ?? findHolder(plan, key))',
    original: 'key === INVALID',
    replacement: 'false',
    reason: 'no holder has a key that is not text, and the next line refuses it',
  },
  {
    file: 'protocols/llm/completions/read-stream.ts',
    line: 'return true',
    original: 'true',
    replacement: 'false',
    reason: 'the reader is over: what becomes of the end mark as an event does not matter',
  },
  {
    file: 'protocols/llm/completions/read-stream.ts',
    line: 'if (!this.#isStarted) {',
    original: '!this.#isStarted',
    replacement: 'true',
    reason: 'only speed: the order of the answer drops a second start',
  },
  {
    file: 'protocols/llm/completions/write-stream.ts',
    line: 'this.#calls.delete(block)',
    original: 'this.#calls.delete(block)',
    replacement: ';',
    reason: 'only memory: no number of a block comes back',
  },
  {
    file: 'protocols/llm/converse/read-stream.ts',
    line: 'const NONE = -1',
    original: '1',
    replacement: '(1 + 1)',
    reason: 'no block has a negative number',
  },
  {
    file: 'protocols/llm/messages/read-stream.ts',
    line: 'const NONE = -1',
    original: '1',
    replacement: '(1 + 1)',
    reason: 'no block has a negative number',
  },
  {
    file: 'protocols/llm/messages/write-stream.ts',
    line: "#prefix = ''",
    original: "''",
    replacement: "'mutated'",
    reason: 'each block sets it before its first delta',
  },
  {
    file: 'protocols/llm/messages/write-stream.ts',
    line: "this.#enter('redacted', { type: 'redacted_thinking', data })",
    original: "'redacted'",
    replacement: "''",
    reason: 'any name does that no other kind of block has',
  },
  {
    file: 'protocols/llm/messages/write-stream.ts',
    line: "this.#enter('call', writeCallStart(id, name, this.#context))",
    original: "'call'",
    replacement: "''",
    reason: 'any name does that no other kind of block has',
  },
  {
    file: 'state/endpoint-health.ts',
    line: 'if (this.#load(FAILURES) !== 0) this.#store(FAILURES, 0)',
    original: 'this.#load(FAILURES) !== 0',
    replacement: 'true',
    reason: 'only speed: writing the same value invalidates the cache lines of other workers',
  },
  {
    file: 'calls/call-room.ts',
    line: 'if (destination.busy === 0) this.#destinations.delete(key)',
    original: 'destination.busy === 0',
    replacement: 'false',
    reason: 'only memory: an unused destination stays in the map',
  },
  {
    file: 'engine/request/chain.ts',
    line: 'reached = -1',
    original: '1',
    replacement: '(1 + 1)',
    reason: 'the same program: any number below 0 says that no step was reached',
  },
  {
    file: 'state/endpoint-health.ts',
    line: 'if (!this.evicted) this.#move(DEFICIT, 0)',
    original: '0',
    replacement: '(0 + 1)',
    reason: 'less than the rounding: health approaches 1 to within two millionths',
  },
  ...['?.', "''"].map((original) => ({
    file: 'policies/shared/authentication/credential-location.ts',
    line: "return { kind: 'cookie', name: toByteText(spec.cookie?.name ?? '') }",
    original,
    replacement: original === '?.' ? '.' : "'mutated'",
    reason: 'never used: the schema requires exactly one location, and this is the last one',
  })),
  {
    file: 'policies/shared/sign-in/authorization-server.ts',
    line: "const fetched = this.#fetches.run('', (signal) => this.#fetch(context, signal), context.signal)",
    original: "''",
    replacement: "'mutated'",
    reason: 'the key of the only fetch of a server; any text will do',
  },
  {
    file: 'calls/call-answer.ts',
    line: 'if (wasBacked) this.source!.resume()',
    original: 'wasBacked',
    replacement: 'true',
    reason: 'only speed: a source that is not paused ignores it',
  },
  {
    file: 'policies/shared/authentication/credential-location.ts',
    line: "else if (location.kind === 'cookie') removeCookie(head, location.name)",
    original: "location.kind === 'cookie'",
    replacement: 'true',
    reason: 'the same program: locations of expressions have no name, and there is no cookie without a name',
  },
  {
    file: 'policies/shared/authentication/read-key-set.ts',
    line: 'return first < 0 ? 0 : 8 * (bytes.length - first) - Math.clz32(bytes[first]!) + 24',
    original: '0',
    replacement: '(0 + 1)',
    reason: 'the same result: less than the minimum number of bits',
  },
  {
    file: 'policies/shared/jwt/token-verifier.ts',
    line: "if (typeof token === 'string' || findFailureInTime(token.claims, nowMs / 1000) !== undefined) return []",
    original: "'string'",
    replacement: "''",
    reason: 'never used: only parsed tokens reach this line',
  },
  {
    file: 'state/endpoint-health.ts',
    line: 'const UNTIL = 6 // end of the last eviction, milliseconds since the epoch; two words',
    original: '6',
    replacement: '(6 + 1)',
    reason: 'the same two words: half of an odd index is rounded down',
  },
  {
    file: 'state/endpoint-health.ts',
    line: 'if (this.#load(LATENCY) !== 0 || !this.#exchange(LATENCY, 0, Math.round(sample))) this.#move(LATENCY, sample)',
    original: '!this.#exchange(LATENCY, 0, Math.round(sample))',
    replacement: 'this.#exchange(LATENCY, 0, Math.round(sample))',
    reason: 'the same average; only one of two concurrent first samples is lost',
  },
  {
    file: 'base/known-secrets.ts',
    line: 'readonly #samples = new Uint8Array(2 ** (SAMPLE_BITS - 3))',
    original: '-',
    replacement: '+',
    reason: 'only memory: more than the samples need',
  },
  {
    file: 'base/known-secrets.ts',
    line: 'if (at === last) break',
    original: 'at === last',
    replacement: 'false',
    reason: 'only speed: the loop ends after one more hash, which is not read',
  },
  {
    file: 'base/known-secrets.ts',
    line: 'const sample = first ^ (text.charCodeAt(at + 2) << 16) ^ (text.charCodeAt(at + 3) << 24)',
    original: '2',
    replacement: '(2 + 1)',
    reason: 'only speed: another hash for values and texts alike, which excludes fewer texts',
  },
  {
    file: 'base/incremental/stage.ts',
    line: 'this.#nodes.delete(key)',
    original: 'this.#nodes.delete(key)',
    replacement: ';',
    reason: 'only memory: an ended node reads and writes nothing, and can be reused',
  },
  {
    file: 'base/persistent-map.ts',
    line: 'while (this.size + added > count * MOST_PER_BUCKET) count *= 2',
    original: '*',
    replacement: '/',
    reason: 'only memory: more buckets, with fewer keys each',
  },
  {
    file: 'base/persistent-map.ts',
    line: 'for (let i = 0; i < key.length; i++) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0',
    original: 'hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0',
    replacement: ';',
    reason: 'only speed: all keys are in one bucket',
  },
  {
    file: 'cel/checker/names.ts',
    line: "if (type.kind !== 'object' || index.kind !== 'literal' || typeof index.value !== 'string') return undefined",
    original: "type.kind !== 'object' || index.kind !== 'literal' || typeof index.value !== 'string'",
    replacement: "((type.kind !== 'object' || index.kind !== 'literal') && (typeof index.value !== 'string'))",
    reason: 'the same type: no member has a number for its name, so the type of an element applies',
  },
  {
    file: 'cel/compiler/comparison.ts',
    line: 'if (isPlain(right.constant)) return negated ? unequalTo(left, right.constant) : equalTo(left, right.constant)',
    original: 'isPlain(right.constant)',
    replacement: 'false',
    reason: 'only speed: both values are then evaluated and compared by the general code',
  },
  {
    file: 'cel/functions/conversions.ts',
    line: "typeof value === 'number' && value >= 0 ? new Uint(value) : toUint(BigInt(value)),",
    original: "'number'",
    replacement: "''",
    reason: 'only speed: toUint returns the same value',
  },
  {
    file: 'cel/functions/text-functions.ts',
    line: 'ASCII.test(text) ? text.toUpperCase() : text.replace(/[a-z]+/g, (run) => run.toUpperCase()),',
    original: 'ASCII.test(text)',
    replacement: 'false',
    reason: 'only speed: the other branch gives the same text',
  },
  {
    file: 'cel/string-literal.ts',
    line: "if (raw || !body.includes('\\\\')) return encoder.encode(body)",
    original: "'\\\\'",
    replacement: "''",
    reason: 'only speed: a text without escapes is decoded one character after the other',
  },
  {
    file: 'control/policies/policy-stages.ts',
    line: "name: 'overlaps',",
    original: "'overlaps'",
    replacement: "''",
    reason: 'only the message of a bug: it names the stage',
  },
  {
    file: 'engine/route/request-path.ts',
    line: 'this.#target = mark < 0 ? normal : normal + target.slice(mark)',
    original: '0',
    replacement: '(0 + 1)',
    reason: 'the same program: a path begins with a slash, so the mark is not its first character',
  },
  ...['classFaults', 'wantedBackends'].map((name) => ({
    file: 'control/tables.ts',
    line: `${name}: new Table<${name === 'classFaults' ? 'ConditionFault' : 'true'}>('${name}'),`,
    original: `'${name}'`,
    replacement: "''",
    reason: 'only the message of a bug: it names the table',
  })),
  {
    file: 'net/connect/dial.ts',
    line: "if (ca === undefined && verify !== 'none') applySystemAuthorities()",
    original: "ca === undefined && verify !== 'none'",
    replacement: "((ca === undefined) || (verify !== 'none'))",
    reason: 'only speed: the certificates of the system are also read for destinations that do not use them',
  },
  {
    file: 'net/body/held-bytes.ts',
    line: 'if (held === undefined || more > 0) {',
    original: 'held === undefined || more > 0',
    replacement: 'true',
    reason: 'only speed: the bytes are copied also when there is room',
  },
  {
    file: 'net/body/body-memory.ts',
    line: 'this.#incoming = undefined',
    original: 'this.#incoming = undefined',
    replacement: ';',
    reason: 'only memory: a body that has ended is removed once more, which has no effect',
  },
  {
    file: 'net/timer-wheel.ts',
    line: 'deadline = 0',
    original: '0',
    replacement: '(0 + 1)',
    reason: 'the same program: the wheel reads it only once the timer has been armed, which sets it',
  },
  {
    file: 'net/timer-wheel.ts',
    line: 'if (timer.slotTick <= deadline) return',
    original: 'return',
    replacement: ';',
    reason: 'only speed: the timer moves to another slot at once instead of when its slot is due',
  },
  {
    file: 'net/http2/heads.ts',
    line: 'if (i !== 2 * count) return MALFORMED',
    original: 'i !== 2 * count',
    replacement: 'false',
    reason: 'the same outcome: fields are read behind as many pairs, and a name with a colon is malformed there',
  },
  {
    file: 'engine/plan/check-plan.ts',
    line: "if (other?.kind !== 'setting') return",
    original: '?.',
    replacement: '.',
    reason: 'the same program: a policy advises on fields that exist',
  },
  {
    file: 'protocols/llm/json/skip-value.ts',
    line: 'for (; at < near; at++) {',
    original: '<',
    replacement: '<=',
    reason: 'the same index: one byte more is read one by one instead of with indexOf',
  },
  {
    file: 'protocols/llm/json/end-of-string.ts',
    line: 'export const NEAR_BYTES = 384',
    original: '384',
    replacement: '(384 + 1)',
    reason: 'differs in speed only: both ways find the same end',
  },
  {
    file: 'protocols/llm/json/end-of-string.ts',
    line: "if (end < 0) throw new Unreadable('not-json', bytes.length)",
    original: '0',
    replacement: '(0 + 1)',
    reason: 'the end of a string is behind its quotes, so at least 2',
  },
  {
    file: 'protocols/llm/json/write-json.ts',
    line: 'if (unit > 0x7f) {',
    original: 'unit > 0x7f',
    replacement: 'true',
    reason: 'differs in speed only: the encoder of the platform writes the same bytes',
  },
  {
    file: 'protocols/llm/json/write-json.ts',
    line: 'if (length > LARGE) {',
    original: 'length > LARGE',
    replacement: 'true',
    reason: 'differs in speed only: short texts are joined at the end, too',
  },
  {
    file: 'protocols/llm/translation/answer-end.ts',
    line: 'const NONE = -1',
    original: '1',
    replacement: '(1 + 1)',
    reason: 'any number that no block has',
  },
  {
    file: 'protocols/llm/tokens/estimate-tokens.ts',
    line: 'const OTHER = 5',
    original: '5',
    replacement: '(5 + 1)',
    reason: 'any number that no other kind has',
  },
  {
    file: 'protocols/llm/tokens/estimate-tokens.ts',
    line: 'let before = -1',
    original: '1',
    replacement: '(1 + 1)',
    reason: 'any number that is no kind',
  },
  {
    file: 'protocols/llm/tokens/estimate-tokens.ts',
    line: 'for (let i = 0; i < PARTS; i++) {',
    original: '<',
    replacement: '<=',
    reason: 'behind the end of the text there are no tokens',
  },
  {
    file: 'protocols/llm/tokens/token-account.ts',
    line: 'const text = decodeText(bytes, 0, bytes.length)',
    original: '0',
    replacement: '(0 + 1)',
    reason: 'no answer begins with output: a member or a field comes first',
  },
  {
    file: 'protocols/llm/request/prepare-request.ts',
    line: 'return reads.completion || reads.toolCalls ? new KeptAnswer(reads, maxKept) : undefined',
    original: 'reads.completion || reads.toolCalls',
    replacement: 'true',
    reason: 'only speed: nothing of the answer is kept in either case',
  },
  {
    file: 'engine/route/request-path.ts',
    line: 'if (!this.#ambiguous) return NONE',
    original: '!this.#ambiguous',
    replacement: 'false',
    reason: 'only speed: a path that is not ambiguous has no other readings',
  },
  {
    file: 'state/value-table.ts',
    line: 'sipHashed.high |= 1',
    original: '1',
    replacement: '(1 + 1)',
    reason: 'the same program: either bit keeps the half from being 0',
  },
  {
    file: 'state/token-bucket.ts',
    line: 'const START_HIGH = 5',
    original: '5',
    replacement: '(5 + 1)',
    reason: 'the same program: the next word of a slot is not used either',
  },
  {
    file: 'protocols/llm/json/member-reader.ts',
    line: "this.#state = byte === 0x7b ? 'inside' : 'over'",
    original: "'over'",
    replacement: "''",
    reason: 'the same program: only the other two states are compared',
  },
  {
    file: 'policies/policy.ts',
    line: "return { kind: 'steps', section: 'traffic', ...definition }",
    original: "'traffic'",
    replacement: "''",
    reason: 'never read: a filter is found by its field, not by its section',
  },
  {
    file: 'store/watch-paths.ts',
    line: 'const MAX_NAMES = 1000',
    original: '1000',
    replacement: '(1000 + 1)',
    reason: 'only speed: with more names, all files are read',
  },
  {
    file: 'proxy/incoming-connection.ts',
    line: "const named = peer.secure ? socket.serverNames.first(peer.serverName ?? '', (listener) => listener) : undefined",
    original: "''",
    replacement: "'mutated'",
    reason: 'the same listener: without a server name, only a listener for all names matches',
  },
  {
    file: 'net/http2/server-session.ts',
    line: 'if (!this.#socket.destroyed) this.#pingLater()',
    original: '!this.#socket.destroyed',
    replacement: 'true',
    reason: 'only memory: a timer that does nothing keeps the closed session until it fires',
  },
  {
    file: 'net/http2/server-stream.ts',
    line: 'if (this.body.done) return',
    original: 'return',
    replacement: ';',
    reason: 'the same program: both sides of the stream have ended, so there is nothing to discard or to reset',
  },
  {
    file: 'net/pool/client-pool.ts',
    line: 'idleTimeoutMs: 90_000,',
    original: '90_000',
    replacement: '(90_000 + 1)',
    reason: 'less than a step of the timer wheel',
  },
  {
    file: 'net/relay/raw-duplex.ts',
    line: 'if (this.#held.length > 0) this.#run(this.#held.bytes, 0, this.#held.length)',
    original: '>',
    replacement: '>=',
    reason: 'the same program: no bytes are passed on, and the transport is resumed',
  },
  {
    file: 'net/http2/client-exchange.ts',
    line: 'if (bad || interim.status === 101 || ++this.#interim > MAX_INTERIM_RESPONSES) return this.#refuse()',
    original: 'bad || interim.status === 101',
    replacement: '((bad) && (interim.status === 101))',
    reason: 'the same outcome: node:http2 refuses these interim responses itself',
  },
  ...[
    ['!flight.isWaiting', 'false'],
    ['return', ';'],
  ].map(([original, replacement]) => ({
    file: 'proxy/serve-request.ts',
    line: 'if (!flight.isWaiting) return',
    original: original!,
    replacement: replacement!,
    reason:
      'saves work if the request ends in the turn that ends its body: its calls are aborted, and their response is discarded',
  })),
  {
    file: 'proxy/forward.ts',
    line: 'if (flight.retriesLeft > 0 && !keepBody(flight)) flight.retriesLeft = 0',
    original: '>',
    replacement: '>=',
    reason: 'only memory: a body that is not sent again is kept, too',
  },
  {
    file: 'instance/instance.ts',
    line: 'if (this.#publisher.items.size >= BIG_CHANGE) collectGarbage()',
    original: 'this.#publisher.items.size >= BIG_CHANGE',
    replacement: 'true',
    reason: 'only speed: garbage is also collected after a start with few objects',
  },
  {
    file: 'apiserver/custom-resources/check-rules.ts',
    line: 'if (node.rules.length > 0) {',
    original: 'node.rules.length > 0',
    replacement: 'true',
    reason: 'only speed: the value is also converted where no rule reads it',
  },
  {
    file: 'proxy/relay.ts',
    line: "const serverName = flight.connection.peer.serverName ?? ''",
    original: "''",
    replacement: "'mutated'",
    reason: 'a name that no listener and no route has is treated like no name',
  },
  ...[
    ["passwords: { check: () => 'wrong' },", "'wrong'", "''"],
    ["sealer: { seal: () => '', open: () => undefined },", "''", "'mutated'"],
  ].map(([line, original, replacement]) => ({
    file: 'instance/plan-publisher.ts',
    line: line!,
    original: original!,
    replacement: replacement!,
    reason: 'never used: the main thread serves no requests',
  })),
]

/** @returns the entry for a mutant of `file`, whose text is `source` */
export function findAccepted(
  list: readonly Accepted[],
  file: string,
  source: string,
  mutant: Mutant,
): Accepted | undefined {
  const line = lineOf(source, mutant)
  return list.find(
    (one) =>
      one.file === file &&
      one.line === line &&
      one.original === mutant.original &&
      one.replacement === mutant.replacement,
  )
}

/** The line on which a mutant begins, without the space around it. */
export function lineOf(source: string, { line }: Mutant): string {
  return source.split('\n')[line - 1]!.trim()
}
