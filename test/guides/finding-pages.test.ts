import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { FINDINGS } from '#base/findings.ts'
import { problemLines } from '#cli/finding-lines.ts'
import { advise } from '#cli/lint/advise.ts'
import { loadPlan } from '#cli/load-plan.ts'
import type { FileProblem } from '#store/file-problem.ts'
import { FileStore } from '#store/files.ts'
import { placeFindings } from '#store/place-findings.ts'
import { CONSEQUENCES } from '#store/refused-policies.ts'

const PAGES = 'docs/findings'
const CODES = Object.values(FINDINGS).flatMap(({ codes }) => Object.entries(codes) as [code: string, meaning: string][])

/** A page, and its two blocks of YAML. */
interface Page {
  readonly text: string
  readonly failing?: string
  readonly mended?: string
}

function readPage(code: string): Page {
  const text = readFileSync(join(PAGES, `${code}.md`), 'utf8')
  const [failing, mended] = [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block]) => block!)
  return { text, ...(failing !== undefined && mended !== undefined && { failing, mended }) }
}

const folder = mkdtempSync(join(tmpdir(), 'finding-pages-'))
afterAll(() => rmSync(folder, { recursive: true }))

const nameOf = (text: string) => `${/^kind: (.*)$/m.exec(text)?.[1]} ${/^ {2}name: (.*)$/m.exec(text)?.[1]}`
const SURROUNDINGS = readFileSync(join(PAGES, 'surroundings.yaml'), 'utf8').split(/^---\n/m)

let written = ''

/** Findings of an example with the objects around it; the example replaces an object of the same name. */
function lintExample(example: string): readonly FileProblem[] {
  const own = new Set(example.split(/^---\n/m).map(nameOf))
  const around = SURROUNDINGS.filter((text) => !own.has(nameOf(text))).join('---\n')
  // Most examples have the same.
  if (around !== written) writeFileSync(join(folder, 'around.yaml'), around)
  written = around
  writeFileSync(join(folder, 'example.yaml'), example)
  const store = new FileStore([folder])
  const { items, findings } = loadPlan(store)
  const advice = advise(items, store.list())
  return problemLines([...store.problems(), ...placeFindings(store, [...findings, ...advice])], { advice: true })
    .problems
}

const pages = CODES.map(([code]) => code).filter((code) => existsSync(join(PAGES, `${code}.md`)))
const withExample = pages.filter((code) => readPage(code).failing !== undefined)

test('every code has a page, and every page a code', () => {
  const names = globSync('*.md', { cwd: PAGES }).map((file) => basename(file, '.md'))
  expect(names.filter((name) => name !== 'README').toSorted()).toEqual(CODES.map(([code]) => code).toSorted())
})

test('the index has every page, by subject', () => {
  const sections = Object.values(FINDINGS).map(({ title, codes }) =>
    [`## ${title}`, '', ...Object.keys(codes).map((code) => `- [${code}](${code}.md)`)].join('\n'),
  )
  const index = readFileSync(join(PAGES, 'README.md'), 'utf8')
  expect(index.slice(index.indexOf('\n## ') + 1)).toBe(`${sections.join('\n\n')}\n`)
})

test.each(CODES)('the page of %s starts with its meaning', (code, meaning) => {
  expect(readPage(code).text.startsWith(`# ${code}\n\n${meaning}\n\n`)).toBe(true)
})

/** Where the findings are proved that no example can show: they depend on more than objects, or no file has them. */
const PROVED_BY: Readonly<Record<string, string>> = {
  'acme-not-possible': 'src/control/gateways/acme.test.ts',
  'alias-empty': 'src/protocols/llm/plan/compile-ai.test.ts',
  'api-unreadable': 'src/cluster/cluster-store.test.ts',
  'backend-not-http2': 'src/control/loop.test.ts',
  'backend-port-missing': 'src/control/references/resolve-field.test.ts',
  'cel-too-long': 'src/cel/parser.test.ts',
  'certificate-awaited': 'src/control/gateways/acme.test.ts',
  'certificate-expired': 'src/control/references/check-ends.test.ts',
  'certificate-expires': 'src/control/references/check-ends.test.ts',
  'certificate-not-issued': 'src/acme/certificate-keeper.test.ts',
  'certificate-pair': 'src/store/entries-from-outside.test.ts',
  'credential-stale': 'src/policies/backend/auth/token/token.test.ts',
  'credential-unavailable': 'src/policies/backend/auth/token/token.test.ts',
  'deployment-blocked': 'src/instance/deployer.test.ts',
  'image-not-ready': 'src/instance/deployer.test.ts',
  'file-missing': 'src/store/files.test.ts',
  'file-never-valid': 'test/scenarios/operator-metrics.test.ts',
  'file-too-large': 'src/store/entries-from-outside.test.ts',
  'file-unreadable': 'src/store/files.test.ts',
  'files-only': 'src/store/entries-from-outside.test.ts',
  'host-invalid': 'src/policies/route/request-redirect/request-redirect.test.ts',
  'key-set-not-fetched': 'src/policies/traffic/jwt-authentication/jwt-authentication.test.ts',
  'key-set-stale': 'src/policies/traffic/jwt-authentication/jwt-authentication.test.ts',
  'kind-not-served': 'src/cluster/cluster-store.test.ts',
  'llm-path-not-completions': 'src/engine/plan/check-plan.test.ts',
  'not-substituted': 'src/store/placeholders.test.ts',
  'object-refused': 'src/control/references/refused-objects.test.ts',
  'policy-not-applied': 'src/store/files.test.ts',
  'policy-refuses': 'test/scenarios/refused-policies.test.ts',
  'policy-targets-unknown': 'src/store/served-store.test.ts',
  'route-matches-unknown': 'src/store/served-store.test.ts',
  'route-refuses': 'test/scenarios/refused-routes.test.ts',
  'secret-missing': 'src/policies/backend/auth/token/token.test.ts',
  'secret-not-read': 'src/cluster/cluster-store.test.ts',
  'proxy-refuses': 'src/control/proxy-reports.test.ts',
  'token-expired': 'src/control/references/check-ends.test.ts',
  'token-expires': 'src/control/references/check-ends.test.ts',
  'translation-failed': 'src/control/translation-faults.test.ts',
  'variable-missing': 'src/store/entries-from-outside.test.ts',
}

test('a finding without an example is proved by another test, and its page says why it has none', () => {
  const without = pages.filter((code) => !withExample.includes(code))
  expect(without.toSorted()).toEqual(Object.keys(PROVED_BY).toSorted())
  for (const [code, file] of Object.entries(PROVED_BY)) {
    expect(readFileSync(file, 'utf8'), `${file} proves ${code}`).toContain(code.replace(/^cel-/, ''))
    expect(readPage(code).text, code).not.toMatch(/No example yet/)
  }
})

describe.each(withExample)('the example of %s', (code) => {
  const { failing = '', mended = '' } = readPage(code)
  test('has this finding, and nothing worse', () => {
    const found = lintExample(failing)
    expect(found.map((problem) => problem.code)).toContain(code)
    const others = found.filter((each) => each.code !== code && !CONSEQUENCES.has(each.code))
    expect(
      others.filter(({ severity }) => severity !== 'advice').map(({ code, message }) => ({ code, message })),
    ).toEqual([])
  })

  test('is mended without errors and warnings', () => {
    const wrong = lintExample(mended).filter((each) => each.code === code || each.severity !== 'advice')
    expect(wrong.map(({ code, message }) => ({ code, message }))).toEqual([])
  })
})
