import { expect, test } from 'vitest'
import { messageLines } from './message-lines.ts'

const NOTHING_MORE = { secrets: [], parameters: [] }

test('one line for each value, in the form of YAML', () => {
  const message = {
    domain: 'shop "x"',
    descriptors: [{ entries: [{ key: 'a', value: 'b' }], hitsAddend: { value: 0 } }, { entries: [] }],
    names: ['a', 1],
    extensions: new Map([['tenant', 'books']]),
    empty: {},
    absent: undefined,
    flag: false,
    nothing: null,
  }
  expect(messageLines(message, NOTHING_MORE)).toEqual([
    'domain: "shop \\"x\\""',
    'descriptors:',
    '- entries:',
    '  - key: "a"',
    '    value: "b"',
    '  hitsAddend:',
    '    value: 0',
    '- entries:',
    'names:',
    '- "a"',
    '- 1',
    'extensions:',
    '  tenant: "books"',
    'empty: {}',
    'flag: false',
    'nothing: null',
  ])
})

const QUESTION = {
  http: {
    path: '/a?token=t&own=1&b=2',
    headers: new Map([
      [':path', '/a?token=t&own=1&b=2'],
      ['Authorization', 'Bearer x'],
      ['x-copy', 'k3y'],
    ]),
  },
  entries: [{ key: 'caller', value: 'k3y' }],
}

test('credentials are hidden: in fields and parameters by convention or configuration, and where an expression reads one', () => {
  expect(messageLines(QUESTION, { secrets: ['k3y'], parameters: ['own'] })).toEqual([
    'http:',
    '  path: "/a?token=<redacted>&own=<redacted>&b=2"',
    '  headers:',
    '    :path: "/a?token=<redacted>&own=<redacted>&b=2"',
    '    Authorization: <redacted>',
    '    x-copy: <redacted>',
    'entries:',
    '- key: "caller"',
    '  value: <redacted>',
  ])
  expect(messageLines(QUESTION, undefined).join('\n')).not.toContain('redacted')
})

test('only paths have query parameters', () => {
  const hidden = { secrets: [], parameters: ['own'] }
  expect(messageLines({ path: '/x?own=1', ':path': '/y?own=2', body: '/z?own=3' }, hidden)).toEqual([
    'path: "/x?own=<redacted>"',
    ':path: "/y?own=<redacted>"',
    'body: "/z?own=3"',
  ])
})
