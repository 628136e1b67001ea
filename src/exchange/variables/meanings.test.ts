import { expect, test } from 'vitest'
import { compileExpression } from '../compile-expression.ts'
import type { ExpressionEnvironment } from '../expression.ts'
import { VARIABLE_MEANINGS } from './meanings.ts'

function suggestionFor(path: string, environment: ExpressionEnvironment): string | undefined {
  const messages: string[] = []
  compileExpression(`${path} == "a"`, environment, ({ message }) => messages.push(message), { use: 'condition' })
  return messages.flatMap((message) => /did you mean (.*)\? \(/.exec(message)?.[1] ?? [])[0]
}

test.each([...VARIABLE_MEANINGS])('%s means %s where expressions can read it', (path, meant) => {
  const environments: readonly ExpressionEnvironment[] = ['request', 'response', 'mcp', 'log']
  expect(environments.map((environment) => suggestionFor(path, environment))).toContain(meant)
})

test('a variable that is not available is not suggested', () => {
  expect(suggestionFor('response.status', 'health')).toBe('response.code')
  expect(suggestionFor('response.status', 'request')).toBeUndefined()
  expect(suggestionFor('mcp.target', 'request')).toBeUndefined()
})
