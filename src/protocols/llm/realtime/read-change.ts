import { Pace, type Steps } from '#base/in-slices.ts'
import type { GuardedTexts } from '../guards/texts/guarded-texts.ts'
import type { JsonValue } from '../json/json-document.ts'
import type { BodyTexts } from '../texts/body-texts.ts'
import type { ConversationChange, Spoken } from './conversation.ts'
import { roleOfItem } from './item-role.ts'

/** Gives a text as it is when it is asked: guards may change it before. */
type Speaker = () => Spoken

/** The work for a text of an event, in characters. */
const WORK_PER_TEXT = 128

/**
 * What an event of a client does to the conversation. Undefined: nothing. Yields between texts.
 * @param found where the texts are in the event
 * @param texts the same texts
 */
export function* readChange(
  event: JsonValue,
  found: BodyTexts,
  texts: GuardedTexts,
): Steps<ConversationChange | undefined> {
  switch (event.get('type')?.text) {
    case 'conversation.item.create':
      return createdBy(event, (yield* readSpeakers(found, texts)).get('item'))
    case 'conversation.item.delete':
      return { kind: 'delete', id: event.get('item_id')?.text ?? '' }
    case 'conversation.item.truncate':
      return { kind: 'truncate', id: event.get('item_id')?.text ?? '' }
    case 'session.update': {
      const spoken = (yield* readSpeakers(found, texts)).get('session.instructions')
      return spoken && { kind: 'instruct', spoken }
    }
    case 'response.create': {
      const speakers = yield* readSpeakers(found, texts)
      const input = event.get('response')?.get('input')
      return {
        kind: 'respond',
        instructions: speakers.get('response.instructions'),
        input: input?.kind === 'array' ? yield* readInput(input, speakers) : undefined,
      }
    }
    default:
      return undefined
  }
}

function createdBy(event: JsonValue, spoken: Speaker | undefined): ConversationChange {
  const item = event.get('item')
  const role = roleOfItem(item?.get('role')?.text, item?.get('type')?.text)
  const previous = event.get('previous_item_id')
  return {
    kind: 'create',
    id: item?.get('id')?.text,
    previous: previous?.kind === 'string' ? previous.text : undefined,
    spoken: () => ({ role, text: spoken?.().text ?? '' }),
  }
}

function* readInput(input: JsonValue, speakers: ReadonlyMap<string, Speaker>): Steps<(Speaker | { id: string })[]> {
  const pace = new Pace()
  const elements: (Speaker | { id: string })[] = []
  const children = input.children()
  for (let item = children.next(); item !== undefined; item = children.next()) {
    const spoken = speakers.get(`response.input[${children.index}]`)
    if (item.get('type')?.text === 'item_reference') elements.push({ id: item.get('id')?.text ?? '' })
    else if (spoken !== undefined) elements.push(spoken)
    if (pace.after(WORK_PER_TEXT)) yield
  }
  return elements
}

const HOLDER = /^(?:item|session\.instructions|response\.instructions|response\.input\[\d+\])(?![^.[])/

/** The joined texts of the event, by the path of the item or the instructions that contain them. */
function* readSpeakers(found: BodyTexts, { runs }: GuardedTexts): Steps<ReadonlyMap<string, Speaker>> {
  const pace = new Pace()
  const speakers = new Map<string, Speaker>()
  for (const [index, { joins, places }] of found.runs.entries()) {
    if (pace.after(WORK_PER_TEXT)) yield
    if (!joins) continue
    const [holder] = HOLDER.exec(places[0]!.path) ?? []
    const { role, texts } = runs[index]!
    if (holder !== undefined) speakers.set(holder, () => ({ role, text: texts.map(({ text }) => text).join('') }))
  }
  return speakers
}
