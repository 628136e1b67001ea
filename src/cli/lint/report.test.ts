import { expect, test } from 'vitest'
import type { FileProblem } from '#store/file-problem.ts'
import { problemLines } from '../finding-lines.ts'
import { FORMATS, type Format, report } from './report.ts'

const error: FileProblem = {
  ...{ file: 'a b.yaml', line: 3, column: 7, object: 'Gateway default/main', path: 'spec.listeners' },
  ...{ code: 'required', message: 'is required\nhere: 100%', severity: 'error' },
}
const advice: FileProblem = { file: '', path: '', code: 'no-effect', message: 'no effect', severity: 'advice' }

function output(format: Format, problems: readonly FileProblem[] = [error, advice]): string {
  return report(format, { ...problemLines(problems, { advice: true }), objects: 2 })
    .map((line) => line.flatMap(({ text }) => text || []).join(' '))
    .join('\n')
}

test('text', () => {
  expect(output('text')).toBe(
    [
      'advice: no effect [no-effect]',
      'a b.yaml:3:7: error: spec.listeners: is required [required]',
      '    here: 100%',
      '2 objects: 1 error, 1 recommendation',
    ].join('\n'),
  )
  expect(output('text', [])).toBe('2 objects: nothing to report')
})

test('json has every member that is known', () => {
  expect(JSON.parse(output('json'))).toEqual({
    ...{ objects: 2, errors: 1, warnings: 0, recommendations: 1 },
    problems: [
      { code: 'no-effect', message: 'no effect', severity: 'advice', page: 'docs/findings/no-effect.md' },
      { ...error, page: 'docs/findings/required.md' },
    ],
  })
})

test('commands of GitHub escape what would end them', () => {
  expect(output('github', [{ ...error, file: 'a:b,c.yaml' }])).toBe(
    '::error file=a%3Ab%2Cc.yaml,line=3,col=7,title=required::spec.listeners: is required%0Ahere: 100%25\n2 objects: 1 error',
  )
  expect(output('github', [advice])).toMatch(/^::notice title=no-effect::no effect\n/)
})

test('sarif names rules and places', () => {
  const { version, runs } = JSON.parse(output('sarif'))
  expect(version).toBe('2.1.0')
  expect(runs).toHaveLength(1)
  expect(runs[0].tool.driver).toMatchObject({
    name: 'gatewright',
    rules: [
      {
        id: 'no-effect',
        shortDescription: { text: 'The object or field has no effect.' },
        help: { text: 'docs/findings/no-effect.md explains it.' },
      },
      { id: 'required', shortDescription: { text: 'A required field is missing.' } },
    ],
  })
  expect(runs[0].results).toEqual([
    { ruleId: 'no-effect', ruleIndex: 0, level: 'note', message: { text: 'no effect' } },
    {
      ...{ ruleId: 'required', ruleIndex: 1, level: 'error' },
      message: { text: 'spec.listeners: is required\nhere: 100%' },
      locations: [
        {
          physicalLocation: { artifactLocation: { uri: 'a%20b.yaml' }, region: { startLine: 3, startColumn: 7 } },
          logicalLocations: [{ fullyQualifiedName: 'Gateway default/main spec.listeners' }],
        },
      ],
    },
  ])
})

test.each(FORMATS)('%s without problems', (format) => {
  expect(output(format, [])).not.toBe('')
})
