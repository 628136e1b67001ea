import { fromJsonSchema, type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server'
import { PNG, text } from './samples.ts'

/** Resources, a template, prompts, their completion and subscriptions. */
export function registerDocuments(server: McpServer): void {
  const plain = { description: 'Text', mimeType: 'text/plain' }
  for (const name of ['static-text', 'watched-resource']) {
    server.registerResource(name, `test://${name}`, plain, ({ href }) => ({
      contents: [{ uri: href, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
    }))
  }
  const picture = { description: 'A picture', mimeType: 'image/png' }
  server.registerResource('static-binary', 'test://static-binary', picture, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: PNG }],
  }))
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  const json = { description: 'Data by id', mimeType: 'application/json' }
  server.registerResource('template', template, json, ({ href }, { id }) => {
    if (href.includes('nonexistent')) throw new ResourceNotFoundError(href)
    const data = { id, templateTest: true, data: `Data for ID: ${id}` }
    return { contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify(data) }] }
  })

  server.registerPrompt('test_simple_prompt', { description: 'Has no arguments' }, () => ({
    messages: [{ role: 'user', content: text('This is a simple prompt for testing.') }],
  }))
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'Has two arguments', argsSchema: texts('arg1', 'arg2') },
    ({ arg1, arg2 }) => ({
      messages: [{ role: 'user', content: text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`) }],
    }),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'Has a resource', argsSchema: texts('resourceUri') },
    ({ resourceUri }) => {
      const resource = { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' }
      return {
        messages: [
          { role: 'user', content: { type: 'resource', resource } },
          { role: 'user', content: text('Please process the embedded resource above.') },
        ],
      }
    },
  )
  server.registerPrompt('test_prompt_with_image', { description: 'Has a picture' }, () => ({
    messages: [
      { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
      { role: 'user', content: text('Please analyze the image above.') },
    ],
  }))

  server.server.setRequestHandler('completion/complete', ({ params }) => {
    const values = ['paris', 'park', 'party'].filter((one) => one.startsWith(params.argument.value))
    return { completion: { values, total: values.length, hasMore: false } }
  })
  server.server.setRequestHandler('resources/subscribe', () => ({}))
  server.server.setRequestHandler('resources/unsubscribe', () => ({}))
}

const texts = <Name extends string>(...names: readonly Name[]) =>
  fromJsonSchema<Readonly<Record<Name, string>>>({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string', description: `Argument ${name}` }])),
    required: [...names],
  })
