import { addField, difference, EMPTY, type FieldSet, newDraft } from '../fields/field-set.ts'
import { memberElement } from '../fields/path-element.ts'

/** The part of an object that a request can write. */
export interface WrittenPart {
  /** The kind has a status, which only its subresource writes. */
  readonly hasStatus: boolean
  /** `status`, `scale`; undefined: the object. */
  readonly subresource?: string | undefined
}

const STATUS = memberElement('status')

/** The fields that a request can write; other fields of the request have no effect. */
export function writableFields(fields: FieldSet, { hasStatus, subresource }: WrittenPart): FieldSet {
  if (!hasStatus) return fields
  const status = fields.children.get(STATUS)
  if (subresource === 'status') {
    return status === undefined ? EMPTY : { own: false, children: new Map([[STATUS, status]]) }
  }
  if (status === undefined || subresource !== undefined) return fields
  return { own: false, children: new Map([...fields.children].filter(([element]) => element !== STATUS)) }
}

/** Fields that identify the object or are set by the server, which have no owners. */
export function withoutServerFields(fields: FieldSet): FieldSet {
  return difference(fields, SERVER_FIELDS)
}

const SERVER_FIELDS: FieldSet = serverFields()

function serverFields(): FieldSet {
  const fields = newDraft()
  const inMetadata = [
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ]
  for (const name of ['apiVersion', 'kind', 'metadata']) addField(fields, [memberElement(name)])
  for (const name of inMetadata) addField(fields, [memberElement('metadata'), memberElement(name)])
  return fields
}
