import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { isUpdate } from '../cases/golden-case.ts'
import { isAsShown, readGuide } from './guide-page.ts'
import { type Difference, runGuide } from './run-guide.ts'

/** Guides whose commands no test runs as they are, with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'certificates.md': 'shows configuration; test/interop/acme orders certificates',
  'container.md': 'needs Docker; test/interop/image has one',
  'explain.md': 'explain.test.ts runs it with servers of other implementations',
  'expressions.md': 'expressions.test.ts evaluates its expressions',
  'forwarded-headers.md': 'shows configuration',
  'gitops.md': 'needs a cluster; the part gitops of test/interop/cluster has one',
  'install-on-kubernetes.md': 'needs a cluster; test/interop/cluster has one',
  'install.md': 'needs a package; test/package installs one',
  'monitoring.md': 'needs Prometheus, Grafana and the Collector; test/interop/observe has two of them',
  'policies.md': 'a list, which policies.test.ts writes',
  'service.md': 'needs systemd; test/interop/service has one',
  'upgrades.md': 'needs two versions; test/scenarios/replaced-processes.test.ts replaces processes',
  'vision.md': 'shows figures',
}

const guides = globSync('docs/guides/*.md').map((path) => ({
  path,
  name: basename(path),
  page: readGuide(readFileSync(path, 'utf8')),
}))
const withCommands = guides.filter(({ page }) => page.steps.some(({ kind }) => kind === 'command'))

test('a guide has commands that a test runs, or a reason why not', () => {
  const others = guides.filter((guide) => !withCommands.includes(guide))
  expect(others.map(({ name }) => name).sort()).toEqual(Object.keys(NOT_RUN))
})

/** While a page is written, what it waits for may never be printed. */
const UPDATE_WAIT_MS = 40_000

/** With UPDATE=1 the page gets what the commands printed. */
function update(path: string, differences: readonly Difference[]): void {
  const lines = readFileSync(path, 'utf8').split('\n')
  for (const { command, printed } of differences.toReversed()) {
    const [from, to] = command.outputLines
    lines.splice(from, to - from, ...(printed === '' ? [] : printed.trimEnd().split('\n')))
  }
  writeFileSync(path, lines.join('\n'))
}

// Those that need other programs: npm run interop:guides.
test.concurrent.for(withCommands.filter(({ page }) => page.needs.length === 0))(
  '$name shows what its commands print',
  async ({ path, page }, { expect }) => {
    const differences = await runGuide(page, {}, isUpdate ? UPDATE_WAIT_MS : undefined)
    if (isUpdate) return update(path, differences)
    for (const { command, printed } of differences) expect.soft(printed, command.text).toBe(command.output)
  },
)

test.each([
  ['a\nb', 'a  \nb\n', true],
  ['', '', true],
  ['', 'a\n', false],
  ['a', 'a\nb', false],
  ['a\n...', 'a\nb\nc\n', true],
  ['...\nc', 'a\nb\nc\n', true],
  ['a\n...\nc', 'a\nc\n', true],
  ['id: ...', 'id: 4711\n', true],
  ['id: ...;', 'id: 4711\nx;\n', false],
  ['a.c', 'abc', false],
])('a page that shows %j and a command that prints %j: %s', (shown, printed, same) => {
  expect(isAsShown(shown, printed)).toBe(same)
})

test('readGuide takes files, commands with their output, and comments', () => {
  const page = readGuide(`<!-- needs: opa, redis -->
<!-- test: replace https://api.example.com by http://127.0.0.1:9111 -->
<!-- file: a/b.yaml -->
\`\`\`yaml
x: 1
\`\`\`
<!-- eventually -->
\`\`\`console
$ one \\
  two
out

more
$ three
\`\`\`
\`\`\`yaml
y: 2
\`\`\`
`)
  expect(page).toEqual({
    needs: ['opa', 'redis'],
    replacements: [['https://api.example.com', 'http://127.0.0.1:9111']],
    steps: [
      { kind: 'file', name: 'a/b.yaml', text: 'x: 1\n' },
      { kind: 'command', text: 'one \\\n  two', output: 'out\n\nmore', outputLines: [10, 13], isAwaited: true },
      { kind: 'command', text: 'three', output: '', outputLines: [14, 14], isAwaited: true },
    ],
  })
})

test('runGuide uses other ports than the page, and tells what differs', async () => {
  const page = readGuide(`<!-- file: a.yaml -->
\`\`\`yaml
port: 8080
weight: 8080
\`\`\`
\`\`\`console
$ grep -c 8080 a.yaml
1
$ cat a.yaml; echo http://localhost:8080/
port: 8080
weight: 8080
http://localhost:8080/
$ echo other >&2
another
\`\`\`
`)
  expect(await runGuide(page)).toEqual([{ command: page.steps.at(-1), printed: 'other\n' }])
})
