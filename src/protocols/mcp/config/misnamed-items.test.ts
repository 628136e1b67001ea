import { expect, test } from 'vitest'
import { compileExpression } from '#exchange/compile-expression.ts'
import { findMisnamed } from './misnamed-items.ts'

const misnamed = (source: string, targets = ['crm', 'wiki']) => {
  const found = findMisnamed(
    compileExpression(source, 'mcp', () => {}, { use: 'condition' }),
    targets,
  )
  return found && `${found.severity} ${found.message}`
}

test.each([
  ['mcp.tool.target == "crn"', 'warning mcp.tool.target is never "crn": there is no such target; did you mean "crm"?'],
  [
    'has(mcp.prompt) && "wki" != mcp.prompt.target',
    'warning mcp.prompt.target is never "wki": there is no such target; did you mean "wiki"?',
  ],
  [
    'default(mcp.resource.target, "") in ["crm", "wikis"]',
    'warning mcp.resource.target is never "wikis": there is no such target; did you mean "wiki"?',
  ],
  [
    'mcp.tool.name == "crm_delete"',
    'advice mcp.tool.name is the name at the target, without "crm_"; for the tool that clients name crm_delete, write mcp.tool.name == "delete" && mcp.tool.target == "crm"',
  ],
  [
    'mcp.resource.name == "wiki+file:///a"',
    'advice mcp.resource.name is the name at the target, without "wiki+"; for the resource that clients name wiki+file:///a, write mcp.resource.name == "file:///a" && mcp.resource.target == "wiki"',
  ],
  // Of another backend, perhaps.
  ['mcp.tool.target == "calendar"', undefined],
  ['mcp.tool.target == "crm" && mcp.tool.name == "delete"', undefined],
  ['mcp.tool.name.startsWith("crm_")', undefined],
  ['jwt.tool == "crm_delete"', undefined],
  ['mcp.tool.nam == ', undefined],
])('%s: %s', (source, message) => {
  expect(misnamed(source)).toBe(message)
})

test('of a single target, clients use the names of the target', () => {
  expect(misnamed('mcp.tool.name == "crm_delete"', ['crm'])).toBeUndefined()
})

test('the longest name of a target is the prefix', () => {
  const found = misnamed('mcp.tool.name == "crm_old_delete"', ['crm', 'crm_old'])
  expect(found).toContain('write mcp.tool.name == "delete" && mcp.tool.target == "crm_old"')
})
