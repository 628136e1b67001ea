// @ts-nocheck: in this project, the types of these modules are those of another version.
/**
 * Agent and client of the SDK 0.3 for TypeScript: `pair.mjs server` prints its port; `pair.mjs client URL BINDING GRPC` prints the outcomes as
 * JSON. It runs in the folder of that SDK. Under `/BINDING-0.3` the agent has a card with that interface alone.
 */
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc'
import { DefaultRequestHandler, InMemoryPushNotificationStore, InMemoryTaskStore } from '@a2a-js/sdk/server'
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import { A2AService, grpcService } from '@a2a-js/sdk/server/grpc'
import grpc from '@grpc/grpc-js'
import express from 'express'

const BINDINGS = { jsonrpc: 'JSONRPC', rest: 'HTTP+JSON', grpc: 'GRPC' }
/** A machine may stand still for a minute: a client that joins a task must find it working then. */
const WAIT_MS = 120_000
/** Between the request of a client that joins a task, and the end of the task. */
const JOIN_MS = 500
const LIMIT_MS = 30_000
const PUSH_URL = 'http://127.0.0.1:9/push'

/** Says what it heard; `wait` works until it is cancelled, or a client has joined the task. */
class HearingAgent {
  /** Ends the wait of a task. */
  #waiting = new Map()

  async execute({ taskId, contextId, userMessage }, bus) {
    const status = (state) => ({ state, timestamp: new Date().toISOString() })
    const update = (state, final) =>
      bus.publish({ kind: 'status-update', taskId, contextId, status: status(state), final })
    bus.publish({ kind: 'task', id: taskId, contextId, status: status('submitted'), history: [userMessage] })
    update('working', false)
    const text = textOf(userMessage.parts)
    const ended = new Promise((resolve) => this.#waiting.set(taskId, resolve))
    const isCancelled = text === 'wait' && (await Promise.race([ended, sleep(WAIT_MS, false, { ref: false })]))
    this.#waiting.delete(taskId)
    if (!isCancelled) {
      const artifact = { artifactId: 'answer', name: 'answer', parts: [{ kind: 'text', text: `heard: ${text}` }] }
      bus.publish({ kind: 'artifact-update', taskId, contextId, artifact, append: false, lastChunk: true })
    }
    update(isCancelled ? 'canceled' : 'completed', true)
    bus.finished()
  }

  async cancelTask(taskId) {
    this.#waiting.get(taskId)?.(true)
  }

  complete(taskId) {
    this.#waiting.get(taskId)?.(false)
  }
}

/** Completes a task when a client has joined it. */
class CompletingHandler extends DefaultRequestHandler {
  #agent

  constructor(card, store, agent, ...more) {
    super(card, store, agent, ...more)
    this.#agent = agent
  }

  async *resubscribe(params, ...more) {
    setTimeout(() => this.#agent.complete(params.id), JOIN_MS)
    yield* super.resubscribe(params, ...more)
  }
}

function textOf(parts) {
  return parts.map((part) => part.text ?? '').join('')
}

function describe(name, first, others) {
  return {
    name,
    description: 'Says what it heard.',
    protocolVersion: '0.3.0',
    version: '1.0.0',
    url: first.url,
    preferredTransport: first.transport,
    additionalInterfaces: others,
    capabilities: { streaming: true, pushNotifications: true },
    supportsAuthenticatedExtendedCard: true,
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'hear', name: 'Hear', description: 'Hears', tags: ['example'] }],
  }
}

async function serve() {
  const app = express()
  const server = createServer(app)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  const grpcServer = new grpc.Server()
  const grpcPort = await new Promise((resolve, reject) =>
    grpcServer.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  )
  const urls = {
    jsonrpc: `http://127.0.0.1:${port}/rpc`,
    rest: `http://127.0.0.1:${port}/rest`,
    grpc: `127.0.0.1:${grpcPort}`,
  }
  const interfaces = Object.entries(BINDINGS).map(([binding, transport]) => ({ url: urls[binding], transport }))
  const requestHandler = new CompletingHandler(
    describe('typescript', interfaces[0], interfaces.slice(1)),
    new InMemoryTaskStore(),
    new HearingAgent(),
    undefined,
    new InMemoryPushNotificationStore(),
    // Nobody waits for notifications.
    { send: async () => {} },
    describe('extended', interfaces[0], interfaces.slice(1)),
  )
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication }
  app.use('/rpc', jsonRpcHandler(options))
  app.use('/rest', restHandler(options))
  for (const [index, binding] of Object.keys(BINDINGS).entries()) {
    const card = describe('typescript', interfaces[index], [])
    app.use(`/${binding}-0.3/.well-known/agent-card.json`, agentCardHandler({ agentCardProvider: async () => card }))
  }
  app.get('/grpc', (_, response) => response.send(urls.grpc))
  grpcServer.addService(A2AService, grpcService(options))
  console.log(port)
}

async function runClient(url, binding, grpcAddress) {
  const card = await new DefaultAgentCardResolver().resolve(`${url}/`)
  const address = card.url
  if (grpcAddress && binding === 'grpc') {
    card.url = grpcAddress
    card.additionalInterfaces = [{ url: grpcAddress, transport: 'GRPC' }]
  }
  const transports = {
    jsonrpc: new JsonRpcTransportFactory(),
    rest: new RestTransportFactory(),
    grpc: new GrpcTransportFactory(),
  }
  const client = await new ClientFactory({ transports: [transports[binding]] }).createFromAgentCard(card)
  const host = new URL(url).host
  const say = (text) => ({
    message: { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text }] },
  })
  const hello = async () => {
    const task = await client.sendMessage(say('hello'))
    if (task.kind !== 'task') throw new Error('the agent answers with a task')
    return task
  }
  const begin = async () => {
    const events = client.sendMessageStream(say('wait'))
    const { value } = await events.next()
    if (value?.kind !== 'task') throw new Error(`the stream begins with ${value?.kind}`)
    return { id: value.id, rest: events }
  }
  const createPush = (taskId) =>
    client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: { id: 'p1', url: PUSH_URL } })
  const checks = {
    async card() {
      if (binding !== 'grpc') expect(new URL(address).host, host)
      expect(card.name, 'typescript', 'python')
    },
    async extended() {
      const { additionalInterfaces } = await client.transport.getExtendedAgentCard()
      for (const { transport, url: at } of additionalInterfaces) {
        if (binding !== 'grpc' && transport !== 'GRPC') expect(new URL(at).host, host)
        if (grpcAddress && transport === 'GRPC') expect(at, grpcAddress)
      }
    },
    async send() {
      const task = await hello()
      expect(task.status.state, 'completed')
      expect(textOf(task.artifacts[0].parts), 'heard: hello')
    },
    async stream() {
      const events = await Array.fromAsync(client.sendMessageStream(say('hello')))
      expect(lastState(events), 'completed')
      expect(events.length >= 3, true)
    },
    async get() {
      const { id } = await hello()
      expect((await client.getTask({ id })).status.state, 'completed')
    },
    async cancel() {
      const { id, rest } = await begin()
      expect((await client.cancelTask({ id })).status.state, 'canceled')
      expect(lastState(await Array.fromAsync(rest)), 'canceled')
    },
    async resubscribe() {
      const { id, rest } = await begin()
      expect(lastState(await Array.fromAsync(client.resubscribeTask({ id }))), 'completed')
      await Array.fromAsync(rest)
    },
    async push() {
      const { id, rest } = await begin()
      expect((await createPush(id)).pushNotificationConfig.url, PUSH_URL)
      const found = await client.getTaskPushNotificationConfig({ id, pushNotificationConfigId: 'p1' })
      expect(found.pushNotificationConfig.url, PUSH_URL)
      expect((await client.listTaskPushNotificationConfig({ id })).length, 1)
      await client.cancelTask({ id })
      await Array.fromAsync(rest)
    },
    async unpush() {
      const { id, rest } = await begin()
      await createPush(id)
      await client.deleteTaskPushNotificationConfig({ id, pushNotificationConfigId: 'p1' })
      await client.cancelTask({ id })
      await Array.fromAsync(rest)
    },
    async unknown() {
      const error = await client.getTask({ id: 'no-such-task' }).catch((reason) => reason)
      expect(error?.constructor.name, 'TaskNotFoundError', 'TaskNotFoundJSONRPCError')
    },
  }
  const outcomes = {}
  for (const [scenario, check] of Object.entries(checks)) outcomes[scenario] = await outcomeOf(check)
  return outcomes
}

function lastState(events) {
  return events.flatMap(({ status }) => (status === undefined ? [] : [status.state])).at(-1)
}

async function outcomeOf(check) {
  const late = sleep(LIMIT_MS, undefined, { ref: false }).then(() => {
    throw new Error('no answer')
  })
  try {
    await Promise.race([check(), late])
    return 'ok'
  } catch (error) {
    return `${error.message}`.split('\n')[0]
  }
}

function expect(seen, ...expected) {
  if (!expected.includes(seen)) throw new Error(`${JSON.stringify(seen)} instead of ${JSON.stringify(expected[0])}`)
}

if (process.argv[2] === 'server') await serve()
else {
  console.log(JSON.stringify(await runClient(...process.argv.slice(3))))
  // Streams that were left open keep the loop busy.
  process.exit(0)
}
