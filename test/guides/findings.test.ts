import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FINDINGS } from '#base/findings.ts'

const CODES: readonly (readonly [code: string, meaning: string])[] = Object.values(FINDINGS).flatMap(({ codes }) =>
  Object.entries(codes),
)

test('the page of findings has every code with its meaning, and nothing else', () => {
  const sections = Object.values(FINDINGS).map(({ title, codes }) =>
    [
      `## ${title}`,
      '',
      '| Code | Meaning |',
      '|---|---|',
      ...Object.entries(codes).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`),
    ].join('\n'),
  )
  const page = readFileSync('docs/behaviour/findings.md', 'utf8')
  expect(page.slice(page.indexOf('\n## ') + 1)).toBe(`${sections.join('\n\n')}\n`)
})

test('meanings are sentences of one line', () => {
  for (const [code, meaning] of CODES) expect(meaning, code).toMatch(/^[A-Z`].*\.$/)
})

test('every code is found by some part of the program', () => {
  const texts = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.includes('testing'))
    .filter((path) => path !== join('base', 'findings.ts') && path !== join('base', 'rejections.ts'))
    .map((path) => ({ isCel: path.startsWith('cel'), text: readFileSync(join('src', path), 'utf8') }))
  // Expressions have codes of their own, which become findings in exchange/compile-expression.ts.
  const isFound = (code: string) =>
    code.startsWith('cel-')
      ? texts.some(
          ({ isCel, text }) => isCel && new RegExp(`(?:error|warn|missing)\\(\\s*'${code.slice(4)}'`).test(text),
        )
      : texts.some(({ isCel, text }) => !isCel && text.includes(`'${code}'`))
  expect(CODES.map(([code]) => code).filter((code) => !isFound(code))).toEqual([])
})
