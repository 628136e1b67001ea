import { setTimeout as wait } from 'node:timers/promises'
import { acceptedContent, fromJsonSchema, inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server'
import type { Upstream } from '#examples/upstreams/listen.ts'
import { says, text } from '../../everything/samples.ts'
import { serveBothEras } from '../../serve-both-eras.ts'

/** Starts the server of the pairs, made with the SDK for TypeScript 2.x. */
export function startTypescript2(): Promise<Upstream> {
  let cancellations = 0
  const build = () => {
    const server = new McpServer({ name: 'typescript-2', version: '1.0.0' })
    const add = { description: 'Adds', inputSchema: NUMBERS }
    server.registerTool('add', add, ({ a, b }) => says(String(a + b)))
    server.registerTool('ask', { description: 'Asks the user' }, ({ mcpReq }) => {
      const answer = acceptedContent<{ readonly name: string }>(mcpReq.inputResponses, 'name')
      return answer ? says(`hello ${answer.name}`) : inputRequired({ inputRequests: { name: NAME } })
    })
    server.registerTool('sample', { description: 'Asks the model' }, ({ mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'words')
      if (answer.kind !== 'sampling') return inputRequired({ inputRequests: { words: WORDS } })
      const [first] = [answer.result.content].flat()
      return says(`model said ${first?.type === 'text' ? first.text : '?'}`)
    })
    server.registerTool('count', { description: 'Reports progress' }, async ({ mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      for (const progress of [1, 2, 3]) {
        if (progressToken === undefined) break
        const params = { progressToken, progress, total: 3 }
        await mcpReq.notify({ method: 'notifications/progress', params })
        await wait(20)
      }
      return says('counted')
    })
    server.registerTool('wait', { description: 'Waits until it is cancelled' }, async ({ mcpReq }) => {
      await wait(10_000, undefined, { signal: mcpReq.signal }).catch(() => void cancellations++)
      return says('waited')
    })
    server.registerTool('cancellations', { description: 'Counts them' }, () => says(String(cancellations)))
    server.registerTool('later', { description: 'Closes its stream and answers later' }, async ({ http }) => {
      http?.closeSSE?.()
      await wait(300)
      return says('resumed')
    })
    server.registerResource('one', 'note://one', { mimeType: 'text/plain' }, ({ href }) => ({
      contents: [{ uri: href, text: 'one' }],
    }))
    server.registerPrompt('greet', { description: 'Greets' }, () => ({
      messages: [{ role: 'user', content: text('Hello') }],
    }))
    return server
  }
  return serveBothEras({ name: 'typescript-2', build })
}

const NUMBERS = fromJsonSchema<{ readonly a: number; readonly b: number }>({
  type: 'object',
  properties: { a: { type: 'integer' }, b: { type: 'integer' } },
  required: ['a', 'b'],
})

const NAME = inputRequired.elicit({
  mode: 'form',
  message: 'What is your name?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
})

const WORDS = inputRequired.createMessage({
  messages: [{ role: 'user', content: text('Say something') }],
  maxTokens: 10,
})
