import { setTimeout as sleep } from 'node:timers/promises'
import { type Message, TaskState } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server'

const WORD_PAUSE_MS = 15

/**
 * The work of the example agent: a task whose artifact repeats what it was told, word by word.
 * A streaming caller sees the task, `working`, one artifact update a word, `completed`; another only the completed task.
 */
export class RepeatingAgent implements AgentExecutor {
  readonly #name: string
  readonly #cancelled = new Set<string>()

  constructor(name: string) {
    this.#name = name
  }

  async execute({ taskId, contextId, userMessage }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const status = (state: TaskState) => ({ state, message: undefined, timestamp: new Date().toISOString() })
    const task = { id: taskId, contextId, status: status(TaskState.TASK_STATE_SUBMITTED) }
    bus.publish(AgentEvent.task({ ...task, artifacts: [], history: [userMessage], metadata: undefined }))
    const publishState = (state: TaskState) =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state), metadata: undefined }))

    publishState(TaskState.TASK_STATE_WORKING)
    const words = `${this.#name} heard: ${textOf(userMessage)}`.split(' ')
    for (const [index, word] of words.entries()) {
      if (this.#cancelled.delete(taskId)) return publishState(TaskState.TASK_STATE_CANCELED)
      const text = index === 0 ? word : ` ${word}`
      const artifact = {
        artifactId: 'answer',
        name: 'answer',
        description: '',
        parts: [{ content: { $case: 'text' as const, value: text }, metadata: undefined, filename: '', mediaType: '' }],
        metadata: undefined,
        extensions: [],
      }
      const lastChunk = index === words.length - 1
      bus.publish(
        AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: index > 0, lastChunk, metadata: undefined }),
      )
      await sleep(WORD_PAUSE_MS)
    }
    publishState(TaskState.TASK_STATE_COMPLETED)
  }

  async cancelTask(taskId: string): Promise<void> {
    this.#cancelled.add(taskId)
  }
}

function textOf(message: Message): string {
  return message.parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join(' ')
}
