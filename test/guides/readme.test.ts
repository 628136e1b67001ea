import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { VARIABLES } from '#api/process-variables.ts'
import { isAsShown } from './guide-page.ts'

const README = readFileSync('README.md', 'utf8')

test('npm prints no warnings about packages that ask for a newer Node', () => {
  expect(readFileSync('.npmrc', 'utf8')).toMatch(/^loglevel=error$/m)
})

test('the reference lists the environment variables in the words of the help', () => {
  const page = readFileSync('docs/commands.md', 'utf8')
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| (.*) \|$/gm)].map(([, name, meaning]) => [name, meaning])
  expect(rows).toEqual(Object.entries(VARIABLES).map(([name, { meaning }]) => [name, meaning]))
})

test('README shows the output of the explanation that it tells to paste', async () => {
  const command = /^(bin\/gatewright explain .*)$/m.exec(README)?.[1]
  const shown = /^\$ (bin\/gatewright explain .*)\n([^`]*)```/m.exec(README)
  expect(shown?.[1]).toBe(command)
  const { stdout } = await promisify(execFile)(process.execPath, command?.split(' ') ?? [])
  expect(isAsShown(shown![2]!, stdout), stdout).toBe(true)
})

test('commands to paste run TypeScript with the pinned runtime, and name files that exist', () => {
  const pages = globSync(['README.md', 'docs/**/*.md', 'examples/**/README.md'])
  const commands = pages.flatMap((page) => {
    const found = [...readFileSync(page, 'utf8').matchAll(/(?:^|[\s(])([\w./]*node) (\S+\.ts)/gm)]
    return found.map(([, runtime, file]) => ({ page, runtime, exists: existsSync(file!) }))
  })
  expect(commands.length).toBeGreaterThan(5)
  for (const command of commands) expect(command).toMatchObject({ runtime: 'node_modules/.bin/node', exists: true })
})

test('README fits on a few screens', () => {
  expect(README.split('\n').length).toBeLessThanOrEqual(150)
})

test('the map of the documentation leads to all guides, behaviour pages and examples', () => {
  const map = readFileSync('docs/README.md', 'utf8')
  const pages = globSync(['docs/guides/*.md', 'docs/behaviour/*.md'])
  for (const page of pages) expect(map).toContain(`](${page.slice('docs/'.length)})`)
  for (const page of globSync('examples/*/README.md')) expect(map).toContain(`](../${page})`)
})

/** Users do not have the texts that these name. */
const CITATIONS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['a section of the specification', /\b(?:specification|spec|document) [12]\b/i],
  ['the specification', /\bthe specification\b(?! of [A-Z])/],
  ['a decision by its number', /(?<![\w-])(?:A-\d{2,3}|B\d{2,3})\b|\bdecisions?[ /]0\d{3}/],
  ['the notes of decisions', /decisions\/(?:points|0\d)/],
]

test.each(CITATIONS)('pages for users do not cite %s', (_, pattern) => {
  const pages = globSync('docs/{reference,behaviour,findings,guides}/**/*.md')
  expect(pages.length).toBeGreaterThan(200)
  const cited = pages.flatMap((page) =>
    readFileSync(page, 'utf8')
      .replace(/<!--.*?-->/gs, '')
      .split('\n')
      .flatMap((line) => (pattern.test(line) ? [`${page}: ${line.slice(0, 100)}`] : [])),
  )
  expect(cited, 'give the reason instead').toEqual([])
})

test('long pages about behaviour begin with their contents', () => {
  const long = globSync('docs/behaviour/*.md')
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
    .filter(({ text }) => text.split(/\s+/).length > 5000)
  expect(long.length).toBeGreaterThan(5)
  for (const { path, text } of long) {
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading!)
    const links = headings.map((heading) => `[${heading}](#${anchorOf(heading)})`)
    expect(text, path).toContain(`\nContents: ${links.join(', ')}.\n`)
  }
})

/** The anchor of a heading, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}
