/**
 * Collections that may outlive the call that fills them, in all rooms that handle input of peers: each has a bound. A collection that is not
 * listed here fails a test: add who fills it and, if a peer does, its bound and the test that floods it.
 */

/**
 * - `configuration`: as many entries as there are configured things, or names in the code.
 * - `work`: one entry for each connection, stream or call, whose number is bounded where it is created.
 * - `message`: parts of one message, which is bounded as a whole.
 */
type Filled = 'configuration' | 'work' | 'message'

export interface PeerFilled {
  readonly bound: string
  /** The test that floods it, relative to the root of the project. */
  readonly flood: string
}

const OPEN_BLOCKS = { bound: '1,000 open blocks', flood: 'src/protocols/llm/chat/answer-end.test.ts' }
const KEPT_ANSWER = {
  bound: 'what writers may keep of an answer, and the memory for bodies',
  flood: 'src/protocols/llm/chat/answer-end.test.ts',
}
const FLOODS = 'test/floods/collections.test.ts'
const HELD_BY_GUARDS = {
  bound: 'the limit of bodies, and the memory for them',
  flood: 'src/protocols/llm/guards/stream/guarded-stream.test.ts',
}
const KEPT_TEXT = {
  bound: 'what one event of a stream may have',
  flood: 'src/protocols/llm/guards/stream/kept-text.test.ts',
}

/** `<file below src/> <name>` */
export const COLLECTIONS: Readonly<Record<string, Filled | PeerFilled>> = {
  'protocols/a2a/answer/member-scanner #open': 'configuration',
  'protocols/a2a/rewrite-card addresses': 'message',
  'protocols/a2a/rewrite-card own': 'message',
  'protocols/a2a/rewrite-card signatures': 'message',
  'protocols/llm/texts/call-numbers #byChoice': {
    bound: '128 choices',
    flood: 'src/protocols/llm/texts/call-numbers.test.ts',
  },
  'protocols/llm/texts/call-numbers #known': {
    bound: '256 calls',
    flood: 'src/protocols/llm/texts/call-numbers.test.ts',
  },
  'protocols/llm/guards/ask-service asked': 'work',
  'protocols/llm/guards/ask-service verdicts': 'configuration',
  'protocols/llm/guards/ask-service together': 'configuration',
  'protocols/llm/guards/texts/many-texts #open': 'message',
  'protocols/llm/guards/texts/many-texts #parts': 'message',
  'protocols/llm/guards/services/guardrails-service-one batch': 'message',
  'protocols/llm/guards/rules/mask-pipeline quietBeginnings': 'configuration',
  'protocols/llm/guards/stream/guarded-block #repeats': HELD_BY_GUARDS,
  'protocols/llm/guards/stream/guarded-blocks #open': HELD_BY_GUARDS,
  'protocols/llm/guards/stream/guarded-blocks #ended': KEPT_TEXT,
  'protocols/llm/guards/stream/guarding-stream-sink #later': HELD_BY_GUARDS,
  'protocols/llm/guards/stream/guarding-stream-sink #unread': {
    bound: 'one event and 4 KiB, and the memory for bodies',
    flood: 'src/protocols/llm/guards/stream/guarded-stream.test.ts',
  },
  'protocols/llm/guards/stream/held-arguments #held': HELD_BY_GUARDS,
  'protocols/llm/guards/stream/held-events #queue': HELD_BY_GUARDS,
  'protocols/llm/guards/stages/parted-stage #queue': HELD_BY_GUARDS,
  'protocols/llm/guards/stages/regex-stage #tags': HELD_BY_GUARDS,
  'protocols/llm/guards/stream/rule-record #found': 'configuration',
  'protocols/llm/texts/block-numbers #numbers': {
    bound: '4,096 blocks',
    flood: 'src/protocols/llm/texts/block-numbers.test.ts',
  },
  'protocols/llm/guards/stream/kept-text #parts': KEPT_TEXT,
  'protocols/llm/guards/stream/kept-text #pieces': KEPT_TEXT,
  'protocols/llm/guards/stages/service-stage #open': HELD_BY_GUARDS,
  'protocols/llm/chat/loops #waiting': 'message',
  'calls/call-room #destinations': {
    bound: 'those that are configured; 1,000 wait for each',
    flood: 'src/calls/call-room.test.ts',
  },
  'calls/kept/keepers #kept': 'configuration',
  'exchange/call-stream #queue': {
    bound: '64 KiB and one message: callers stop while it is backed',
    flood: 'src/exchange/call-stream.test.ts',
  },
  'exchange/request-calls #ended': { bound: '1,000', flood: 'src/exchange/request-calls.test.ts' },
  'exchange/compile-expression references': 'configuration',
  'exchange/compile-expression requestFields': 'configuration',
  'exchange/single-flight #flights': 'work',
  'exchange/variables/environments environments': 'configuration',
  'net/accept/listener #open': 'work',
  'net/accept/listener #serving': 'work',
  'net/accept/secure-contexts #made': 'configuration',
  'net/body/body-memory #incoming': 'work',
  'net/body/teed-body #copies': 'configuration',
  'net/connect/connection-budget #budgets': 'work',
  'net/connect/connection-budget #seekers': 'configuration',
  'net/connect/dial #addresses': 'message',
  'net/connect/dial #sockets': 'message',
  'net/connect/dial contexts': 'configuration',
  'net/connect/grouped-pool #groups': 'work',
  'net/connect/idle-connections #idle': {
    bound: '512',
    flood: 'src/net/pool/chosen-destination.test.ts',
  },
  'net/connect/names #known': {
    bound: '1,000, and those of open connections',
    flood: 'src/net/connect/names.test.ts',
  },
  'net/connect/names #unused': {
    bound: '1,000',
    flood: 'src/net/connect/names.test.ts',
  },
  'net/connect/names #uses': 'work',
  'net/connect/names #waiting': 'work',
  'net/connect/waiting-line #waiters': {
    bound: 'maxWaiting of the destination',
    flood: 'src/net/http1/client-room.test.ts',
  },
  'net/hbone/mesh-context contexts': 'configuration',
  'net/hbone/pod-tunnels #pods': 'work',
  'net/hbone/pod-tunnels #sessions': 'work',
  'net/hbone/pod-tunnels #waiting': 'work',
  'net/http/head NO_NAMES': 'configuration',
  'net/http/head NO_VALUES': 'configuration',
  'net/http1/client-pool #spare': 'work',
  'net/http1/client-pool #idle': 'work',
  'net/http1/client-pool #dials': 'work',
  'net/http2/client-pool #sessions': 'work',
  'net/node-http2/client-session #exchanges': 'work',
  'net/node-http2/free-in-order released': 'work',
  'net/http2/server-session #spare': 'work',
  'net/http2/server-stream #fields': 'message',
  'net/pool/client-pool #negotiations': 'configuration',
  'net/transport/block spare': 'work',
  'policies/shared/ext-auth/site #expressions': 'configuration',
  'policies/shared/ext-auth/site #fields': 'configuration',
  'policies/traffic/ext-proc/body-input #held': 'message',
  'policies/traffic/ext-proc/body-output #queue': {
    bound: '64 KiB, or 1 MiB while the other message waits: the processor is not read meanwhile',
    flood: 'test/scenarios/ext-proc-traffic.test.ts',
  },
  'policies/shared/ext-auth/verdict-cache #caches': 'configuration',
  'policies/shared/ext-auth/verdict-cache #entries': {
    bound: 'maxEntries of the policy',
    flood: 'src/policies/shared/ext-auth/verdict-cache.test.ts',
  },
  'net/transport/early-transport #texts': 'message',
  'net/websocket/message-gate #waiting': {
    bound: '64 messages or 64 KiB',
    flood: 'src/net/websocket/message-gate.test.ts',
  },
  'observe/log/access-log #endedBySettings': 'configuration',
  'observe/otlp/waiting-items #items': {
    bound: '2,048 items, 8 MiB',
    flood: 'src/observe/otlp/export-queue.test.ts',
  },
  'observe/otlp/exporters #queues': 'configuration',
  'observe/otlp/otlp-access-log #fields': 'configuration',
  'observe/otlp/tracer #fields': 'configuration',
  'observe/metrics/by-place #places': 'configuration',
  'observe/metrics/chosen-values #known': {
    bound: '200 values of a label',
    flood: 'src/observe/metrics/metrics.test.ts',
  },
  'observe/metrics/chosen-values #positions': 'configuration',
  'observe/metrics/metric-family #series': {
    bound: '10,000 of a metric',
    flood: 'src/observe/metrics/metrics.test.ts',
  },
  'observe/metrics/metrics-reader #families': 'configuration',
  'observe/metrics/metrics-reader #running': 'work',
  'observe/metrics/metrics-writer #series': {
    bound: '10,000 of a metric',
    flood: 'src/observe/metrics/metrics.test.ts',
  },
  'observe/metrics/metrics-writer #counts': 'configuration',
  'observe/metrics/metrics-writer #latest': 'configuration',
  'observe/metrics/request-metrics #named': {
    bound: '200 names of 256 characters at each place',
    flood: 'src/observe/request-observer.test.ts',
  },
  'observe/metrics/request-metrics #series': 'configuration',
  'policies/shared/authentication/read-key-set NO_KEY_SET': 'configuration',
  'policies/shared/kept/kept-value #copies': 'configuration',
  'policies/shared/kept/kept-value #unused': 'configuration',
  'policies/traffic/basic-authentication/compile known': 'configuration',
  // Valid keys only.
  'policies/traffic/api-key-authentication/compile presented': 'configuration',
  'policies/shared/jwt/compile-jwt verifiers': 'configuration',
  'policies/shared/sign-in/compile-sign-in servers': 'configuration',
  'policies/shared/jwt/verified-tokens #young': {
    bound: '2,048 tokens, 4 Mi characters',
    flood: FLOODS,
  },
  'policies/shared/jwt/verified-tokens #old': { bound: 'as above', flood: FLOODS },
  'protocols/http/sse #pieces': { bound: 'the longest event', flood: FLOODS },
  'protocols/http/sse #data': { bound: 'the longest event', flood: FLOODS },
  'exchange/exchange-slot #values': 'configuration',
  'protocols/backend-protocol #kept': 'configuration',
  'protocols/llm/texts/text-table members': 'configuration',
  'protocols/llm/texts/text-walk texts': 'message',
  'protocols/llm/texts/text-walk others': 'message',
  'protocols/llm/texts/text-walk unknown': 'message',
  'protocols/llm/texts/text-walk #runs': 'message',
  'protocols/llm/texts/text-walk #open': 'message',
  'protocols/llm/chat/arranged-turns system': 'message',
  'protocols/llm/chat/arranged-turns #turns': 'message',
  'protocols/llm/plan/compile-ai #compiled': 'configuration',
  'protocols/llm/plan/compile-ai #reported': 'configuration',
  'protocols/llm/dialects/converse/write-parts #numbers': 'message',
  'protocols/llm/dialects/converse/read-stream #empty': OPEN_BLOCKS,
  'protocols/llm/guards/rules/builtin-rules rules': 'configuration',
  'protocols/llm/guards/rules/candidate-rule #pending': 'message',
  'protocols/llm/guards/rules/candidate-rule #found': 'message',
  'protocols/llm/guards/rules/mask-pipeline #waiting': 'message',
  'protocols/llm/guards/rules/mask-pipeline #current': 'message',
  'protocols/llm/guards/rules/mask-pipeline #done': 'message',
  'protocols/llm/guards/rules/mask-pipeline #ends': 'message',
  'protocols/llm/guards/rules/mask-pipeline #out': 'message',
  'protocols/llm/json/edit-members #splices': 'message',
  'protocols/llm/json/member-reader #kept': {
    bound: '64 KiB or what is kept, and the memory for bodies',
    flood: FLOODS,
  },
  'protocols/llm/dialects/messages/countable-prompt texts': 'message',
  'protocols/llm/facts/kept-answer #texts': { bound: 'what is kept, and the memory for bodies', flood: FLOODS },
  'protocols/llm/facts/kept-answer #calls': { bound: 'what is kept, and the memory for bodies', flood: FLOODS },
  'protocols/llm/chat/closed-schemas keywords': 'message',
  'protocols/llm/chat/answer-end #ids': {
    bound: '1,000 ids',
    flood: 'src/protocols/llm/chat/answer-end.test.ts',
  },
  'protocols/llm/chat/answer-end #open': OPEN_BLOCKS,
  'protocols/llm/dialects/completions/call-blocks #open': OPEN_BLOCKS,
  'protocols/llm/dialects/completions/call-blocks #complete': OPEN_BLOCKS,
  'protocols/llm/dialects/completions/citations #citations': {
    bound: '1,000 citations of a block of text',
    flood: 'src/protocols/llm/dialects/completions/citations.test.ts',
  },
  'protocols/llm/dialects/completions/thoughts #thoughts': {
    bound: '1,000 thoughts, and 4 Mi of signatures',
    flood: 'src/protocols/llm/dialects/completions/thoughts.test.ts',
  },
  'protocols/llm/dialects/completions/read-turns #calls': 'message',
  'protocols/llm/dialects/completions/read-turns #functions': 'message',
  'protocols/llm/dialects/completions/write-answer #annotated': 'message',
  'protocols/llm/dialects/completions/write-answer #calls': 'message',
  'protocols/llm/json/edit-members #added': 'message',
  'protocols/llm/json/edit-members #removed': 'message',
  'protocols/llm/json/write-json #pieces': 'message',
  'protocols/llm/json/removed-elements splices': 'message',
  'protocols/llm/realtime/unreported-output #byResponse': {
    bound: '16 responses',
    flood: 'src/protocols/llm/realtime/unreported-output.test.ts',
  },
  'protocols/llm/dialects/completions/write-stream #calls': OPEN_BLOCKS,
  'protocols/llm/chat/object-reader #read': 'message',
  'protocols/llm/chat/losses #paths': {
    bound: '50 paths',
    flood: 'src/protocols/llm/chat/losses.test.ts',
  },
  'protocols/llm/dialects/messages/read-parts #calls': 'message',
  'protocols/llm/dialects/messages/write-answer #blocks': 'message',
  'protocols/llm/providers/provider NO_EDITS': 'configuration',
  'protocols/llm/chat/sequential-answer #held': {
    bound: '4 Mi characters',
    flood: 'src/protocols/llm/dialects/messages/write-stream.test.ts',
  },
  'protocols/llm/dialects/responses/call-items #pieces': KEPT_ANSWER,
  'protocols/llm/dialects/responses/message-item #parts': KEPT_ANSWER,
  'protocols/llm/dialects/responses/message-item #annotated': KEPT_ANSWER,
  'protocols/llm/dialects/responses/message-item #texts': KEPT_ANSWER,
  'protocols/llm/dialects/responses/reasoning-item #texts': KEPT_ANSWER,
  'protocols/llm/dialects/responses/response-writer #output': KEPT_ANSWER,
  'protocols/llm/dialects/responses/read-items turns': 'message',
  'protocols/llm/dialects/responses/read-items #calls': 'message',
  'protocols/llm/chat/target-names #calls': 'message',
  'protocols/llm/chat/target-names #fitted': 'message',
  'protocols/llm/chat/target-names #given': 'message',
  'protocols/llm/chat/target-names #numbers': 'message',
  'protocols/mcp/answer/answer-list items': 'message',
  'protocols/mcp/calls/deliver failed': 'configuration',
  'protocols/mcp/calls/fan-out opened': 'configuration',
  'protocols/mcp/calls/fan-out failed': 'configuration',
  'protocols/mcp/calls/fan-out outcomes': {
    bound: 'one answer of each target, and the memory for bodies',
    flood: FLOODS,
  },
  'protocols/mcp/calls/initialise-targets events': {
    bound: '256 Ki characters, and the memory for bodies',
    flood: FLOODS,
  },
  'protocols/mcp/target/interleave arrived': 'configuration',
  'protocols/mcp/request/reachability #outages': 'configuration',
  'protocols/mcp/request/mcp-memory absentUntil': 'configuration',
  'protocols/mcp/request/mcp-memory taskTools': 'configuration',
  'protocols/mcp/modern/task-tools names': 'configuration',
  'protocols/mcp/request/mcp-memory legacyUntil': 'configuration',
  'protocols/mcp/serve/serve-without-session modern': 'configuration',
  'protocols/mcp/serve/serve-without-session legacy': 'configuration',
  'protocols/mcp/serve/serve-without-session failed': 'configuration',
  'protocols/mcp/answer/listen allowed': 'configuration',
  'protocols/mcp/message/capabilities SETS': 'configuration',
  'protocols/mcp/session/open-streams #streams': 'work',
  'protocols/mcp/session/calls-in-flight #sessions': 'work',
  'protocols/mcp/session/calls-in-flight all': 'work',
  'protocols/mcp/session/session-activity #activities': {
    bound: '10,000 sessions',
    flood: 'src/protocols/mcp/session/session-activity.test.ts',
  },
  'protocols/mcp/session/session-activity #errors': {
    bound: '5 of a session',
    flood: 'src/protocols/mcp/session/session-activity.test.ts',
  },
  'protocols/mcp/session/session-state #opened': { bound: '4,096 sessions', flood: FLOODS },
  'protocols/mcp/target/read-reply pieces': { bound: '32 MiB, and the memory for bodies', flood: FLOODS },
  'protocols/mcp/request/held-calls #byCaller': { bound: '1,000 calls', flood: FLOODS },
  'protocols/mcp/request/mcp-memory renewals': 'work',
  'protocols/mcp/request/mcp-memory connections': 'work',
  'protocols/mcp/request/mcp-memory served': 'work',
  'protocols/mcp/sse/client-stream #served': 'work',
  'protocols/mcp/sse/lasting-request callbacks': 'work',
  'protocols/mcp/request/sse-connection #receivers': 'work',
  'protocols/mcp/request/sse-connection #remote': 'work',
  'protocols/mcp/request/sse-connection #whenClosed': 'configuration',
  'protocols/mcp/request/sse-connection #held': {
    bound: '64 messages, and the memory for bodies',
    flood: 'src/protocols/mcp/transport/call-over-sse.test.ts',
  },
  'protocols/mcp/transport/bounded-queue #values': {
    bound: '64 messages, then the writer waits; and the memory for bodies',
    flood: 'src/protocols/mcp/transport/bounded-queue.test.ts',
  },
  'protocols/mcp/calls/initialise-targets capabilities': 'configuration',
  'protocols/mcp/calls/restore-settings requests': {
    bound: '256 subscriptions of a session, and its log level',
    flood: FLOODS,
  },
  'protocols/mcp/answer/notification-stream #waiting': {
    bound: 'one event of each target, and 16 of the gateway',
    flood: 'src/protocols/mcp/answer/notification-stream.test.ts',
  },
  'protocols/mcp/sse/read-news waiting': { bound: '16 and the end of the session', flood: FLOODS },
  'protocols/mcp/target/send-to-target avoid': 'configuration',
  'protocols/mcp/session/session-load #requests': 'work',
  'protocols/mcp/session/session-load #streams': 'work',
  'protocols/mcp/tools/known-tools #tools': {
    bound: '1,000 tools of each target',
    flood: 'src/protocols/mcp/tools/known-tools.test.ts',
  },
  'protocols/mcp/tools/known-tools #listings': {
    bound: '4,096 sessions of each target',
    flood: 'src/protocols/mcp/tools/known-tools.test.ts',
  },
  'protocols/mcp/request/mcp-memory paramHeaders': { bound: '1,000 tools of each target', flood: FLOODS },
  'protocols/mcp/request/mcp-memory sessionless': 'configuration',
  'state/shared-table #scopes': { bound: '16,384 of each scope', flood: FLOODS },
  'state/channels #receivers': 'work',
  'protocols/mcp/calls/to-client #references': { bound: '256 of a stream, and the memory for bodies', flood: FLOODS },
  'proxy/mirrors #open': 'work',
  'proxy/mirrors fields': 'message',
  'proxy/backend-facts #reported': 'configuration',
  'proxy/server #open': 'configuration',
  'proxy/server #closing': 'configuration',
  'proxy/server failed': 'configuration',
  'proxy/endless-streams #flights': 'work',
  'proxy/server removed': 'configuration',
  'state/bucket-levels #open': 'configuration',
  'state/slots #assigned': 'configuration',
  'state/slots #slots': 'configuration',
  'state/slots #values': 'configuration',
  'state/slots #free': 'configuration',
}

/** Rooms that handle input of peers. */
const ROOMS: ReadonlySet<string> = new Set([
  'calls',
  'exchange',
  'net',
  'observe',
  'policies',
  'protocols',
  'proxy',
  'state',
])

const EMPTY = String.raw`(?:\{ \w+: )?(?:new (?:(?:Weak)?(?:Map|Set)|LinkedList)\b[^(]*\(\)|\[\]|NO_BYTES)`
const LASTING: readonly RegExp[] = [
  // Fields, variables of modules, members of objects.
  new RegExp(String.raw`^ {2}(?:static |readonly |private )*(#?\w+)(?:: .*?)? = ${EMPTY}`),
  new RegExp(String.raw`^(?:export )?(?:const|let) (\w+)(?:: .*?)? = ${EMPTY}`),
  /^ {4,}(\w+): new (?:Map|Set)\b[^(]*\(\)/,
  // Fields that are created when they are needed.
  new RegExp(String.raw`^ {4,}this\.(#\w+) \?\?= ${EMPTY}`),
]
/** Variables of functions, which persist while the function waits. */
const LOCAL = new RegExp(String.raw`^ +(?:const|let) (\w+)(?:: .*?)? = ${EMPTY}`)

/** @param path below `src/` */
export function collectionsIn(path: string, text: string): string[] {
  const [room = ''] = path.split('/', 1)
  if (!ROOMS.has(room)) return []
  const waits = (room === 'protocols' || room === 'proxy') && /\basync\b/.test(text)
  const patterns = waits ? [...LASTING, LOCAL] : LASTING
  return text.split('\n').flatMap((line) => {
    // These are never added to, only replaced as a whole.
    if (/: (?:readonly |Readonly(?:Map|Set)<)/.test(line)) return []
    const name = patterns.map((pattern) => pattern.exec(line)?.[1]).find((found) => found !== undefined)
    return name === undefined ? [] : [`${path.replace(/\.ts$/, '')} ${name}`]
  })
}
