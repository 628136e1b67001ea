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
   * `base64`: a text file as data (`readFileData`); `number`: a token of a text, which no guard can read.
   */
  readonly form: 'string' | 'arguments' | 'input' | 'base64' | 'number'
  /** False: a changed text would break the request (a name, a value of a schema, a signed thought), so a match rejects, whatever the action. */
  readonly canChange: boolean
  /** Of a text file, as far as the body says it. */
  readonly mediaType?: string | undefined
  /** Of a token that is not whole characters: it goes on with those of the tokens before it. */
  readonly bytes?: Uint8Array | undefined
}

/** Texts of one message or of another part of a body. */
export interface TextRun {
  readonly role: TextRole
  /**
   * The model reads these texts one after the other, so they are also checked joined, and with those of the next joined run of the same
   * role. False: names, titles and unknown members. They are checked one by one and do not separate the runs around them.
   */
  readonly joins: boolean
  /** False: a translation may leave these texts out, so that they do not separate the texts around them for every provider. */
  readonly lasts: boolean
  /** There is one text, or the pieces of one, and no text of other runs stands before or behind it. */
  readonly isOne: boolean
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
  /** What the text belongs to, as far as the event tells. */
  readonly owner: Pick<TextRun, 'role' | 'lasts'>
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
