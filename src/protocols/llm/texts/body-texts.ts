/** Who wrote a text, or in whose name it speaks. */
export type TextRole = 'system' | 'user' | 'assistant' | 'tool'

/** A string of a body that guards check. */
export interface TextPlace {
  /** The JSON string in the bytes, quotes included. */
  readonly start: number
  readonly end: number
  /** For operators: `messages[2].content[0].text`. Names that a client chose appear by position (`{3}`), because they may be secret. */
  readonly path: string
  /**
   * `arguments`: JSON in a string (`readArguments`), or what a model wrote instead; `input`: the same, if it is for a tool that takes any text;
   * `base64`: a text file as data (`readFileData`); `number`: a token of a text, which no guard can read; `logprobs`: log probabilities, which spell
   * out a text a second time and are removed.
   */
  readonly form: 'string' | 'arguments' | 'input' | 'base64' | 'number' | 'logprobs'
  /** False: a changed text would break the request (a name, a value of a schema, a signed thought), so a match rejects, whatever the action. */
  readonly canChange: boolean
  /** Of a text file, as far as the body says it. */
  readonly mediaType?: string | undefined
}

/** Texts of one message or of another part of a body. */
export interface TextRun {
  readonly role: TextRole
  /** The texts are parts of one message, which are also checked joined. False: names, titles, arguments and unknown members. */
  readonly joins: boolean
  readonly places: readonly TextPlace[]
}

/** A string, or an object or list with strings, that guards do not check. */
export interface ExemptPlace {
  readonly path: string
  readonly reason: string
}

/** The texts of a body in the order in which the model reads them. */
export interface BodyTexts {
  readonly runs: readonly TextRun[]
}

/** A text in an event of a stream. */
export interface EventText {
  /** The text that the pieces of all events add up to: `choices[0].delta.content`. */
  readonly block: string
  readonly place: TextPlace
  /** That of the whole block: a piece of arguments is not JSON. */
  readonly form: TextPlace['form']
  /** `delta`: goes on with the text of the block; `whole`: repeats all of it. */
  readonly kind: 'delta' | 'whole'
  /** No later text continues the block. */
  readonly ends: boolean
  /** Texts of a sequence follow each other: one ends when another one begins in a later event. */
  readonly sequence: string | undefined
}

export interface EventTexts {
  readonly places: readonly TextPlace[]
  /** What the text at one of these places belongs to. An event may have very many, so that it is found out one by one. */
  textAt(place: TextPlace): EventText
  /** An event that differs in its only text and in members without meaning (`UNREAD`) has the same texts and closes nothing, either. */
  readonly isSteady: boolean
  /** Other blocks that no later delta continues; a later event may still repeat them. `choices[0].*` are all that begin so, `*` all. */
  readonly closes: readonly string[]
}
