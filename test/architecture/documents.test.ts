import { expect, test } from 'vitest'
import {
  brokenLinks,
  missingPaths,
  type PageRule,
  unknownNames,
  unknownScripts,
  untitledPages,
  wordsOf,
} from './documents.ts'

const PATHS = ['src/engine/route/table.ts', 'src/policies/traffic/cors/run.ts', 'notes/a.md', 'notes/b/c.md']
const CODE = 'export class LivePlan {\n  readRow(row: Row) {}\n  // OldPlan\n  /** oldRow */\n  const MAX_ROWS = 1'
const OTHER_PAGE = { path: 'notes/a.md', text: '# A\n\n## What `it` does: all\n\n```\n# Comment\n```\n' }

const project = {
  paths: PATHS,
  scripts: ['bench', 'bench:guards'],
  words: wordsOf([{ path: 'src/a.ts', text: CODE }]),
}

const tables: readonly (readonly [
  rule: PageRule,
  rows: readonly (readonly [text: string, found: string | undefined])[],
])[] = [
  [
    missingPaths,
    [
      ['`src/engine/route/table.ts`, `engine/route/table.ts`, `table.ts`', undefined],
      ['`policies/<section>/<field>/run.ts`, `policies/traffic/*/run.ts`', undefined],
      ['`src/engine/`, `engine/route`, `route/`', undefined],
      ['`text/event-stream`, `/a.md/x`, `a.tsx`, https://example.com/x.md, `b.ts.net`', undefined],
      ['`engine/table.ts`', 'names engine/table.ts'],
      ['  proxy/forward.ts   body', 'names proxy/forward.ts'],
      ['`able.ts`', 'names able.ts'],
      ['`policies/<field>/run.ts`', 'names policies/<field>/run.ts'],
      ['`engine/plan`', 'names engine/plan'],
      ['`plan/`', 'names plan/'],
    ],
  ],
  [
    brokenLinks,
    [
      [
        '[a](../a.md) [a](../a.md#what-it-does-all) [b](../b) [c](c.md) [here](#page) [x](https://x.test/y.md)',
        undefined,
      ],
      ['[a](a.md)', 'links to a.md'],
      ['[a](../a.md#what-it-does)', 'links to ../a.md#what-it-does'],
      ['[a](../a.md#comment)', 'links to ../a.md#comment'],
      ['[here](#paper)', 'links to #paper'],
    ],
  ],
  [
    unknownScripts,
    [
      ['`npm run bench:guards -- engines` and `npm run bench`', undefined],
      ['npm run fuzz', 'runs fuzz'],
    ],
  ],
  [
    unknownNames,
    [
      ['`LivePlan`, `LivePlan.readRow()`, `MAX_ROWS`, `readrow`, `GET`, OtherPlan', undefined],
      ['`OtherPlan`', 'names OtherPlan'],
      ['`OldPlan` is in a comment', 'names OldPlan'],
      ['`oldRow()`', 'names oldRow'],
      ['`MIN_ROWS`', 'names MIN_ROWS'],
      ['| A-01 | `OtherPlan` |', 'names OtherPlan'],
    ],
  ],
]

test('pages without a title', () => {
  const pages = [OTHER_PAGE, { path: 'notes/b/c.md', text: '- a\n\n# Late\n' }]
  expect(untitledPages(pages, project)).toEqual(['notes/b/c.md has no title'])
})

for (const [rule, rows] of tables) {
  for (const [text, found] of rows) {
    test(`pages: ${text}`, () => {
      const page = { path: 'notes/b/c.md', text: `# Page\n${text}` }
      expect(rule([page, OTHER_PAGE], project)).toEqual(found === undefined ? [] : [`notes/b/c.md:2 ${found}`])
    })
  }
}
