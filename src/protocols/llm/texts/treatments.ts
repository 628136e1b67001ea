/** How guards treat the strings at a place of a body. A string without a treatment is checked and can be masked. */
export type Treatment =
  /** Text of a message, joined with the other parts of it. */
  | { readonly kind: 'text' }
  /** The same as without a treatment: it tells members of the interface from unknown ones. */
  | { readonly kind: 'visible' }
  /** An element of a list of parts: the strings of a part without text are text, because its type is unknown. */
  | { readonly kind: 'part' }
  /** Strings, and names of members, that cannot be changed. */
  | { readonly kind: 'fixed' }
  /** Fixed if a member of the same object has a text: the signature of a thought. `joins`: it is joined with its neighbours, as a text. */
  | SignedTreatment
  /** Any JSON: strings can be masked, names of members cannot. */
  | { readonly kind: 'json' }
  /** The same as text in a string, or as JSON. */
  | { readonly kind: 'arguments' }
  | { readonly kind: 'schema' }
  /** Log probabilities of tokens, which spell a text out a second time: they are removed. */
  | { readonly kind: 'logprobs' }
  /** A file as base64 or data URL: text is checked, other files are exempt. @see file-data.ts */
  | FileTreatment
  | Exemption

export interface SignedTreatment {
  readonly kind: 'signed'
  readonly by: string
  readonly joins: boolean
}

export interface FileTreatment {
  readonly kind: 'file'
  readonly mediaType: string | undefined
}

export interface Exemption {
  readonly kind: 'exempt'
  readonly reason: string
  /** Other strings than these are checked, and cannot be changed. */
  readonly shape: RegExp | undefined
}

export const TEXT: Treatment = { kind: 'text' }
export const VISIBLE: Treatment = { kind: 'visible' }
export const PART: Treatment = { kind: 'part' }
export const FIXED: Treatment = { kind: 'fixed' }
export const JSON_VALUE: Treatment = { kind: 'json' }
export const ARGUMENTS: Treatment = { kind: 'arguments' }
export const SCHEMA: Treatment = { kind: 'schema' }
export const LOGPROBS: Treatment = { kind: 'logprobs' }
export const FILE: FileTreatment = { kind: 'file', mediaType: undefined }

export function signedBy(by: string): Treatment {
  return { kind: 'signed', by, joins: false }
}

export function signedTextBy(by: string): Treatment {
  return { kind: 'signed', by, joins: true }
}

/** @param mediaType the member of the same object with the media type */
export function fileOf(mediaType: string): Treatment {
  return { kind: 'file', mediaType }
}

function exempt(reason: string, shape?: RegExp): Exemption {
  return { kind: 'exempt', reason, shape }
}

/** Letters, digits and the marks that names and ids contain: no spaces, no `@`. */
const NAME = /^[\w.:/+-]{0,128}$/
/** Base64, also in its alphabet for URLs, or a data URL. */
const ENCODED = /^(?:data:[^,\s]{0,256},)?[\w+/=.:~-]*$/
const LONG_NAME = /^[\w.:/+=~-]{0,512}$/

// Each reason is one sentence of docs/behaviour/prompt-guards.md.
export const TYPE = exempt('The provider refuses names of types and roles that it does not know.', NAME)
export const CHOICE = exempt('A setting: one of a few names that the provider defines.', NAME)
export const SETTINGS = exempt('Settings of the provider, which the model does not read.')
export const MODEL = exempt(
  'The name of a model or of a tier decides where a request goes; the model does not read it.',
  /^[\w.:/@+-]{0,256}$/,
)
export const ID = exempt(
  'An id connects objects; the model does not read it, and another id would break the connection.',
  LONG_NAME,
)
export const METADATA = exempt('Metadata for the records of the provider, which the model does not read.')
export const CACHE = exempt('Marks and keys of caches, which the model does not read.')
export const ENCRYPTED = exempt(
  'Encrypted by the provider, or its signature: nobody else can read it, and a change makes it invalid.',
  ENCODED,
)
export const MEDIA = exempt('Data of an image, a sound or another file that is not text.', ENCODED)
export const ADDRESS: Exemption = exempt(
  'An address from which the provider fetches; the model reads what is there.',
  /^[^\s"<>]{0,8192}$/,
)
export const CREDENTIAL = exempt('A credential for a service; no guard may see it.')
export const USAGE = exempt('Counts and reports of the provider, which the model did not write.')
export const ECHO = exempt('The provider repeats the request; the model did not write it.')
