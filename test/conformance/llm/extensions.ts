/** A member that the vendor's types do not have, and why it is written. */
export interface Extension {
  /** `<dialect> <kind>` of bodies. */
  readonly of: string
  readonly path: string
  readonly reason: string
}

const THOUGHTS =
  'the member in which other providers of this API carry thoughts; with a signature they survive a second turn'
const SIGNATURE = 'Gemini requires the signature of a call here, in its endpoint for this API'
const ANNOTATIONS = 'the type of whole answers has it; in streams it is the only place for citations'
const SAMPLING = 'the API takes it for the models that allow it; the types leave it out, because newer models refuse it'
const CODE = 'the stable code of an error, where clients of other vendors look for it'
const DETAILS = 'the clients of this vendor read codes from here; the types list only the codes of the vendor itself'

export const EXTENSIONS: readonly Extension[] = [
  { of: 'completions request', path: 'messages[].reasoning_content', reason: THOUGHTS },
  { of: 'completions request', path: 'messages[].tool_calls[].extra_content', reason: SIGNATURE },
  { of: 'completions answer', path: 'choices[].message.reasoning_content', reason: THOUGHTS },
  { of: 'completions answer', path: 'choices[].message.reasoning_signature', reason: THOUGHTS },
  { of: 'completions event', path: 'choices[].delta.reasoning_content', reason: THOUGHTS },
  { of: 'completions event', path: 'choices[].delta.reasoning_signature', reason: THOUGHTS },
  { of: 'completions event', path: 'choices[].delta.annotations', reason: ANNOTATIONS },
  { of: 'messages request', path: 'temperature', reason: SAMPLING },
  { of: 'messages request', path: 'top_p', reason: SAMPLING },
  { of: 'messages request', path: 'top_k', reason: SAMPLING },
  { of: 'messages answer', path: 'error.code', reason: CODE },
  { of: 'messages answer', path: 'error.details', reason: DETAILS },
  { of: 'messages event', path: 'error.code', reason: CODE },
  { of: 'messages event', path: 'error.details', reason: DETAILS },
]
