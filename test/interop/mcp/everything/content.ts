import { setTimeout as wait } from 'node:timers/promises'
import { fromJsonSchema, type McpServer, type ServerContext } from '@modelcontextprotocol/server'
import { PNG, says, text, WAV } from './samples.ts'

/** Tools that answer by themselves: every kind of content, errors, log messages, progress, and a stream that is closed early. */
export function registerContentTools(server: McpServer): void {
  server.registerTool('test_simple_text', { description: 'Returns text' }, () =>
    says('This is a simple text response for testing.'),
  )
  server.registerTool('test_image_content', { description: 'Returns an image' }, () => ({
    content: [{ type: 'image', data: PNG, mimeType: 'image/png' }],
  }))
  server.registerTool('test_audio_content', { description: 'Returns audio' }, () => ({
    content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  }))
  server.registerTool('test_embedded_resource', { description: 'Returns a resource' }, () => ({
    content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }))
  server.registerTool('test_multiple_content_types', { description: 'Returns content of several types' }, () => ({
    content: [
      text('Multiple content types test:'),
      { type: 'image', data: PNG, mimeType: 'image/png' },
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }))
  server.registerTool('test_error_handling', { description: 'Always fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  server.registerTool('test_tool_with_logging', { description: 'Logs while it runs' }, async (context) => {
    await logWhileRunning(context)
    return says('Tool with logging executed successfully')
  })
  server.registerTool('test_logging_tool', { description: 'Logs while it runs' }, async (context) => {
    await logWhileRunning(context)
    return says('logged')
  })
  server.registerTool('test_tool_with_progress', { description: 'Reports progress' }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        const params = { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` }
        await mcpReq.notify({ method: 'notifications/progress', params })
      }
      await wait(50)
    }
    return says(String(progressToken))
  })
  server.registerTool('test_reconnection', { description: 'Closes its stream and answers later' }, async ({ http }) => {
    http?.closeSSE?.()
    await wait(100)
    return says('Reconnection test completed successfully.')
  })
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Has a schema with keywords of JSON Schema 2020-12', inputSchema: RICH_SCHEMA },
    (values) => says(JSON.stringify(values)),
  )
  server.registerTool(
    'test_custom_header',
    { description: 'Has an argument that clients copy into a header', inputSchema: HEADER_SCHEMA },
    ({ region }) => says(region),
  )
}

const embedded = (uri: string, mimeType: string, value: string) =>
  ({ type: 'resource', resource: { uri, mimeType, text: value } }) as const

async function logWhileRunning({ mcpReq }: ServerContext): Promise<void> {
  await mcpReq.log('info', 'Tool execution started')
  await wait(50)
  await mcpReq.log('info', 'Tool processing data')
  await wait(50)
  await mcpReq.log('info', 'Tool execution completed')
}

const region = { type: 'string', 'x-mcp-header': 'Region' } as const

const HEADER_SCHEMA = fromJsonSchema<{ readonly region: string }>({
  type: 'object',
  properties: { region },
  required: ['region'],
})

const RICH_SCHEMA = fromJsonSchema({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
})
