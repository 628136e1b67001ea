import { expect, test } from 'vitest'
import { findCycles } from './cycles.ts'
import { findLines } from './project-texts.ts'
import { MACHINE_PATHS, OTHER_GATEWAYS } from './rules.ts'
import { describeSource } from './source-tree.ts'
import {
  absentParts,
  browserCode,
  cycles,
  exportForms,
  fileNames,
  idleExceptions,
  longFiles,
  looseOutput,
  looseParsing,
  nodeModules,
  packages,
  protocolImports,
  type Rule,
  reservedFolders,
  roomNames,
  schemaImports,
  sealedFolders,
  testSupport,
  unknownParts,
  unknownRooms,
  upwardImports,
  upwardPartImports,
} from './violations.ts'

type Sources = Readonly<Record<string, string>>

const findings: readonly (readonly [what: string, rule: Rule, sources: Sources, found: readonly string[]])[] = [
  ['a known room', unknownRooms, { 'base/clock.ts': '' }, []],
  ['an unknown room', unknownRooms, { 'core/clock.ts': '' }, ['core']],
  ['a stray file', unknownRooms, { 'index.ts': '' }, ['index.ts']],

  ['a downward import', upwardImports, { 'cel/a.ts': "import { b } from '#base/b.ts'" }, []],
  ['an import in the room', upwardImports, { 'cel/a.ts': "import { b } from './b.ts'" }, []],
  [
    'an upward import',
    upwardImports,
    { 'base/a.ts': "\nimport { b } from '#cel/b.ts'" },
    ['base/a.ts:2 imports cel/b.ts: cel is not below base'],
  ],
  [
    'a sideways import',
    upwardImports,
    { 'schema/a.ts': "import { b } from '#cel/b.ts'" },
    ['schema/a.ts:1 imports cel/b.ts: cel is not below schema'],
  ],
  [
    'an upward import of a type, relative',
    upwardImports,
    { 'base/x/a.ts': "import type { B } from '../../cel/b.ts'" },
    ['base/x/a.ts:1 imports cel/b.ts: cel is not below base'],
  ],
  ['a known part of a room', unknownParts, { 'net/http/a.ts': '', 'net/stream.ts': '' }, []],
  ['an unknown part of a room', unknownParts, { 'net/new/a.ts': '' }, ['net/new has no level']],
  ['a part that only tests have', unknownParts, { 'net/testing/a.ts': '', 'net/b.test.ts': '' }, []],
  [
    'a downward import inside a room',
    upwardPartImports,
    {
      'net/http1/a.ts':
        "import { b } from '../http/b.ts'\nimport { c } from './c.ts'\nimport { d } from '../stream.ts'",
    },
    [],
  ],
  [
    'an upward import inside a room, of a type',
    upwardPartImports,
    { 'net/http/a.ts': "import type { B } from '../stream.ts'" },
    ['net/http/a.ts:1 imports net/stream.ts: stream.ts is not below http'],
  ],
  [
    'two parts of a room that import each other',
    upwardPartImports,
    { 'net/http1/a.ts': "import { b } from '../http2/b.ts'", 'net/http2/c.ts': "import { d } from '../http1/d.ts'" },
    [
      'net/http1/a.ts:1 imports net/http2/b.ts: http2 is not below http1',
      'net/http2/c.ts:1 imports net/http1/d.ts: http1 is not below http2',
    ],
  ],
  [
    'an upward import of a test inside a room',
    upwardPartImports,
    { 'net/http/a.test.ts': "import { b } from '../http1/b.ts'" },
    [],
  ],
  ['the name of another room', roomNames, { 'cel/x/a.ts': "import { b } from '#base/b.ts'" }, []],
  ['a relative import in the room', roomNames, { 'cel/x/a.ts': "import { b } from '../b.ts'" }, []],
  [
    'a relative import of another room',
    roomNames,
    { 'cel/x/a.ts': "import { b } from '../../base/b.ts'" },
    ['cel/x/a.ts:1 imports ../../base/b.ts: its name is #base/b.ts'],
  ],
  [
    'an upward re-export',
    upwardImports,
    { 'base/a.ts': "export { b, c } from '#cel/b.ts'" },
    ['base/a.ts:1 imports cel/b.ts: cel is not below base'],
  ],
  [
    'an upward import while it runs',
    upwardImports,
    { 'base/a.ts': "const b = await import('#cel/b.ts')" },
    ['base/a.ts:1 imports cel/b.ts: cel is not below base'],
  ],
  ['an import in a comment', upwardImports, { 'base/a.ts': "// import { b } from '#cel/b.ts'" }, []],
  ['an import in a text', upwardImports, { 'base/a.ts': "const a = `import { b } from '#cel/b.ts'`" }, []],

  [
    'a cycle of types',
    cycles,
    {
      'cel/a.ts': "import type { B } from './b.ts'",
      'cel/b.ts': "import { type C } from './c.ts'",
      'cel/c.ts': "export type { A } from './a.ts'",
      'cel/d.ts': "import { a } from './a.ts'",
    },
    ['cel/a.ts <-> cel/b.ts <-> cel/c.ts'],
  ],
  ['a file that imports itself', cycles, { 'cel/a.ts': "import { b } from './a.ts'" }, ['cel/a.ts']],
  [
    'two ways to one file',
    cycles,
    {
      'cel/a.ts': "import './b.ts'\nimport './c.ts'",
      'cel/b.ts': "import './d.ts'",
      'cel/c.ts': "import './d.ts'",
      'cel/d.ts': '',
    },
    [],
  ],

  [
    'a policy that imports another',
    sealedFolders,
    { 'policies/traffic/cors/run.ts': "import { a } from '../csrf/run.ts'" },
    [
      'policies/traffic/cors/run.ts:1 imports policies/traffic/csrf/run.ts: the children of policies know nothing of each other',
    ],
  ],
  [
    'a policy that imports what policies share',
    sealedFolders,
    { 'policies/traffic/cors/run.ts': "import { a } from '../../shared/a.ts'\nimport { b } from '../../policy.ts'" },
    [],
  ],
  [
    'shared code that imports a policy',
    sealedFolders,
    { 'policies/shared/a.ts': "import { a } from '../traffic/csrf/run.ts'" },
    [
      'policies/shared/a.ts:1 imports policies/traffic/csrf/run.ts: the children of policies know nothing of each other',
    ],
  ],
  [
    'a file above the policies',
    sealedFolders,
    { 'policies/list.ts': "import { a } from './traffic/csrf/index.ts'" },
    [],
  ],
  [
    'protocols',
    sealedFolders,
    { 'protocols/llm/a.ts': "import { a } from '../http/sse.ts'\nimport { b } from '../mcp/b.ts'" },
    ['protocols/llm/a.ts:2 imports protocols/mcp/b.ts: the children of protocols know nothing of each other'],
  ],

  [
    'a reserved folder and its only user',
    reservedFolders,
    {
      'cli/fields.ts': "import { a } from '#api/requirements/a.ts'",
      'cli/run.ts': "import { a } from '#api/requirements/a.ts'",
      'api/requirements/a.ts': "import { b } from './b.ts'",
      'api/requirements/a.test.ts': "import { b } from './b.ts'",
    },
    ['cli/run.ts:1 imports api/requirements/a.ts: only cli/fields.ts does'],
  ],
  [
    'a protocol by name',
    protocolImports,
    {
      'engine/a.ts': "import { a } from '#protocols/llm/a.ts'\nimport { b } from '#protocols/backend-protocol.ts'",
      'protocols/backend-protocols.ts': "import { a } from './llm/a.ts'",
      'protocols/b.ts': "import { a } from './mcp/a.ts'",
      'protocols/llm/a.ts': "import { b } from './b.ts'\nimport { c } from '../http/sse.ts'",
      'engine/a.test.ts': "import { a } from '#protocols/llm/a.ts'",
    },
    [
      'engine/a.ts:1 imports protocols/llm/a.ts: only protocols/backend-protocols.ts knows protocols by name',
      'protocols/b.ts:1 imports protocols/mcp/a.ts: only protocols/backend-protocols.ts knows protocols by name',
    ],
  ],

  [
    'a schema that drags in the exchange',
    schemaImports,
    {
      'policies/traffic/cors/schema.ts': "import { a } from '../../shared/a.ts'\nimport { b } from '#schema/index.ts'",
      'policies/shared/a.ts': "import type { Exchange } from '#exchange/exchange.ts'",
      'exchange/exchange.ts': '',
    },
    ['policies/traffic/cors/schema.ts depends on exchange/exchange.ts'],
  ],

  [
    'a module of Node in a pure room',
    nodeModules,
    { 'proxy/a.ts': "import { readFileSync } from 'node:fs'" },
    ['proxy/a.ts:1 imports node:fs'],
  ],
  [
    'modules of Node where they belong',
    nodeModules,
    { 'net/a.ts': "import net from 'node:net'", 'base/a.test.ts': "import 'node:fs'" },
    [],
  ],

  [
    'a module of Node behind a pure room',
    browserCode,
    {
      'engine/a.ts': "import { b } from '#net/b.ts'",
      'net/b.ts': "import { c } from './c.ts'\nimport type { D } from './d.ts'",
      'net/c.ts': "import net from 'node:net'",
      'net/d.ts': "import net from 'node:net'",
    },
    ['net/c.ts:1 imports node:net'],
  ],
  ['a global of Node', browserCode, { 'base/a.ts': 'export const a = Buffer.from("a")' }, ['base/a.ts:1 uses Buffer']],
  [
    'output past the log',
    looseOutput,
    { 'cli/a.ts': 'console.error(1)\nprocess.stderr.write("")', 'net/b.ts': 'const out = process.stdout.fd' },
    ['cli/a.ts:1 uses console', 'cli/a.ts:2 uses process.stderr', 'net/b.ts:1 uses process.stdout'],
  ],
  [
    'output in its place, in tests, and other members',
    looseOutput,
    { 'cli/output.ts': 'console.log(1)', 'cli/a.test.ts': 'console.log(1)', 'cli/b.ts': 'process.exit(a.console.x)' },
    [],
  ],
  [
    'keys that can be misread',
    looseParsing,
    {
      'base/parse-json.ts': 'JSON.parse("1")',
      'cel/a.test.ts': 'JSON.parse("1")',
      'cel/b.ts': 'JSON.stringify(1)\nJSON.parse("1")',
      'cel/c.ts': 'export const read = JSON.parse',
    },
    ['cel/b.ts:2 uses JSON.parse', 'cel/c.ts:1 uses JSON.parse'],
  ],
  ['a member of that name', browserCode, { 'base/a.ts': 'const a = { process: b }\na.process.exit' }, []],
  ['a type of Node', browserCode, { 'base/a.ts': 'export type A = (bytes: Buffer) => void' }, []],

  [
    'test support in the product',
    testSupport,
    { 'cel/a.ts': "import { b } from './testing.ts'", 'cel/a.test.ts': "import './testing.ts'", 'cel/testing.ts': '' },
    ['cel/a.ts:1 imports cel/testing.ts, which is for tests'],
  ],
  [
    'a package that users do not get',
    packages(new Set(['yaml', '@scope/name'])),
    {
      'store/a.ts': "import { parse } from 'yaml'\nimport a from '@scope/name/b'\nimport { test } from 'vitest'",
      'store/a.test.ts': "import { test } from 'vitest'",
    },
    ['store/a.ts:3 imports vitest, which is no run-time dependency'],
  ],

  [
    'names',
    fileNames,
    { 'cel/text-functions.ts': '', 'cel/textFunctions.ts': '', 'cel/text-utils.test.ts': '', 'cel/helpers/a.ts': '' },
    [
      'cel/textFunctions.ts: "textFunctions.ts" is not kebab-case',
      'cel/text-utils.test.ts: "utils" says nothing',
      'cel/helpers/a.ts: "helpers" says nothing',
    ],
  ],
  ['500 lines', longFiles, { 'cel/a.ts': '\n'.repeat(500) }, []],
  [
    '501 lines',
    longFiles,
    { 'cel/a.ts': '\n'.repeat(501), 'cel/a.test.ts': '\n'.repeat(501) },
    ['cel/a.ts has 501 lines'],
  ],
  [
    'exports without a name',
    exportForms,
    { 'cel/a.ts': "export default 1\nexport * from './b.ts'\nexport * as c from './c.ts'\nexport { d } from './d.ts'" },
    ['cel/a.ts:1 exports a default', 'cel/a.ts:2 exports *', 'cel/a.ts:3 exports *'],
  ],
]

for (const [what, rule, sources, found] of findings) {
  test(`what the rules find: ${what}`, () => {
    const files = Object.entries(sources).map(([path, text]) => describeSource(path, text))
    expect(rule(files)).toEqual(found)
  })
}

test('an exception without an import is idle', () => {
  expect(idleExceptions([])).toContain('policies/shared/connection/backend-simple.ts does not import policies/backend')
})

test('two cycles that share no file are two', () => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['a', 'c']],
    ['c', ['d']],
    ['d', ['c']],
  ])
  expect(findCycles(graph)).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ])
})

const lines: readonly (readonly [text: string, pattern: RegExp, found: boolean])[] = [
  ['see /home/' + 'ann/notes', MACHINE_PATHS, true],
  ["'/root/" + ".bashrc'", MACHINE_PATHS, true],
  ['GET /shop/home/page', MACHINE_PATHS, false],
  ['as Agent' + 'gateway does', OTHER_GATEWAYS, true],
  ['the agent gateway', OTHER_GATEWAYS, false],
]

for (const [text, pattern, found] of lines) {
  test(`${found ? 'finds' : 'leaves alone'}: ${text}`, () => {
    expect(findLines([{ path: 'a.md', text: `first\n${text}` }], pattern)).toEqual(found ? [`a.md:2 ${text}`] : [])
  })
}

test('a part with a level that does not exist', () => {
  const absent = absentParts([describeSource('net/http/a.ts', '')])
  expect(absent).toContain('there is no net/http1')
  expect(absent).not.toContain('there is no net/http')
})
