import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { REJECTIONS } from '#base/rejections.ts'
import { DEFAULT_FIELDS } from '#observe/log/default-fields.ts'
import { fullName, type Metric } from '#observe/metrics/metric.ts'
import { METRICS } from '#observe/metrics/metrics.ts'
import { decisionIds, missingDocuments, unknownDecisions } from './architecture/citations.ts'
import { PAGE_RULES, unknownNames, wordsOf } from './architecture/documents.ts'
import { findLines, readProjectTexts } from './architecture/project-texts.ts'
import { MACHINE_PATHS, OTHER_GATEWAYS, PRIVATE_NOTES } from './architecture/rules.ts'
import { readSourceTree } from './architecture/source-tree.ts'
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
} from './architecture/violations.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CHANGELOG_SECTIONS = ['Added', 'Changed', 'Fixed', 'Security', 'Withdrawn']
const files = readSourceTree(join(ROOT, 'src'))
const texts = readProjectTexts(ROOT)
/** The packages in the first table of the decision about dependencies: the bundle contains most of them. */
const [, runTimePackages = ''] = readFileSync(join(ROOT, 'docs/decisions/0005-dependencies.md'), 'utf8').split(
  /^At run time:$|^For development:$/m,
)
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}

const rules: readonly (readonly [name: string, rule: Rule, remedy: string])[] = [
  ['every folder of src/ is a known room', unknownRooms, 'give it a level in test/architecture/rules.ts'],
  ['rooms import downward only', upwardImports, 'move the code down, or pass it as a function'],
  ['every part of a room with inner levels is known', unknownParts, 'give it a level in test/architecture/rules.ts'],
  ['every part with a level exists', absentParts, 'remove it from test/architecture/rules.ts'],
  ['inside these rooms, parts import downward only', upwardPartImports, 'move the code down, or pass it as a function'],
  ['imports from other rooms name the room', roomNames, 'write #room/file.ts'],
  ['there are no import cycles, not even of types', cycles, 'move the shared code to a separate file'],
  [
    'policies and protocols do not import each other',
    sealedFolders,
    'move the shared code to shared/, or to a room below',
  ],
  ['only one table names protocols', protocolImports, 'use the interface in protocols/backend-protocol.ts'],
  ['folders for one command are loaded by that command only', reservedFolders, 'see RESERVED_FOLDERS in rules.ts'],
  ['a schema depends on schemas only', schemaImports, 'tools without a data plane read schemas'],
  ['only some rooms import modules of Node', nodeModules, 'take a function as a parameter'],
  ['the engine and what it needs run in a browser', browserCode, 'use Uint8Array, base/ and web APIs'],
  ['one file writes to the terminal', looseOutput, 'log it, or print it with cli/output.ts'],
  ['one file parses JSON', looseParsing, 'use base/parse-json.ts or base/exact-json.ts'],
  ['only tests import test support', testSupport, 'move the code to a separate file'],
  [
    'sources import run-time dependencies only',
    packages(
      new Set([...runTimePackages.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell]) => cell!.match(/[\w@/.-]+/g) ?? [])),
    ),
    'see docs/decisions/0005-dependencies.md',
  ],
  ['file names are kebab-case and have a meaning', fileNames, 'name it after its main export'],
  ['no file is too long to read', longFiles, 'split it, or name it as a table in test/architecture/rules.ts'],
  ['exports have names', exportForms, 'export by name, re-export by list'],
  ['every exception is needed', idleExceptions, 'remove it from test/architecture/rules.ts'],
]

for (const [name, rule, remedy] of rules) {
  test(name, () => expect(rule(files), remedy).toEqual([]))
}

test('no file contains a path of a machine', () => {
  expect(findLines(texts, MACHINE_PATHS)).toEqual([])
})

test('no text names another gateway', () => {
  expect(findLines(texts, OTHER_GATEWAYS)).toEqual([])
})

test('citations can be looked up: decisions', () => {
  const known = decisionIds(readFileSync(join(ROOT, 'docs/decisions/points.md'), 'utf8'))
  expect(unknownDecisions(texts, known), 'give it a row in docs/decisions/points.md').toEqual([])
})

test('citations can be looked up: documents and their headings', () => {
  expect(missingDocuments(texts)).toEqual([])
})

const pages = texts.filter(({ path }) => path.endsWith('.md') && !path.startsWith('examples/'))
const project = {
  paths: [...texts.map(({ path }) => path), 'LICENSE', 'dist/main.js'],
  scripts: Object.keys(scripts),
  words: wordsOf(texts.filter(({ path }) => /\.(?:ts|json)$/.test(path))),
}

for (const [name, rule] of PAGE_RULES) {
  test(name, () => expect(rule(pages, project)).toEqual([]))
}

const roomTables: readonly (readonly [heading: string, folder: string])[] = [
  ['## The tree', ''],
  ['## Inside `net/`', 'net/'],
  ['## Inside `control/`', 'control/'],
  ['## Inside `engine/`', 'engine/'],
  ['## Inside `protocols/mcp/`', 'protocols/mcp/'],
]

for (const [heading, folder] of roomTables) {
  test(`the page on architecture describes every room: ${heading}`, () => {
    const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')
    const section = page.slice(page.indexOf(heading)).split('\n## ')[0]!
    const described = [...section.matchAll(/^\| `([\w-]+)\/` /gm)].map(([, room]) => room!)
    const rooms = files
      .filter(({ path }) => path.startsWith(folder))
      .map(({ path }) => path.slice(folder.length).split('/'))
      .flatMap(([room, ...rest]) => (rest.length > 0 ? [room!] : []))
    expect(described.toSorted()).toEqual([...new Set(rooms)].toSorted())
  })
}

test('pages about behaviour name what is in src/', () => {
  const words = wordsOf(texts.filter(({ path }) => path.startsWith('src/')))
  const described = pages.filter(({ path }) => path === 'docs/architecture.md' || path.startsWith('docs/behaviour/'))
  expect(unknownNames(described, { ...project, words })).toEqual([])
})

test('changes are lines under known headings of the changelog', () => {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
  const unreleased = changelog.split(/^## /m)[1]!
  expect(unreleased.startsWith('Unreleased\n')).toBe(true)
  expect(texts.filter(({ path }) => path.startsWith('CHANGES/'))).toEqual([])
  const sections = [...unreleased.matchAll(/^### (.+)$/gm)].map(([, name]) => name!)
  expect(
    sections.filter((name, at) => !CHANGELOG_SECTIONS.includes(name) || sections.indexOf(name) !== at),
    'add the line to the section that exists',
  ).toEqual([])
})

test('each script of package.json is described in CONTRIBUTING.md', () => {
  const page = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
  expect(Object.keys(scripts).filter((name) => !page.includes(`| \`npm run ${name}\` |`))).toEqual([])
})

test('no text has conflict markers of a merge', () => {
  expect(findLines(texts, /^(?:<{7}|>{7}) /m)).toEqual([])
})

test('no text cites notes outside of the project', () => {
  expect(findLines(texts, PRIVATE_NOTES), 'cite the specification, an RFC, a decision or docs/behaviour/').toEqual([])
})

test('every refusal is described', () => {
  const described = readFileSync(join(ROOT, 'docs/behaviour/http.md'), 'utf8')
  const refusals = Object.entries(REJECTIONS).map(
    ([code, { status, text, reason }]) => `| \`${code}\` | ${status} | ${text} | \`${reason}\` |`,
  )
  expect(
    refusals.filter((row) => !described.includes(row)),
    'docs/behaviour/http.md',
  ).toEqual([])
})

test('the described metrics are those that exist', () => {
  const described = readFileSync(join(ROOT, 'docs/behaviour/observability.md'), 'utf8')
  const metrics = Object.values<Metric>(METRICS).map((metric) => {
    const { type, labels, help } = metric
    const shown = labels.map((label) => `\`${label}\``).join(', ')
    const place = '`bind`, `gateway`, `listener`, `route`, `route_rule`'
    return `| \`${fullName(metric)}\` | ${type} | ${shown.replace(place, 'and the place')} | ${help} |`
  })
  const rows = described.match(/^\| `(?:gatewright|process)_.*$/gm) ?? []
  expect(rows.toSorted(), 'docs/behaviour/observability.md').toEqual(metrics.toSorted())
})

test('the described messages of the log exist', () => {
  const described = readFileSync(join(ROOT, 'docs/behaviour/control.md'), 'utf8')
  const table = described.slice(described.indexOf('\n## Log'), described.indexOf('\n## Statuses'))
  const messages = [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(
    ([, cell]) => cell!.match(/(?<=`)[^`,][^`]*(?=`)/g) ?? [],
  )
  const code = texts.filter(
    ({ path }) =>
      /^src\/(?:acme|apiserver|cli|deliver|instance|mesh|observe\/log|workers)\//.test(path) &&
      !path.endsWith('.test.ts'),
  )
  expect(messages).toContain('plan in force')
  expect(messages.filter((message) => !code.some(({ text }) => text.includes(`'${message}'`)))).toEqual([])
})

test('the fields of the access log are described, in their order', () => {
  const described = readFileSync(join(ROOT, 'docs/behaviour/observability.md'), 'utf8')
  const section = described.slice(described.indexOf('## Access log'), described.indexOf('`attributes.remove` removes'))
  const keys = [...section.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell]) => cell!.match(/(?<=`)[\w.]+(?=`)/g))
  expect(keys).toEqual(DEFAULT_FIELDS)
})
