import { elementsOf, memberOf, objectAt, textAt } from '../json/read-value.ts'
import { roleOfItem } from './item-role.ts'

/** An item that a provider tells. */
export interface ToldItem {
  readonly id: string | undefined
  /** The id of the item before it. Undefined: it is the first one, or the provider does not tell. */
  readonly previous: string | undefined
  readonly role: ReturnType<typeof roleOfItem>
  readonly text: string
}

/** Hears what a provider does to the conversation. */
export interface ItemListener {
  /** The provider has an item: one of the client, or one of its own. */
  added(item: ToldItem): void
  removed(id: string): void
  /** The session has these instructions. */
  instructed(text: string): void
}

/** Names of events of several versions of the API. */
export const ITEM_EVENTS: ReadonlySet<string> = new Set([
  ...['created', 'added', 'done', 'deleted'].map((what) => `conversation.item.${what}`),
  'input_audio_buffer.committed',
  'response.done',
  'session.updated',
])

export function tellItems(type: string, event: unknown, listener: ItemListener): void {
  const id = textAt(event, 'item_id')
  switch (type) {
    case 'conversation.item.deleted':
      return listener.removed(id ?? '')
    case 'session.updated':
      return listener.instructed(textAt(objectAt(event, 'session'), 'instructions') ?? '')
    case 'input_audio_buffer.committed':
      return listener.added({ id, previous: previousOf(event), role: 'user', text: '' })
    case 'response.done':
      return tellOutput(objectAt(event, 'response'), listener)
    default:
      return listener.added(itemOf(objectAt(event, 'item'), previousOf(event)))
  }
}

/** Responses outside of the conversation have no id of one. */
function tellOutput(response: unknown, listener: ItemListener): void {
  if ((textAt(response, 'conversation_id') ?? '') === '') return
  for (const item of elementsOf(memberOf(response, 'output'))) listener.added({ ...itemOf(item, undefined), text: '' })
}

function previousOf(event: unknown): string | undefined {
  return textAt(event, 'previous_item_id')
}

function itemOf(item: unknown, previous: string | undefined): ToldItem {
  const role = roleOfItem(textAt(item, 'role'), textAt(item, 'type'))
  const output = textAt(item, 'output') ?? ''
  const parts = elementsOf(memberOf(item, 'content'))
  const text = parts.map((part) => textAt(part, 'text') ?? textAt(part, 'transcript') ?? '').join('')
  return { id: textAt(item, 'id'), previous, role, text: text + output }
}
