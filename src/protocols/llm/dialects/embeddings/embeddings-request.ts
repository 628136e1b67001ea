import type { Losses } from '../../chat/losses.ts'
import { expectKind, ObjectReader } from '../../chat/object-reader.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import type { JsonValue } from '../../json/json-document.ts'

/** A request to embed texts. */
export interface EmbeddingsRequest {
  readonly model: string
  /** Strings as JSON text. */
  readonly inputs: readonly Uint8Array[]
  /** The `input`, for refusals. */
  readonly input: JsonValue
  readonly dimensions: number | undefined
  /** The client wants vectors as base64 of 32-bit floats instead of lists. */
  readonly base64: boolean
  /** Members beside those of the API, which a provider may know. */
  readonly more: ObjectReader
}

/** Reads the common members; the caller takes its own of `more`, and then drops the rest. */
export function readEmbeddingsRequest(request: JsonValue, losses: Losses): EmbeddingsRequest {
  const more = new ObjectReader(request)
  const model = more.require('model', more.text('model'))
  const input = more.require('input', more.take('input'))
  const user = more.take('user')
  if (user !== undefined) losses.drop(user)
  return {
    model,
    input,
    inputs: textsIn(input),
    dimensions: more.count('dimensions'),
    base64: more.word('encoding_format', ['float', 'base64']) === 'base64',
    more,
  }
}

function textsIn(input: JsonValue): readonly Uint8Array[] {
  if (input.kind === 'string') return [input.json]
  const { elements } = expectKind(input, 'array')
  if (elements.length === 0) throw new Untranslatable(input, 'must not be empty')
  return elements.map((element) => {
    if (element.kind !== 'string')
      throw new Untranslatable(element, 'must be a string; this provider does not accept tokens')
    return element.json
  })
}

/** For models that embed one text at a time. */
export function onlyInput({ input, inputs }: EmbeddingsRequest): Uint8Array {
  const [only, another] = inputs
  if (only === undefined || another !== undefined) {
    throw new Untranslatable(input, 'this model embeds one text at a time')
  }
  return only
}
