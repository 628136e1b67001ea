import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { invalidDocuments } from '#test/invalid/invalid-document.ts'
import { installedNpmPackages } from '../counterparts.ts'
import { runParts } from '../run-parts.ts'
import type { Transcript } from '../transcript.ts'
import { type Diagnostic, LanguageServer } from './language-server.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
/** As a file in the root of the project names it; the language server reads the path relative to the file. */
const MODELINE = '# yaml-language-server: $schema=./install/schemas/gatewright.schema.json\n'

/** What JSON Schema cannot say, with the reason; the gateway and the CustomResourceDefinitions refuse it. */
const ONLY_HERE: readonly (readonly [refusal: RegExp, reason: string])[] = [
  [
    /^(inconsistent|not-together|phase-not-allowed|target-kinds-mixed|target-not-allowed|conditional-order) /,
    'a rule over several fields',
  ],
  [
    /^(required Required value: |exactly-one-of .*must set either unixPath|at-least-one-of .*matches and builtins)/,
    'a rule over several fields',
  ],
  [/^(invalid-section-name .*for a Service|invalid-path .*path must start with)/, 'a rule over several fields'],
  [/^out-of-range Invalid value: "/, 'a bound of a duration or of a size with a unit'],
  [/^duplicate /, 'items that are equal in some fields only'],
  [/^invalid-pattern /, 'regular expressions'],
  [/^(invalid-identifier|invalid-name .*optional DNS prefix)/, 'more than a pattern can say'],
]

/** Checks the schema for editors with the language server of the YAML extension of VS Code. */
await runParts('interop:editors', { 'yaml-language-server': checkLanguageServer })

async function checkLanguageServer(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const folder = installedNpmPackages('npm-editors', 'yaml-language-server@2.0.0')
  const server = new LanguageServer(join(folder, 'node_modules/yaml-language-server/bin/yaml-language-server'))
  stops.defer(() => server.close())
  await server.initialize(pathToFileURL(ROOT).href)
  let opened = 0
  const uriOfNext = () => pathToFileURL(join(ROOT, `editor-${++opened}.yaml`)).href
  const marks = (text: string) => server.open(uriOfNext(), `${MODELINE}${text}`)

  const examples = globSync('src/policies/**/example.yaml', { cwd: ROOT })
  const marked: string[] = []
  for (const file of examples) {
    const found = await marks(readFileSync(join(ROOT, file), 'utf8'))
    marked.push(...found.map(({ message }) => `${file}: ${message}`))
  }
  transcript.check(`no example of ${examples.length} is marked`, [examples.length > 20, marked], [true, []])

  const documents = invalidDocuments().filter(({ name }) => name.startsWith('proxy-'))
  const missed: string[] = []
  const elsewhere: string[] = []
  for (const { name, text, expected } of documents) {
    const found = await marks(text)
    const isExcused = expected.every((each) => ONLY_HERE.some(([refusal]) => refusal.test(`${each.code} ${each.text}`)))
    if (found.length === 0 && !isExcused) missed.push(name)
    if (found.length > 0 && !expected.some(({ line }) => found.some((mark) => isNear(mark, line)))) elsewhere.push(name)
  }
  transcript.check(`what a schema can refuse of ${documents.length} documents is marked`, missed, [])
  transcript.check('the mark is at the mistake', elsewhere, [])

  const text = `${MODELINE}apiVersion: gatewright.dev/v1alpha1\nkind: ProxyPolicy\nmetadata: { name: a }\nspec:\n  traffic:\n    \n`
  const uri = uriOfNext()
  await server.open(uri, text)
  const { items } = (await server.request('textDocument/completion', {
    textDocument: { uri },
    position: { line: 6, character: 4 },
  })) as { readonly items: readonly { readonly label: string }[] }
  const labels = items.map(({ label }) => label)
  transcript.check(
    'fields are proposed',
    ['rateLimit', 'cors', 'jwtAuthentication'].filter((each) => !labels.includes(each)),
    [],
  )
  const hover = (await server.request('textDocument/hover', {
    textDocument: { uri },
    position: { line: 5, character: 4 },
  })) as { readonly contents: { readonly value: string } } | null
  transcript.check('a field is explained', hover?.contents.value.includes('Policies for requests'), true)
}

/** Whether a mark is at a field or its value. @param line from 1, without the line that names the schema */
function isNear({ range }: Diagnostic, line: number): boolean {
  return Math.abs(range.start.line - line) <= 1
}
