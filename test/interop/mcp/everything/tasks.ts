import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server'
import { says } from './samples.ts'

/** The extension of revision 2026-07-28 by which a tool call may become a task. The SDK does not have it. */
export const TASKS = 'io.modelcontextprotocol/tasks'

/** Registers the tools that become tasks, as they are for clients without the extension. */
export function registerTaskTools(server: McpServer): void {
  const greeting = schema<{ readonly name: string }>({ name: { type: 'string' } })
  server.registerTool('greet', { description: 'Greets', inputSchema: greeting }, ({ name }) => says(`Hello, ${name}!`))
  const slow = schema<{ readonly seconds?: number }>({ seconds: { type: 'number' }, label: { type: 'string' } })
  server.registerTool('slow_compute', { description: 'Sleeps', inputSchema: slow }, async ({ seconds = 0 }) => {
    await wait(seconds * 1_000)
    return says('computed')
  })
  for (const name of Object.keys(JOBS).filter((job) => job !== 'slow_compute')) {
    server.registerTool(name, { description: 'Runs as a task' }, () => says('never called'))
  }
}

const schema = <Values>(properties: Readonly<Record<string, { readonly type: 'string' | 'number' }>>) =>
  fromJsonSchema<Values>({ type: 'object', properties })

/** Serves calls of task tools and the methods of the extension; the rest goes to `next`. */
export function withTasks(next: (request: Request) => Promise<Response>): (request: Request) => Promise<Response> {
  const tasks = new Map<string, Task>()
  return async (request) => {
    if (request.method !== 'POST') return next(request)
    const message = (await request
      .clone()
      .json()
      .catch(() => undefined)) as Message | undefined
    const { method = '', params = {} } = message ?? {}
    const isTaskMethod = ['tasks/get', 'tasks/update', 'tasks/cancel'].includes(method)
    const job = method === 'tools/call' ? JOBS[params.name ?? ''] : undefined
    const hasExtension = params._meta?.['io.modelcontextprotocol/clientCapabilities']?.extensions?.[TASKS] !== undefined
    if (!isTaskMethod && (job === undefined || (params.name === 'slow_compute' && !hasExtension))) return next(request)
    const answer = (body: object, status = 200) =>
      Response.json({ jsonrpc: '2.0', id: message!.id, ...body }, { status })

    const name = isTaskMethod ? params.taskId : params.name
    if (request.headers.get('mcp-method') !== method || request.headers.get('mcp-name') !== name) {
      return answer({ error: { code: -32_020, message: 'Header mismatch' } }, 400)
    }
    if (!hasExtension) {
      const data = { requiredCapabilities: { extensions: { [TASKS]: {} } } }
      return answer({ error: { code: -32_021, message: 'Missing required client capability', data } }, 400)
    }
    if (job !== undefined) return answer({ result: start(tasks, job, params) })
    const task = tasks.get(params.taskId ?? '')
    if (task === undefined) return answer({ error: { code: -32_602, message: 'Unknown task' } })
    if (method === 'tasks/get') return answer({ result: { resultType: 'complete', ...task.describe() } })
    if (method === 'tasks/cancel') task.settle({ status: 'cancelled' })
    if (method === 'tasks/update') task.answer(params.inputResponses ?? {})
    return answer({ result: { resultType: 'complete' } })
  }
}

interface Message {
  readonly id: number | string
  readonly method?: string
  readonly params?: Params
}

interface Params {
  readonly name?: string
  readonly taskId?: string
  readonly arguments?: Readonly<Record<string, unknown>>
  readonly inputResponses?: InputResponses
  readonly _meta?: {
    readonly 'io.modelcontextprotocol/clientCapabilities'?: { readonly extensions?: Readonly<Record<string, object>> }
  }
}

type InputResponses = Readonly<Record<string, { readonly content?: { readonly name?: string } }>>

/** Runs a task, or asks for input before it becomes one. */
type Job = (task: Task, params: Params) => object | undefined

function start(tasks: Map<string, Task>, job: Job, params: Params): object {
  const task = new Task()
  const before = job(task, params)
  if (before !== undefined) return before
  tasks.set(task.id, task)
  return { resultType: 'task', ...task.describe() }
}

const question = (message: string) => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
})

const JOBS: Readonly<Record<string, Job>> = {
  slow_compute(task, { arguments: values }) {
    void task.settleAfter(Number(values?.seconds ?? 0) * 1_000, { status: 'completed', result: says('computed') })
    return undefined
  },
  failing_job(task) {
    void task.settleAfter(1_000, { status: 'completed', result: { ...says('the job failed'), isError: true } })
    return undefined
  },
  protocol_error_job(task) {
    void task.settleAfter(50, { status: 'failed', error: { code: -32_603, message: 'the job broke' } })
    return undefined
  },
  confirm_delete(task) {
    task.ask({ confirm: question('Delete it?') })
    return undefined
  },
  multi_input(task) {
    task.ask({ first: question('The first name?'), second: question('The second name?') })
    return undefined
  },
  test_tool_with_task(task, { inputResponses }) {
    const name = inputResponses?.user_name?.content?.name
    if (name === undefined) {
      return { resultType: 'input_required', inputRequests: { user_name: question('What is your name?') } }
    }
    void task.settleAfter(50, { status: 'completed', result: says(`Hello, ${name}!`) })
    return undefined
  },
}

interface Outcome {
  readonly status: 'completed' | 'failed' | 'cancelled'
  readonly result?: object
  readonly error?: object
}

class Task {
  readonly id = randomUUID()
  readonly #createdAt = new Date().toISOString()
  #lastUpdatedAt = this.#createdAt
  #outcome: Outcome | undefined
  #inputRequests: Readonly<Record<string, object>> = {}

  describe(): object {
    const isWaiting = Object.keys(this.#inputRequests).length > 0 && this.#outcome === undefined
    return {
      taskId: this.id,
      status: this.#outcome?.status ?? (isWaiting ? 'input_required' : 'working'),
      createdAt: this.#createdAt,
      lastUpdatedAt: this.#lastUpdatedAt,
      ttlMs: 60_000,
      pollIntervalMs: 100,
      ...(isWaiting && { inputRequests: this.#inputRequests }),
      ...(this.#outcome?.result && { result: this.#outcome.result }),
      ...(this.#outcome?.error && { error: this.#outcome.error }),
    }
  }

  ask(inputRequests: Readonly<Record<string, object>>): void {
    this.#inputRequests = inputRequests
  }

  answer(responses: Readonly<Record<string, object>>): void {
    const left = Object.entries(this.#inputRequests).filter(([key]) => !(key in responses))
    this.#inputRequests = Object.fromEntries(left)
    if (left.length === 0) this.settle({ status: 'completed', result: says('answered') })
  }

  settle(outcome: Outcome): void {
    this.#outcome ??= outcome
    this.#lastUpdatedAt = new Date().toISOString()
  }

  async settleAfter(delayMs: number, outcome: Outcome): Promise<void> {
    await wait(delayMs, undefined, { ref: false })
    this.settle(outcome)
  }
}
