import { SendMessageRequest, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc'
import type { Meeting, Outcomes, PairClient, Scenario } from '../scenarios.ts'
import { ALL_INTERFACES } from '../scenarios.ts'
import { textOf } from './agent-1.ts'

const LIMIT_MS = 30_000

/** A client made with the official SDK for TypeScript, 1.x, which also speaks 0.3. */
export const typescript1: PairClient = { name: 'typescript 1.x', interfaces: ALL_INTERFACES, run }

async function run({ url, binding, version, grpc }: Meeting): Promise<Outcomes> {
  const legacyCompat = { enabled: version === '0.3' }
  const card = await new DefaultAgentCardResolver({ legacyCompat }).resolve(`${url}/`)
  const [only] = card.supportedInterfaces
  const address = only?.url ?? ''
  if (grpc !== undefined && only !== undefined) only.url = grpc
  const transports = {
    jsonrpc: new JsonRpcTransportFactory({ legacyCompat }),
    rest: new RestTransportFactory({ legacyCompat }),
    grpc: new GrpcTransportFactory({ legacyCompat }),
  }
  const client = await new ClientFactory({ transports: [transports[binding]] }).createFromAgentCard(card)
  const host = new URL(url).host

  const checks: Readonly<Record<Scenario, () => Promise<void>>> = {
    async card() {
      expect(card.supportedInterfaces.length, 1)
      if (binding !== 'grpc') expect(new URL(address).host, host)
    },
    async extended() {
      const { supportedInterfaces } = await client.transport.getExtendedAgentCard({ tenant: '' })
      expect(supportedInterfaces.length > 1, true)
      for (const { protocolBinding, url } of supportedInterfaces) {
        if (binding !== 'grpc' && protocolBinding !== 'GRPC') expect(new URL(url).host, host)
        if (grpc !== undefined && protocolBinding === 'GRPC') expect(url, grpc)
      }
    },
    async send() {
      const task = await sendHello(client)
      expect(task.status?.state, TaskState.TASK_STATE_COMPLETED)
      expect(textOf(task.artifacts[0]?.parts ?? []), 'heard: hello')
    },
    async stream() {
      const events = await Array.fromAsync(client.sendMessageStream(say('hello')))
      expect(lastState(events), TaskState.TASK_STATE_COMPLETED)
      expect(events.length >= 3, true)
    },
    async get() {
      const { id } = await sendHello(client)
      const task = await client.getTask({ id, tenant: '', historyLength: undefined })
      expect(task.status?.state, TaskState.TASK_STATE_COMPLETED)
    },
    async cancel() {
      const { id, rest } = await begin(client)
      const task = await client.cancelTask({ id, tenant: '', metadata: undefined })
      expect(task.status?.state, TaskState.TASK_STATE_CANCELED)
      expect(lastState(await Array.fromAsync(rest)), TaskState.TASK_STATE_CANCELED)
    },
    async resubscribe() {
      const { id, rest } = await begin(client)
      const seen = await Array.fromAsync(client.resubscribeTask({ id, tenant: '' }))
      expect(lastState(seen), TaskState.TASK_STATE_COMPLETED)
      expect(lastState(await Array.fromAsync(rest)), TaskState.TASK_STATE_COMPLETED)
    },
    async push() {
      const { id, rest } = await begin(client)
      await createPush(client, id)
      const found = await client.getTaskPushNotificationConfig({ taskId: id, id: 'p1', tenant: '' })
      expect(found.url, PUSH_URL)
      const { configs } = await client.listTaskPushNotificationConfig({
        taskId: id,
        tenant: '',
        pageSize: 0,
        pageToken: '',
      })
      expect(configs.length, 1)
      await client.cancelTask({ id, tenant: '', metadata: undefined })
      await Array.fromAsync(rest)
    },
    async unpush() {
      const { id, rest } = await begin(client)
      await createPush(client, id)
      await client.deleteTaskPushNotificationConfig({ taskId: id, id: 'p1', tenant: '' })
      await client.cancelTask({ id, tenant: '', metadata: undefined })
      await Array.fromAsync(rest)
    },
    async unknown() {
      const error = await client.getTask({ id: 'no-such-task', tenant: '', historyLength: undefined }).then(
        () => undefined,
        (error: Error) => error,
      )
      expect(error?.constructor.name.endsWith('TaskNotFoundError'), true)
    },
  }
  const outcomes: [string, string][] = []
  for (const [scenario, check] of Object.entries(checks)) outcomes.push([scenario, await outcomeOf(check)])
  return Object.fromEntries(outcomes) as Outcomes
}

const PUSH_URL = 'http://127.0.0.1:9/push'

async function createPush(client: Client, taskId: string): Promise<void> {
  const authentication = undefined
  const config = { taskId, id: 'p1', url: PUSH_URL, token: '', tenant: '', authentication }
  expect((await client.createTaskPushNotificationConfig(config)).url, PUSH_URL)
}

function say(text: string): SendMessageRequest {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
  return SendMessageRequest.fromJSON({ message })
}

async function sendHello(client: Client): Promise<Task> {
  const answer = await client.sendMessage(say('hello'))
  if (!('artifacts' in answer)) throw new Error('the agent answers with a task')
  return answer
}

/** Begins a task that takes long. */
async function begin(client: Client): Promise<{ readonly id: string; readonly rest: AsyncIterable<StreamResponse> }> {
  const events = client.sendMessageStream(say('wait'))
  const { value } = await events.next()
  const payload = (value as StreamResponse | undefined)?.payload
  if (payload?.$case !== 'task') throw new Error(`the stream begins with ${payload?.$case}`)
  return { id: payload.value.id, rest: events }
}

function lastState(events: readonly StreamResponse[]): TaskState | undefined {
  const states = events.flatMap(({ payload }) =>
    payload?.$case === 'task' || payload?.$case === 'statusUpdate' ? [payload.value.status?.state] : [],
  )
  return states.at(-1)
}

async function outcomeOf(check: () => Promise<void>): Promise<string> {
  const timeout = AbortSignal.timeout(LIMIT_MS)
  const late = new Promise<never>((_, reject) => {
    timeout.addEventListener('abort', () => reject(new Error('no answer')))
  })
  try {
    await Promise.race([check(), late])
    return 'ok'
  } catch (error) {
    return `${(error as Error).message}`.split('\n')[0]!
  }
}

function expect(seen: unknown, expected: unknown): void {
  if (seen !== expected) throw new Error(`${JSON.stringify(seen)} instead of ${JSON.stringify(expected)}`)
}
