import { type ElicitRequestFormParams, fromJsonSchema, type McpServer } from '@modelcontextprotocol/server'
import { says } from './samples.ts'

/** Tools that send requests to the client while they run. Revision 2026-07-28 has no such requests, see `rounds.ts`. */
export function registerQuestionTools(server: McpServer): void {
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model of the client', inputSchema: TEXT('prompt') },
    async ({ prompt }, { mcpReq }) => {
      const messages = [{ role: 'user', content: { type: 'text', text: prompt } } as const]
      const { content } = await mcpReq.requestSampling({ messages, maxTokens: 100 })
      const [first] = [content].flat()
      return says(`LLM response: ${first?.type === 'text' ? first.text : 'no text'}`)
    },
  )
  server.registerTool(
    'test_elicitation',
    { description: 'Asks the user', inputSchema: TEXT('message') },
    async ({ message }, { mcpReq }) => {
      const { action, content } = await mcpReq.elicitInput({ mode: 'form', message, requestedSchema: USER })
      return says(`User response: action=${action}, content=${JSON.stringify(content ?? {})}`)
    },
  )
  for (const [name, requestedSchema] of Object.entries(FORMS)) {
    server.registerTool(name, { description: 'Asks the user to fill in a form' }, async ({ mcpReq }) => {
      const message = 'Please review and update the form fields'
      const { action, content } = await mcpReq.elicitInput({ mode: 'form', message, requestedSchema })
      return says(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`)
    })
  }
}

type Form = ElicitRequestFormParams['requestedSchema']

const TEXT = <Name extends string>(name: Name) =>
  fromJsonSchema<Readonly<Record<Name, string>>>({
    type: 'object',
    properties: { [name]: { type: 'string' } },
    required: [name],
  })

const USER: Form = {
  type: 'object',
  properties: {
    username: { type: 'string', description: "User's response" },
    email: { type: 'string', description: "User's email address" },
  },
  required: ['username', 'email'],
}

const ONE = ['option1', 'option2', 'option3']
const titled = (name: string, title: string) =>
  ['First', 'Second', 'Third'].map((rank, i) => ({ const: `${name}${i + 1}`, title: `${rank} ${title}` }))

const FORMS: Readonly<Record<string, Form>> = {
  test_elicitation_sep1034_defaults: {
    type: 'object',
    properties: {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    },
    required: [],
  },
  test_elicitation_sep1330_enums: {
    type: 'object',
    properties: {
      untitledSingle: { type: 'string', enum: ONE },
      titledSingle: { type: 'string', oneOf: titled('value', 'Option') },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ONE } },
      titledMulti: { type: 'array', items: { anyOf: titled('value', 'Choice') } },
    },
    required: [],
  },
}
