import { parseMessage } from '../message/json-rpc.ts'
import type { TargetMessage, TargetReply } from '../message/target-reply.ts'

type Messages = Extract<TargetReply, { kind: 'messages' }>

/** A reply with one message that the gateway has written. @param spoken called when the message is read */
export function oneMessage(text: string, endpoint: string, spoken: () => void = () => {}): Messages {
  const message = parseMessage(text)
  if (message.kind === 'unreadable') throw new Error(`not a message: ${text}`)
  async function* messages(): AsyncGenerator<TargetMessage> {
    spoken()
    yield { message: message as TargetMessage['message'], eventId: undefined, retryMs: undefined, keep: () => {} }
  }
  return { kind: 'messages', sessionId: undefined, endpoint, messages: messages(), abort: () => {} }
}
