import {
  acceptedContent,
  type ElicitRequestFormParams,
  type InputRequests,
  inputRequired,
  inputResponse,
  type McpServer,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { says, text } from './samples.ts'

/** Tools and a prompt of revision 2026-07-28: they end with a list of what they need, and are called again with it. */
export function registerRounds(server: McpServer, state: RequestStateCodec): void {
  server.registerTool('test_input_required_result_elicitation', ROUNDS, ({ mcpReq }) => {
    const user = acceptedContent<{ readonly name: string }>(mcpReq.inputResponses, 'user_name')
    if (typeof user?.name === 'string') return says(`Hello, ${user.name}!`)
    return inputRequired({ inputRequests: { user_name: ASK_NAME } })
  })
  server.registerTool('test_streaming_elicitation', ROUNDS, ({ mcpReq }) => {
    const user = acceptedContent<{ readonly name: string }>(mcpReq.inputResponses, 'user_name')
    return user ? says(`Hello, ${user.name}!`) : inputRequired({ inputRequests: { user_name: ASK_NAME } })
  })
  server.registerTool('test_input_required_result_sampling', ROUNDS, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'capital_question')
    if (answer.kind === 'sampling') return says(JSON.stringify(answer.result.content))
    return inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?', 100) } })
  })
  server.registerTool('test_input_required_result_list_roots', ROUNDS, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'client_roots')
    if (answer.kind === 'roots') return says(JSON.stringify(answer.roots))
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
  })
  server.registerTool('test_input_required_result_multiple_inputs', ROUNDS, async ({ mcpReq }) => {
    const inputRequests: InputRequests = {
      user_name: ASK_NAME,
      greeting: sample('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    }
    const isMissing = (key: string) => inputResponse(mcpReq.inputResponses, key).kind === 'missing'
    const missing = Object.entries(inputRequests).filter(([key]) => isMissing(key))
    if (missing.length === 0) return says('all inputs received')
    const requestState = await state.mint({ tool: 'multiple' })
    return inputRequired({ inputRequests: Object.fromEntries(missing), requestState })
  })
  for (const name of ['request_state', 'tampered_state']) {
    server.registerTool(`test_input_required_result_${name}`, ROUNDS, async ({ mcpReq }) => {
      const isConfirmed = acceptedContent(mcpReq.inputResponses, 'confirm') !== undefined
      if (isConfirmed && mcpReq.requestState() !== undefined) return says('state-ok')
      const confirm = ask('Please confirm', { ok: { type: 'boolean' } })
      return inputRequired({ inputRequests: { confirm }, requestState: await state.mint({ tool: name }) })
    })
  }
  server.registerTool('test_input_required_result_multi_round', ROUNDS, async ({ mcpReq }) => {
    const first = acceptedContent<{ readonly name: string }>(mcpReq.inputResponses, 'step1')
    const second = acceptedContent<{ readonly color: string }>(mcpReq.inputResponses, 'step2')
    const kept = mcpReq.requestState<{ readonly name?: string }>()
    if (second) return says(`${kept?.name} likes ${second.color}`)
    if (first) {
      const step2 = ask('Step 2: What is your favorite color?', { color: { type: 'string' } })
      return inputRequired({ inputRequests: { step2 }, requestState: await state.mint({ name: first.name }) })
    }
    const step1 = ask('Step 1: What is your name?', { name: { type: 'string' } })
    return inputRequired({ inputRequests: { step1 }, requestState: await state.mint({}) })
  })
  server.registerTool('test_input_required_result_capabilities', ROUNDS, (context) => {
    const { elicitation, sampling } = clientCapabilities(context)
    const inputRequests: InputRequests = {
      ...(elicitation && { user_name: ASK_NAME }),
      ...(sampling && { greeting: sample('Generate a greeting', 50) }),
    }
    return Object.keys(inputRequests).length > 0 ? inputRequired({ inputRequests }) : says('nothing to ask')
  })
  // The SDK refuses to ask a client for what it cannot do, with -32021.
  server.registerTool('test_missing_capability', { description: 'Needs sampling' }, () =>
    inputRequired({ inputRequests: { greeting: sample('Generate a greeting', 50) } }),
  )
  server.registerPrompt('test_input_required_result_prompt', ROUNDS, ({ mcpReq }) => {
    const user = acceptedContent<{ readonly context: string }>(mcpReq.inputResponses, 'user_context')
    if (user) return { messages: [{ role: 'user', content: text(`Use this context: ${user.context}`) }] }
    const user_context = ask('What context should the prompt use?', { context: { type: 'string' } })
    return inputRequired({ inputRequests: { user_context } })
  })
}

const ROUNDS = { description: 'Needs input' }

type Properties = ElicitRequestFormParams['requestedSchema']['properties']

function ask(message: string, properties: Properties) {
  const requestedSchema = { type: 'object', properties, required: Object.keys(properties) } as const
  return inputRequired.elicit({ mode: 'form', message, requestedSchema })
}

const ASK_NAME = ask('What is your name?', { name: { type: 'string' } })

const sample = (question: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(question) }], maxTokens })

function clientCapabilities({ mcpReq }: ServerContext): Readonly<Record<string, object | undefined>> {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {}
  return (envelope['io.modelcontextprotocol/clientCapabilities'] ?? {}) as Readonly<Record<string, object | undefined>>
}
