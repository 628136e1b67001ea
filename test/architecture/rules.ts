/**
 * The rooms of `src/` by level, weakest first. A room imports rooms of lower levels only: never a room above, never one beside
 * it. A file directly in `src/` is a separate room.
 */
export const LEVELS: readonly (readonly string[])[] = [
  ['base'],
  ['schema', 'cel', 'net', 'patch', 'state'],
  ['exchange'],
  ['observe', 'models'],
  ['policies'],
  ['protocols'],
  ['api'],
  ['plan'],
  ['engine'],
  ['calls'],
  ['store', 'control', 'proxy', 'deploy'],
  ['acme', 'workers', 'admin', 'apiserver', 'cluster', 'deliver', 'idp', 'mesh'],
  ['instance'],
  ['cli'],
  ['main.ts'],
]

/**
 * The parts of large rooms by level, weakest first, with the same rule: a part imports parts of lower levels only. A part is a folder of the
 * room, or a file directly in it. Tests may import any part.
 */
export const INNER_LEVELS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  net: [
    [
      'certificate-request.ts',
      'crc32.ts',
      'destination.ts',
      'failure.ts',
      'limits.ts',
      'own-text.ts',
      'peer.ts',
      'served-connection.ts',
      'subject-alt-names.ts',
      'timer-wheel.ts',
      'tls-parameters.ts',
      'transport',
    ],
    ['connect-failure.ts', 'http', 'tls-material.ts'],
    ['stream.ts'],
    ['body', 'node-http2'],
    ['hbone'],
    ['connect', 'event-stream', 'grpc', 'websocket'],
    ['http1', 'http2'],
    ['relay'],
    ['accept', 'pool'],
  ],
  apiserver: [
    ['apply', 'credentials', 'kinds', 'protobuf'],
    ['http', 'schemas', 'tables'],
    ['platform-rules', 'selectors'],
    ['verbs'],
    ['collector', 'custom-resources', 'events', 'serve'],
    ['api-server.ts', 'openapi'],
    ['api-service.ts'],
  ],
  control: [
    ['context', 'secret-values.ts', 'translation.ts'],
    ['references'],
    ['gateways'],
    ['policies', 'routes'],
    ['backends'],
    ['status'],
    ['stages'],
    ['translator.ts'],
    ['loop.ts', 'translate.ts'],
  ],
  engine: [['lookups'], ['merge'], ['backend'], ['route'], ['plan', 'request'], ['script'], ['explain']],
  'protocols/mcp': [
    ['config'],
    ['message'],
    ['tools'],
    ['session'],
    ['request'],
    ['target'],
    ['transport'],
    ['modern'],
    ['calls'],
    ['answer'],
    ['serve'],
    ['explain-mcp.ts', 'sse'],
    ['handle-mcp.ts'],
    ['mcp-protocol.ts'],
  ],
  'protocols/llm': [
    ['json', 'models'],
    ['settings'],
    ['chat', 'tokens'],
    ['sse', 'texts'],
    ['facts'],
    ['dialects'],
    ['providers'],
    ['translation'],
    ['guards'],
    ['detect'],
    ['answer', 'plan'],
    ['model-lists', 'realtime'],
    ['route'],
    ['explain-llm.ts'],
    ['llm-protocol.ts'],
  ],
  'protocols/llm/dialects': [
    ['error-texts.ts', 'format.ts'],
    ['completions'],
    ['embeddings', 'messages', 'responses'],
    ['converse'],
    ['index.ts'],
    ['refuse.ts'],
  ],
}

export interface Exception {
  /** A room, a folder or a file below `src/`. */
  readonly from: string
  readonly to: string
  readonly reason: string
}

/** Permitted exceptions to the levels. */
export const ROOM_EXCEPTIONS: readonly Exception[] = []

/** Rooms that open sockets, files or threads. All others get I/O as functions. */
export const NODE_ROOMS: readonly string[] = [
  'net',
  'store',
  'observe',
  'acme',
  'workers',
  'admin',
  'apiserver',
  'cluster',
  'deliver',
  'idp',
  'mesh',
  'instance',
  'cli',
  'main.ts',
]

/** Node modules outside of those rooms, each file with its reason. */
export const NODE_EXCEPTIONS: readonly Exception[] = []

/**
 * Rooms that also run in a browser: neither they nor anything they import at run time may need Node, its modules or its globals.
 */
export const BROWSER_ROOMS: readonly string[] = [
  'base',
  'schema',
  'cel',
  'state',
  'exchange',
  'models',
  'policies',
  'protocols',
  'plan',
  'api',
  'engine',
  'control',
]

/** The only file that writes to the streams of the process; a running gateway logs (`observe/log/application-log.ts`). */
export const OUTPUT_FILE = 'cli/output.ts'

/** The only file that calls `JSON.parse`, which can misread keys (docs/decisions/0231-json-keys.md). */
export const PARSER_FILE = 'base/parse-json.ts'

/** Other files that call it, each with its reason. */
export const PARSER_EXCEPTIONS: readonly { readonly file: string; readonly reason: string }[] = []

/**
 * Files whose functions only the proxy calls, which runs in Node, each with its reason. They load without Node:
 * `browser.test.ts` proves it.
 */
export const BROWSER_EXCEPTIONS: readonly { readonly file: string; readonly reason: string }[] = [
  {
    file: 'protocols/llm/answer/stream-answer.ts',
    reason: 'connects two streams of the wire, whose pieces are Buffers',
  },
  { file: 'net/body/held-bytes.ts', reason: 'collects pieces of the wire, which are Buffers' },
  { file: 'net/body/as-buffer.ts', reason: 'creates pieces of the wire, which are Buffers' },
]

/** Files that may import from `protocols/<name>/`, besides files in the same folder. */
export const PROTOCOL_TABLE = 'protocols/backend-protocols.ts'

/** Folders whose children must not import each other; `open` may be imported by all of them. */
export const SEALED_FOLDERS: readonly { readonly folder: string; readonly depth: number; readonly open: string }[] = [
  { folder: 'policies', depth: 2, open: 'policies/shared' },
  { folder: 'protocols', depth: 1, open: 'protocols/http' },
]

/** Permitted imports between such children. */
export const SEAL_EXCEPTIONS: readonly Exception[] = [
  {
    from: 'policies/shared/connection/backend-simple.ts',
    to: 'policies/backend',
    reason: 'the API nests these backend fields in other policies; only their schemas are put together here',
  },
]

/** Folders that only one file outside may import, each with its reason. */
export const RESERVED_FOLDERS: readonly { readonly folder: string; readonly user: string; readonly reason: string }[] =
  [
    {
      folder: 'api/requirements',
      user: 'cli/fields.ts',
      reason:
        'the statements of the specification are text for readers and tests: no other command, and no worker, loads them',
    },
  ]

/** Rooms that a `schema.ts` may import, directly or indirectly: tools without a data plane read schemas. */
export const SCHEMA_ROOMS: readonly string[] = ['base', 'schema', 'cel', 'policies', 'protocols']

/** Words without meaning. A file is named after its main export. */
export const EMPTY_NAMES: readonly string[] = [
  'util',
  'utils',
  'helper',
  'helpers',
  'common',
  'manager',
  'types',
  'misc',
  'stuff',
]

/** Maximum number of lines of a file. */
export const MAX_LINES = 500

/** Files that are long because they are tables. */
export const LONG_TABLES: readonly string[] = ['api/requirements/document-1.ts', 'api/requirements/document-2.ts']

/** Absolute paths of a machine. */
export const MACHINE_PATHS = /(?<![\w.\-/}])\/(?:home|root|Users|work)\/[\w.]/

/** Other gateways, which texts of the project do not name. */
export const OTHER_GATEWAYS = /\b(?:agent|k)gateway\b|\bportkey\b/i

/** Notes outside of the project; `docs/` has their content. */
export const PRIVATE_NOTES =
  /\b(?:data|control)[- ]plane(?:\.md| reference|,? section \d|,? \d|, error catalogue)|\bDESIGN(?:\.md|,|:| \d)|\bllm[ ]matrix\b|\bdecisions-[a]i\b|\b(?:LLM|MCP|A2A), \d/
