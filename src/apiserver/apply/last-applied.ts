import { parseJson } from '#base/parse-json.ts'
import { checkFields } from './fields/check-fields.ts'
import { compareFields } from './fields/compare-fields.ts'
import { difference, EMPTY, type FieldSet } from './fields/field-set.ts'
import type { FieldType } from './fields/field-type.ts'
import { fieldsOf } from './fields/fields-of.ts'
import { isMembers, type Members } from './fields/members.ts'
import { metadataOf } from './owners/owners.ts'

/** The manager of `kubectl apply --server-side`, for which objects that `kubectl apply` wrote are taken over. */
export const KUBECTL = 'kubectl'

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration'
/** All keys and values of annotations together, as on the platform. */
const MAX_ANNOTATION_CHARACTERS = 256 * 1024

/** The fields that client-side apply wrote, as far as they still have the values that it wrote. */
export function fieldsOfLastApplied(type: FieldType, live: Members, apiVersion: string): FieldSet {
  const text = annotationsOf(live)[ANNOTATION]
  const last = typeof text === 'string' && text !== '' ? parsed(text) : undefined
  if (!isMembers(last) || last.apiVersion !== apiVersion || checkFields(type, last).length > 0) return EMPTY
  const { removed, modified, added } = compareFields(type, last, live)
  return difference(difference(difference(fieldsOf(type, last), modified), added), removed)
}

/** An object that client-side apply wrote, with its annotation as if the same configuration were applied so. */
export function withLastApplied(object: Members, applied: Members): Members {
  const annotations = annotationsOf(object)
  if (!annotations[ANNOTATION]) return object
  const { [ANNOTATION]: _, ...others } = annotationsOf(applied)
  const { annotations: __, ...metadata } = metadataOf(applied)
  const rest = Object.keys(others).length === 0 ? metadata : { ...metadata, annotations: others }
  const next: Members = { ...annotations, [ANNOTATION]: `${JSON.stringify({ ...applied, metadata: rest })}\n` }
  return { ...object, metadata: { ...metadataOf(object), annotations: isSmall(next) ? next : without(next) } }
}

function without({ [ANNOTATION]: _, ...annotations }: Members): Members {
  return annotations
}

function isSmall(annotations: Members): boolean {
  const characters = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + key.length + String(value).length,
    0,
  )
  return characters <= MAX_ANNOTATION_CHARACTERS
}

function annotationsOf(object: Members): Members {
  const { annotations } = metadataOf(object)
  return isMembers(annotations) ? annotations : {}
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
