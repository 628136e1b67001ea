/**
 * The rooms of `src/` by level, weakest first. A room imports rooms of lower levels only: never a room above, never one beside
 * it. A file that stands in `src/` itself is a room of its own.
 */
export const LEVELS: readonly (readonly string[])[] = [
  ['base'],
  ['schema', 'cel', 'net', 'state'],
  ['exchange'],
  ['observe'],
  ['policies'],
  ['protocols'],
  ['api'],
  ['plan'],
  ['engine'],
  ['calls'],
  ['store', 'control', 'proxy', 'deploy'],
  ['workers', 'admin', 'apiserver', 'deliver', 'idp'],
  ['instance'],
  ['cli'],
  ['main.ts'],
]

export interface Exception {
  /** A room, a folder or a file below `src/`. */
  readonly from: string
  readonly to: string
  readonly reason: string
}

/** Imports that the levels forbid and that are right all the same. */
export const ROOM_EXCEPTIONS: readonly Exception[] = []

/** Rooms that open sockets, files or threads. All others get what they need of the machine as functions. */
export const NODE_ROOMS: readonly string[] = [
  'net',
  'store',
  'observe',
  'workers',
  'admin',
  'apiserver',
  'deliver',
  'idp',
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
  'policies',
  'protocols',
  'plan',
  'api',
  'engine',
  'control',
]

/** The only file that writes to the streams of the process; what runs logs (`observe/log/application-log.ts`). */
export const OUTPUT_FILE = 'cli/output.ts'

/**
 * Files whose functions only the proxy calls, which runs in Node, each with its reason. They load without Node:
 * `browser.test.ts` proves it.
 */
export const BROWSER_EXCEPTIONS: readonly { readonly file: string; readonly reason: string }[] = [
  {
    file: 'protocols/llm/stream-answer.ts',
    reason: 'stands between two streams of the wire, whose pieces are Buffers',
  },
  { file: 'net/body/held-bytes.ts', reason: 'gathers pieces of the wire, which are Buffers' },
  { file: 'net/body/as-buffer.ts', reason: 'makes pieces of the wire, which are Buffers' },
]

/** Who may import from `protocols/<name>/`: the table, and what stands in the same folder. */
export const PROTOCOL_TABLE = 'protocols/backend-protocols.ts'

/** Folders whose children know nothing of each other; `open` may be imported by all of them. */
export const SEALED_FOLDERS: readonly { readonly folder: string; readonly depth: number; readonly open: string }[] = [
  { folder: 'policies', depth: 2, open: 'policies/shared' },
  { folder: 'protocols', depth: 1, open: 'protocols/http' },
]

/** Imports between such children that are right all the same. */
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

/** What a `schema.ts` may draw on, directly or not: it is read by tools that know nothing of requests. */
export const SCHEMA_ROOMS: readonly string[] = ['base', 'schema', 'cel', 'policies', 'protocols']

/** Words that name nothing. A file is named after what it exports. */
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

/** More lines than this cannot be read in one go. */
export const MAX_LINES = 500

/** Files that are long because they are tables. */
export const LONG_TABLES: readonly string[] = ['api/requirements/document-1.ts', 'api/requirements/document-2.ts']

/** Where somebody's machine keeps things. */
export const MACHINE_PATHS = /(?<![\w.\-/}])\/(?:home|root|Users|work)\/[\w.]/

/** Other gateways: the project speaks of itself. */
export const OTHER_GATEWAYS = /\b(?:agent|k)gateway\b|\bportkey\b/i

/** Notes that are no part of the project; what they said stands in `docs/` now. */
export const PRIVATE_NOTES =
  /\b(?:data|control)[- ]plane(?:\.md| reference|,? section \d|,? \d|, error catalogue)|\bDESIGN(?:\.md|,|:| \d)|\bllm[ ]matrix\b|\bdecisions-[a]i\b|\b(?:LLM|MCP|A2A), \d/
