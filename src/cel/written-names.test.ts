import { expect, test } from 'vitest'
import { compile, createEnvironment } from './index.ts'

const environment = createEnvironment<unknown>({
  variables: [
    { path: 'data.args', type: 'dyn', read: () => 1 },
    { path: 'data.name', type: 'string', read: () => 'n' },
  ],
})

test.each<[source: string, names: readonly string[]]>([
  ['data.name == data.name', []],
  ['data.args.path == 1', ['path']],
  ['data.args.to[0].address == 1', ['to', 'address']],
  ['has(data.args.path) || has(data.args)', ['path']],
  ['data.args["path"] == 1 || "other" in data.args', ['path', 'other']],
  ['data.args.?path.orValue(1) == 1', ['path']],
  ['["x", "y"].all(key, data.args[key].size == 1)', ['x', 'y', 'size']],
  ['data.args.exists(key, key == "x")', ['x']],
  ['cel.bind(a, data.args, a.path == 1)', ['path']],
  ['data.args.a ? data.args.b : data.args.c', ['a', 'b', 'c']],
  ['variables().data.args.path == 1', ['data', 'args', 'path']],
])('%s contains the names %j', (source, names) => {
  const { problems, writtenNames } = compile(source, environment)
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  expect([...writtenNames()].sort()).toEqual([...names].sort())
})
