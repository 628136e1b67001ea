import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('the engine explains requests to every kind of backend where there is no Node', () => {
  const script = fileURLToPath(new URL('explain-without-node.ts', import.meta.url))
  const output = execFileSync(process.execPath, [script], { encoding: 'utf8' })
  expect(output.trimEnd().split('\n')).toEqual([
    'static, passes, host: web.test',
    'ai, passes, host: api.openai.com, llm       Completions to openai, model m',
    'mcp, passes, , MCP, terminated at the gateway',
    'a2a, passes, host: agent.test, A2A call, method tools/list',
    'aws, passes, host: bedrock-agentcore.us-east-1.amazonaws.com, agent runtime a of account 123456789012 at bedrock-agentcore.us-east-1.amazonaws.com, its default endpoint; it replaces path and query',
  ])
})
