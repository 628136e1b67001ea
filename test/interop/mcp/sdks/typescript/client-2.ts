import {
  Client,
  type ContentBlock,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import type { PairSession } from '../scenarios.ts'

/** Connects a client made with the SDK for TypeScript 2.x. */
export async function connectTypescript2(
  url: string,
  mode: VersionNegotiationMode,
  transport: 'http' | 'sse' = 'http',
): Promise<PairSession> {
  const capabilities = { elicitation: {}, sampling: {} }
  const client = answering(
    new Client({ name: 'typescript-2', version: '1.0.0' }, { capabilities, versionNegotiation: { mode } }),
  )
  const connection = transport === 'sse' ? SSEClientTransport : StreamableHTTPClientTransport
  await client.connect(new connection(new URL(url)))
  return sessionOf(client)
}

/** Lets a client answer what servers ask. */
export function answering(client: Client): Client {
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }))
  client.setRequestHandler('sampling/createMessage', () => ({
    role: 'assistant',
    content: { type: 'text', text: 'hi' },
    model: 'test',
  }))
  return client
}

export function sessionOf(client: Client): PairSession {
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
      const { content } = await client.callTool(
        { name, arguments: values },
        { ...(signal && { signal }), ...(onProgress && { onprogress: ({ progress }) => onProgress(progress) }) },
      )
      return textOf(content)
    },
    close: () => client.close(),
  }
}

function textOf(content: readonly ContentBlock[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n')
}
