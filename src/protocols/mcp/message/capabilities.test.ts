import { expect, test } from 'vitest'
import { readCapabilities, sessionlessCapabilities, uniteCapabilities } from './capabilities.ts'

const TASKS = 'io.modelcontextprotocol/tasks'

const ALL = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  logging: {},
  completions: {},
}

test.each([
  [ALL, 'tools prompts resources logging completions subscribe'],
  [{ tools: {}, resources: { subscribe: false } }, 'tools resources'],
  [{ tools: true, tasks: {} }, 'tasks'],
  [undefined, ''],
])('capabilities in %j: %s', (capabilities, found) => {
  expect([...readCapabilities(capabilities)].join(' ')).toBe(found)
})

test.each<[all: unknown[], united: object]>([
  [[], {}],
  [[ALL], ALL],
  [[{ tools: { listChanged: false } }], { tools: {} }],
  [[{ tools: { listChanged: 'yes', more: true }, more: {} }], { tools: {} }],
  [
    [{ tasks: { list: {}, requests: { tools: { call: {} } } } }, { tasks: { cancel: {}, requests: { x: {} } } }],
    { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} }, x: {} } } },
  ],
  [
    [{ extensions: { [TASKS]: { a: 1 }, other: {} } }, { extensions: { [TASKS]: { b: 2 } } }],
    { extensions: { [TASKS]: { a: 1, b: 2 } } },
  ],
  [[{ tools: {} }, { tools: { listChanged: true } }, { tools: {} }, undefined], { tools: { listChanged: true } }],
  [
    [{ resources: { subscribe: true } }, { resources: { listChanged: true }, prompts: {} }],
    { resources: { subscribe: true, listChanged: true }, prompts: {} },
  ],
])('the union of %j', (all, united) => {
  expect(uniteCapabilities(all)).toEqual(united)
})

test.each(['constructor', 'toString', 'hasOwnProperty'])(
  'a capability with the name of a member of all objects: %s',
  (name) => {
    expect(sessionlessCapabilities({ [name]: { more: 1 } })).toEqual({ [name]: { more: 1 } })
    expect(uniteCapabilities([{ [name]: { more: 1 }, tools: {} }, { [name]: {} }])).toEqual({ tools: {} })
  },
)

test('without a session: no log levels, subscriptions and notifications', () => {
  expect(
    sessionlessCapabilities({ ...ALL, tasks: {}, tools: { listChanged: true, more: 1 }, experimental: { a: 1 } }),
  ).toEqual({
    tools: { more: 1 },
    prompts: {},
    resources: {},
    completions: {},
    experimental: { a: 1 },
  })
})
