import { expect, test } from 'vitest'
import { compile, createEnvironment } from './index.ts'

const environment = createEnvironment<unknown>({
  variables: [
    { path: 'mcp.tool.args', type: 'dyn', read: () => 1 },
    { path: 'mcp.tool.hints.safe', type: 'bool', read: () => true },
    { path: 'mcp.tool.name', type: 'string', read: () => 'n' },
  ],
})

test.each<[source: string, path: string, reads: boolean]>([
  ['mcp.tool.name == "x"', 'mcp.tool.args', false],
  ['mcp.tool.args.a == 1', 'mcp.tool.args', true],
  ['mcp.tool.args == 1', 'mcp.tool.args', true],
  ['has(mcp.tool.args.a)', 'mcp.tool.args', true],
  ['has(mcp.tool.args)', 'mcp.tool.args', true],
  ['has(mcp.tool)', 'mcp.tool.args', false],
  ['"name" in mcp.tool', 'mcp.tool.args', false],
  ['"args" in mcp.tool', 'mcp.tool.args', true],
  ['mcp.tool.name in mcp.tool', 'mcp.tool.args', true],
  ['mcp.?tool.?name.orValue("") == ""', 'mcp.tool.args', false],
  ['mcp.?tool.?args.?a.orValue(1) == 1', 'mcp.tool.args', true],
  ['mcp[?"tool"].?args.orValue(1) == 1', 'mcp.tool.args', true],
  ['toJson(mcp.tool) == ""', 'mcp.tool.args', true],
  ['toJson(mcp.?tool) == ""', 'mcp.tool.args', true],
  ['toJson(variables()) == ""', 'mcp.tool.args', true],
  ['mcp.tool.args == 1 ? true : false', 'mcp.tool.args', true],
  ['mcp.tool.hints.safe', 'mcp.tool.hints', true],
  ['has(mcp.tool.hints)', 'mcp.tool.hints', true],
  ['has(mcp.tool.hints.safe)', 'mcp.tool.hints', true],
  ['mcp.tool.name == "x"', 'mcp.tool.hints', false],
])('%s reads %s: %s', (source, path, reads) => {
  const { problems, readsPath } = compile(source, environment)
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(readsPath(path)).toBe(reads)
})
