import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { VARIABLES } from '#api/process-variables.ts'

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
  // `...` stands for lines that the page leaves out.
  const pieces = shown![2]!.split(/^ *\.\.\.\n/m)
  let from = 0
  for (const piece of pieces) {
    const at = stdout.indexOf(piece, from)
    expect(at, piece).toBeGreaterThanOrEqual(from)
    from = at + piece.length
  }
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
