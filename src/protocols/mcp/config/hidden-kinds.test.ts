import { expect, test } from 'vitest'
import { compileExpression } from '#exchange/compile-expression.ts'
import { findHidingRules, type McpRule } from './hidden-kinds.ts'

/** `Allow`, `Deny` or `Require`, then the expression. */
function hiding(...rules: readonly string[]): string[] {
  const compiled = rules.map((rule): McpRule => {
    const at = rule.indexOf(' ')
    const action = rule.slice(0, at) as McpRule['action']
    return { action, expression: compileExpression(rule.slice(at + 1), 'mcp', () => {}, { use: 'condition' }) }
  })
  return findHidingRules(compiled).map(({ rule, problem }) => {
    expect([problem.code, problem.severity]).toEqual(['rule-hides-kind', 'advice'])
    return `${rule.action} ${/hides? all ([^:]+):/.exec(problem.message)?.[1]}`
  })
}

test.each<[expression: string, hides: string | undefined]>([
  ['mcp.tool.name != "x"', 'prompts, resources and tasks'],
  ['mcp.tool.name == "x"', 'prompts, resources and tasks'],
  ['!(mcp.tool.name == "x")', 'prompts, resources and tasks'],
  ['mcp.prompt.target in ["a", "b"]', 'tools, resources and tasks'],
  ['!mcp.resource.name.startsWith("file:")', 'tools, prompts and tasks'],
  ['!["x", "y"].exists(name, mcp.tool.name == name)', 'prompts, resources and tasks'],
  ['["x", "y"].all(name, mcp.tool.name != name)', 'prompts, resources and tasks'],
  ['cel.bind(name, mcp.tool.name, name != "x")', 'prompts, resources and tasks'],
  ['jwt.sub == "a" && mcp.tool.name != "x"', 'prompts, resources and tasks'],
  ['mcp.tool.target == "a" ? mcp.tool.name != "x" : true', 'prompts, resources and tasks'],
  ['mcp.tool.name != "x" || mcp.prompt.name == "y"', 'resources and tasks'],
  ['mcp.task.name != "x"', 'tools, prompts and resources'],
  ['mcp.tool.name != "x" && mcp.prompt.name != "y"', 'tools, prompts, resources and tasks'],
  ['has(mcp.tool.name) && mcp.prompt.name != "y"', 'tools'],

  // Guarded: false for other kinds, or true.
  ['has(mcp.tool.name) && mcp.tool.name != "x"', undefined],
  ['mcp.tool.name != "x" && has(mcp.tool)', undefined],
  ['has(mcp.tool) ? mcp.tool.name != "x" : false', undefined],
  ['!has(mcp.tool.name) || mcp.tool.name != "x"', undefined],
  ['has(mcp.tool.name) ? mcp.tool.name != "x" : true', undefined],
  ['!has(mcp.tool.name) && !has(mcp.prompt.name)', undefined],
  ['default(mcp.tool.name, "") != "x"', undefined],
  ['default(mcp.tool.name != "x", false)', undefined],
  ['coalesce(mcp.tool.name, mcp.prompt.name, mcp.resource.name, mcp.task.name) != "x"', undefined],
  ['mcp.?tool.?name.orValue("") != "x"', undefined],
  ['mcp.tool.name != "x" || jwt.admin', undefined],
  ['"name" in mcp.tool && mcp.tool.name != "x"', undefined],
  ['jwt.tools.exists(name, name == mcp.tool.name)', 'prompts, resources and tasks'],
  // True for a claim without tools.
  ['jwt.tools.all(name, name != mcp.tool.name)', undefined],
  // Without items.
  ['jwt.sub == "a"', undefined],
  ['mcp.methodName == "tools/list"', undefined],
  ['false', undefined],
  ['mcp.tool.nam == ', undefined],
])('Require %s hides %s', (expression, hides) => {
  expect(hiding(`Require ${expression}`)).toEqual(hides === undefined ? [] : [`Require ${hides}`])
})

test.each<[rules: readonly string[], found: readonly string[]]>([
  [['Allow mcp.tool.name != "x"'], ['Allow prompts, resources and tasks']],
  [['Allow mcp.tool.name == "x"', 'Allow mcp.tool.name == "y"'], ['Allow prompts, resources and tasks']],
  // Rules for other kinds, or for all, stand beside it.
  [['Allow mcp.tool.name == "x"', 'Allow mcp.prompt.name == "y"'], []],
  [['Allow mcp.tool.name == "x"', 'Allow has(mcp.resource)'], []],
  [['Allow mcp.tool.name == "x"', 'Allow jwt.admin'], []],
  [['Allow mcp.tool.name == "x" || mcp.prompt.name == "y"'], []],
  // Such rules do not help where all of them must hold.
  [
    ['Require mcp.tool.name != "x"', 'Require mcp.prompt.name != "y"'],
    ['Require prompts, resources and tasks', 'Require tools, resources and tasks'],
  ],
  [['Require mcp.tool.name != "x"', 'Allow has(mcp.prompt)'], ['Require prompts']],
  // Another rule excludes them on purpose.
  [['Allow mcp.tool.name == "x"', 'Require has(mcp.tool)'], []],
  [['Allow mcp.tool.name == "x"', 'Deny !has(mcp.tool)'], []],
  [['Allow mcp.tool.name == "x"', 'Deny has(mcp.prompt)'], ['Allow resources and tasks']],
  [['Require mcp.tool.name != "x"', 'Allow has(mcp.tool)'], []],
  [['Allow mcp.tool.name == "x"', 'Allow has(mcp.tool) && jwt.admin'], []],
  // A Deny rule that fails hides nothing.
  [['Deny mcp.tool.name == "x"'], []],
])('%j', (rules, found) => {
  expect(hiding(...rules)).toEqual(found)
})

test('the message has both ways of writing the rule', () => {
  const messageOf = (text: string) => {
    const expression = compileExpression(text, 'mcp', () => {}, { use: 'condition' })
    return findHidingRules([{ action: 'Allow', expression }])[0]?.problem.message
  }
  expect(messageOf('mcp.tool.name != "x"')).toBe(
    'this Allow rule hides all prompts, resources and tasks: it reads mcp.tool, which other items do not have, so it fails for them; ' +
      'write mcp.tool.name != "x" || !has(mcp.tool.name) to restrict only tools, or has(mcp.tool.name) && mcp.tool.name != "x" to hide the rest',
  )
  expect(messageOf('mcp.tool.target == "a" && jwt.admin')).toContain(
    '(mcp.tool.target == "a" && jwt.admin) || !has(mcp.tool.target)',
  )
  expect(messageOf('mcp.tool.name == "x" && mcp.prompt.name == "y"')).toBe(
    'this Allow rule hides all tools, prompts, resources and tasks: it reads mcp.tool and mcp.prompt, which other items do not have, so it fails for them; ' +
      'guard each of them with has()',
  )
})

test('of several Allow rules, the first one is reported, and a rule to add', () => {
  const rules = ['mcp.tool.name == "x"', 'mcp.tool.name == "y"'].map((text): McpRule => {
    return { action: 'Allow', expression: compileExpression(text, 'mcp', () => {}, { use: 'condition' }) }
  })
  const [hiding, ...others] = findHidingRules(rules)
  expect(others).toEqual([])
  expect(hiding).toMatchObject({
    rule: rules[0],
    problem: {
      message:
        'these Allow rules hide all prompts, resources and tasks: this one reads mcp.tool, which other items do not have, so it fails for them; ' +
        'add the rule !has(mcp.tool.name) to restrict only tools, or write has(mcp.tool.name) && mcp.tool.name == "x" to hide the rest',
    },
  })
  // With the rule that is to be added, and with the other one, there is nothing to report.
  const added = ['!has(mcp.tool.name)', 'has(mcp.tool.name) && mcp.tool.name == "x"'].map((text): McpRule => {
    return { action: 'Allow', expression: compileExpression(text, 'mcp', () => {}, { use: 'condition' }) }
  })
  for (const rule of added) expect(findHidingRules([...rules, rule])).toEqual([])
})
