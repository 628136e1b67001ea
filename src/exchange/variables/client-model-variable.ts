import { foldCase } from '#base/fold-case.ts'
import { walkMembers } from '#base/json-bytes/walk-members.ts'
import { parseJson } from '#base/parse-json.ts'
import type { Exchange } from '../exchange.ts'
import { ExchangeSlot } from '../exchange-slot.ts'
import type { Declared } from './declared.ts'

/** Bytes of the longest spelling of the key: each letter as an escape. */
const LONGEST_KEY = 'model'.length * 6

const QUOTE = 0x22

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The model that the body of a request names, from one pass over its bytes: nothing else of it is read.
 * @returns undefined if the body is not a JSON object, if its member `model` is no text, or if servers could take another one for it: a second one, or
 * one in other letter case (decision B29)
 */
export function readClientModel(body: Uint8Array): string | undefined {
  let found = 0
  let model: string | undefined
  const end = walkMembers(body, (key, keyEnd, value, valueEnd) => {
    if (keyEnd - key > LONGEST_KEY) return true
    const name = textOf(body, key, keyEnd)
    if (name === undefined || foldCase(name) !== 'model') return true
    found++
    if (name === 'model' && body[value] === QUOTE) model = textOf(body, value + 1, valueEnd - 1)
    return found === 1 && model !== undefined
  })
  return end < 0 ? undefined : model
}

/** The text of a well-formed JSON string; undefined if it is not UTF-8. */
function textOf(bytes: Uint8Array, start: number, end: number): string | undefined {
  try {
    const text = utf8.decode(bytes.subarray(start, end))
    return text.includes('\\') ? String(parseJson(`"${text}"`)) : text
  } catch {
    return undefined
  }
}

/** Name of the variable that needs the whole body, and reads nothing of it but the model. */
export const CLIENT_MODEL_PATH = 'llm.clientModel'

/** The model that the body of a request names, with the changes of earlier policies. The body is buffered for it. */
export const CLIENT_MODEL: readonly Declared[] = [{ path: CLIENT_MODEL_PATH, type: 'string', read: clientModelOf }]

interface ReadModel {
  readonly body: Uint8Array | undefined
  readonly model: string | undefined
}

const READ = new ExchangeSlot<ReadModel | undefined>(undefined)

/** It is read once, and again after a policy has changed the body. */
function clientModelOf({ newRequestBody, requestBody, slots }: Exchange): string | undefined {
  const body = newRequestBody ?? requestBody.whole
  const known = slots.get(READ)
  if (known !== undefined && known.body === body) return known.model
  const model = body === undefined ? undefined : readClientModel(body)
  slots.set(READ, { body, model })
  return model
}
