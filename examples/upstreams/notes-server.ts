import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'

/** An MCP server with the tools `add` and `search`, a resource and a prompt. `notes` is shared by all its sessions. */
export function notesServer(notes: string[]): McpServer {
  const server = new McpServer(
    { name: 'notes', version: '1.0.0' },
    { instructions: 'Notes live until the server stops.' },
  )

  server.registerTool(
    'add',
    {
      title: 'Add a note',
      description: 'Keeps a note',
      inputSchema: fromJsonSchema<{ readonly text: string }>({
        type: 'object',
        properties: { text: { type: 'string', minLength: 1, description: 'The note' } },
        required: ['text'],
        additionalProperties: false,
      }),
    },
    ({ text }) => ({ content: [{ type: 'text', text: `note ${notes.push(text)} kept` }] }),
  )

  server.registerTool(
    'search',
    {
      title: 'Search notes',
      description: 'Finds the notes that contain a text',
      inputSchema: fromJsonSchema<{ readonly query: string }>({
        type: 'object',
        properties: { query: { type: 'string', description: 'Text to look for, upper and lower case are the same' } },
        required: ['query'],
        additionalProperties: false,
      }),
      outputSchema: fromJsonSchema({
        type: 'object',
        properties: { found: { type: 'array', items: { type: 'string' } } },
        required: ['found'],
      }),
      annotations: { readOnlyHint: true },
    },
    ({ query }) => {
      const found = notes.filter((note) => note.toLowerCase().includes(query.toLowerCase()))
      return { content: [{ type: 'text', text: found.join('\n') }], structuredContent: { found } }
    },
  )

  server.registerResource(
    'all',
    'notes://all',
    { title: 'All notes', description: 'Every note, one a line', mimeType: 'text/plain' },
    (uri) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: notes.join('\n') }] }),
  )

  server.registerPrompt('summary', { title: 'Summary', description: 'Asks for a summary of the notes' }, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Sum up these notes:\n${notes.join('\n')}` } }],
  }))
  return server
}
