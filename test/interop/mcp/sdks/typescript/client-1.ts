import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { PairSession } from '../scenarios.ts'

/** Connects a client made with the SDK for TypeScript 1.x. */
export async function connectTypescript1(url: string, transport: 'http' | 'sse' = 'http'): Promise<PairSession> {
  const client = new Client(
    { name: 'typescript-1', version: '1.0.0' },
    { capabilities: { elicitation: {}, sampling: {} } },
  )
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } }))
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    role: 'assistant',
    content: { type: 'text', text: 'hi' },
    model: 'test',
  }))
  const connection = transport === 'sse' ? SSEClientTransport : StreamableHTTPClientTransport
  // The transport of the SDK does not satisfy its own interface under exactOptionalPropertyTypes.
  await client.connect(new connection(new URL(url)) as Transport)
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    async read(uri) {
      const [first] = (await client.readResource({ uri })).contents
      return first !== undefined && 'text' in first ? first.text : 'no text'
    },
    async prompt(name) {
      const [first] = (await client.getPrompt({ name })).messages
      return first?.content.type === 'text' ? first.content.text : 'no text'
    },
    async call(name, values, { signal, onProgress } = {}) {
      const options = {
        ...(signal && { signal }),
        ...(onProgress && { onprogress: ({ progress }: { readonly progress: number }) => onProgress(progress) }),
      }
      const result = await client.request(
        { method: 'tools/call', params: { name, arguments: values } },
        CallToolResultSchema,
        options,
      )
      return result.content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n')
    },
    close: () => client.close(),
  }
}
