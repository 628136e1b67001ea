import { isAnswerTo, isObject, type MessageId, parseMessage, type ResponseMessage } from '../message/json-rpc.ts'
import type { TargetMessage, TargetReply } from '../message/target-reply.ts'
import { abandon } from '../target/abandon.ts'
import { RELATED_TASK } from '../target/related-task.ts'
import { ResumedResponse } from '../target/resume-response.ts'
import { TargetStreamError } from '../target/target-stream-error.ts'

/** A call that the target runs as a task (revision 2025-11-25). */
export interface TaskCall {
  readonly id: MessageId
  /** The response to the call. */
  readonly created: AsyncGenerator<TargetMessage>
  /** Sends a request about the task. */
  readonly send: (message: string) => Promise<TargetReply>
  /** Continues a stream after an event. */
  readonly open: (lastEventId: string) => Promise<TargetReply>
  readonly signal: AbortSignal
  /** Cancels the task, even after the client has disconnected. */
  readonly cancel: (message: string) => void
}

/**
 * Waits for the result of a task, as if the call had not been one. What the target asks meanwhile comes on the stream of the result.
 */
export async function* awaitTask({ id, created, send, open, signal, cancel }: TaskCall): AsyncGenerator<TargetMessage> {
  let running: string | undefined
  try {
    for await (const received of created) {
      const { message } = received
      const task = isAnswerTo(message, id) ? message.result?.task : undefined
      if (!isObject(task) || typeof task.taskId !== 'string') {
        yield received
        continue
      }
      running = task.taskId
      const wanted = crypto.randomUUID()
      const first = await send(taskRequest(wanted, 'tasks/result', running))
      if (first.kind !== 'messages') {
        abandon(first)
        throw new TargetStreamError('the target does not return the result of its task')
      }
      for await (const told of new ResumedResponse({ id: wanted, first, open, signal })) {
        if (!isAnswerTo(told.message, wanted)) yield told
        else {
          running = undefined
          yield { ...told, message: withoutTask(told.message, id) }
          return
        }
      }
      return
    }
  } finally {
    if (running !== undefined) cancel(taskRequest(crypto.randomUUID(), 'tasks/cancel', running))
  }
}

function taskRequest(id: string, method: string, taskId: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params: { taskId } })
}

function withoutTask({ json, result }: ResponseMessage, id: MessageId): ResponseMessage {
  const meta = result?._meta
  const { [RELATED_TASK]: _, ...rest } = isObject(meta) ? meta : {}
  const own = isObject(meta) ? { ...result, _meta: rest } : result
  return parseMessage(JSON.stringify({ ...json, id, ...(own && { result: own }) })) as ResponseMessage
}
