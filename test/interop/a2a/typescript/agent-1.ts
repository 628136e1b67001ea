import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { AgentCard, type Part, TaskState } from '@a2a-js/sdk'
import { LegacyA2AService, legacyGrpcService } from '@a2a-js/sdk/compat/v0_3/server/grpc'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server'
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import { A2AService, grpcService } from '@a2a-js/sdk/server/grpc'
import * as grpc from '@grpc/grpc-js'
import { ALL_INTERFACES, BINDINGS, type PairAgent, VERSIONS } from '../scenarios.ts'

/** The time limit of `wait` if no client cancels it or joins it: the machine may pause for a minute. */
const WAIT_MS = 120_000

type Waited = 'cancelled' | 'over'

/** Says what it heard; `wait` takes long. */
class HearingAgent implements AgentExecutor {
  /** Tasks that work; each call ends the wait of one. */
  readonly #waiting = new Map<string, (waited: Waited) => void>()

  async execute({ taskId, contextId, userMessage }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const status = (state: TaskState) => ({ state, message: undefined, timestamp: new Date().toISOString() })
    const update = (state: TaskState) =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state), metadata: undefined }))
    const task = { id: taskId, contextId, status: status(TaskState.TASK_STATE_SUBMITTED) }
    bus.publish(AgentEvent.task({ ...task, artifacts: [], history: [userMessage], metadata: undefined }))
    update(TaskState.TASK_STATE_WORKING)
    const text = textOf(userMessage.parts)
    if (text === 'wait') {
      const { promise, resolve } = Promise.withResolvers<Waited>()
      this.#waiting.set(taskId, resolve)
      const limit = setTimeout(() => resolve('over'), WAIT_MS).unref()
      const waited = await promise
      clearTimeout(limit)
      this.#waiting.delete(taskId)
      if (waited === 'cancelled') return void update(TaskState.TASK_STATE_CANCELED)
    }
    const part = { content: { $case: 'text' as const, value: `heard: ${text}` }, metadata: undefined }
    const artifact = {
      artifactId: 'answer',
      name: 'answer',
      description: '',
      parts: [{ ...part, filename: '', mediaType: '' }],
      metadata: undefined,
      extensions: [],
    }
    bus.publish(
      AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined }),
    )
    update(TaskState.TASK_STATE_COMPLETED)
  }

  async cancelTask(taskId: string): Promise<void> {
    this.#waiting.get(taskId)?.('cancelled')
  }

  /** Ends the work of `wait`. */
  complete(taskId: string): void {
    this.#waiting.get(taskId)?.('over')
  }
}

/** Completes a task when a client has subscribed to it again. */
class CompletingHandler extends DefaultRequestHandler {
  readonly #agent: HearingAgent

  constructor(card: AgentCard, agent: HearingAgent, extended: AgentCard) {
    // Nobody waits for notifications.
    const sender = { send: async () => {} }
    const push = new InMemoryPushNotificationStore()
    super(card, new InMemoryTaskStore(), agent, undefined, push, sender, extended)
    this.#agent = agent
  }

  override async *resubscribe(...words: Parameters<DefaultRequestHandler['resubscribe']>) {
    for await (const event of super.resubscribe(...words)) {
      yield event
      this.#agent.complete(words[0].id)
    }
  }
}

export function textOf(parts: readonly Part[]): string {
  return parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('')
}

/** What is used of Express, which has no types of its own. */
type ExpressApp = RequestListener & { use(path: string, handler: unknown): void }

/** Starts an agent made with the official SDK for TypeScript, 1.x, which also speaks 0.3, in all bindings. */
export async function startTypescript1(stops: AsyncDisposableStack): Promise<PairAgent> {
  const app = (createRequire(import.meta.url)('express') as () => ExpressApp)()
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const grpcServer = new grpc.Server()
  const grpcPort = await new Promise<number>((resolve, reject) => {
    grpcServer.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    )
  })
  stops.defer(() => grpcServer.forceShutdown())

  const urls = {
    jsonrpc: `http://127.0.0.1:${port}/rpc`,
    rest: `http://127.0.0.1:${port}/rest`,
    grpc: `127.0.0.1:${grpcPort}`,
  }
  const names = { jsonrpc: 'JSONRPC', rest: 'HTTP+JSON', grpc: 'GRPC' }
  const interfaceOf = (binding: (typeof BINDINGS)[number], protocolVersion: string) => ({
    url: urls[binding],
    protocolBinding: names[binding],
    protocolVersion,
    tenant: '',
  })
  const all = VERSIONS.flatMap((version) => BINDINGS.map((binding) => interfaceOf(binding, version)))
  const requestHandler = new CompletingHandler(
    describe('typescript', all),
    new HearingAgent(),
    describe('extended', all),
  )
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: true } }
  app.use('/rpc', jsonRpcHandler(options))
  app.use('/rest', restHandler(options))
  for (const version of VERSIONS) {
    for (const binding of BINDINGS) {
      const card = describe('typescript', [interfaceOf(binding, version)])
      app.use(
        `/${binding}-${version}/.well-known/agent-card.json`,
        agentCardHandler({ agentCardProvider: async () => card, legacyCompat: { enabled: version === '0.3' } }),
      )
    }
  }
  grpcServer.addService(A2AService, grpcService(options))
  grpcServer.addService(LegacyA2AService, legacyGrpcService(options))
  return { name: 'typescript 1.x', port, grpcPort, interfaces: ALL_INTERFACES }
}

function describe(name: string, supportedInterfaces: readonly object[]): AgentCard {
  return AgentCard.fromJSON({
    name,
    description: 'Says what it heard.',
    version: '1.0.0',
    supportedInterfaces,
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'hear', name: 'Hear', description: 'Hears', tags: ['example'], examples: [] }],
  })
}
