import type { TestMessage } from './fake-targets.ts'

/** The response to a message that was posted. */
export interface Posted {
  readonly status: number
  readonly text: string
  readonly messages: readonly TestMessage[]
}

export interface PostOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** Posts a message of a client of the legacy era, and reads the whole response. */
export async function post(url: string, message: TestMessage, options: PostOptions = {}): Promise<Posted> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, ...options.headers },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    ...(options.signal && { signal: options.signal }),
  })
  const text = await response.text()
  const data = text.startsWith('{') ? [text] : [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => json!)
  return { status: response.status, text, messages: data.map((json) => JSON.parse(json) as TestMessage) }
}

/** Posts a request of a client of the modern era. */
export function postModern(
  url: string,
  { id = 1, method = '', params = {} }: TestMessage,
  { capabilities = {}, ...options }: PostOptions & { readonly capabilities?: object } = {},
): Promise<Posted> {
  const version = '2026-07-28'
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    ...(params._meta as object | undefined),
  }
  const name = params.name ?? params.uri ?? params.taskId
  const headers = {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
    ...options.headers,
  }
  return post(url, { id, method, params: { ...params, _meta: meta } }, { ...options, headers })
}
