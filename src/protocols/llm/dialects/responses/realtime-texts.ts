import type { Steps } from '#base/in-slices.ts'
import type { JsonValue } from '../../json/json-document.ts'
import type { BodyTexts, ExemptPlace } from '../../texts/body-texts.ts'
import { readTexts } from '../../texts/read-texts.ts'
import { compileTable, type TextTable, under } from '../../texts/text-table.ts'
import { CHOICE, FIXED, ID, MEDIA, METADATA, MODEL, TEXT, type Treatment, TYPE } from '../../texts/treatments.ts'
import { ITEM_PLACES, PART_PLACES, TOOL_PLACES } from './item-texts.ts'
import { SETTING_PLACES } from './texts.ts'

/** Members of a session and of a response that differ from those of the Responses API. */
const SESSION_PLACES: Readonly<Record<string, Treatment>> = {
  ...SETTING_PLACES,
  instructions: TEXT,
  '{output_modalities[],modalities[],max_output_tokens,voice,input_audio_format,output_audio_format}': CHOICE,
  'audio.{input,output}.format.type': CHOICE,
  'audio.output.voice': CHOICE,
  'audio.output.voice.id': ID,
  '{audio.input.transcription,input_audio_transcription}.model': MODEL,
  '{audio.input.transcription,input_audio_transcription}.{delay,language,languages[]}': CHOICE,
  'audio.input.turn_detection.eagerness': CHOICE,
  'audio.input.noise_reduction.type': TYPE,
  '{tracing,tracing.metadata}': METADATA,
  'client_secret.value': FIXED,
  ...under('tools[]', TOOL_PLACES),
}

/** The events that a client sends in a session. */
export const REALTIME_EVENT: TextTable = {
  first: [],
  runs: {
    item: 'item',
    'session.instructions': 'system',
    '{session,response}.tools[]': 'system',
    'response.instructions': 'system',
    'response.input[]': 'item',
  },
  places: {
    '{event_id,item_id,previous_item_id,response_id}': ID,
    audio: MEDIA,
    ...under('item', ITEM_PLACES),
    ...under('session', SESSION_PLACES),
    ...under('response', SESSION_PLACES),
    ...under('response.input[]', ITEM_PLACES),
    ...under('item.content[]', PART_PLACES),
  },
  anywhere: { type: TYPE, role: TYPE, id: ID, object: CHOICE },
}

const EVENT = compileTable(REALTIME_EVENT)

/** The texts of `conversation.item.create`, `session.update` and all other events of a client. */
export function readRequestTexts(event: JsonValue, exempt?: ExemptPlace[]): Steps<BodyTexts> {
  return readTexts(event, EVENT, exempt)
}
