import { ApiError } from './api-error.ts'
import { type MediaType, readAccept } from './media-type.ts'

/** The form of an answer. */
export interface Form {
  readonly encoding: 'json' | 'yaml'
  /** What becomes of objects: themselves, rows of a table, or only their metadata. */
  readonly as: 'object' | 'Table' | 'PartialObjectMetadata'
}

const ENCODINGS: Readonly<Record<string, Form['encoding']>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/*': 'json',
  '*/*': 'json',
}

/**
 * The first form that the client accepts and the server has (Kubernetes, "API concepts: Alternate representations").
 * @throws ApiError NotAcceptable
 */
export function negotiate(accept: string | undefined): Form {
  for (const media of readAccept(accept)) {
    const encoding = ENCODINGS[media.type]
    const as = viewOf(media)
    if (encoding !== undefined && as !== undefined) return { encoding, as }
  }
  const message = 'only the following media types are accepted: application/json, application/yaml'
  throw new ApiError('NotAcceptable', message)
}

function viewOf({ parameters: { as, g, v } }: MediaType): Form['as'] | undefined {
  if (as === undefined) return 'object'
  if (g !== undefined && g !== 'meta.k8s.io') return undefined
  if (v !== undefined && v !== 'v1' && v !== 'v1beta1') return undefined
  if (as === 'Table') return 'Table'
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList' ? 'PartialObjectMetadata' : undefined
}
